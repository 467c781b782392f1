// The log of a life while its logger is still being loaded. Fails when: a line that came early is
// lost or comes late, the end does not wait for a logger that is on its way, or a logger that
// cannot be opened costs more than the log; or what somebody has to know is said nowhere because
// the log leaves its level out.
import { expect, test } from 'vitest'
import type { Clock } from '#src/base/clock.ts'
import { deferred } from '#src/base/deferred.ts'
import type { LifecycleEvent } from '#src/base/events.ts'
import { neutralWording } from '#src/base/neutral-wording.ts'
import { EventLog } from '#src/log/event-log.ts'
import type { Logger } from '#src/log/logger.ts'
import { type LifeRig, NotedAudit, newLife } from '../support/life.ts'

const warning = (message: string): LifecycleEvent => ({ at: 0, type: 'warning', message })
const context = { whileDraining: 'refuse', connectionTimeoutMs: 0, audit: undefined, wording: neutralWording() } as const

test('what happens while the logger is being opened is written first, and flushed with it', async () => {
  const said: string[] = []
  const line = (_: object, message: string): void => void said.push(message)
  const flush = (done?: () => void): void => {
    said.push('flush')
    done?.()
  }
  const logger: Logger = { debug: line, info: line, warn: line, error: line, flush }
  const opened = deferred<Logger>()
  const log = new EventLog(() => opened.promise, context)
  log.write(warning('before'))
  const opening = log.open()
  log.write(warning('meanwhile'))
  const flushed = log.flush().then(() => said.push('flushed'))
  expect(said).toEqual([])
  opened.resolve(logger)
  await opening
  await flushed
  log.write(warning('after'))
  expect(said).toEqual(['before', 'meanwhile', 'flush', 'flushed', 'after'])
})

test('nothing is waited for when it was never opened', async () => {
  const log = new EventLog(() => Promise.reject(new Error('not asked for')), context)
  log.write(warning('kept'))
  await log.flush()
})

test('a logger that cannot be opened is told to whoever opens it, and costs nothing but the log', async () => {
  const failing = new EventLog(() => Promise.reject(new Error('no such module')), context)
  failing.write(warning('lost'))
  await expect(failing.open()).rejects.toThrow('no such module')
  failing.write(warning('lost, too'))
  await failing.flush()
})

test.each([
  [
    'throws',
    (): never => {
      throw new Error('disk full')
    },
  ],
  ['rejects', () => Promise.reject(new Error('disk full'))],
])('a logger that %s costs its own lines, which are counted, and nothing else', async (_, fails) => {
  const t = newLife({ options: { logger: { debug: fails, info: fails, warn: fails, error: fails } } })
  const ended = t.life.run()
  await t.fired('PostStartHooksLaunched')
  expect((await t.get('/')).body).toBe('hello')
  t.process.emit('SIGTERM')
  expect(await t.end(ended)).toMatchObject({ exitCode: 0, errors: [], warnings: [{ details: { code: 'WARN_LOG_LOST' } }] })
  expect(t.process.stderrText).toMatch(/^quiesce: \d+ log lines were lost: the option logger failed with "disk full" \[WARN_LOG_LOST\]\n$/)
})

/** A logger that writes nothing below a level, as pino does. */
const startingAt = (lowest: 'warn' | 'silent'): Logger => ({
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  isLevelEnabled: (level) => lowest === 'warn' && level !== 'info',
})

test('the token that the inspector made is said on standard error when the log leaves it out', async () => {
  const t = newLife({ options: { logger: startingAt('warn'), inspector: { host: '0.0.0.0' } } })
  await t.life.start()
  expect(t.process.stderrText).toMatch(/^quiesce: Inspector on http:\/\/localhost:\d+\/inspector\/\?token=[\w-]{32}\n$/)
})

test.each([
  ['silent', /^quiesce: uncaughtException: Error: boom\n/],
  ['warn', /^quiesce: exit code 1: [^\n]*: uncaughtException: boom\n$/],
] as const)('a crash is said on standard error when a log that begins at %s leaves errors out, and only then', async (lowest, said) => {
  const t = newLife({ options: { logger: startingAt(lowest) } })
  const ended = t.life.run()
  await t.fired('PostStartHooksLaunched')
  t.process.crash(new Error('boom'))
  expect(await t.end(ended)).toMatchObject({ exitCode: 1 })
  expect(t.process.stderrText).toMatch(said)
})

test('a life begins no phase before its log is open: a line that is no event is not lost', async () => {
  const audit = new NotedAudit({ run: (): void => t.life.setReady(true, 'as soon as the first phase') })
  const t: LifeRig<Clock> = newLife({ options: { audit } })
  await t.life.start()
  await t.end()
  expect(audit.calls).toEqual(['run', 'shutdown'])
  expect(t.logged()).toContain('readiness switched by hand')
})

test('a logger that cannot say what it has lost has lost nothing', async () => {
  const line = (): void => {}
  const numbers = [
    () => {
      throw new Error('cannot say')
    },
    () => 'many' as never,
    () => Number.NaN,
  ]
  for (const number of numbers) {
    const logger = { debug: line, info: line, warn: line, error: line, lostLines: number, lastFlushAgeMs: number }
    const log = new EventLog(async () => logger, context)
    await log.open()
    expect([log.lostLines(), log.lastFlushAgeMs()]).toEqual([0, 0])
  }
})

test.each([
  [
    'throws',
    () => {
      throw new Error('cannot count')
    },
    'cannot count',
  ],
  ['answers with something else', async () => ({ delivered: 1, lost: 0, pending: 0 }), 'counts() of the option audit returned a promise'],
] as const)('an audit backend whose counts() %s has counted nothing, and that is said once', async (_, counts, message) => {
  const t = newLife({ options: { audit: Object.assign(new NotedAudit(), { counts: counts as never }) } })
  await t.life.start()
  const { exitCode, audit, errors } = await t.life.stop()
  expect([exitCode, audit]).toEqual([0, null])
  expect(errors).toMatchObject([{ where: 'audit counts', error: { message: expect.stringContaining(message) } }])
})

test.each([
  [1, undefined, 'quiesce: 1 audit event was lost [WARN_AUDIT_LOST]\n'],
  [2, undefined, 'quiesce: 2 audit events were lost [WARN_AUDIT_LOST]\n'],
  [2, false, ''],
] as const)(
  'audit events that are lost (%d) follow the rule of log lines: no exit code, a warning, and a line unless the logger is %s',
  async (lost, logger, said) => {
    const audit = Object.assign(new NotedAudit(), { counts: () => ({ delivered: 5, lost, pending: 0 }) })
    const t = newLife({ options: { audit, ...(logger === false && { logger }) } })
    await t.life.start()
    const { exitCode, warnings } = await t.end()
    expect([exitCode, warnings]).toEqual([0, [{ message: 'audit events were lost', details: { code: 'WARN_AUDIT_LOST', events: lost } }]])
    expect(t.process.stderrText).toBe(said)
  },
)
