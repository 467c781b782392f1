// What is written and said when a life is over, or out of time. Fails when: a missed deadline is
// not told, or twice; or lines that are lost after the report was written are not in it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { FinalOutput, type FinalOutputContext } from '#src/lifecycle/final-output.ts'
import { Recorder } from '#src/report/recorder.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { budget } from '../report/lives.ts'

/** The last words of a life that was asked to stop now, and where they go. */
function dying(reportIn?: string) {
  const clock = new VirtualClock()
  const recorder = new Recorder(clock)
  const warnings: unknown[] = []
  recorder.addSink((event) => event.type === 'warning' && warnings.push(event))
  recorder.record({ type: 'signal', name: 'StopRequested', outcome: 'ok', reason: { kind: 'ipc' }, budget })
  const process = new FakeProcess()
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const reportFile = reportIn ?? join(folder, 'report.json')
  const flushes: number[] = []
  const world = { lost: 0, lostInFlush: 0, built: 0 }
  const log = {
    lostLines: () => world.lost,
    flushNow: (ms: number) => {
      flushes.push(ms)
      world.lost += world.lostInFlush
    },
  }
  const report = { build: () => ({ lost: world.lost, built: ++world.built }), lostAuditEvents: 0 }
  const context = { process, recorder, log, report, reportFile, flushReserveMs: 100 } as unknown as FinalOutputContext
  const written = (): unknown => JSON.parse(readFileSync(reportFile, 'utf8'))
  return { words: new FinalOutput(context), clock, warnings, process, flushes, world, written }
}
const LATE = 'the deadline was missed by 251ms: the event loop was blocked, or the process was paused'

test('a deadline that was missed by more than timers are late is told once, in the report or on standard error', async () => {
  const { words, clock, warnings, process } = dying()
  await clock.advance(budget.deadlineMs + 250)
  words.warnIfLate()
  words.sayIfLate()
  expect([warnings, process.stderrText]).toEqual([[], ''])
  await clock.advance(1)
  words.warnIfLate()
  words.warnIfLate()
  words.sayIfLate()
  expect(warnings).toMatchObject([{ message: LATE, details: { late: '251ms' } }])
  expect(process.stderrText).toBe('')
})

test('when the report is written already, standard error says so', async () => {
  const { words, clock, process } = dying()
  await clock.advance(budget.deadlineMs + 251)
  words.sayIfLate()
  words.sayIfLate()
  expect(process.stderrText).toBe(`quiesce: ${LATE} [WARN_DEADLINE_MISSED]\n`)
})

test('a log that loses lines while it is flushed has its report written once more', () => {
  const { words, flushes, world, written } = dying()
  world.lostInFlush = 2
  words.write(0)
  expect(flushes).toEqual([100])
  expect(written()).toEqual({ lost: 2, built: 2 })
})

test.each([
  [1, '1 log line was lost'],
  [2, '2 log lines were lost'],
])('lines that are lost after the report was written are in it and on standard error: %d', async (lost, said) => {
  const { words, process, world, written } = dying()
  await words.writeReport(0, new AbortController().signal)
  words.sayLost(0)
  expect([process.stderrText, written()]).toEqual(['', { lost: 0, built: 1 }])
  world.lost = lost
  words.sayLost(0)
  expect(process.stderrText).toBe(`quiesce: ${said} [WARN_LOG_LOST]\n`)
  expect(written()).toEqual({ lost, built: 2 })
})

test('a report that went into a device is not written there twice', async () => {
  const { words, world } = dying('/dev/null')
  await words.writeReport(0, new AbortController().signal)
  world.lost = 1
  words.sayLost(0)
  expect(world.built).toBe(1)
})

test('a report that was given up is not taken for written', async () => {
  const { words, world } = dying()
  const stop = new AbortController()
  const writing = words.writeReport(0, stop.signal)
  stop.abort()
  await writing.catch(() => {})
  world.lost = 1
  words.sayLost(0)
  expect(world.built).toBe(1)
})
