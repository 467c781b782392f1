// What run() does to its process beside ending it. Fails when: it changes what the program has
// decided, keeps listening after the end, or says what nobody is to read. Signals:
// test/life/signals.test.ts.
import { spawn } from 'node:child_process'
import { getEventListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Subject } from 'rxjs'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { HostProcess } from '#src/actors/host.ts'
import { nodeServers } from '#src/actors/server-factories.ts'
import { deferred } from '#src/base/deferred.ts'
import type { LifecycleEvent, LifecycleFact } from '#src/base/events.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { ExitCode } from '#src/machines/exit-codes.ts'
import { type LifecycleOptions, resolveLifecycleOptions } from '#src/options/options.ts'
import type { StopSignal } from '#src/options/rows/stop-signals.ts'
import { ProcessEnd } from '#src/process/process-end.ts'
import { type RunnableLife, runLifecycle } from '#src/process/run.ts'
import type { Report } from '#src/report/report.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { newAttachedLife, newLife } from '../support/life.ts'

async function running(options: NonNullable<Parameters<typeof newLife>[0]>['options'] = {}, prepare?: (process: FakeProcess) => void) {
  const t = newLife({ options })
  prepare?.(t.process)
  const ended = t.life.run()
  await t.fired('PostStartHooksLaunched')
  return { ...t, t, ended }
}

test('a crash ends the life beside other listeners, which are named', async () => {
  const heard: unknown[] = []
  const { t, ended } = await running({}, (process) => process.on('uncaughtException', (error) => void heard.push(error)))
  expect(t.life.status.report.warnings).toMatchObject([
    {
      message: expect.stringMatching(/^uncaughtException: the program has a listener of its own, which runs too/) as string,
      details: { code: 'WARN_OTHER_LISTENERS', crashes: ['uncaughtException'] },
    },
  ])
  t.process.on('unhandledRejection', () => {})
  const boom = new Error('boom')
  t.process.crash(boom)
  expect(await t.end(ended)).toMatchObject({ exitCode: 1, reason: { kind: 'crash' }, errors: [{ error: { message: 'boom' } }] })
  expect(heard).toEqual([boom])
  // The one that came later is looked for at the stop.
  expect(t.life.status.report.warnings.map(({ details }) => details)).toContainEqual({
    code: 'WARN_OTHER_LISTENERS',
    crashes: ['unhandledRejection'],
  })
})

