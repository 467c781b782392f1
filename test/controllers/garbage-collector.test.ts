// Objects whose owners are gone, or going. Fails when: one stays, one is deleted that has an owner
// still, or whose owner cannot be known, an owner goes before what it waits for or waits for ever,
// what is orphaned is deleted, or the server's end is disturbed.
import { describe, expect, test } from 'vitest'
import {
  type ApiObject,
  addGarbageCollector,
  apiGroup,
  memoryStorage,
  type ObjectMeta,
  type OwnerReference,
  sharedInformers,
} from '#apiserver/index.ts'
import { planets, widget, widgets } from '../groups/widgets.ts'
import { serveApi } from '../support/api-server.ts'
import { useKubectl } from '../support/kubectl.ts'

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
  const owner = (kind: string, name: string, uid: string, blockOwnerDeletion?: boolean): OwnerReference => ({
    apiVersion: 'demo.example/v1',
    kind,
    name,
    uid,
    ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }),
  })
  const metadata = async (path: string): Promise<ObjectMeta | undefined> => {
    const answer = await ask(path)
    return answer.status === 404 ? undefined : ((await answer.json()) as ApiObject).metadata
  }
  const change = async (path: string, changed: object): Promise<void> => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    expect((await ask(path, { method: 'PATCH', headers, body: JSON.stringify({ metadata: changed }) })).status).toBe(200)
  }
  return {
    ...served,
    storage,
    names,
    owner,
    metadata,
    change,
    planet: (name: string, ownerReferences: readonly OwnerReference[] = []) =>
      post(PLANETS, { apiVersion: 'demo.example/v1', kind: 'Planet', metadata: { name, ownerReferences }, moons: 1 }),
    widget: (name: string, ...ownerReferences: readonly OwnerReference[]) => post(WIDGETS, widget(name, { ownerReferences })),
    remove: async (path: string, query = '') => expect((await ask(`${path}${query}`, { method: 'DELETE' })).status).toBe(200),
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

const FOREGROUND = '?propagationPolicy=Foreground'
const ORPHAN = '?propagationPolicy=Orphan'

describe('in the foreground', () => {
  test('an owner is gone behind what blocks it, down the whole chain, and what does not block it is deleted, too', async () => {
    const { planet, widget, owner, remove, names, metadata, change } = await scene()
    const earth = await planet('earth')
    const car = await widget('car', owner('Planet', 'earth', earth, true))
    await widget('wheel', owner('Widget', 'car', car, true))
    await widget('shadow', owner('Planet', 'earth', earth))
    await change(`${WIDGETS}/wheel`, { finalizers: ['demo.example/held'] })
    await remove(`${PLANETS}/earth`, FOREGROUND)
    await expect.poll(() => names(WIDGETS)).toEqual(['car', 'wheel'])
    await expect.poll(async () => (await metadata(`${WIDGETS}/wheel`))?.deletionTimestamp).toBeDefined()
    // Each waits for the next.
    expect((await metadata(`${PLANETS}/earth`))?.finalizers).toEqual(['foregroundDeletion'])
    expect((await metadata(`${WIDGETS}/car`))?.finalizers).toEqual(['foregroundDeletion'])
    await change(`${WIDGETS}/wheel`, { finalizers: null })
    await expect.poll(() => names(WIDGETS)).toEqual([])
    await expect.poll(() => names(PLANETS)).toEqual([])
  })

  test('what has another owner stays, and does not belong to the one that waits any more', async () => {
    const { planet, widget, owner, remove, names, metadata } = await scene()
    const earth = await planet('earth')
    const mars = await planet('mars')
    await widget('rover', owner('Planet', 'earth', earth, true), owner('Planet', 'mars', mars, true))
    await remove(`${PLANETS}/earth`, FOREGROUND)
    await expect.poll(() => names(PLANETS)).toEqual(['mars'])
    expect((await metadata(`${WIDGETS}/rover`))?.ownerReferences).toEqual([owner('Planet', 'mars', mars, true)])
  })

  test('an owner waits no longer for what does not block it any more', async () => {
    const { planet, widget, owner, remove, names, metadata, change } = await scene()
    const earth = await planet('earth')
    await widget('car', owner('Planet', 'earth', earth, true))
    await change(`${WIDGETS}/car`, { finalizers: ['demo.example/held'] })
    await remove(`${PLANETS}/earth`, FOREGROUND)
    await expect.poll(async () => (await metadata(`${WIDGETS}/car`))?.deletionTimestamp).toBeDefined()
    expect(await names(PLANETS)).toEqual(['earth'])
    await change(`${WIDGETS}/car`, { ownerReferences: [owner('Planet', 'earth', earth, false)] })
    await expect.poll(() => names(PLANETS)).toEqual([])
  })

  test('a circle of owners is no deadlock', async () => {
    const { planet, owner, remove, names, change } = await scene()
    const earth = await planet('earth')
    const moon = await planet('moon', [owner('Planet', 'earth', earth, true)])
    await change(`${PLANETS}/earth`, { ownerReferences: [owner('Planet', 'moon', moon, true)] })
    await remove(`${PLANETS}/earth`, FOREGROUND)
    await expect.poll(() => names(PLANETS)).toEqual([])
  })
})

test('what is orphaned lives on, and belongs to nobody', async () => {
  const { planet, widget, owner, remove, names, metadata, life, lines } = await scene()
  const earth = await planet('earth')
  const mars = await planet('mars')
  const cars = Array.from({ length: 30 }, (_, number) => `car-${String(number).padStart(2, '0')}`)
  for (const car of cars)
    await widget(car, owner('Planet', 'earth', earth, true), ...(car === 'car-07' ? [owner('Planet', 'mars', mars)] : []))
  await remove(`${PLANETS}/earth`, ORPHAN)
  await expect.poll(() => names(PLANETS)).toEqual(['mars'])
  // None has an owner that is gone: nothing is left to be collected.
  for (const car of cars)
    expect((await metadata(`${WIDGETS}/${car}`))?.ownerReferences).toEqual(car === 'car-07' ? [owner('Planet', 'mars', mars)] : undefined)
  expect(await names(WIDGETS)).toEqual(cars)
  expect((await life.stop('over')).exitCode).toBe(0)
  expect(lines.filter(({ message }) => message.startsWith('garbage collector'))).toEqual([])
})

const { isThere, run } = useKubectl()
test(isThere ? 'kubectl delete --cascade does what it says' : 'kubectl is not on this machine: install kubernetes-client', async () => {
  if (!isThere) return
  const { planet, widget, owner, names, port } = await scene()
  for (const [policy, left] of [
    ['background', []],
    ['foreground', []],
    ['orphan', ['car']],
  ] as const) {
    const earth = await planet('earth')
    await widget('car', owner('Planet', 'earth', earth, true))
    const { code, text } = await run(port, 'delete', 'planet', 'earth', `--cascade=${policy}`).ended
    expect([code, text]).toEqual([0, expect.stringContaining('planet.demo.example "earth" deleted')])
    // It has waited until the owner is gone; only in the background something may still be to do.
    expect(await names(PLANETS)).toEqual([])
    if (policy === 'background') await expect.poll(() => names(WIDGETS)).toEqual(left)
    else expect(await names(WIDGETS)).toEqual(left)
  }
})
