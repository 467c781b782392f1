// An informer before a server that behaves badly. Fails when: at rest its cache is not what there
// is, an event is lost or given twice, it asks more often than its back-off allows, or it lists
// where it could have watched.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createInformer, type InformerEvent, isNewer } from '#apiserver/informer/informer.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { seed } from '../support/seed.ts'
import { ScriptedSource } from './scripted-source.ts'

function following({ resync = 0, source = new ScriptedSource() }: { resync?: number; source?: ScriptedSource } = {}) {
  const clock = new VirtualClock()
  const events: InformerEvent[] = []
  const failures: unknown[] = []
  const informer = createInformer(source, {
    clock,
    random: () => 0.5,
    resync,
    failed: (error) => void failures.push(error),
    indexers: { first: ({ metadata }) => [metadata.name.slice(0, 1)] },
  })
  informer.events$.subscribe((event) => void events.push(event))
  const stop = new AbortController()
  const ended = informer.run(stop.signal)
  return { clock, source, informer, events, failures, stop, ended }
}

const told = (events: readonly InformerEvent[]): string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata.name}@${object.metadata.resourceVersion}`)

const versions = (objects: Iterable<{ readonly metadata: { readonly name: string; readonly resourceVersion?: string } }>): string[] =>
  [...objects].map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort()

describe('an informer', () => {
  test('lists once, and then watches', async () => {
    const source = new ScriptedSource()
    source.write('a', false)
    const { clock, informer, events, stop, ended } = following({ source })
    expect(informer.hasSynced).toBe(false)
    await clock.advance(0)
    await informer.synced()
    source.write('b', false)
    source.write('a', false)
    source.write('b', true)
    expect(told(events)).toEqual(['added a@101', 'added b@102', 'updated a@103', 'deleted b@104'])
    expect([source.lists, source.watches, informer.resourceVersion]).toEqual([1, 1, '104'])
    expect(informer.byIndex('first', 'a').map(({ metadata }) => metadata.name)).toEqual(['a'])
    expect(informer.byIndex('first', 'b')).toEqual([])
    expect(() => informer.byIndex('second', 'b')).toThrow('index of byIndex()')
    informer.addIndexers({ second: () => ['all'] })
    expect(informer.byIndex('second', 'all')).toHaveLength(1)
    expect(() => informer.addIndexers({ second: () => [] })).toThrow('index "second" is there already')
    stop.abort()
    await ended
    expect([source.openWatches, clock.pending]).toEqual([0, 0])
  })

  test('goes on behind the last version when its watch has ended, at once where it was of use', async () => {
    const { clock, source, events } = following()
    await clock.advance(0)
    source.write('a', false)
    source.end()
    await clock.advance(0)
    source.write('b', false)
    expect(told(events)).toEqual(['added a@101', 'added b@102'])
    expect([source.lists, source.watches]).toEqual([1, 2])
  })

  test.each([
    [true, 1],
    [false, 2],
  ])('of a quiet kind with bookmarks (%s) lists %i times', async (hasBookmarks, lists) => {
    const { clock, source } = following()
    await clock.advance(0)
    // What is written is of other kinds.
    source.revision += 50
    source.end()
    await clock.advance(2_000)
    if (hasBookmarks) source.bookmark()
    source.forget()
    source.end()
    await clock.advance(20_000)
    expect([source.lists, source.openWatches]).toEqual([lists, 1])
  })

  test('lists again when its version is too old, and says what has become of each object', async () => {
    const { clock, source, events, failures } = following()
    source.write('gone', false)
    source.write('kept', false)
    source.write('changed', false)
    source.write('replaced', false)
    await clock.advance(0)
    source.isStalled = true
    events.length = 0
    source.write('gone', true)
    source.write('changed', false)
    source.write('replaced', true)
    source.write('replaced', false)
    source.write('new', false)
    source.forget()
    source.end(new Error('socket hang up'))
    source.isStalled = false
    await clock.advance(5_000)
    expect(told(events)).toEqual(['deleted gone@101', 'updated changed@106', 'deleted replaced@104', 'added replaced@108', 'added new@109'])
    expect(failures.map(String)).toEqual(['Error: socket hang up'])
  })

  test('gives who comes later what is there, and then what happens', async () => {
    const { clock, source, informer } = following()
    source.write('a', false)
    await clock.advance(0)
    const late: InformerEvent[] = []
    informer.events$.subscribe((event) => void late.push(event))
    source.write('b', false)
    expect(told(late)).toEqual(['added a@101', 'added b@102'])
  })

  test('reminds of every object', async () => {
    const { clock, source, events } = following({ resync: 1_000 })
    source.write('a', false)
    await clock.advance(2_500)
    expect(told(events)).toEqual(['added a@101', 'resync a@101', 'resync a@101'])
  })

  test('waits longer and longer, and at last a minute at most', async () => {
    const { clock, source, failures } = following()
    source.failingLists = Number.POSITIVE_INFINITY
    await clock.advance(0)
    const times = []
    for (let last = 1; times.length < 8; last = source.lists) {
      const from = clock.now()
      while (source.lists === last) await clock.runToNext()
      times.push(clock.now() - from)
    }
    expect(times).toEqual([1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 45_000, 45_000])
    expect(failures).toHaveLength(9)
    source.failingLists = 0
    await clock.advance(60_000)
    expect(source.openWatches).toBe(1)
  })

  test('does not ask for ever at once a server whose watches end at once', async () => {
    const { clock, source } = following()
    source.watch = () => {
      source.watches++
      throw new Error('no watches here')
    }
    await clock.advance(60_000)
    expect(source.watches).toBeLessThan(10)
  })

  test('that is not synced is waited for until the signal', async () => {
    const { informer, source } = following()
    source.failingLists = Number.POSITIVE_INFINITY
    const over = new AbortController()
    const waiting = informer.synced(over.signal)
    over.abort(new Error('too late'))
    await expect(waiting).rejects.toThrow('too late')
  })
})

test('versions are compared as numbers, whatever their length', () => {
  expect([isNewer('10', '9'), isNewer('9', '10'), isNewer('10', '10'), isNewer('18446744073709551615', '9007199254740993')]).toEqual([
    true,
    false,
    false,
    true,
  ])
})

type Act = (scene: ReturnType<typeof following>) => unknown

const acts: fc.Arbitrary<{ readonly text: string; readonly act: Act }> = fc.oneof(
  ...(
    [
      [
        6,
        fc
          .tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean())
          .map(([name, isDeletion]) => [`${isDeletion ? 'delete' : 'write'} ${name}`, ({ source }) => source.write(name, isDeletion)]),
      ],
      [2, fc.integer({ min: 1, max: 90_000 }).map((ms) => [`${ms} ms`, ({ clock }) => clock.advance(ms)])],
      [1, fc.constant(['end', ({ source }) => source.end()])],
      [1, fc.constant(['break', ({ source }) => source.end(new Error('socket hang up'))])],
      [1, fc.constant(['forget', ({ source }) => source.forget()])],
      [1, fc.boolean().map((is) => [is ? 'stall' : 'flow', ({ source }) => source.stall(is)])],
      [1, fc.integer({ min: 1, max: 4 }).map((count) => [`repeat ${count}`, ({ source }) => source.repeatLast(count)])],
      [1, fc.constant(['bookmark', ({ source }) => source.bookmark()])],
      [
        1,
        fc
          .integer({ min: 1, max: 3 })
          .map((count) => [`fail ${count}`, ({ source }) => (source.failingLists = source.failingWatches = count)]),
      ],
    ] as readonly (readonly [number, fc.Arbitrary<readonly [string, Act]>])[]
  ).map(([weight, arbitrary]) => ({ weight, arbitrary: arbitrary.map(([text, act]) => ({ text, act, toString: () => text })) })),
)

test(`at rest the cache is what there is, and no event was lost or came twice (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { maxLength: 40 }), async (script) => {
      const scene = following()
      await scene.clock.advance(0)
      for (const { act } of script) {
        await act(scene)
        await scene.clock.advance(0)
      }
      const { source, clock, informer, events, stop, ended } = scene
      source.isStalled = false
      source.failingLists = source.failingWatches = 0
      source.deliver()
      await clock.advance(180_000)
      expect(versions(informer.list())).toEqual(versions(source.objects.values()))
      // Each object's own history, in order, without a step that cannot follow.
      const seen = new Map<string, string>()
      for (const { type, object } of events) {
        const { name, uid, resourceVersion = '' } = object.metadata
        const before = seen.get(name)
        if (type === 'added') expect(before).toBeUndefined()
        else expect(before?.split('@')[0]).toBe(uid)
        if (type === 'updated') expect(isNewer(resourceVersion, before?.split('@')[1] ?? '')).toBe(true)
        if (type === 'deleted') seen.delete(name)
        else seen.set(name, `${uid}@${resourceVersion}`)
      }
      // Without a second list nothing may be left out.
      if (source.lists === 1)
        expect(told(events)).toEqual(
          source.written.map(
            ({ event: { type, object } }) =>
              `${{ ADDED: 'added', MODIFIED: 'updated', DELETED: 'deleted' }[type]} ${object.metadata.name}@${object.metadata.resourceVersion}`,
          ),
        )
      stop.abort()
      await ended
      expect(clock.pending).toBe(0)
    }),
    { numRuns: 300 },
  )
})
