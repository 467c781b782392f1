// A store in the life of a server. Fails when: a server becomes ready before its store is, a store
// that cannot be written to is not said to be in /readyz, in the log or to clients, a write of the
// last request is lost, or the store outlives the server.
import { expect, test } from 'vitest'
import { storageOver } from '#apiserver/groups/storage/storage-over.ts'
import type { StoreCondition, StoreEngine } from '#apiserver/store/key-value-store.ts'
import { memoryEngine } from '#apiserver/store/memory-engine.ts'
import { createStore } from '#apiserver/store/store.ts'
import { storeAt } from '#apiserver/store/store-at.ts'
import { StoreError } from '#apiserver/store/store-error.ts'
import { deferred } from '#src/base/deferred.ts'
import { demoGroup, WIDGETS, widget, widgets } from '../groups/widgets.ts'
import { serveApi } from '../support/api-server.ts'

/** An engine that opens when it is told to, and is what it is told to be. */
function toldEngine() {
  const opening = deferred<void>()
  let tell: (condition: StoreCondition) => void = () => {}
  let tries = 0
  const failures: Error[] = []
  const engine: StoreEngine = {
    name: 'told',
    check: 'storage',
    open: async (context) => {
      tries++
      const failure = failures.shift()
      if (failure) throw failure
      await opening.promise
      tell = context.onCondition
      return memoryEngine().open(context)
    },
  }
  return { engine, opened: () => opening.resolve(), tell: (condition: StoreCondition) => tell(condition), failures, tries: () => tries }
}

async function serve(engine: StoreEngine) {
  const store = createStore(engine)
  const served = await serveApi({
    config: { shutdownDelay: '0ms', lastCall: 0 },
    setUp: (server) => void server.installApiGroups(demoGroup(storageOver(store, widgets))),
  })
  const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${served.port}${path}`, init)
  const create = (name: string) =>
    ask(WIDGETS, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(widget(name)) })
  return { ...served, store, ask, create }
}

test('a server listens while its store opens, and is ready when that is', async () => {
  const told = toldEngine()
  told.failures.push(new StoreError('unavailable', 'not yet'))
  const { ask, store, create, life } = await serve(told.engine)
  expect((await ask('/livez')).status).toBe(200)
  expect((await ask('/readyz')).status).toBe(500)
  // It is tried again, and what is written meanwhile waits for it.
  await expect.poll(told.tries).toBe(2)
  const created = create('early')
  told.opened()
  expect((await created).status).toBe(201)
  expect(store.state).toBe('ready')
  await expect.poll(async () => (await ask('/readyz')).status).toBe(200)
  expect((await life.stop('over')).exitCode).toBe(0)
  expect(store.state).toBe('closed')
})

test('a store that cannot be written to is said to be, and comes back', async () => {
  const told = toldEngine()
  told.opened()
  const { ask, create, store, life } = await serve(told.engine)
  await create('a')
  const error = new StoreError('unavailable', 'the disk is full')
  told.tell({ is: 'degraded', error })
  expect(store.state).toBe('degraded')
  expect(await (await ask('/readyz?verbose')).text()).toContain('[-]storage failed')
  expect((await ask('/livez')).status).toBe(200)
  expect((await ask(`${WIDGETS}/a`)).status).toBe(200)
  told.tell({ is: 'lost', error })
  told.tell({ is: 'lost', error: new StoreError('unavailable', 'its history is lost') })
  expect(store.state).toBe('lost')
  told.tell({ is: 'ready' })
  await expect.poll(async () => (await ask('/readyz')).status).toBe(200)
  const report = await life.stop('over')
  const said = JSON.stringify(report)
  expect(said).toContain('the storage told is degraded: the disk is full')
  // One reason is not all there is to say.
  expect(said).toContain('the storage told is lost: its history is lost')
  expect(said).toContain('the storage told is ready again')
})

test('a store that is damaged is not tried again, and clients are told', async () => {
  const told = toldEngine()
  told.failures.push(new StoreError('damaged', 'page 3 is not what was written'))
  const { create, store, life } = await serve(told.engine)
  const answer = await create('a')
  expect([answer.status, answer.headers.get('retry-after'), store.state, told.tries()]).toEqual([503, '1', 'refused', 1])
  expect(await answer.text()).toContain('page 3 is not what was written')
  await life.stop('over')
})

test('an address says which engine it is, and another one is refused', () => {
  expect(storeAt('memory').name).toBe('memory')
  expect(storeAt('etcd://10.0.0.1,10.0.0.2:99/shop').name).toBe('etcd://10.0.0.1:2379,10.0.0.2:99/shop')
  for (const address of ['', 'file:', 'postgres://a', '/var/lib/shop.db']) expect(() => storeAt(address)).toThrow('address of storeAt()')
})
