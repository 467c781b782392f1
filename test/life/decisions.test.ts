// Small decisions of a life. Fails when: a limit of `serverOptions` is not heeded, one is given
// that node refuses, or a name, a failed start or a signal is told wrongly.
import { expect, test } from 'vitest'
import { Registrations } from '#src/lifecycle/registrations.ts'
import { SignalLatches } from '#src/lifecycle/signal-latches.ts'
import { whyNotServed } from '#src/lifecycle/why-not-served.ts'
import { connectionWindow, http1Limits, http2Settings } from '#src/listeners/http-limits.ts'
import type { Report } from '#src/report/report.ts'
import { quietLife, reportOf } from '../report/lives.ts'
import { refusal } from '../support/life.ts'

const OPTIONS = {
  keepAliveTimeoutMs: 1_000,
  headersTimeoutMs: 2_000,
  maxHeaderSize: undefined,
  maxConcurrentStreams: 10,
  streamBuffer: 20_000,
  serverOptions: {},
}
const limits = (serverOptions: object) => http1Limits({ ...OPTIONS, serverOptions } as Parameters<typeof http1Limits>[0])

test('limits of HTTP/1.1 are those of the options, unless the server has its own', () => {
  const defaults = { keepAliveTimeout: 1_000, headersTimeout: 2_000, requestTimeout: 300_000, connectionsCheckingInterval: 1_000 }
  expect(limits({})).toEqual({ ...defaults, maxHeaderSize: undefined })
  const own = { keepAliveTimeout: 1, headersTimeout: 2, requestTimeout: 3, connectionsCheckingInterval: 4, maxHeaderSize: 5 }
  expect(limits(own)).toEqual(own)
})

test('a head may not take longer than its request, which without a limit has all the time', () => {
  expect(limits({ requestTimeout: 500 }).headersTimeout).toBe(500)
  expect(limits({ requestTimeout: 0 }).headersTimeout).toBe(2_000)
})

test('clients of HTTP/2 are told limits of headers and what all their streams may send', () => {
  const settings = (given: object) => http2Settings({ ...OPTIONS, ...given } as Parameters<typeof http2Settings>[0])
  expect(settings({}).maxHeaderListSize).toBe(1_048_576)
  expect(settings({ maxHeaderSize: 9_000 }).maxHeaderListSize).toBe(9_000)
  expect(connectionWindow(settings({}))).toBe(200_000)
  expect(connectionWindow(settings({ maxConcurrentStreams: 1 }))).toBe(65_535)
  expect(connectionWindow(settings({ maxConcurrentStreams: 1_000_000 }))).toBe(2_147_483_647)
})

test('what a start timed out with is what its phase said when it was given up', () => {
  const failure = (where: string, message: string, code?: string) => ({ where, error: { name: 'Error', message, ...(code && { code }) } })
  const failed = (code: string, ...errors: readonly object[]) => {
    const { error } = failure('bind', 'time is over', code)
    return whyNotServed({ ...reportOf(quietLife), reason: { kind: 'start-failed', phase: 'bind', error }, errors } as Report, undefined)
      .message
  }
  const errors = [failure('bind', 'time is over', 'ERR_TIMEOUT'), failure('platform', 'no'), failure('bind', 'the port is held')]
  expect(failed('ERR_TIMEOUT', ...errors)).toBe('could not start: bind: time is over: the port is held')
  expect(failed('ERR_TIMEOUT', ...errors.slice(0, 2))).toBe('could not start: bind: time is over')
  expect(failed('EACCES', ...errors)).toBe('could not start: bind: time is over')
})

test('a wrong name is told before wrong options', () => {
  const registrations = new Registrations({ hookTimeoutMs: 1_000, whileDraining: 'refuse' }, () => {})
  const wrong = { after: 'pool' } as never
  const messages = [
    refusal(() => registrations.addPreShutdownHook('', () => {}, wrong)),
    refusal(() => registrations.addDestroy('', () => {}, wrong)),
    refusal(() => registrations.addPhase('', () => {}, wrong)),
  ].map(({ message }) => message)
  for (const message of messages) expect(message).not.toContain('a list of names')
})

test('only what may complete is a mux-complete signal, and one that fails before the start is no crash', async () => {
  const registrations = new Registrations({ hookTimeoutMs: 1_000, whileDraining: 'refuse' }, () => {})
  expect(refusal(() => registrations.addMuxCompleteSignal('cache', {} as never)).message).toContain('an AbortSignal or a promise')
  registrations.addMuxCompleteSignal('crd', new AbortController().signal)
  const unhandled: unknown[] = []
  const listener = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', listener)
  registrations.addMuxCompleteSignal('routes', Promise.reject(new Error('no routes')))
  await new Promise(setImmediate)
  process.off('unhandledRejection', listener)
  expect(unhandled).toEqual([])
})

test('a destroy function that waits for none says nothing of it', () => {
  const registrations = new Registrations({ hookTimeoutMs: 1_000, whileDraining: 'refuse' }, () => {})
  registrations.addDestroy('queue', () => {})
  registrations.addDestroy('pool', () => {}, { after: ['queue'] })
  expect(registrations.plannedDestroyFunctions()).toStrictEqual([
    { kind: 'destroy', name: 'queue', timeoutMs: 1_000 },
    { kind: 'destroy', name: 'pool', timeoutMs: 1_000, after: ['queue'] },
  ])
})

test('a signal that was never asked for has not fired', () => {
  const latches = new SignalLatches()
  expect(latches.hasFired('Bound')).toBe(false)
  latches.fire('Bound')
  expect(latches.hasFired('Bound')).toBe(true)
})

test('any number may wait for a signal without a warning of node', async () => {
  const warnings: unknown[] = []
  const listener = (warning: Error) => void warnings.push(warning.name)
  process.on('warning', listener)
  const signal = new SignalLatches().signal('Bound')
  for (let n = 0; n < 20; n++) signal.addEventListener('abort', () => {})
  await new Promise(setImmediate)
  process.off('warning', listener)
  expect(warnings).toEqual([])
})
