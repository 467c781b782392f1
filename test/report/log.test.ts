import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { apiserverWording } from '#apiserver/apiserver-wording.ts'
import type { LifecycleEvent } from '#src/base/events.ts'
import { createDefaultLogger } from '#src/log/default-logger.ts'
import { LogDestination } from '#src/log/log-destination.ts'
import { logEvents } from '#src/log/log-events.ts'
import type { LogContext } from '#src/log/log-lines.ts'
import { flushLogger, type Logger } from '#src/log/logger.ts'
import { badLife, budget, quietLife } from './lives.ts'

interface Line {
  readonly level: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

const plain: LogContext = { whileDraining: 'refuse', connectionTimeoutMs: 60_000, audit: undefined, wording: apiserverWording }

const unexpected = (thrown: unknown): never => {
  throw thrown
}

/** What a logger is told of these events. */
function linesOf(events: readonly LifecycleEvent[], context = plain): Line[] {
  const lines: Line[] = []
  const level = (name: string) => (fields: object, message: string) => lines.push({ level: name, fields: { ...fields }, message })
  const logger = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
  const write = logEvents(logger, context, unexpected)
  for (const event of events) write(event)
  return lines
}
const signal = (name: string, outcome: 'ok' | 'skipped' = 'ok'): LifecycleEvent => ({ at: 0, type: 'signal', name, outcome })
const messagesOf = (events: readonly LifecycleEvent[], context = plain): string[] =>
  linesOf(events, context)
    .filter(({ level }) => level !== 'debug')
    .map(({ message }) => message)

describe('the log', () => {
  test('of a console has no debug lines', () => {
    const written: string[] = []
    const stdout = new Writable({ write: (chunk, _, done) => done(void written.push(String(chunk)) as undefined) })
    const write = logEvents(new Console(stdout), plain, unexpected)
    for (const event of quietLife) write(event)
    const notified = written.join('')
    expect(notified).toContain('shutdown event')
    expect(notified).not.toContain('lifecycle signal')
    expect(notified).not.toContain('phase started')
    // What a console is not told is there, for a logger that has levels.
    expect(linesOf(quietLife).map(({ message }) => message)).toEqual(expect.arrayContaining(['lifecycle signal', 'phase started']))
  })

  test('has upstream’s lines of a termination, in the order they fired', () => {
    expect(linesOf(quietLife.slice(8)).filter(({ level }) => level === 'info')).toEqual([
      // Ours: upstream has no budget.
      {
        level: 'info',
        fields: { signal: 'StopRequested', reason: { kind: 'os-signal', signal: 'SIGTERM' }, requests: '8.25s', deadline: '12s' },
        message: '[graceful-termination] stop requested: requests have until +8.25s, everything until +12s',
      },
      {
        level: 'info',
        fields: { signal: 'ShutdownInitiated', reason: { kind: 'os-signal', signal: 'SIGTERM' } },
        message: '[graceful-termination] shutdown event',
      },
      { level: 'info', fields: { signal: 'AfterShutdownDelayDuration' }, message: '[graceful-termination] shutdown event' },
      { level: 'info', fields: { signal: 'PreShutdownHooksStopped' }, message: '[graceful-termination] pre-shutdown hooks completed' },
      { level: 'info', fields: { signal: 'NotAcceptingNewRequest' }, message: '[graceful-termination] shutdown event' },
      {
        level: 'info',
        fields: { activeRequestsBefore: 3, activeRequestsAfter: 0 },
        message: '[graceful-termination] in-flight non long-running request(s) have drained',
      },
      {
        level: 'info',
        fields: { duration: '2s', activeWatchesBefore: 0, activeWatchesAfter: 0, error: null },
        message: '[graceful-termination] active watch request(s) have drained',
      },
      { level: 'info', fields: { signal: 'InFlightRequestsDrained' }, message: '[graceful-termination] shutdown event' },
      { level: 'info', fields: {}, message: 'Stopped listening on http://127.0.0.1:8080' },
      { level: 'info', fields: { signal: 'HTTPServerStoppedListening' }, message: '[graceful-termination] shutdown event' },
    ])
  })

  test('has upstream’s lines of a start and of the end', () => {
    expect(messagesOf([signal('Start'), signal('MuxAndDiscoveryComplete'), signal('Announced')])).toEqual([
      'MuxAndDiscoveryComplete has all endpoints registered and discovery information is complete',
      '[graceful-termination] waiting for shutdown to be initiated',
    ])
    expect(messagesOf([{ at: 0, type: 'phase.ended', phase: 'mux-complete', outcome: 'skipped' }])).toEqual([
      "haven't completed MuxAndDiscoveryComplete, stop requested",
    ])
    expect(messagesOf([signal('AdminClosed')])).toEqual(['[graceful-termination] apiserver is exiting'])
  })

  test('says that the audit backend is done, if there is one that was run', () => {
    const audit = { run() {}, shutdown() {} }
    expect(messagesOf([signal('AuditStopped')], { ...plain, audit })).toEqual(['[graceful-termination] audit backend shutdown completed'])
    expect(messagesOf([signal('AuditStopped', 'skipped')], { ...plain, audit })).toEqual([])
    expect(messagesOf([signal('AuditStopped')])).toEqual([])
  })

  test('says that it does not wait for watches without a grace', () => {
    const drained: LifecycleEvent = { at: 0, type: 'drained', what: 'watches', before: 3, after: 3, graceMs: 0, cut: [] }
    expect(messagesOf([drained])).toEqual(['[graceful-termination] not going to wait for active watch request(s) to drain'])
  })

  test('in retry-after mode the start says how long connections get', () => {
    const context: LogContext = { ...plain, whileDraining: 'retry-after', connectionTimeoutMs: 2_000 }
    expect(linesOf([signal('Start')], context)).toEqual([
      { level: 'info', fields: { shutdownTimeout: '2s' }, message: '[graceful-termination] using HTTP Server shutdown timeout' },
    ])
    expect(messagesOf([signal('Start')])).toEqual([])
  })

  test('keeps what is ours for whoever looks closely', () => {
    expect(linesOf([signal('Serving'), { at: 0, type: 'phase.started', phase: 'destroy', limitMs: 1_500 }])).toEqual([
      { level: 'debug', fields: { signal: 'Serving', outcome: 'ok' }, message: 'lifecycle signal' },
      { level: 'debug', fields: { phase: 'destroy', limit: '1.5s' }, message: 'phase started' },
    ])
  })

  test('says ages in whole milliseconds', () => {
    const named = [{ name: 'GET /hang', ageMs: 4_992.712108 }]
    const whole = [{ name: 'GET /hang', ageMs: 4_993 }]
    const lines = linesOf([
      { at: 0, type: 'drained', what: 'requests', before: 1, after: 1, cut: named },
      { at: 0, type: 'drained', what: 'watches', before: 1, after: 1, graceMs: 1_000, cut: named },
      { at: 0, type: 'connections', notified: 0, idleUnnotified: 0, ended: 0, forced: 1, forcedNames: named },
      { at: 0, type: 'handlers', running: named },
    ])
    expect(lines.map(({ fields }) => fields)).toEqual([
      expect.objectContaining({ cut: whole }),
      expect.objectContaining({ cut: whole }),
      expect.objectContaining({ forcedNames: whole }),
      { running: whole },
    ])
  })

  test('has the stack of a failure once: where it was logged, and not where it is the reason of the stop', () => {
    const error = { name: 'Error', message: 'boom', stack: 'Error: boom\n    at app.js:1' }
    const stop = { outcome: 'ok', reason: { kind: 'crash', origin: 'uncaughtException', error }, budget } as const
    const lines = linesOf([
      { at: 0, type: 'error', where: 'uncaughtException', error },
      { at: 0, type: 'signal', name: 'StopRequested', ...stop },
      { at: 1, type: 'signal', name: 'ShutdownInitiated', outcome: 'ok' },
    ])
    expect(lines.map(({ fields }) => JSON.stringify(fields).includes('app.js:1'))).toEqual([true, false, false])
    expect(lines[1]?.fields).toMatchObject({ reason: { kind: 'crash', error: { name: 'Error', message: 'boom' } } })
    expect(lines[2]?.fields).toMatchObject({ reason: { kind: 'crash', error: { name: 'Error', message: 'boom' } } })
  })

  test.each([
    ['pre-shutdown', 'pre-shutdown-hooks'],
    ['post-start', 'post-start-hooks'],
    ['destroy', 'destroy'],
  ] as const)('says what has failed once: a %s hook, and not its phase again', (kind, phase) => {
    const error = { name: 'Error', message: 'pool is gone' }
    const hook = (name: string, outcome: 'ok' | 'failed'): LifecycleEvent => ({
      at: 0,
      type: 'hook.ended',
      kind,
      name,
      outcome,
      durationMs: 1,
      ...(outcome === 'failed' && { error }),
    })
    const ended = (name: string): LifecycleEvent => ({ at: 0, type: 'phase.ended', phase: name, outcome: 'failed', error })
    const failed = [hook('one', 'failed'), hook('other', 'ok'), ended(phase)]
    expect(messagesOf(failed)).toEqual([expect.stringContaining('"one" failed: pool is gone')])
    expect(linesOf(failed).at(-1)).toEqual({ level: 'debug', fields: { phase, outcome: 'failed' }, message: 'phase ended' })
    // Of a phase whose hooks have not failed, and of another one.
    expect(messagesOf([hook('one', 'ok'), ended(phase)])).toEqual([`${phase} failed: pool is gone`])
    expect(messagesOf([hook('one', 'failed'), ended('flush')]).at(-1)).toBe('flush failed: pool is gone')
  })

  test('of a failed start has what has failed, and no line for each step of a stop of nothing', () => {
    const error = { name: 'QuiesceError', message: 'in use', code: 'ERR_LISTEN' }
    const reason = { kind: 'start-failed', phase: 'bind', error } as const
    const events: LifecycleEvent[] = [
      { at: 0, type: 'phase.ended', phase: 'bind', outcome: 'failed', error },
      { at: 0, type: 'signal', name: 'StopRequested', outcome: 'ok', reason, budget },
      signal('ShutdownInitiated'),
      { at: 0, type: 'drained', what: 'requests', before: 0, after: 0, cut: [] },
      { at: 0, type: 'stopped-listening', url: 'http://127.0.0.1:1' },
      signal('AdminClosed'),
    ]
    expect(messagesOf(events)).toEqual(['bind failed: in use', 'Stopped listening on http://127.0.0.1:1'])
  })

  test('says aloud what was cut, failed, late or forced', () => {
    const lines = linesOf(badLife.slice(9))
    expect(lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
      'PreShutdownHook "leave" failed: no registry',
      'audit-shutdown failed: audit is down',
      'Stopped listening on http://127.0.0.1:8080 due to error: gone',
      'no log',
      'ending by force',
    ])
    expect(lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      'hook ended',
      'settled after its deadline',
      '[graceful-termination] in-flight non long-running request(s) have drained',
      'phase ended',
      '[graceful-termination] active watch request(s) have drained',
      'connections closed by force',
      'handlers still running',
      'uncaughtException has a listener already',
    ])
  })

