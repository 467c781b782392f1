// What is known of a life by its events, and when they are said to have come. Fails when: a time
// does not count from the beginning of the life, or an event changes what it does not tell of.
import { expect, test } from 'vitest'
import type { HookKind, LifecycleEvent } from '#src/base/events.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { Recorder } from '#src/report/recorder.ts'
import { cutsOf, failureIn, NOTHING_KNOWN, phaseOfHook, reduceLife } from '#src/report/view.ts'
import { budget } from './lives.ts'

async function recorder() {
  const clock = new VirtualClock({ now: 1_000 })
  const made = new Recorder(clock)
  const events: LifecycleEvent[] = []
  made.addSink((event) => events.push(event))
  await clock.advance(300)
  return { clock, made, events }
}
const hook = { kind: 'destroy', name: 'pool' } as const

test('times count from the beginning of the life', async () => {
  const { made, events } = await recorder()
  made.record({ type: 'warning', message: 'late' })
  expect(events).toStrictEqual([{ at: 300, type: 'warning', message: 'late' }])
  expect(made.elapsed).toBe(300)
})

test('a hook has taken the time since it began, or what it says itself, and none when it never began', async () => {
  const { clock, made, events } = await recorder()
  const ended = { type: 'hook.ended', outcome: 'ok' } as const
  made.record({ type: 'hook.started', ...hook })
  await clock.advance(50)
  made.record({ ...ended, ...hook })
  made.record({ ...ended, ...hook, durationMs: 7 })
  made.record({ ...ended, kind: 'destroy', name: 'other' })
  expect(events.map((event) => ('durationMs' in event ? event.durationMs : undefined))).toEqual([undefined, 50, 7, 0])
})

test('a phase of hooks fails by the errors of its own hooks, in the order of their ends', async () => {
  const { clock, made, events } = await recorder()
  const ends = async (kind: HookKind, name: string, message: string) => {
    await clock.advance(1)
    made.record({ type: 'hook.ended', kind, name, outcome: 'failed', error: { name: 'Error', message } })
  }
  for (const name of ['a', 'b']) made.record({ type: 'hook.started', kind: 'pre-shutdown', name })
  await ends('pre-shutdown', 'b', 'y')
  await ends('pre-shutdown', 'a', 'pre-shutdown hook "a" did not end within 1s')
  made.record({ type: 'hook.ended', kind: 'pre-shutdown', name: 'c', outcome: 'cut' })
  await ends('post-start', 'd', 'z')
  await ends('destroy', 'pool', 'shut')
  for (const phase of ['pre-shutdown-hooks', 'destroy', 'request-drain']) made.record({ type: 'phase.ended', phase, outcome: 'failed' })
  made.record({ type: 'phase.ended', phase: 'destroy', outcome: 'failed', error: { name: 'Error', message: 'its own' } })
  made.record({ type: 'phase.ended', phase: 'destroy', outcome: 'cut' })
  expect(events.flatMap((event) => (event.type === 'phase.ended' ? [event.error] : []))).toEqual([
    { name: 'AggregateError', message: '[PreShutdownHook "b" failed: y, PreShutdownHook "a" failed: did not end within 1s]' },
    { name: 'AggregateError', message: 'destroy function "pool" failed: shut' },
    undefined,
    { name: 'Error', message: 'its own' },
    undefined,
  ])
})

test('a crash takes time from the stop that is under way, and the rows of a life say what is cut when', async () => {
  const { made } = await recorder()
  made.composed({ drain: { lane: 'stop', cut: 'Cut.requests' }, 'notify-clients': { lane: 'stop' } } as never)
  expect(Object.entries(made.view.cuts)).toEqual([['drain', 'Cut.requests']])
  made.record({ type: 'signal', name: 'StopRequested', outcome: 'ok', reason: { kind: 'ipc' }, budget })
  made.crashed(budget)
  expect(made.view.stop?.crash).toEqual({ at: 300, budget })
})

test('a row without a cut is in no list of cuts', () => {
  expect(Object.keys(cutsOf({ 'notify-clients': { lane: 'stop' } }))).toEqual([])
})

test('listeners are open until they are closed, each by its address', () => {
  const listening = (port: number, more: object = {}) =>
    ({ at: 1, type: 'listening', url: `http://[::]:${port}`, address: '::', port, admin: false, ...more }) as LifecycleEvent
  const events = [listening(1), listening(2, { admin: true, inspector: true }), { at: 2, type: 'stopped-listening', url: 'http://[::]:1' }]
  expect((events as LifecycleEvent[]).reduce(reduceLife, NOTHING_KNOWN).listeners).toStrictEqual([
    { url: 'http://[::]:1', admin: false, isOpen: false },
    { url: 'http://[::]:2', admin: true, inspector: true, isOpen: true },
  ])
})

test('a hook that is told of at its end only began so long before', () => {
  const view = reduceLife(NOTHING_KNOWN, { at: 100, type: 'hook.ended', ...hook, outcome: 'ok', durationMs: 30 })
  expect([...view.hooks.values()]).toMatchObject([{ startedAt: 70, endedAt: 100 }])
})

test('a hook belongs to the phase of its kind, and a phase of the user is one', () => {
  expect([phaseOfHook({ kind: 'phase', name: 'cache' }), phaseOfHook(hook)]).toEqual(['cache', 'destroy'])
})

test('a failure is an event with an error, wherever one may stand; not one that forces the end', () => {
  const error = { name: 'Error', message: 'no' }
  const ended = { at: 1, type: 'hook.ended', ...hook, outcome: 'failed', durationMs: 1 } as const
  expect(failureIn({ ...ended, error })).toEqual({ where: 'destroy hook "pool"', error })
  expect(failureIn(ended)).toBeUndefined()
  expect(failureIn({ ...ended, error: undefined } as unknown as LifecycleEvent)).toBeUndefined()
  expect(failureIn({ at: 1, type: 'forced', why: 'second-crash', error })).toBeUndefined()
})
