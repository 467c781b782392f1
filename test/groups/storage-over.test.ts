// Objects in a store, with a watch cache and without. Fails when: a write is lost or done on
// another version, a list is not of one version or not in order, a watch misses a change or gets
// one twice, what is forgotten is not said to be, or something is written after the end.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ApiObject } from '#apiserver/groups/api-object.ts'
import { decodeContinue, encodeContinue } from '#apiserver/groups/storage/continue-token.ts'
import { memoryStorage } from '#apiserver/groups/storage/memory-storage.ts'
import type { ListQuery, StorageEvent } from '#apiserver/groups/storage/storage.ts'
import { type StoreStorage, storageOver } from '#apiserver/groups/storage/storage-over.ts'
import type { StatusError } from '#apiserver/status-errors.ts'
import type { KeyValueStore, StoreEngine } from '#apiserver/store/key-value-store.ts'
import { memoryEngine } from '#apiserver/store/memory-engine.ts'
import { createStore } from '#apiserver/store/store.ts'

const object = (name: string, namespace = 'default', size = 0): ApiObject => ({
  kind: 'Widget',
  apiVersion: 'v1',
  metadata: { name, namespace },
  spec: { size },
})
const ALL: ListQuery = { namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' }
const A = { namespace: 'default', name: 'a' }
const OF = { group: 'demo.example', plural: 'widgets' }
const namesOf = (items: readonly ApiObject[]) => items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
const never = (why: StatusError) => {
  throw why
}

interface Options {
  readonly history?: number
  readonly revision?: number
}

/** An engine whose store can be had, to do behind its storages what others do. */
function openEngine(options: Options = {}) {
  const inner = memoryEngine({ revision: 0, ...options })
  let opened: KeyValueStore | undefined
  const engine: StoreEngine = {
    name: 'memory',
    open: (context) => {
      opened ??= inner.open(context) as KeyValueStore
      return opened
    },
  }
  const store = createStore(engine)
  return { store, kv: () => store.use() }
}

for (const watchCache of [true, false])
  describe(watchCache ? 'with a watch cache' : 'without a watch cache', () => {
    const storageOf = (options: Options = {}): StoreStorage =>
      storageOver(openEngine(options).store, OF, { watchCache, window: options.history ?? 1_000 })

    test('one version counts over all resources, and a write needs the one that is stored', async () => {
      const { store } = openEngine({ revision: 7 })
      const one = storageOver(store, OF, { watchCache })
      const two = storageOver(store, { group: 'demo.example', plural: 'others' }, { watchCache })
      expect((await one.create(object('a')))?.metadata.resourceVersion).toBe('8')
      expect((await two.create(object('a')))?.metadata.resourceVersion).toBe('9')
      expect(await one.create(object('a'))).toBeUndefined()
      expect(await one.update(object('a', 'default', 1), '9')).toBeUndefined()
      expect((await one.update(object('a', 'default', 1), '8'))?.metadata.resourceVersion).toBe('10')
      expect(await one.delete(A, '8')).toBeUndefined()
      expect((await one.delete(A, '10'))?.metadata.resourceVersion).toBe('11')
      expect(await one.get(A)).toBeUndefined()
      expect(namesOf((await two.list(ALL)).items)).toEqual(['default/a'])
    })

    test('a name that no store can keep is refused where it is written, and not there where it is read', async () => {
      const storage = storageOf()
      for (const name of ['a\0', 'a\ud800']) {
        await expect(storage.create(object(name))).rejects.toMatchObject({ details: { code: 400, reason: 'BadRequest' } })
        expect(await storage.get({ namespace: 'default', name })).toBeUndefined()
      }
      expect((await storage.list(ALL)).items).toEqual([])
    })

    test('what is stored is nothing that others could change', async () => {
      const storage = storageOf()
      const stored = await storage.create(object('a'))
      expect(() => Object.assign(stored?.['spec'] as object, { size: 9 })).toThrow('read only')
      expect((await storage.get(A))?.['spec']).toEqual({ size: 0 })
    })

    test('keys are those that upstream has, and nobody gets behind them', async () => {
      const { store, kv } = openEngine()
      const storage = storageOver(store, OF, { watchCache })
      const planets = storageOver(store, { group: '', plural: 'planets' }, { watchCache })
      await storage.create(object('a'))
      await planets.create({ kind: 'Planet', apiVersion: 'v1', metadata: { name: 'mars' } })
      const { entries } = await kv().range({ from: '' })
      expect(entries.map(({ key }) => key)).toEqual(['/registry/demo.example/widgets/default/a', '/registry/planets/mars'])
      expect(JSON.parse(Buffer.from(entries[0]?.value ?? []).toString())).toEqual(object('a'))
      for (const name of ['../a', 'default/a', '..', 'a%2f']) expect(await storage.get({ namespace: '', name })).toBeUndefined()
    })

    test('pages are of one version, whatever is written between them, until that is forgotten', async () => {
      const storage = storageOf({ history: 2 })
      for (const name of ['c', 'a', 'b']) await storage.create(object(name))
      await storage.create(object('z', 'another'))
      const first = await storage.list({ ...ALL, limit: 2 })
      expect([namesOf(first.items), first.next, first.remaining, first.resourceVersion]).toEqual([
        ['another/z', 'default/a'],
        'default/b',
        2,
        '4',
      ])
      await storage.delete({ namespace: 'default', name: 'b' }, '3')
      await storage.create(object('bb'))
      const second = await storage.list({ ...ALL, at: first.resourceVersion, start: first.next as string })
      expect(namesOf(second.items)).toEqual(['default/b', 'default/c'])
      expect(namesOf((await storage.list({ ...ALL, namespace: 'default' })).items)).toEqual(['default/a', 'default/bb', 'default/c'])
      for (const name of ['1', '2', '3', '4', '5']) await storage.create(object(name))
      await expect(storage.list({ ...ALL, at: '4', start: first.next as string })).rejects.toThrow('too old resource version')
      await expect(storage.list({ ...ALL, at: '99' })).rejects.toThrow('Too large resource version: 99')
    })

    test('a watch gets every change behind its version, and says when it cannot', async () => {
      const storage = storageOf({ history: 3 })
      await storage.create(object('a'))
      const seen: string[] = []
      const hear = ({ type, object: { metadata } }: StorageEvent) => void seen.push(`${type} ${metadata.name} ${metadata.resourceVersion}`)
      const watch = await storage.watch('0', hear, never)
      await storage.update(object('a', 'default', 2), '1')
      await storage.delete(A, '2')
      await expect.poll(() => seen).toEqual(['ADDED a 1', 'MODIFIED a 2', 'DELETED a 3'])
      expect(watch.resourceVersion).toBe('3')
      watch.close()
      for (let count = 0; count < 10; count++) await storage.create(object(`n${count}`))
      expect(seen).toHaveLength(3)
      const refused: string[] = []
      const refuse = (error: Error) => void refused.push(error.message)
      await storage.watch('1', hear, refuse).catch(refuse)
      await expect.poll(() => refused.join()).toContain('too old resource version')
      await expect(storage.watch('99', hear, never)).rejects.toThrow('is not a version of this storage')
    })

    test('a list shows what was there at its version, whenever something is written while it is made', async () => {
      const storage = storageOf()
      await storage.create(object('a'))
      for (let ticks = 0; ticks < 20; ticks++) {
        const before = await storage.list(ALL)
        const write = async (): Promise<void> => {
          for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
          await storage.create(object(`n${ticks}`))
        }
        const [exact, ...pages] = await Promise.all([
          storage.list({ ...ALL, at: before.resourceVersion }),
          storage.list(ALL),
          storage.list({ ...ALL, notOlderThan: '0' }),
          write(),
        ])
        expect(namesOf(exact.items), `written ${ticks} ticks behind the list`).toEqual(namesOf(before.items))
        for (const page of pages) {
          if (page === undefined) continue
          const { items } = await storage.list({ ...ALL, at: page.resourceVersion })
          expect(namesOf(page.items), `at ${page.resourceVersion}, written ${ticks} ticks behind the list`).toEqual(namesOf(items))
        }
      }
    })

    test('any list and the changes behind it are what is there', async () => {
      const key = fc.constantFrom('a', 'b', 'c', 'd')
      const step = fc.record({ what: fc.constantFrom('create', 'update', 'delete', 'list'), name: key })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const storage = storageOf()
          const listed: { at: string; state: Map<string, unknown> }[] = []
          const versions = async (at?: string) =>
            new Map<string, unknown>(
              (await storage.list({ ...ALL, at })).items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
            )
          for (const { what, name } of steps) {
            const stored = await storage.get({ namespace: 'default', name })
            const version = stored?.metadata.resourceVersion ?? ''
            if (what === 'create') await storage.create(object(name))
            else if (what === 'update') await storage.update(object(name), version || '-1')
            else if (what === 'delete') await storage.delete({ namespace: 'default', name }, version || '-1')
            else listed.push({ at: (await storage.list(ALL)).resourceVersion, state: await versions() })
          }
          const now = await versions()
          for (const { at, state } of listed) {
            expect(await versions(at)).toEqual(state)
            const hear = ({ type, object: { metadata } }: StorageEvent) => {
              if (type === 'DELETED') state.delete(metadata.name)
              else state.set(metadata.name, metadata.resourceVersion)
            }
            const watch = await storage.watch(at, hear, never)
            await expect.poll(() => state, { interval: 1 }).toEqual(now)
            watch.close()
          }
        }),
        { numRuns: 40 },
      )
    })

    test('nothing is written after its end, and the store closes with the last of those that have it', async () => {
      const { store } = openEngine()
      const [one, two] = [storageOver(store, OF, { watchCache }), storageOver(store, { group: '', plural: 'pods' }, { watchCache })]
      await one.create(object('a'))
      await one.destroy()
      await one.destroy()
      expect(await one.ready()).toBe(false)
      await expect(one.create(object('a'))).rejects.toThrow('the storage has been closed')
      expect(await two.create(object('a'))).toBeDefined()
      await two.destroy()
      expect(store.state).toBe('closed')
    })

    test('what is no object ends watches and lists, and not the write or the process', async () => {
      const { store, kv } = openEngine()
      const storage = storageOver(store, OF, { watchCache })
      await storage.create(object('a'))
      const seen: (string | number)[] = []
      const hear = ({ object: { metadata } }: StorageEvent) => void seen.push(metadata.name)
      await storage.watch('1', hear, ({ failure }) => void seen.push(failure.code))
      const key = '/registry/demo.example/widgets/default/b'
      // As whoever else writes to the same etcd may.
      expect(await kv().put({ key, value: Buffer.from('no object') })).toMatchObject({ isDone: true })
      await expect.poll(() => seen).toEqual([500])
      await expect(storage.list(ALL)).rejects.toThrow(`what is stored as ${key} is not an object`)
      const refused: string[] = []
      const refuse = (why: Error) => void refused.push(why.message)
      await storage.watch('1', hear, refuse).catch(refuse)
      await expect.poll(() => refused.join()).toContain('is not an object')
      await kv().delete({ key })
      await storage.create(object('c'))
      expect(namesOf((await storage.list(ALL)).items)).toEqual(['default/a', 'default/c'])
    })

    test('a watch that its store has lost is said to be over', async () => {
      const { store, kv } = openEngine()
      const storage = storageOver(store, OF, { watchCache })
      await storage.create(object('a'))
      const ends: (string | number)[] = []
      await storage.watch(
        '1',
        () => {},
        ({ failure }) => void ends.push(failure.code),
      )
      await kv().close()
      await expect.poll(() => ends).toEqual([503])
    })
  })

