// Fails when: an option, or a field of one, is taken from a prototype, whether it is one of the
// user's or a polluted `Object.prototype`; or what was checked is read again and may have changed.
import { afterEach, describe, expect, test } from 'vitest'
import { checkedResult } from '#apiserver/authentication/authenticator.ts'
import { checkedDecision } from '#apiserver/authorization/authorizer.ts'
import { completeConfig } from '#apiserver/config.ts'
import { resolveLifecycleOptions, resolveServerOptions } from '#src/options/options.ts'
import { readStopOptions } from '#src/options/stop-options.ts'
import { newLife } from '../support/life.ts'

const FACTS = { facts: { env: {}, isTerminal: false, pid: 4711 } } as never
const POLLUTED = {
  deadline: 'evil',
  port: -1,
  host: 42,
  tls: 'evil',
  http2: 'evil',
  path: 42,
  fd: 'evil',
  listeners: 'evil',
  timeout: 'evil',
  after: 'evil',
  before: 'evil',
  reason: 42,
  now: 'evil',
  auditPolicy: 42,
  health: 'evil',
  group: 42,
} as const

function pollute(): void {
  for (const [name, value] of Object.entries(POLLUTED))
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
}

afterEach(() => {
  for (const name of Object.keys(POLLUTED)) delete (Object.prototype as unknown as Record<string, unknown>)[name]
})

describe('a polluted prototype says nothing', () => {
  test('of options', () => {
    const clean = [
      resolveLifecycleOptions({}, FACTS),
      resolveServerOptions({ listeners: [{ port: 1 }] }, FACTS),
      readStopOptions({}),
      completeConfig({}).engine,
    ]
    pollute()
    const now = [
      resolveLifecycleOptions({}, FACTS),
      resolveServerOptions({ listeners: [{ port: 1 }] }, FACTS),
      readStopOptions({}),
      completeConfig({}).engine,
    ]
    const texts = (all: readonly unknown[]): readonly string[] => all.map((one) => JSON.stringify(one))
    const [before, after] = [texts(clean), texts(now)]
    for (const name of Object.keys(POLLUTED)) delete (Object.prototype as unknown as Record<string, unknown>)[name]
    expect(after).toEqual(before)
  })

  test('of what is registered', async () => {
    const { life } = newLife()
    pollute()
    life.addPreShutdownHook('hook', () => undefined, {})
    life.addDestroy('destroy', () => undefined, {})
    life.addPhase('phase', () => undefined, {})
    life.addReadyzCheck('check', () => undefined, {})
    const { reason, now } = readStopOptions({})
    for (const name of Object.keys(POLLUTED)) delete (Object.prototype as unknown as Record<string, unknown>)[name]
    expect([reason, now]).toEqual(['stop() was called', false])
    await life.start()
  })
})

test("options that a prototype of the user's has are none", () => {
  const inherited = Object.assign(Object.create({ deadline: '1s', listeners: [{ port: 1 }] }), { exit: 'natural' }) as object
  expect(resolveServerOptions(inherited, FACTS).listeners).toEqual([expect.objectContaining({ port: 8080 })])
  expect(resolveLifecycleOptions(inherited, FACTS).deadlineMs).toBe(resolveLifecycleOptions({}, FACTS).deadlineMs)
})

/** Says the first value once, and then the others. */
function turning(name: string, ...values: readonly unknown[]): { readonly object: object; readonly reads: () => number } {
  let reads = 0
  const object = Object.defineProperty({}, name, {
    enumerable: true,
    configurable: true,
    get: () => values[Math.min(reads++, values.length - 1)],
  })
  return { object, reads: () => reads }
}

describe('what was checked does not change any more:', () => {
  test('an option', () => {
    const { object } = turning('deadline', '5s', 'evil')
    expect(resolveLifecycleOptions(object, FACTS).deadlineMs).toBe(5_000)
  })

  test('a field of an object in a list', () => {
    const { object, reads } = turning('port', 1234, 99_999)
    expect(resolveServerOptions({ listeners: [object] as never }, FACTS).listeners).toMatchObject([{ port: 1234 }])
    expect(reads()).toBe(1)
  })

  test('the decision of an authorizer', () => {
    const { object } = turning('decision', 'deny', 'allow')
    expect(checkedDecision(object).decision).toBe('deny')
  })

  test('what an authenticator has found', () => {
    const user = (name: string) => ({ name, groups: [], extra: {} })
    const { object } = turning('user', user('ann'), user('root'))
    const result = checkedResult(object)
    expect([result?.user.name, result?.user.name]).toEqual(['ann', 'ann'])
  })
})
