// A program that `fastify start` has started. Fails when: its listeners, which end the process
// after 500 ms, stay beside those of the life, or listeners of the program go with them.
import { createRequire } from 'node:module'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { takeOverFromFastifyCli } from '#src/frameworks/fastify-cli.ts'

const { cache } = createRequire(import.meta.url)
const CLI = '/app/node_modules/fastify-cli/start.js'
const EVENTS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2', 'uncaughtException', 'unhandledRejection'] as const

/** As close-with-grace has them. */
function onSignal(): void {}
function onError(): void {}
const own = (): void => {}

const listening = (event: string): string[] =>
  process
    .listeners(event as 'SIGTERM')
    .flatMap((listener) => ([onSignal, onError, own].includes(listener as () => void) ? [listener.name] : []))

beforeEach(() => {
  for (const event of EVENTS) process.on(event, own)
  for (const event of EVENTS.slice(0, 4)) process.once(event, onSignal)
  for (const event of EVENTS.slice(4)) process.once(event, onError)
})

afterEach(() => {
  delete cache[CLI]
  for (const event of EVENTS) for (const listener of [own, onSignal, onError]) process.off(event, listener)
})

test('is ended by its life alone, for what the life listens to', () => {
  cache[CLI] = {} as NodeJS.Module
  expect(takeOverFromFastifyCli(undefined)).toEqual(['SIGTERM', 'SIGINT', 'SIGHUP', 'uncaughtException', 'unhandledRejection'])
  expect(Object.fromEntries(EVENTS.map((event) => [event, listening(event)]))).toEqual({
    SIGTERM: ['own'],
    SIGINT: ['own'],
    SIGHUP: ['own'],
    SIGUSR2: ['own', 'onSignal'],
    uncaughtException: ['own'],
    unhandledRejection: ['own'],
  })
  expect(takeOverFromFastifyCli({ add: ['SIGUSR2'] })).toEqual(['SIGUSR2'])
})

test('in any other program such listeners are its own', () => {
  expect(takeOverFromFastifyCli(undefined)).toEqual([])
  expect(listening('SIGTERM')).toEqual(['own', 'onSignal'])
})
