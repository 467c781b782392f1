// Options are read by their own fields alone. Fails when: what has none, and is no plain object, is
// taken for options without any; or what test runners and node:vm make is taken for something else.
import { createServer as createNodeServer } from 'node:http'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { completeConfig } from '#apiserver/config.ts'
import { QuiesceModule } from '#src/frameworks/nest.ts'
import { attachLifecycle, createLife, createServer, type Life } from '#src/index.ts'
import { meterLifecycle } from '#src/opentelemetry/index.ts'
import { refusal } from '../support/life.ts'

class Configuration {
  get deadline(): string {
    return '25s'
  }
}

const promised = async () => ({ deadline: '25s' })
const NO_RECORDS: Readonly<Record<string, () => unknown>> = {
  'a promise': promised,
  '[object Map]': () => new Map([['deadline', '25s']]),
  '[object Error]': () => new Error('25s'),
  '[object Configuration]': () => new Configuration(),
  '"1970-01-01T00:00:00.000Z"': () => new Date(0),
}

const silent = { logger: false, signals: [], platform: 'unknown' } as const
const life = (): Life => createLife(silent)
const nothing = () => undefined

/** Each with what an error calls it. */
const PLACES: Readonly<Record<string, (given: never) => unknown>> = {
  options: (given) => createLife(given),
  'options ': (given) => createServer({ listener: nothing }, given),
  'options  ': (given) => attachLifecycle(createNodeServer(), given),
  'options   ': (given) => completeConfig(given),
  health: (given) => createLife({ ...silent, health: given }),
  'health.paths': (given) => createLife({ ...silent, health: { paths: given } }),
  'health.extra': (given) => createLife({ ...silent, health: { extra: given } }),
  'health.headers': (given) => createLife({ ...silent, health: { headers: given } }),
  reserves: (given) => createLife({ ...silent, reserves: given }),
  wording: (given) => createLife({ ...silent, wording: given }),
  'wording.refusal.headers': (given) => createLife({ ...silent, wording: { refusal: { headers: given } } }),
  signals: (given) => createLife({ logger: false, signals: given }),
  'listeners[0]': (given) => createServer({ listener: nothing }, { ...silent, listeners: [given] }),
  serverOptions: (given) => createServer({ listener: nothing }, { ...silent, serverOptions: given }),
  version: (given) => completeConfig({ version: given }),
  'options of pre-shutdown hook "a"': (given) => life().addPreShutdownHook('a', nothing, given),
  'options of destroy function "a"': (given) => life().addDestroy('a', nothing, given),
  'options of phase "a"': (given) => life().addPhase('a', nothing, given),
  'options of health check "a"': (given) => life().addReadyzCheck('a', nothing, given),
  'options of every("a")': (given) => life().every('a', 1_000, nothing, given),
  'options of meterLifecycle(life, options?)': (given) => meterLifecycle(life(), given),
  'options of QuiesceModule.forRoot(options?)': (given) => QuiesceModule.forRoot(given),
}

describe.each(Object.entries(PLACES))('%s', (field, take) => {
  test.each(Object.entries(NO_RECORDS))('is refused as %s', (shown, make) => {
    const { code, message, details } = refusal(() => take(make() as never))
    expect([code, details['field']]).toEqual(['ERR_OPTION_INVALID', field.trim()])
    expect(message.startsWith(`${field.trim()}: got ${shown}, allowed: `), message).toBe(true)
    expect(message.endsWith('; await it'), message).toBe(shown === 'a promise')
  })
})

test('so is what stop() is given', async () => {
  for (const [shown, make] of Object.entries(NO_RECORDS))
    await expect(life().stop(make() as never)).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringContaining(`stop: got ${shown}, allowed: a reason as text, or`),
    })
})

test('an error is no reason, whatever fields it has: its message is', async () => {
  for (const error of [
    new Error('the database is gone'),
    Object.assign(new Error('gone'), { reason: 'other' }),
    runInNewContext('new Error()'),
  ])
    await expect(life().stop(error as never)).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringMatching(
        /^stop: got .+, allowed: a reason as text, or { reason, now, deadline }; of an error give the message$/,
      ),
    })
})

test('plain objects of another realm, those without a prototype, and instances with fields of their own are options', () => {
  class Fields {
    readonly deadline = '25s'
    readonly logger = false
  }
  const made: readonly object[] = [
    runInNewContext("({ deadline: '25s', logger: false, signals: [], health: { paths: { livez: '/alive' } } })"),
    Object.assign(Object.create(null), { deadline: '25s', logger: false }),
    new Fields(),
  ]
  for (const options of made) expect(createLife({ ...silent, ...options }), String(made.indexOf(options))).toBeDefined()
  for (const options of made) expect(() => createLife(options), String(made.indexOf(options))).not.toThrow()
  expect(() => life().addDestroy('a', nothing, runInNewContext("({ timeout: '1s' })"))).not.toThrow()
  expect(() => createLife({ ...silent, health: runInNewContext('({})') })).not.toThrow()
})

describe('what cannot be read is refused by its name:', () => {
  const unreadable = (name: string) => Object.defineProperty({}, name, { enumerable: true, get: () => raise('no') })
  const raise = (message: string): never => {
    throw new Error(message)
  }
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  }

  test.each([
    ['an option', 'deadline', () => createLife(unreadable('deadline'))],
    ['an option of a server', 'port', () => createServer({ listener: nothing }, unreadable('port'))],
    ['a field', 'health', () => createLife({ ...silent, health: unreadable('paths') })],
    ['a field of the words', 'wording', () => createLife({ ...silent, wording: unreadable('name') })],
    ['all options', 'options', () => createLife(revoked())],
    ['one of them', 'reserves', () => createLife({ ...silent, reserves: revoked() })],
    ['a list', 'exempt', () => createLife({ ...silent, exempt: revoked() as never })],
    ['what a hook is given', 'options of pre-shutdown hook "a"', () => life().addPreShutdownHook('a', nothing, unreadable('timeout'))],
    ['a field of it that there is not', 'options of phase "a"', () => life().addPhase('a', nothing, unreadable('x'))],
    ['what completes the mux', 'mux-complete signal "a"', () => life().addMuxCompleteSignal('a', revoked() as never)],
    ['what a check is given', 'options of health check "a"', () => life().addReadyzCheck('a', nothing, revoked())],
  ])('%s', (_, field, take) => {
    expect(refusal(take)).toMatchObject({ code: 'ERR_OPTION_INVALID', details: { field } })
  })

  test('a function', () => {
    for (const run of [revoked(), unreadable('then')])
      expect(refusal(() => life().addDestroy('a', run as never))).toMatchObject({ code: 'ERR_FUNCTION_MISSING' })
  })

  test('the name of a signal that is no text', () => {
    expect(refusal(() => life().signal(Object.create(null) as never))).toMatchObject({ code: 'ERR_UNKNOWN_REFERENCE' })
  })
})