test('a cache remembers what a store still has when a client comes back with an older version', async () => {
  const { store } = openEngine()
  const before = storageOver(store, OF)
  for (const name of ['a', 'b', 'c']) await before.create(object(name))
  await before.delete(A, '1')
  // As after a restart: it has seen none of the changes.
  const after = storageOver(store, OF)
  const seen: string[] = []
  const hear = ({ type, object: { metadata } }: StorageEvent) => void seen.push(`${type} ${metadata.name} ${metadata.resourceVersion}`)
  await after.watch('1', hear, never)
  expect(seen).toEqual(['ADDED b 2', 'ADDED c 3', 'DELETED a 4'])
  await after.create(object('d'))
  expect(seen.slice(3)).toEqual(['ADDED d 5'])
})

test('a watch whose changes are recalled misses none, whenever more come than are kept', async () => {
  const ends = new Set<string>()
  for (let ticks = 0; ticks < 40; ticks++) {
    const { store } = openEngine()
    const before = storageOver(store, OF)
    for (const name of ['a', 'b', 'c']) await before.create(object(name))
    const after = storageOver(store, OF, { window: 3 })
    await after.list(ALL)
    for (const name of ['d', 'e', 'f']) await after.create(object(name))
    const seen: string[] = []
    const watching = after
      .watch('0', ({ object: { metadata } }) => void seen.push(metadata.name), never)
      .then(
        () => 'watched',
        ({ failure }: StatusError) => failure.reason,
      )
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
    await after.create(object('g'))
    const end = await watching
    ends.add(end ?? '')
    if (end === 'watched') expect(seen.join(''), `written ${ticks} ticks behind the watch`).toBe('abcdefg')
  }
  expect([...ends]).toContain('watched')
})

test('after a restart no version of before is one of now', async () => {
  const before = (await memoryStorage().resource().create(object('a')))?.metadata.resourceVersion
  expect(Number(before)).toBeGreaterThan(1_700_000_000_000)
  expect(() => memoryStorage({ history: -1 })).toThrow('history')
  expect(() => memoryStorage({ revision: 0.5 })).toThrow('revision')
})

test('a token says where a list goes on, and nothing else is one', () => {
  expect(decodeContinue(encodeContinue({ at: '4', start: 'default/b' }))).toEqual({ at: '4', start: 'default/b' })
  expect(decodeContinue(encodeContinue({ at: undefined, start: 'b' }))).toEqual({ at: undefined, start: 'b' })
  for (const token of ['x', '', Buffer.from('null').toString('base64url'), 'e'.repeat(3_000)])
    expect(() => decodeContinue(token)).toThrow('continue key is not valid')
})