test('a capture callback, which takes exceptions from every listener, is said once', async () => {
  const { t, ended } = await running({}, (process) => Object.assign(process, { hasUncaughtExceptionCaptureCallback: () => true }))
  t.process.emit('uncaughtExceptionMonitor', new Error('captured'))
  const said = t.life.status.report.warnings.filter(({ message }) => message.includes('setUncaughtExceptionCaptureCallback'))
  expect(said).toHaveLength(1)
  expect(t.process.stderrText.match(/quiesce: process\.setUncaughtExceptionCaptureCallback/g)).toHaveLength(1)
  t.process.signal('SIGTERM')
  expect(await t.end(ended)).toMatchObject({ exitCode: 0 })
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

test('the option `signal` stops a life that start() has begun, and has no listener after its end', async () => {
  const stop = new AbortController()
  const t = newLife({ options: { signal: stop.signal } })
  await t.life.start()
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1)
  stop.abort(new Error('enough'))
  expect(await t.end(t.life.ended)).toMatchObject({ exitCode: 0, reason: { kind: 'abort-signal', reason: 'enough' } })
  expect(getEventListeners(stop.signal, 'abort')).toEqual([])

  const attached = newAttachedLife(createServer().listen(0, '127.0.0.1'), {
    options: { signal: AbortSignal.abort(new Error('not today')) },
  })
  await expect(attached.life.start()).rejects.toMatchObject({ code: 'ERR_STOPPED_DURING_START' })
  expect(await attached.end(attached.life.ended)).toMatchObject({ reason: { kind: 'abort-signal', reason: 'not today' } })
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

interface Told extends Partial<Omit<RunnableLife, 'options'>> {
  readonly options?: LifecycleOptions
  readonly env?: Record<string, string>
  readonly run?: typeof runLifecycle
  /** Default: one of its own. */
  readonly inProcess?: HostProcess
}

/** A life that does what the test says, in a time of its own. */
function notified({ options, env = {}, run = runLifecycle, inProcess, ...given }: Told = {}) {
  const process = new FakeProcess()
  const clock = new VirtualClock()
  const events = new Subject<LifecycleEvent>()
  const facts: LifecycleFact[] = []
  const report = deferred<Report>()
  const life: RunnableLife = {
    host: { process: inProcess ?? process.asHostProcess(), clock, random: () => 0, servers: nodeServers },
    options: resolveLifecycleOptions(
      { exit: 'explicit', ...options },
      { facts: { env, pid: 4711, terminal: false, containerFile: false } },
    ),
    record: (fact) => void facts.push(fact),
    events$: events,
    ended: report.promise,
    exitGraceMs: 1_000,
    isSilent: false,
    begin: () => {},
    start: () => Promise.resolve(),
    requestStop: () => {},
    signalled: () => {},
    crashed: () => {},
    present: () => undefined,
    sayIfLate: () => {},
    ...given,
  }
  const released = new AbortController()
  const ended = run(life, released.signal)
  const end = async (exitCode: ExitCode): Promise<void> => {
    report.resolve({
      exitCode,
      ms: {},
      lost: [],
      errors: [],
      warnings: [],
      hooks: [],
      handlers: [],
      watches: {},
      connections: {},
    } as unknown as Report)
    await ended
  }
  return { process, clock, events, facts, released, end }
}

test.each([
  ['the grace of its life', 0, 1_000, 1_000],
  ['the same when the deadline has cut it', 5, 1_000, 1_000],
  ['the time in which what was destroyed closes when none is left', 5, 0, 10],
] as const)('a process that does not end by itself has %s', async (_, exitCode, exitGraceMs, graceMs) => {
  const { process, clock, end } = notified({ exitGraceMs, present: () => Promise.resolve({ saysWhy: true, end: () => {} }) })
  await end(exitCode)
  expect([process.exits, clock.pending]).toEqual([[], 1])
  await clock.runToNext()
  expect([process.exits, clock.now()]).toEqual([[exitCode], graceMs])
})

test.each([
  ['that says itself why it did not end in order has this from nowhere else', true, ''],
  ['that does not has it from standard error', false, 'quiesce: exit code 4: '],
])('a life is shown to its end, and what shows it %s', async (_, saysWhy, said) => {
  const shown: unknown[] = []
  const { process, end } = notified({ present: () => Promise.resolve({ saysWhy, end: ({ exitCode }) => shown.push(exitCode) }) })
  await end(4)
  expect(shown).toEqual([4])
  expect(process.stderrText.slice(0, said.length || undefined)).toBe(said)
})

test('a life that is shown knows which signals end it: those of its options, until the process is given back', async () => {
  let endsBySignal: (signal: StopSignal) => boolean = () => false
  const { released, end } = notified({
    present: (given) => {
      endsBySignal = given
      return undefined
    },
  })
  expect((['SIGINT', 'SIGQUIT'] as const).map(endsBySignal)).toEqual([true, false])
  released.abort()
  expect((['SIGINT', 'SIGQUIT'] as const).map(endsBySignal)).toEqual([false, false])
  await end(0)
})

test('another listener of a signal is looked for at the stop, not at each event', async () => {
  const { process, events, facts, end } = notified()
  process.on('SIGINT', () => {})
  events.next({ type: 'signal', name: 'PostStartHooksLaunched' } as LifecycleEvent)
  events.next({ type: 'phase.started', name: 'StopRequested' } as unknown as LifecycleEvent)
  expect(facts).toEqual([])
  events.next({ type: 'signal', name: 'StopRequested' } as LifecycleEvent)
  expect(facts).toMatchObject([{ type: 'warning', details: { signals: ['SIGINT'] } }])
  await end(0)
  expect(events.observed).toBe(false)
})

test('a crash of what is no error is said by its text', async () => {
  const { process, end } = notified({ isSilent: true })
  process.crash('boom')
  expect(process.stderrText).toBe('quiesce: uncaughtException: boom\n')
  await end(0)
})

describe.runIf(process.platform === 'linux')('a process that a shell keeps from hearing SIGTERM', () => {
  /** Lives that are the first in a process behind such a shell. */
  async function behindShell() {
    const shell = spawn('sh', ['-c', 'read line; true'], { stdio: ['pipe', 'ignore', 'ignore'] })
    await expect.poll(() => readFileSync(`/proc/${shell.pid}/cmdline`, 'utf8')).toContain('read line')
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const real = process.ppid
    const setParent = (pid = shell.pid) => Object.defineProperty(process, 'ppid', { configurable: true, get: () => pid })
    setParent()
    onTestFinished(() => {
      setParent(real)
      write.mockRestore()
      shell.kill()
    })
    vi.resetModules()
    const run = (await import('#src/process/run.ts')).runLifecycle
    /** What a life in the process, or in another, is warned about; vitest's own listeners aside. */
    const warned = async (options: LifecycleOptions = {}, host = process as HostProcess) => {
      const { facts, released, end } = notified({
        run,
        inProcess: host,
        options: { ...options, signals: [] },
        env: { npm_lifecycle_script: 'read line' },
      })
      released.abort()
      await end(0)
      return facts.flatMap((fact) => ('message' in fact && !fact.message.includes('has a listener') ? [fact.message] : []))
    }
    return { warned, written: () => write.mock.calls.flat(), setParent }
  }
  const WORDS = expect.stringContaining('npm has started this process through a shell, which does not pass SIGTERM on') as string

  test('says so once, in the report and on standard error', async () => {
    const { warned, written } = await behindShell()
    expect(await warned()).toEqual([WORDS])
    expect(await warned()).toEqual([])
    expect(written()).toEqual([expect.stringMatching(/^quiesce: npm has started .*\n$/)])
  })

  test('without a log, says so in the report only', async () => {
    const { warned, written } = await behindShell()
    expect(await warned({ logger: false })).toEqual([WORDS])
    expect(written()).toEqual([])
  })

  test('says nothing of lives in other processes, nor when its parent is no shell', async () => {
    const { warned, written, setParent } = await behindShell()
    expect(await warned({}, new FakeProcess().asHostProcess())).toEqual([])
    setParent(process.pid)
    expect(await warned()).toEqual([])
    setParent()
    expect(await warned()).toEqual([WORDS])
    expect(written()).toHaveLength(1)
  })
})
