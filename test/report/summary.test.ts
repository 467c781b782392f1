// What a report says beside its timeline. Fails when: something is left out that there was, said
// that there was not, or counted wrong where not all of it is listed.
import { expect, test } from 'vitest'
import type { Report, ReportedHook } from '#src/report/report.ts'
import { summary } from '#src/report/summary.ts'
import { quietLife, reportOf } from './lives.ts'

const quiet = reportOf(quietLife)
const lines = (given: Partial<Report>) => summary({ ...quiet, hooks: [], ...given })
/** What is said in a line with this label. */
const said = (label: string, given: Partial<Report>) => lines(given).filter((line) => line.label === label)

test('says of a life in which nothing happened what was counted', () => {
  expect(lines({}).map(({ label }) => label)).toEqual(['requests', 'connections'])
})

test('says what there was of watches, refusals, audit events and upgrades', () => {
  const watches = { before: 2, after: 2, cut: [] }
  const connections = { ...quiet.connections, upgraded: { websocket: 2 } }
  const given = lines({ watches, connections, rejections: { draining: 3, late: 0 }, audit: { delivered: 5, lost: 1 } })
  expect(given.slice(1)).toMatchObject([
    { label: 'watches', text: '2 to end, 2 left' },
    { label: 'connections' },
    { label: '  upgraded', text: '2 websocket' },
    { label: 'refused', text: '3 draining' },
    { label: 'audit', text: '5 events stored, 1 lost' },
  ])
})

const hooks = (count: number, more: Partial<ReportedHook> = {}): ReportedHook[] =>
  Array.from({ length: count }, (_, index) => ({ kind: 'destroy', name: `${index}`, outcome: 'ok', durationMs: index + 1, ...more }))

test('names twelve hooks, the longest, of which one that is not over is', () => {
  const [running] = hooks(1, { name: 'running', outcome: null, durationMs: null })
  const [twelve] = said('hooks', { hooks: hooks(12) })
  expect(twelve?.text).toContain('destroy "0" 0.001s')
  expect(twelve?.text).not.toContain('shorter')
  const [more] = said('hooks', { hooks: [running as ReportedHook, ...hooks(12)] })
  expect(more?.text).toMatch(/^destroy "running" not over, destroy "1" 0\.002s, .*, and 1 shorter ones$/)
})

test('says of hooks that one was cut', () => {
  expect(said('hooks', { hooks: hooks(2) })).toMatchObject([{ outcome: 'ok' }])
  expect(said('hooks', { hooks: [...hooks(2), ...hooks(1, { outcome: 'cut' })] })).toMatchObject([{ outcome: 'cut' }])
})

test('names three of what was cut, with what they did not get, and counts the others', () => {
  const cut = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `GET /${index}`, ageMs: 5, undeliveredBytes: index }))
  const text = (count: number) => said('  cut', { requests: { before: 4, after: 4, cut: cut(count) } })[0]?.text
  const three = 'GET /0 (0.005s), GET /1 (0.005s, 1 bytes undelivered), GET /2 (0.005s, 2 bytes undelivered)'
  expect([text(3), text(4)]).toEqual([three, `${three}, and 1 more`])
})

test('says the first twenty failures, and how many there are more', () => {
  const errors = (count: number) => Array.from({ length: count }, () => ({ where: 'hook', error: { name: 'Error', message: 'no' } }))
  expect(lines({ errors: errors(20) }).filter(({ text }) => text.includes('more in the report'))).toEqual([])
  expect(said('failed', { errors: errors(20) }).map(({ text }) => text)).toEqual(Array(20).fill('hook: no'))
  expect(said('failed', { errors: errors(22) })).toHaveLength(21)
  expect(said('failed', { errors: errors(22) }).at(-1)?.text).toBe('2 more in the report')
})

test.each([
  ['early in the delay', 4_000, 3_999, 'ok'],
  ['late in it', 4_000, 4_000, 'cut'],
  ['in the moments of a stop without one', undefined, 999, 'ok'],
  ['after these moments', undefined, 1_000, 'cut'],
] as const)('has a hint when the last request came late: %s', (_, lateMs, lastRequestMs, outcome) => {
  const connections = { ...quiet.connections, lastRequestMs }
  const phase = (name: string, start: number, end: number) => ({ name, start, end, budget: null, outcome: 'ok' as const, cut: [] })
  const phases = lateMs === undefined ? [] : [phase('notify-clients', 0, 90_000), phase('shutdown-delay', 100, 100 + lateMs / 0.8)]
  const [line] = said('last request', { connections, phases })
  expect(line?.outcome).toBe(outcome)
  expect(line?.text).toMatch(lateMs === undefined ? /whose delay was 0\.000s/ : /whose delay was 5\.\d*s/)
  expect(line?.text.includes('longer shutdownDelay')).toBe(outcome === 'cut')
})

test('names hooks that never ran, and the ones that they waited for', () => {
  const hook = (name: string, outcome: 'ok' | 'cut' | 'skipped', kind: 'pre-shutdown' | 'post-start' = 'pre-shutdown') => {
    return { kind, name, outcome, durationMs: 0 } as const
  }
  const text = (...hooks: readonly ReportedHook[]) => said('  skipped', { hooks })[0]?.text
  expect(text(hook('a', 'cut'), hook('warm', 'skipped', 'post-start'))).toBeUndefined()
  expect(text(hook('a', 'ok'), hook('b', 'cut'), hook('c', 'skipped'))).toBe(
    'pre-shutdown hook "c" never ran: it waited for "b", which was cut',
  )
  const many = Array.from({ length: 73 }, (_, index) => hook(`${index}`, 'skipped'))
  expect(text(hook('b', 'cut'), hook('d', 'cut'), ...many)).toBe(
    'pre-shutdown hooks "0", "1", "2", "3", "4", and 68 more never ran: they waited for "b" and "d", which were cut',
  )
  expect(text(hook('c', 'skipped'))).toBe('pre-shutdown hook "c" never ran')
})