  test('survives a logger that throws', () => {
    const broken = () => {
      throw new Error('disk full')
    }
    const why: unknown[] = []
    const write = logEvents({ debug: broken, info: broken, warn: broken, error: broken }, plain, (thrown) => void why.push(thrown))
    for (const event of badLife) write(event)
    expect(why).toEqual(badLife.map(() => new Error('disk full')))
  })
})

describe('the default logger', () => {
  async function open(level?: 'debug'): Promise<{ logger: Required<Logger>; written: () => string }> {
    let written = ''
    const destination = new LogDestination({
      fd: 1,
      write: (_fd, bytes, offset, length) => {
        written += Buffer.from(bytes).toString('utf8', offset, offset + length)
        return length
      },
    })
    return { logger: await createDefaultLogger({ destination, ...(level && { level }) }), written: () => written }
  }

  test('writes one JSON line when it listens', async () => {
    const { logger, written } = await open()
    const write = logEvents(logger, plain, unexpected)
    write({ at: 0, type: 'listening', url: 'http://127.0.0.1:8080', address: '127.0.0.1', port: 8080, admin: false })
    write({ at: 0, type: 'listening', url: 'http://127.0.0.1:9090', address: '127.0.0.1', port: 9090, admin: true })
    write({ at: 0, type: 'listening', url: 'http://127.0.0.1:9230', address: '127.0.0.1', port: 9230, admin: true, inspector: true })
    await flushLogger(logger)
    const lines = written().trim().split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain('"msg":"Serving on http://127.0.0.1:8080"')
    expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 30, address: '127.0.0.1', port: 8080 })
    expect(JSON.parse(lines[1] as string)).toMatchObject({ msg: 'Serving admin endpoints on http://127.0.0.1:9090' })
  })

  test('that cannot be loaded, as in a bundle, says what to do', async () => {
    const cause = new Error('Dynamic require of "node:os" is not supported')
    const opened = createDefaultLogger({ load: () => Promise.reject(cause) })
    await expect(opened).rejects.toMatchObject({
      code: 'ERR_DEPENDENCY_MISSING',
      message:
        'nothing is logged, because the package "pino" cannot be loaded (Dynamic require of "node:os" is not supported): ' +
        'give the option logger; a bundle of ES modules needs a require, or pino beside it',
      cause,
    })
  })

  test('names the type of an error, and leaves the event as it is', async () => {
    const { logger, written } = await open()
    const error = Object.freeze({ name: 'TypeError', message: 'broken', stack: 'TypeError: broken\n    at hook', code: 'E' })
    logEvents(logger, plain, unexpected)({ at: 0, type: 'error', where: 'hook', error })
    await flushLogger(logger)
    expect(JSON.parse(written())).toMatchObject({ level: 50, where: 'hook', err: { ...error, type: 'TypeError' } })
  })

  test('is silent about ours unless asked', async () => {
    const quiet = await open()
    logEvents(quiet.logger, plain, unexpected)(signal('Serving'))
    expect(quiet.written()).toBe('')
    const curious = await open('debug')
    logEvents(curious.logger, plain, unexpected)(signal('Serving'))
    expect(curious.written()).toContain('lifecycle signal')
  })

  test('flushing a logger that cannot flush does not wait', async () => {
    const { debug, info, warn, error } = (await open()).logger
    await flushLogger({ debug, info, warn, error })
  })
})

/** The keys of the outermost object, as they are written. */
function keysOf(line: string): readonly string[] {
  const keys: string[] = []
  let depth = 0
  for (const [token, key] of line.matchAll(/[{[}\]]|"((?:[^"\\]|\\.)*)"(?=:)|"(?:[^"\\]|\\.)*"/g)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (key !== undefined && depth === 1) keys.push(key)
  }
  return keys
}

test('no line has a key twice in a logger that has a name and bindings of its own', () => {
  expect(keysOf('{"a":{"b":"x"},"c":["\\"d\\":"],"a":1}')).toEqual(['a', 'c', 'a'])
  const lines: string[] = []
  const logger = pino({ name: 'shop', level: 'debug' }, { write: (line: string) => void lines.push(line) }).child({ team: 'a' })
  const write = logEvents(logger, plain, unexpected)
  for (const event of [...quietLife, ...badLife]) write(event)
  expect(lines.length).toBeGreaterThan(30)
  expect(lines.filter((line) => new Set(keysOf(line)).size < keysOf(line).length)).toEqual([])
  expect(lines.map((line) => (JSON.parse(line) as { readonly name: string }).name).filter((name) => name !== 'shop')).toEqual([])
})
