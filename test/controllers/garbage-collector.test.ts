// Objects whose owners are gone. Fails when: one stays, one is deleted that has an owner still, or
// whose owner cannot be known, or the server's end is disturbed.
import { expect, test } from 'vitest'
import { type ApiObject, addGarbageCollector, apiGroup, memoryStorage, type OwnerReference, sharedInformers } from '#apiserver/index.ts'
import { planets, widget, widgets } from '../groups/widgets.ts'
import { serveApi } from '../support/api-server.ts'

const WIDGETS = '/apis/demo.example/v1/namespaces/default/widgets'
const PLANETS = '/apis/demo.example/v1/planets'

async function scene() {
  const memory = memoryStorage()
  const storage = memory.resource()
  const served = await serveApi({
    setUp: (server) => {
      server.installApiGroups(
        apiGroup({
          group: 'demo.example',
          versions: {
            v1: [
              { resource: widgets, storage },
              { resource: planets, storage: memory.resource() },
            ],
          },
        }),
      )
      addGarbageCollector(server, { informers: sharedInformers(server), resources: [widgets, planets] })
    },
  })
  const { ask } = served
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    expect(answer.status).toBe(201)
    return ((await answer.json()) as { metadata: { uid: string } }).metadata.uid
  }
  const names = async (path: string): Promise<string[]> =>
    ((await (await ask(path)).json()) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)
  const owner = (kind: string, name: string, uid: string): OwnerReference => ({ apiVersion: 'demo.example/v1', kind, name, uid })
  return {
    ...served,
    storage,
    names,
    owner,
    planet: (name: string, ownerReferences: readonly OwnerReference[] = []) =>
      post(PLANETS, { apiVersion: 'demo.example/v1', kind: 'Planet', metadata: { name, ownerReferences }, moons: 1 }),
    widget: (name: string, ...ownerReferences: readonly OwnerReference[]) => post(WIDGETS, widget(name, { ownerReferences })),
    remove: async (path: string) => expect((await ask(path, { method: 'DELETE' })).status).toBe(200),
  }
}

test('what an owner has owned is deleted behind it, down the whole chain, and nothing else is', async () => {
  const { planet, widget, owner, remove, names, life } = await scene()
  const earth = await planet('earth')
  const mars = await planet('mars')
  const car = await widget('car', owner('Planet', 'earth', earth))
  await widget('wheel', owner('Widget', 'car', car))
  await widget('rover', owner('Planet', 'earth', earth), owner('Planet', 'mars', mars))
  await widget('free')
  await widget('foreign', { apiVersion: 'other.example/v1', kind: 'Planet', name: 'earth', uid: earth })
  await remove(`${PLANETS}/earth`)
  await expect.poll(() => names(WIDGETS)).toEqual(['foreign', 'free', 'rover'])
  await remove(`${PLANETS}/mars`)
  await expect.poll(() => names(WIDGETS)).toEqual(['foreign', 'free'])
  expect((await life.stop('over')).exitCode).toBe(0)
})

test('an owner of the same name is another one', async () => {
  const { planet, widget, owner, names } = await scene()
  const uid = await planet('earth')
  await widget('kept', owner('Planet', 'earth', uid))
  await widget('orphan', owner('Planet', 'earth', 'the-one-before'))
  await expect.poll(() => names(WIDGETS)).toEqual(['kept'])
})

test('an object is kept that has no owners, or owners that cannot be looked up', async () => {
  const { planet, widget: post, owner, storage, names } = await scene()
  const car = await post('car')
  await planet('of-a-car', [owner('Widget', 'car', car)])
  // A server stores no empty list; another program may.
  await storage.create(widget('without', { namespace: 'default', uid: 'without', ownerReferences: [] }) as ApiObject)
  await post('orphan', owner('Planet', 'earth', 'the-one-before'))
  await expect.poll(() => names(WIDGETS)).toEqual(['car', 'without'])
  expect(await names(PLANETS)).toEqual(['of-a-car'])
})
