// The line that a process says on standard error when its end was not graceful. Fails when: it
// names no cause, one that did not lead to the exit code, or another than the most telling first;
// or when it is silent about a second failure, or about hooks that never ran.
import { expect, test } from 'vitest'
import type { StopReason } from '#src/base/events.ts'
import type { Report } from '#src/report/report.ts'
import { whyNotGraceful } from '#src/report/why-not-graceful.ts'
import { quietLife, reportOf } from './lives.ts'

const good: Report = { ...reportOf(quietLife), phases: [], hooks: [] }
const error = (message: string) => ({ name: 'Error', message })
const crash = { where: 'uncaughtException', error: error('boom') }
const rejection = { where: 'unhandledRejection', error: error('late') }
const failure = { where: 'handler', error: error('oops') }
const thing = (name: string) => ({ name, ageMs: 5 })
const drain = (...names: string[]) => ({ before: 3, after: names.length, cut: names.map(thing) })
const phase = (name: string, outcome: 'ok' | 'cut') => ({ name, start: 0, end: 1, budget: null, outcome, cut: [] })
const hook = (name: string, outcome: 'ok' | 'cut' | 'skipped') => ({ kind: 'destroy', name, outcome, durationMs: 5 }) as const
const startFailed: StopReason = { kind: 'start-failed', phase: 'bind', error: error('in use') }
const left = { handlers: [thing('GET /late')], connections: { ...good.connections, forced: 1, forcedNames: [thing('10.0.0.9:5')] } }

/** What follows the meaning of the exit code. */
const why = (change: Partial<Report>) => whyNotGraceful({ ...good, ...change })[0]?.match(/^exit code \d+: [^:]+(?:: (.*))?$/)?.[1]

test('of a graceful end there is nothing to say', () => {
  expect(whyNotGraceful({ ...good, errors: [failure] })).toEqual([])
})

test.each<[string, Partial<Report>, string | undefined]>([
  ['a crash', { exitCode: 1, errors: [failure, crash] }, 'uncaughtException: boom'],
  ['a rejection', { exitCode: 1, errors: [rejection] }, 'unhandledRejection: late'],
  ['several crashes', { exitCode: 1, errors: [crash, rejection, rejection] }, 'uncaughtException: boom'],
  ['no crash, but a reason', { exitCode: 1, errors: [failure], reason: { kind: 'stop', reason: 'asked' } }, 'stop(): asked'],
  ['no crash and no reason', { exitCode: 1, errors: [failure], reason: null }, undefined],
  ['an end by force', { exitCode: 1, forced: 'deadline', forcedBy: null, errors: [crash] }, 'deadline'],
  ['a second signal', { exitCode: 1, forced: 'second-signal', forcedBy: { signal: 'SIGINT' } }, 'second-signal: SIGINT'],
  ['a forced stop', { exitCode: 1, forced: 'stop-now', forcedBy: { reason: 'asked' } }, 'stop-now: asked'],
  ['an error that forces', { exitCode: 1, forced: 'deadline', forcedBy: { error: error('worse') } }, 'deadline: worse'],
  ['a start that failed', { exitCode: 3, reason: startFailed, errors: [failure] }, 'bind: in use'],
  ['a start that was stopped', { exitCode: 3, reason: { kind: 'stop', reason: 'asked' }, errors: [failure] }, 'stop(): asked'],
  ['a start without a reason', { exitCode: 3, reason: null, errors: [failure] }, 'handler: oops'],
  ['requests and watches', { exitCode: 5, requests: drain('GET /'), watches: drain('GET /w'), ...left }, 'GET /, GET /w'],
  [
    'three of many',
    { exitCode: 5, requests: drain('GET /1', 'GET /2', 'GET /3', 'GET /4', 'GET /5') },
    'GET /1, GET /2, GET /3, and 2 more',
  ],
  ['what else was left', { exitCode: 5, ...left }, 'GET /late, 10.0.0.9:5'],
  ['only the hooks that were cut', { exitCode: 5, hooks: [hook('pool', 'ok'), hook('queue', 'cut')] }, 'destroy hook "queue"'],
  ['the phase when nothing in it has a name', { exitCode: 5, phases: [phase('a', 'ok'), phase('b', 'cut')] }, 'phase b'],
  ['no phase beside what has one', { exitCode: 5, hooks: [hook('queue', 'cut')], phases: [phase('b', 'cut')] }, 'destroy hook "queue"'],
  [
    'a stream that was cut, and what to do',
    { exitCode: 5, requests: { before: 2, after: 2, cut: [thing('GET /slow'), { ...thing('GET /mcp'), streaming: true }] } },
    'GET /slow, GET /mcp; if the stream GET /mcp never ends by itself, call markWatch(request) in its handler',
  ],
  [
    'hooks that never ran',
    {
      exitCode: 5,
      hooks: [hook('queue', 'cut'), ...['a', 'b'].map((name) => ({ ...hook(name, 'skipped'), kind: 'pre-shutdown' as const }))],
    },
    'destroy hook "queue"',
  ],
  ['what failed', { exitCode: 4, errors: [failure] }, 'handler: oops'],
])('names %s', (_, change, said) => {
  expect(why(change)).toBe(said)
})

