import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type KeyRange,
  type KeyValue,
  type KeyValueStore,
  type StoreChange,
  type StoreCondition,
  type StoreEngine,
  type WatchQuery,
  withPrefix,
} from '#apiserver/store/key-value-store.ts'
import { StoreError, type StoreErrorReason } from '#apiserver/store/store-error.ts'

/** One place to keep things: a file, a server, or nothing but this process. */
export interface Place {
  /** For one store at a time: the next is made when that before it is closed. */
  readonly engine: () => StoreEngine
  readonly dispose: () => Promise<void>
}

export interface EngineUnderTest {
  readonly name: string
  readonly place: () => Promise<Place>
  /** A store has, when it is opened again, what it had when it was closed. */
  readonly survives: boolean
  /**
   * Others count with it, as the marks of progress of closed stores in one etcd do: its revisions
   * have gaps.
   */
  readonly isShared?: boolean
}

/** A watch that keeps what it was given. */
export function recorder(store: KeyValueStore, query: WatchQuery) {
  const changes: StoreChange[] = []
  const state = { revision: undefined as number | undefined, ended: undefined as StoreError | undefined, calls: 0 }
  const watch = store.watch(query, {
    next: (given, revision) => {
      changes.push(...given)
      state.revision = revision
      state.calls++
    },
    ended: (error) => {
      state.ended = error
    },
  })
  const upTo = async (revision: number): Promise<void> => {
    await expect
      .poll(() => {
        if (state.revision !== undefined && state.revision < revision) watch.requestProgress()
        return state.ended?.reason ?? Number(state.revision) >= revision
      })
      .toBe(true)
  }
  return { changes, state, upTo, watch }
}

export const textOf = (entry: KeyValue | undefined): string | undefined => entry && Buffer.from(entry.value).toString()
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const lineOf = ({ key, revision, current, previous }: StoreChange) =>
  `${key}@${revision} ${textOf(previous) ?? '-'} > ${textOf(current) ?? '-'}`

