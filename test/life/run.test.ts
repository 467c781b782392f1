// What run() does to its process beside ending it. Fails when: it changes what the program has
// decided, keeps listening after the end, or says what nobody is to read. Signals:
// test/life/signals.test.ts.
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { ProcessEnd } from '#src/process/process-end.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { newLife } from '../support/life.ts'

async function running(options: NonNullable<Parameters<typeof newLife>[0]>['options'] = {}, prepare?: (process: FakeProcess) => void) {
  const t = newLife({ options })
  prepare?.(t.process)
  const ended = t.life.run()
  await t.fired('PostStartHooksLaunched')
  return { ...t, t, ended }
}

test('a crash that has a listener already is left to it, and said so', async () => {
  const { t, ended } = await running({}, (process) => process.on('uncaughtException', () => {}))
  expect(t.life.report.warnings.map(({ message }) => message)).toEqual([
    'uncaughtException has a listener already: crashes are left to it and do not stop the server',
  ])
  t.process.crash(new Error('boom'))
  t.process.signal('SIGTERM')
  expect(await t.end(ended)).toMatchObject({ exitCode: 0, errors: [] })
})

test('a standard error without a reader is no crash, and who handles that already does so alone', async () => {
  const { t } = await running()
  expect(() => t.process.stderr.emit('error', new Error('EPIPE'))).not.toThrow()
  const handled = await running({}, (process) => process.stderr.on('error', () => {}))
  expect(handled.t.process.stderr.listenerCount('error')).toBe(1)
})

test('the option `signal` has no listener after the end', async () => {
  const stop = new AbortController()
  const { t, ended } = await running({ signal: stop.signal })
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1)
  await t.end()
  await ended
  expect(getEventListeners(stop.signal, 'abort')).toEqual([])
})

test('a signal that was aborted before the start stops the life, for its reason', async () => {
  const t = newLife({ options: { signal: AbortSignal.abort(new Error('not today')) } })
  expect(await t.end(t.life.run())).toMatchObject({ reason: { kind: 'abort-signal', reason: 'not today' } })
})

test.each([
  ['of an end in order, nothing', {}, () => {}, ''],
  ['of another, why', {}, () => Promise.reject(new Error('no')), 'quiesce: exit code 4: '],
  ['of another without a log, nothing', { logger: false }, () => Promise.reject(new Error('no')), ''],
] as const)('standard error says %s', async (_, options, destroy, said) => {
  const { t, ended } = await running(options)
  t.life.addDestroy('pool', destroy)
  await t.end()
  await ended
  expect(t.process.stderrText.slice(0, said.length || undefined)).toBe(said)
})

/** A life that leaves the process, with nothing said about how. */
const LEAVING = {
  exitCode: 0,
  isForced: false,
  exit: 'natural',
  signals: new Set(['SIGTERM' as const]),
  graceMs: 1_000,
  exits: () => {},
} as const

function end() {
  const process = new FakeProcess()
  const clock = new VirtualClock()
  const of = ProcessEnd.of(process.asHostProcess())
  const leave = (given: Partial<Parameters<ProcessEnd['leave']>[0]>) => of.leave({ ...LEAVING, clock, ...given })
  return { process, clock, of, leave }
}

test('the exit code is that of the life that ended worst, unless the program has set one', () => {
  const { process, of, leave } = end()
  for (let i = 0; i < 3; i++) of.join()
  const codes = ([0, 5, 4] as const).map((exitCode) => {
    leave({ exitCode })
    return process.exitCode
  })
  expect(codes).toEqual([0, 5, 5])
  process.exitCode = 9
  of.join()
  leave({ exitCode: 1 })
  expect(process.exitCode).toBe(9)
  expect(process.exits).toEqual([])
})

test('a life that begins while the process is about to end keeps it', async () => {
  const { process, clock, of, leave } = end()
  of.join()
  leave({ exit: 'explicit' })
  expect(['SIGTERM', 'exit'].map((event) => process.listenerCount(event))).toEqual([1, 1])
  of.join()
  expect(['SIGTERM', 'exit'].map((event) => process.listenerCount(event))).toEqual([0, 0])
  await clock.advance(10_000)
  expect([process.exits, process.stderrText]).toEqual([[], ''])
})
