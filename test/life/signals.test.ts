// Which OS signals stop what run() runs, and how the process is given back. Fails when: a signal
// that was chosen is not heard or one that was not still is, the process keeps a listener of a life
// that has ended or has given it back, another listener of a signal is not warned about, or a name
// that no signal has, or that no program can hear, is taken in silence.
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { resolveLifecycleOptions } from '#src/options/options.ts'
import { chosenSignals, type SignalsOption, STOP_SIGNALS } from '#src/options/rows/stop-signals.ts'
import { othersListen } from '#src/process/os-signals.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { newLife } from '../support/life.ts'

const heard = (process: FakeProcess): string[] => STOP_SIGNALS.filter((signal) => process.listenerCount(signal) > 0)

async function running(signals?: SignalsOption) {
  const t = newLife({ options: { ...(signals && { signals }) } })
  const ended = t.life.run()
  await t.fired('PostStartHooksLaunched')
  return { t, ended }
}

describe('the option signals', () => {
  test.each<[string, SignalsOption | undefined, string[]]>([
    ['is three signals by default', undefined, ['SIGTERM', 'SIGINT', 'SIGHUP']],
    ['is replaced by a list', ['SIGUSR2'], ['SIGUSR2']],
    ['may be none', [], []],
    ['has more', { add: ['SIGQUIT', 'SIGUSR2'] }, ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']],
    ['has less', { skip: ['SIGHUP'] }, ['SIGTERM', 'SIGINT']],
    ['has some more and some less', { add: ['SIGQUIT'], skip: ['SIGHUP', 'SIGINT'] }, ['SIGTERM', 'SIGQUIT']],
    ['is the default when nothing changes', {}, ['SIGTERM', 'SIGINT', 'SIGHUP']],
  ])('%s', async (_, signals, expected) => {
    const { t, ended } = await running(signals)
    expect(heard(t.process)).toEqual(expected)
    await t.end(t.life.stop())
    await ended
    expect(heard(t.process)).toEqual([])
  })

  test.each(['SIGQUIT', 'SIGUSR2'] as const)('%s stops in order, and the next one means now', async (signal) => {
    const { t } = await running({ add: [signal] })
    t.process.signal(signal)
    expect((await t.end(t.life.ended)).reason).toEqual({ kind: 'os-signal', signal })
  })

  test('has SIGBREAK on Windows', () => {
    expect([...chosenSignals(undefined, 'win32')]).toEqual(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGBREAK'])
    expect([...chosenSignals({ skip: ['SIGBREAK'] }, 'win32')]).toEqual(['SIGTERM', 'SIGINT', 'SIGHUP'])
  })

  test.each<[unknown, string]>([
    [['SIGTREM'], '(did you mean "SIGTERM"?)'],
    [{ skip: ['SIGHUB'] }, '(did you mean "SIGHUP"?)'],
    [['SIGTERM', 'SIGKILL'], '(SIGKILL: no process can hear it)'],
    [{ add: ['SIGUSR1'] }, '(SIGUSR1: node starts its debugger with it)'],
    [{ add: ['SIGSEGV'] }, '(SIGSEGV: after it no JavaScript can run)'],
    ['SIGTERM', 'signals: got "SIGTERM", allowed: a list of SIGTERM, SIGINT, '],
    [{ without: ['SIGHUP'] }, 'or { add, skip } with such lists'],
    [{ add: 'SIGQUIT' }, 'or { add, skip } with such lists'],
    [[15], 'signals: got [15], allowed: a list of'],
  ])('refuses %j', (signals, message) => {
    const facts = { env: {}, pid: 4711, terminal: false, containerFile: false }
    expect(() => resolveLifecycleOptions({ signals: signals as SignalsOption }, { facts })).toThrow(message)
  })

  test('of two lives in one process is each life’s own', async () => {
    const { t, ended } = await running(['SIGUSR2'])
    const other = newLife({ options: { signals: ['SIGTERM', 'SIGUSR2'] } })
    Object.assign(other.life.host, { process: t.process.asHostProcess() })
    const otherEnded = other.life.run()
    await other.fired('PostStartHooksLaunched')
    expect(STOP_SIGNALS.map((signal) => t.process.listenerCount(signal)).filter((count) => count > 0)).toEqual([1, 1])
    t.process.signal('SIGTERM')
    await other.end(otherEnded)
    expect(t.hasFired('StopRequested')).toBe(false)
    t.process.signal('SIGUSR2')
    await t.end(ended)
    expect(heard(t.process)).toEqual([])
  })
})

describe('releaseProcess()', () => {
  test('gives signals, crashes and messages back while the life goes on, and its end leaves the process alone', async () => {
    const t = newLife({ options: { exit: 'explicit' } })
    Object.assign(t.process, { send: () => true })
    const ended = t.life.run()
    await t.fired('PostStartHooksLaunched')
    const counts = () => ['SIGTERM', 'uncaughtException', 'unhandledRejection', 'message'].map((event) => t.process.listenerCount(event))
    expect(counts()).toEqual([1, 1, 1, 1])
    t.life.releaseProcess()
    t.life.releaseProcess()
    expect(counts()).toEqual([0, 0, 0, 0])
    expect((await t.get('/')).status).toBe(200)
    t.life.addDestroy('fails', () => Promise.reject(new Error('no')))
    expect(await t.end(t.life.stop())).toMatchObject({ exitCode: 4, reason: { kind: 'stop' } })
    expect(await ended).toBe(await t.life.ended)
    expect(t.process.exitCode).toBeUndefined()
    expect(heard(t.process)).toEqual([])
  })

  test('before run() does nothing, and the option signal still stops', async () => {
    const stop = new AbortController()
    const t = newLife({ options: { signal: stop.signal } })
    t.life.releaseProcess()
    const ended = t.life.run()
    await t.fired('PostStartHooksLaunched')
    expect(heard(t.process)).toHaveLength(3)
    t.life.releaseProcess()
    stop.abort(new Error('enough'))
    expect(await t.end(ended)).toMatchObject({ reason: { kind: 'abort-signal', reason: 'enough' } })
  })

  test('before run() leaves the end of the process to that', async () => {
    const t = newLife()
    t.life.releaseProcess()
    const ended = t.life.run()
    await t.fired('PostStartHooksLaunched')
    await t.end()
    await ended
    expect(t.process.exitCode).toBe(0)
  })

  test('leaves the end of the process to the lives that still run in it', async () => {
    const { t, ended } = await running()
    const other = newLife()
    Object.assign(other.life.host, { process: t.process.asHostProcess() })
    other.life.run().catch(() => {})
    await other.fired('PostStartHooksLaunched')
    t.life.releaseProcess()
    await t.end(t.life.stop())
    await ended
    expect(t.process.exits).toEqual([])
    await other.life.stop({ now: true })
    await expect.poll(() => t.process.exits).toEqual([1])
  })

  test('after the end does nothing: the process waits for every life that still runs in it', async () => {
    const { t, ended } = await running()
    const others = [newLife(), newLife()] as const
    for (const other of others) {
      Object.assign(other.life.host, { process: t.process.asHostProcess() })
      other.life.run().catch(() => {})
      await other.fired('PostStartHooksLaunched')
    }
    await t.end(t.life.stop())
    await ended
    t.life.releaseProcess()
    // The last one ends the process at once when it ends by force.
    const [first, last] = others
    await first.life.stop({ now: true })
    await new Promise(setImmediate)
    expect(t.process.exits).toEqual([])
    await last.life.stop({ now: true })
    await expect.poll(() => t.process.exits).toEqual([1])
  })
})

describe('the end of what run() runs', () => {
  test('has the most severe exit code of all lives in the process, whichever is the last', async () => {
    const { t, ended } = await running()
    t.life.addDestroy('fails', () => Promise.reject(new Error('no')))
    const other = newLife()
    Object.assign(other.life.host, { process: t.process.asHostProcess() })
    const otherEnded = other.life.run()
    await other.fired('PostStartHooksLaunched')
    await t.end(t.life.stop())
    expect((await ended).exitCode).toBe(4)
    await other.end(other.life.stop())
    expect((await otherEnded).exitCode).toBe(0)
    expect(t.process.exitCode).toBe(4)
  })

  test('finds the process still there: a signal then ends it with the exit code of the life, and does not kill it', async () => {
    const t = newLife({ clock: new VirtualClock(), options: { exit: 'explicit' } })
    const ended = t.life.run()
    await t.fired('PostStartHooksLaunched')
    t.life.addDestroy('fails', () => Promise.reject(new Error('no')))
    await t.end(t.life.stop())
    await ended
    expect(t.process.exits).toEqual([])
    t.process.signal('SIGTERM')
    expect([t.process.killedBy, t.process.exits]).toEqual([undefined, [4]])
  })
})

describe('another listener of a signal that stops', () => {
  const warned = (t: ReturnType<typeof newLife>) =>
    t.life.status.report.warnings.filter(({ message }) => message.includes('has a listener of its own')).map(({ details }) => details)

  test('that is there when run() begins is warned about in log and report, and one that comes later at the stop', async () => {
    const t = newLife()
    t.process.on('SIGTERM', () => {})
    const ended = t.life.run()
    await t.fired('PostStartHooksLaunched')
    expect(warned(t)).toEqual([{ code: 'WARN_OTHER_LISTENERS', signals: ['SIGTERM'] }])
    t.process.on('SIGINT', () => {})
    t.process.on('SIGUSR2', () => {})
    t.process.signal('SIGINT')
    await t.end(ended)
    expect(warned(t)).toEqual([
      { code: 'WARN_OTHER_LISTENERS', signals: ['SIGTERM'] },
      { code: 'WARN_OTHER_LISTENERS', signals: ['SIGINT'] },
    ])
    const lines = t.log.filter(({ level, message }) => level === 'warn' && message.includes('has a listener of its own'))
    expect(lines.map(({ message }) => message.slice(0, 8))).toEqual(['SIGTERM:', 'SIGINT: '])
  })

  test('is any listener, where no life listens', () => {
    const process = new FakeProcess()
    process.on('SIGTERM', () => {})
    expect(othersListen(process.asHostProcess(), STOP_SIGNALS)).toEqual(['SIGTERM'])
  })

  test('is no other life, before or after', async () => {
    const t = newLife()
    const first = t.life.run()
    const other = newLife()
    Object.assign(other.life.host, { process: t.process.asHostProcess() })
    const second = other.life.run()
    await Promise.all([t.fired('PostStartHooksLaunched'), other.fired('PostStartHooksLaunched')])
    t.process.signal('SIGTERM')
    await Promise.all([t.end(first), other.end(second)])
    expect([...warned(t), ...warned(other)]).toEqual([])
  })
})