/** What a store must do, whichever engine has opened it. */
export function storeSuite({ name, place, survives, isShared = false }: EngineUnderTest): void {
  const places: Place[] = []
  const stores: KeyValueStore[] = []
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()))
    await Promise.all(places.splice(0).map((each) => each.dispose()))
  })

  async function openAt(where: Place): Promise<{ readonly store: KeyValueStore; readonly conditions: readonly StoreCondition[] }> {
    const conditions: StoreCondition[] = []
    const store = await where.engine().open({ signal: new AbortController().signal, onCondition: (each) => void conditions.push(each) })
    stores.push(store)
    return { store, conditions }
  }
  async function open(): Promise<KeyValueStore> {
    const where = await place()
    places.push(where)
    return (await openAt(where)).store
  }
  async function put(store: KeyValueStore, key: string, text: string, expected?: number): Promise<number> {
    const written = await store.put({ key, value: bytes(text), expected })
    if (!written.isDone) throw new Error(`${key} is at ${written.current?.modRevision}`)
    return written.revision
  }
  async function remove(store: KeyValueStore, key: string, expected?: number): Promise<number> {
    const deleted = await store.delete({ key, expected })
    if (!deleted.isDone) throw new Error(`${key} is at ${deleted.current?.modRevision}`)
    return deleted.revision
  }
  async function texts(store: KeyValueStore, range: KeyRange, at?: number): Promise<readonly string[]> {
    return (await store.range({ ...range, at })).entries.map((entry) => `${entry.key}=${textOf(entry)}`)
  }
  async function reasonOf(asked: Promise<unknown>): Promise<StoreErrorReason | 'nothing'> {
    return asked.then(
      () => 'nothing' as const,
      (error: unknown) => {
        if (error instanceof StoreError) return error.reason
        throw error
      },
    )
  }

  function expectRevision(revision: number, expected: number): void {
    if (isShared) expect(revision).toBeGreaterThanOrEqual(expected)
    else expect(revision).toBe(expected)
  }

  describe(`a store of ${name}`, () => {
    test('counts one revision over all keys, one for each change', async () => {
      const store = await open()
      const start = await store.revision()
      const first = await put(store, '/a', '1')
      expectRevision(first, start + 1)
      const second = await put(store, '/b', '2')
      expectRevision(second, first + 1)
      const third = await remove(store, '/a')
      expectRevision(third, second + 1)
      expectRevision(await store.revision(), third)
    })

    test('writes only over what is expected, and says what is there instead', async () => {
      const store = await open()
      const first = await put(store, '/a', 'one', 0)
      const taken = await store.put({ key: '/a', value: bytes('two'), expected: 0 })
      expect([taken.isDone, taken.isDone || textOf(taken.current)]).toEqual([false, 'one'])
      const second = await put(store, '/a', 'two', first)
      for (const asked of [store.put({ key: '/a', value: bytes('x'), expected: first }), store.delete({ key: '/a', expected: first })]) {
        const refused = await asked
        expect([refused.isDone, refused.isDone || refused.current?.modRevision]).toEqual([false, second])
      }
      expect(await store.put({ key: '/b', value: bytes('x'), expected: second })).toEqual({ isDone: false, current: undefined })
      expectRevision(await store.revision(), second)
      const { entry } = await store.get('/a')
      expect([textOf(entry), entry?.createRevision, entry?.modRevision]).toEqual(['two', first, second])
    })

    test('gives what it deletes, and needs no revision for what is not there', async () => {
      const store = await open()
      const first = await put(store, '/a', 'one')
      const deleted = await store.delete({ key: '/a', expected: first })
      if (!deleted.isDone) throw new Error('it was not deleted')
      expect([textOf(deleted.previous), deleted.previous.modRevision]).toEqual(['one', first])
      expectRevision(deleted.revision, first + 1)
      expect(await store.delete({ key: '/a' })).toEqual({ isDone: false, current: undefined })
      const { entry, revision } = await store.get('/a')
      expect(entry).toBeUndefined()
      expectRevision(revision, deleted.revision)
      const again = await put(store, '/a', 'new', 0)
      expect((await store.get('/a')).entry?.createRevision).toBe(again)
    })

    test('keeps bytes as they are', async () => {
      const store = await open()
      const all = Uint8Array.from({ length: 256 }, (_, index) => index)
      const large = new Uint8Array(1_000_000).fill(7)
      for (const [key, value] of Object.entries({ '/all': all, '/none': new Uint8Array(0), '/large': large })) {
        await store.put({ key, value })
        const { entry } = await store.get(key)
        expect(Buffer.from(entry?.value ?? bytes('missing')).equals(value)).toBe(true)
      }
    })

    test('has no key that it could not give back, and changes none by it', async () => {
      const store = await open()
      const kept = ['/k/\ufffd', '/k/\u{10ffff}', '/k/\n', '/k/\x7f', '/k/a', '/k/é']
      for (const key of kept) await put(store, key, key)
      const before = await store.revision()
      // As text, or in an engine, these are another key, a part of one, or none.
      for (const key of ['', 'k', '/k/a\0', '/k/a\0b', '/k/\ud800', '/k/\udfff', '/k/\udc00\ud800', '/k/a\x7fprogress']) {
        for (const asked of [store.put({ key, value: bytes('x') }), store.put({ key, value: bytes('x'), expected: 0 })])
          await expect(asked).rejects.toMatchObject({ reason: 'invalid-key', message: expect.stringContaining(JSON.stringify(key)) })
        expect([key, await reasonOf(store.get(key)), await reasonOf(store.delete({ key }))]).toEqual([key, 'invalid-key', 'invalid-key'])
      }
      expectRevision(await store.revision(), before)
      expect([...(await texts(store, withPrefix('/')))].sort()).toEqual(kept.map((key) => `${key}=${key}`).sort())
      for (const key of kept) expect(textOf((await store.get(key)).entry)).toBe(key)
    })

    test('has ranges in the order of keys, with a limit and a count', async () => {
      const store = await open()
      for (const key of ['/r/c', '/r/a', '/q', '/r/b/x', '/r/b', '/r', '/s', '/r0']) await put(store, key, 'v')
      const all = withPrefix('/r/')
      expect((await store.range(all)).entries.map(({ key }) => key)).toEqual(['/r/a', '/r/b', '/r/b/x', '/r/c'])
      const page = await store.range({ ...all, limit: 2 })
      expect([page.entries.map(({ key }) => key), page.count]).toEqual([['/r/a', '/r/b'], 4])
      const next = await store.range({ ...all, from: '/r/b\x20', limit: 2 })
      expect([next.entries.map(({ key }) => key), next.count]).toEqual([['/r/b/x', '/r/c'], 2])
      const counted = await store.range({ ...all, limit: 0 })
      expect([counted.entries, counted.count]).toEqual([[], 4])
      expect((await store.range({ from: '/r0' })).entries.map(({ key }) => key)).toEqual(['/r0', '/s'])
      expect(await store.range({ from: '/z' })).toMatchObject({ entries: [], count: 0 })
    })

    test('reads a large range of one revision, which it says, whatever is written meanwhile', async () => {
      const store = await open()
      const keys = Array.from({ length: 1_200 }, (_, at) => `/large/${1_000 + at}`)
      await Promise.all(keys.map((key) => put(store, key, 'before')))
      let isOver = false
      const write = async (): Promise<void> => {
        for (let at = 0; !isOver; at++) {
          await put(store, keys[at % keys.length] as string, `${at}`)
          await new Promise((resolve) => setImmediate(resolve))
        }
      }
      const writing = write()
      for (let round = 0; round < 5; round++) {
        const { entries, revision } = await store.range(withPrefix('/large/'))
        expect((await store.range({ ...withPrefix('/large/'), at: revision })).entries).toEqual(entries)
      }
      isOver = true
      await writing
    })

    test('reads what was there at a revision', async () => {
      const store = await open()
      const at = [await put(store, '/a', '1'), await put(store, '/b', '1'), await put(store, '/a', '2'), await remove(store, '/b')]
      expect(await Promise.all(at.map((each) => texts(store, withPrefix('/'), each)))).toEqual([
        ['/a=1'],
        ['/a=1', '/b=1'],
        ['/a=2', '/b=1'],
        ['/a=2'],
      ])
      const then = await store.get('/b', at[1])
      expect(textOf(then.entry)).toBe('1')
      expectRevision(then.revision, at[3] as number)
      expect((await store.range({ ...withPrefix('/'), at: at[1] as number, limit: 0 })).count).toBe(2)
      const ahead = (at[3] as number) + (isShared ? 1_000 : 1)
      expect(await reasonOf(store.get('/a', ahead))).toBe('future')
      expect(await reasonOf(store.range({ ...withPrefix('/'), at: ahead }))).toBe('future')
    })

    test('forgets what is compacted, and nothing else', async () => {
      const store = await open()
      const [one, , three, , five] = [
        await put(store, '/a', '1'),
        await put(store, '/b', '1'),
        await remove(store, '/a'),
        await put(store, '/b', '2'),
        await put(store, '/c', '1'),
      ]
      await store.compact(three)
      expect(await reasonOf(store.get('/a', one))).toBe('compacted')
      expect(await reasonOf(store.range({ ...withPrefix('/'), at: three - 1 }))).toBe('compacted')
      expect(await texts(store, withPrefix('/'), three)).toEqual(['/b=1'])
      expect(await texts(store, withPrefix('/'))).toEqual(['/b=2', '/c=1'])
      await store.compact(one)
      expect(await texts(store, withPrefix('/'), three)).toEqual(['/b=1'])
      expect(await reasonOf(store.compact(five + (isShared ? 1_000 : 1)))).toBe('future')
      await store.compact(five)
      expect(await texts(store, withPrefix('/'), five)).toEqual(['/b=2', '/c=1'])
      expect(await reasonOf(store.get('/b', five - 1))).toBe('compacted')
      expectRevision(await put(store, '/a', 'again', 0), five + 1)
    })

    test('gives a watch every change behind its revision, once, with what was there before', async () => {
      const store = await open()
      const first = await put(store, '/w/a', '1')
      const watch = recorder(store, { ...withPrefix('/w/'), after: first })
      const before = recorder(store, { ...withPrefix('/w/'), after: first - 1 })
      const second = await put(store, '/w/a', '2')
      await put(store, '/x', 'not it')
      const third = await put(store, '/w/b', '1')
      const fourth = await remove(store, '/w/a')
      const last = await put(store, '/w/a', '3')
      await Promise.all([watch.upTo(last), before.upTo(last)])
      const changes = [`/w/a@${second} 1 > 2`, `/w/b@${third} - > 1`, `/w/a@${fourth} 2 > -`, `/w/a@${last} - > 3`]
      expect(watch.changes.map(lineOf)).toEqual(changes)
      expect(before.changes.map(lineOf)).toEqual([`/w/a@${first} - > 1`, ...changes])
      expect(watch.changes.map(({ current }) => current?.createRevision)).toEqual([first, third, undefined, last])
      watch.watch.close()
      const { calls } = watch.state
      const after = await put(store, '/w/a', '4')
      await before.upTo(after)
      expect([watch.state.calls, watch.state.ended]).toEqual([calls, undefined])
      expect(before.changes).toHaveLength(changes.length + 2)
    })

    test('says when a watch is in place, and how far it is though nothing changes in its range', async () => {
      const store = await open()
      const start = await put(store, '/other', '1')
      const watch = recorder(store, withPrefix('/w/'))
      await expect.poll(() => watch.state.revision).toBeDefined()
      expectRevision(watch.state.revision as number, start)
      const written = await put(store, '/w/a', '1')
      const later = await put(store, '/other', '2')
      await watch.upTo(later)
      expect(watch.changes.map(lineOf)).toEqual([`/w/a@${written} - > 1`])
    })

    test('has a watch of a revision that is yet to come wait for it', async () => {
      const store = await open()
      const now = await store.revision()
      const watch = recorder(store, { ...withPrefix('/w/'), after: now + 2 })
      const written: number[] = []
      for (const text of ['1', '2', '3']) written.push(await put(store, '/w/a', text))
      await watch.upTo(written.at(-1) as number)
      const lines = written.map((revision, at) => `/w/a@${revision} ${at || '-'} > ${at + 1}`)
      expect(watch.changes.map(lineOf)).toEqual(lines.filter((_, at) => (written[at] as number) > now + 2))
      expect(watch.changes.length).toBeGreaterThan(0)
    })

    test('has a watch that begins behind a list miss nothing that is written meanwhile', async () => {
      const store = await open()
      const range = withPrefix('/w/')
      const written: number[] = []
      let isOver = false
      const lane = async (name: string): Promise<void> => {
        for (let at = 0; !isOver; at++) {
          written.push(await put(store, `/w/${name}`, `${at}`))
          // A write in memory takes no time, in which nothing else would be done.
          await new Promise((resolve) => setImmediate(resolve))
        }
      }
      const lanes = Promise.all(['a', 'b', 'c', 'd'].map(lane))
      const watches: { readonly after: number; readonly watch: ReturnType<typeof recorder> }[] = []
      while (watches.length < 40) {
        const { revision: after } = await store.range(range)
        watches.push({ after, watch: recorder(store, { ...range, after }) })
        await new Promise((resolve) => setImmediate(resolve))
      }
      isOver = true
      await lanes
      written.sort((a, b) => a - b)
      const last = written.at(-1) as number
      for (const { after, watch } of watches) {
        await watch.upTo(last)
        expect(watch.changes.map(({ revision }) => revision)).toEqual(written.filter((revision) => revision > after))
      }
    })

    test('ends a watch behind which not all changes are known, and no other', async () => {
      const store = await open()
      const first = await put(store, '/a', '1')
      for (const text of ['2', '3']) await put(store, '/a', text)
      const last = await remove(store, '/b').catch(() => put(store, '/b', '1'))
      await store.compact(last)
      const old = recorder(store, { ...withPrefix('/'), after: last - 1 })
      const older = recorder(store, { ...withPrefix('/'), after: first })
      await expect.poll(() => [old.state.ended?.reason, older.state.ended?.reason]).toEqual(['compacted', 'compacted'])
      // Every key that is there is older than what is compacted: that is no reason to end.
      const latest = recorder(store, { ...withPrefix('/'), after: last })
      const next = await put(store, '/a', '4')
      await latest.upTo(next)
      expect([latest.changes.map(lineOf), latest.state.ended]).toEqual([[`/a@${next} 3 > 4`], undefined])
      await store.compact(next)
      const further = await put(store, '/a', '5')
      await latest.upTo(further)
      expect(latest.changes).toHaveLength(2)
    })

    test('does one of two changes that expect the same, whoever is at it', async () => {
      const store = await open()
      const start = await put(store, '/n', '0')
      const watch = recorder(store, { ...withPrefix('/n'), after: start })
      const written: number[] = []
      const add = async (): Promise<void> => {
        for (;;) {
          const { entry } = await store.get('/n')
          const result = await store.put({
            key: '/n',
            value: bytes(String(Number(textOf(entry)) + 1)),
            expected: entry?.modRevision,
          })
          if (!result.isDone) continue
          // What was acknowledged is there for whoever reads now.
          expect((await store.get('/n')).entry?.modRevision).toBeGreaterThanOrEqual(result.revision)
          written.push(result.revision)
          return
        }
      }
      const each = async (): Promise<void> => {
        for (let count = 0; count < 5; count++) await add()
      }
      await Promise.all(Array.from({ length: 8 }, each))
      expect(textOf((await store.get('/n')).entry)).toBe('40')
      await watch.upTo(Math.max(...written))
      expect(watch.changes.map(({ revision }) => revision)).toEqual(written.sort((a, b) => a - b))
      expect(watch.changes.map(({ current }) => textOf(current))).toEqual(Array.from({ length: 40 }, (_, index) => String(index + 1)))
    })

    test('has at each revision what its changes up to there have made', async () => {
      const keys = fc.constantFrom('/k/a', '/k/b', '/k/c')
      const step = fc.record({ what: fc.constantFrom('put', 'put', 'delete', 'compact'), key: keys, stale: fc.boolean() })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
          const where = await place()
          const { store } = await openAt(where)
          const start = await store.revision()
          const state = new Map<string, string>()
          const known = new Map([[start, new Map(state)]])
          let now = start
          let compacted = start
          const watch = recorder(store, { ...withPrefix('/k/'), after: start })
          for (const [index, { what, key, stale }] of steps.entries()) {
            const current = (await store.get(key)).entry
            const expected = stale ? (current?.modRevision ?? 0) + 1 : (current?.modRevision ?? 0)
            if (what === 'compact') {
              await store.compact(now)
              compacted = now
              continue
            }
            const result =
              what === 'put' ? await store.put({ key, value: bytes(`${index}`), expected }) : await store.delete({ key, expected })
            const isDone = !stale && (what === 'put' || state.has(key))
            expect(result.isDone).toBe(isDone)
            if (!result.isDone) continue
            if (what === 'put') state.set(key, `${index}`)
            else state.delete(key)
            expectRevision(result.revision, now + 1)
            now = result.revision
            known.set(now, new Map(state))
          }
          for (const [at, then] of known) {
            if (at < compacted) continue
            const lines = [...then].map(([key, text]) => `${key}=${text}`).sort()
            expect(await texts(store, withPrefix('/k/'), at)).toEqual(lines)
          }
          await watch.upTo(now)
          const folded = new Map<string, string>()
          for (const { key, current } of watch.changes) {
            if (current === undefined) folded.delete(key)
            else folded.set(key, textOf(current) as string)
          }
          expect(folded).toEqual(state)
          await store.close()
          await where.dispose()
        }),
        { numRuns: 15 },
      )
    })

    test('says that it is closed, to watches as well, and decides what is under way', async () => {
      const store = await open()
      await put(store, '/a', '1')
      const watch = recorder(store, withPrefix('/'))
      await expect.poll(() => watch.state.revision).toBeDefined()
      const underWay = Array.from({ length: 20 }, (_, index) => reasonOf(store.put({ key: `/u/${index}`, value: bytes('1') })))
      await Promise.all([store.close(), store.close()])
      for (const reason of await Promise.all(underWay)) expect(['nothing', 'closed', 'unavailable', 'unknown']).toContain(reason)
      expect(watch.state.ended?.reason).toBe('closed')
      for (const asked of [store.get('/a'), store.revision(), store.put({ key: '/a', value: bytes('2') }), store.range(withPrefix('/'))])
        expect(await reasonOf(asked)).toBe('closed')
      const late = recorder(store, withPrefix('/'))
      await expect.poll(() => late.state.ended?.reason).toBe('closed')
    })

    if (survives)
      test('has all of it when it is opened again', async () => {
        const where = await place()
        places.push(where)
        const { store } = await openAt(where)
        const first = await put(store, '/a', '1')
        const second = await put(store, '/b', '1')
        const third = await remove(store, '/b')
        const last = await put(store, '/a', '2')
        await store.close()
        const { store: again } = await openAt(where)
        expectRevision(await again.revision(), last)
        expect(await texts(again, withPrefix('/'), second)).toEqual(['/a=1', '/b=1'])
        const watch = recorder(again, { ...withPrefix('/'), after: first })
        const next = await put(again, '/a', '3', last)
        expectRevision(next, last + 1)
        await watch.upTo(next)
        expect(watch.changes.map(({ revision }) => revision)).toEqual([second, third, last, next])
        await again.compact(next)
        await again.close()
        const { store: compacted } = await openAt(where)
        expect(await reasonOf(compacted.get('/a', last))).toBe('compacted')
        expectRevision(await compacted.revision(), next)
      })
  })
}