test('has room for what to do, however long the name of the stream is', () => {
  const stream = { ...thing(`GET /${'x'.repeat(190)}`), streaming: true as const }
  const [line] = whyNotGraceful({ ...good, exitCode: 5, requests: { before: 1, after: 1, cut: [stream] } })
  expect(line?.length).toBeLessThanOrEqual(300)
  expect(line).toMatch(/x… never ends by itself, call markWatch\(request\) in its handler$/)
})

test('is one line, however long the message of an error is', () => {
  const [line] = whyNotGraceful({ ...good, exitCode: 1, errors: [{ where: 'uncaughtException', error: error('x'.repeat(1_000)) }] })
  expect(line).toHaveLength(300)
  expect(line).toMatch(/x…$/)
})

/** All but the first line. */
const further = (change: Partial<Report>) => whyNotGraceful({ ...good, ...change }).slice(1)

const failed = (name: string) => ({ where: `destroy hook "${name}"`, error: error(`no ${name}`) })

test('every failure is named, once', () => {
  expect(further({ exitCode: 4, errors: [failed('a'), failed('b'), failed('c'), failed('b')] })).toEqual([
    'and destroy hook "b": no b',
    'and destroy hook "c": no c',
  ])
  expect(further({ exitCode: 1, errors: [crash, rejection, rejection, failed('a')] })).toEqual([
    'and unhandledRejection: late',
    'and destroy hook "a": no a',
  ])
  // What fails with every request was said before.
  expect(further({ exitCode: 5, requests: drain('GET /'), errors: [failure, failed('a')] })).toEqual(['and destroy hook "a": no a'])
})

test('many failures are counted', () => {
  const lines = further({ exitCode: 4, errors: Array.from({ length: 50 }, (_, index) => failed(String(index))) })
  expect(lines).toHaveLength(6)
  expect(lines.at(-1)).toBe('and 44 more: the options logger and reportFile have all of them')
})

const skipped = (name: string, ...waitedFor: string[]) =>
  ({ kind: 'pre-shutdown', name, outcome: 'skipped', durationMs: 0, ...(waitedFor.length > 0 && { waitedFor }) }) as const

test.each([
  [[skipped('leave', 'flush')], 'pre-shutdown hook "leave" never ran: it waited for "flush", which was cut'],
  [[skipped('a', 'x'), skipped('b', 'x', 'y')], 'pre-shutdown hooks "a" and "b" never ran: they waited for "x" and "y", which were cut'],
  [
    [1, 2, 3, 4, 5].map((number) => skipped(`h${number}`, 'flush')),
    'pre-shutdown hooks "h1", "h2", "h3", and 2 more never ran: they waited for "flush", which was cut',
  ],
])('hooks that never ran are named: %j', (hooks, words) => {
  expect(further({ exitCode: 5, hooks: [hook('pool', 'cut'), ...hooks] })).toEqual([words])
})
