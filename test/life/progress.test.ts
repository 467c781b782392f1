import { expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { newLife } from '../support/life.ts'

/** Milliseconds from now until something happens, for which time is moved on. */
async function until(clock: VirtualClock, happened: () => boolean): Promise<number> {
  const begin = clock.now()
  while (!happened()) await clock.advance(10)
  return clock.now() - begin
}

test('an end says truly how long it may still take: each phase until its own limit or its cut, the whole until its deadline', async () => {
  const clock = new VirtualClock()
  const made = newLife({ clock, options: { shutdownDelay: '2s', deadline: '20s' } })
  const { life } = made
  life.addPreShutdownHook('hangs', () => new Promise(() => {}), { timeout: '1h' })
  const ended = (phase: string) => () => made.events.some((event) => event.type === 'phase.ended' && event.phase === phase)
  await life.start()
  expect(life.status.progress()).toBeUndefined()

  const hold = life.hold('import')
  const report = life.stop('the test asks')
  await clock.advance(500)
  expect(life.status.progress()).toMatchObject({ reason: { kind: 'stop', reason: 'the test asks' }, sinceMs: 500, leftMs: 19_500 })
  const left = (phase: string): number => life.status.progress()?.phases.find(({ name }) => name === phase)?.leftMs as number
  expect(left('shutdown-delay')).toBe(1_500)
  // Gradual: every response tells after half of the delay.
  expect(left('notify-clients')).toBe(500)
  expect(left('notify-clients')).toBeCloseTo(await until(clock, ended('notify-clients')), -2)
  expect(left('shutdown-delay')).toBeCloseTo(await until(clock, ended('shutdown-delay')), -2)
  expect(left('pre-shutdown-hooks')).toBeCloseTo(await until(clock, ended('pre-shutdown-hooks')), -2)
  expect(left('request-drain')).toBeCloseTo(await until(clock, ended('request-drain')), -2)
  hold[Symbol.dispose]()
  await made.end(report)
  expect(life.status.progress()?.phases).toEqual([])
})

test('a crash meanwhile takes time away and gives none', async () => {
  const clock = new VirtualClock()
  const made = newLife({ clock, options: { deadline: '60s', crashDeadline: '5s' } })
  const { life } = made
  await life.start()
  life.hold('import')
  const report = life.stop('the test asks')
  await clock.advance(1_000)
  const before = life.status.progress()?.leftMs as number
  life.root.send({ type: 'process.crashed', origin: 'uncaughtException', error: { name: 'Error', message: 'boom' } })
  const after = life.status.progress()?.leftMs as number
  expect(after).toBeLessThan(before)
  let isOver = false
  void report.then(() => (isOver = true))
  expect(await until(clock, () => isOver)).toBeLessThanOrEqual(after + 10)
})

test('what is registered or asked for meanwhile is no crash, and takes no time away', async () => {
  const clock = new VirtualClock()
  const made = newLife({ clock, options: { deadline: '60s', crashDeadline: '5s' } })
  const { life } = made
  await life.start()
  const hold = life.hold('import')
  const report = life.stop('the test asks')
  await clock.advance(500)
  void life.stop('once more')
  life.addDestroy('pool', () => {})
  expect(life.status.progress()).toMatchObject({ reason: { reason: 'the test asks' }, leftMs: 59_500 })
  hold[Symbol.dispose]()
  await made.end(report)
})
