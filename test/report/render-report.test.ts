import { describe, expect, test } from 'vitest'
import { cells } from '#src/base/cells.ts'
import type { LifecycleEvent } from '#src/base/events.ts'
import { describeReason } from '#src/report/describe-reason.ts'
import { lastCallWords } from '#src/report/last-call-words.ts'
import { renderReport } from '#src/report/render-report.ts'
import type { Report } from '#src/report/report.ts'
import { reportPage } from '#src/report/report-page.ts'
import { whyNotGraceful } from '#src/report/why-not-graceful.ts'
import { badLife, quietLife, reportOf } from './lives.ts'

const phase = (name: string, start: number, end: number | null, outcome: 'ok' | 'failed' | 'cut' | null = 'ok') => ({
  name,
  start,
  end,
  outcome,
  cut: [],
  budget: null,
})
const signal = (name: string, at: number, outcome: 'ok' | 'failed' | 'cut' = 'ok') => ({ name, at, outcome })

/** An end in the mode `refuse` in which every phase has something to do. */
const busyEnd: Report = {
  ...reportOf(quietLife),
  endedAt: '2026-01-01T00:01:12.000Z',
  signals: [
    ['StopRequested', 0],
    ['ShutdownInitiated', 1],
    ['PreShutdownHooksStopped', 1_502],
    ['ClientsNotified', 2_540],
    ['AfterShutdownDelayDuration', 3_040],
    ['NotAcceptingNewRequest', 3_041],
    ['HTTPServerStoppedListening', 3_200],
    ['LastCallComplete', 3_500],
    ['WatchesDrained', 7_100],
    ['RequestsDrained', 9_050],
    ['InFlightRequestsDrained', 9_050],
    ['HandlersDone', 9_300],
    ['ConnectionsClosed', 9_400],
    ['AuditStopped', 9_500],
    ['Destroyed', 11_900],
    ['AdminClosed', 11_950],
    ['ReportWritten', 11_990],
    ['Ended', 11_990],
  ].map(([name, at]) => signal(String(name), Number(at))),
  phases: [
    phase('pre-shutdown-hooks', 1, 1_502),
    phase('notify-clients', 1, 2_540),
    phase('shutdown-delay', 1, 3_040),
    phase('request-drain', 3_041, 9_050),
    phase('watch-drain', 3_041, 7_100),
    phase('close-listener', 3_041, 3_200),
    phase('last-call', 3_200, 3_500),
    phase('handlers', 9_050, 9_300),
    phase('close-connections', 9_050, 9_400),
    phase('audit-shutdown', 9_050, 9_500),
    phase('destroy', 9_500, 11_900),
    phase('admin-listener', 11_900, 11_950),
    phase('report', 11_950, 11_990),
  ],
  watches: { before: 2, after: 0, cut: [] },
  hooks: [{ kind: 'pre-shutdown', name: 'leave', outcome: 'ok', durationMs: 1_500.7 }],
}

const linesOf = (text: string): string[] => text.trimEnd().split('\n')

describe('a rendered report', () => {
  test('is a short timeline from the stop request on', () => {
    expect(renderReport(reportOf(quietLife))).toBe(`\
stopped by SIGTERM, ended in 1.203s
unknown (no sign of any platform), started 2026-01-01T00:00:00.000Z

+0.000s  * StopRequested, ShutdownInitiated
+0.000s  shutdown-delay |=================================      | 1.000s  AfterShutdownDelayDuration
+1.000s  * PreShutdownHooksStopped, NotAcceptingNewRequest
+1.200s  * InFlightRequestsDrained, HTTPServerStoppedListening

requests     3 to drain, 0 left; they had until +8.250s
connections  3 told to leave, 2 ended by clients, 1 closed idle, 0 by force
exit code 0: graceful: everything ended by itself
`)
  })

  test.each<[Partial<Report>, string]>([
    [{ watches: { before: 2, after: 1, cut: [] } }, 'no request was cut; 1 watch outlived the grace and was broken off'],
    [
      { watches: { before: 2, after: 2, cut: [] }, handlers: [{ name: 'GET /slow', ageMs: 5 }] },
      'no request was cut; 2 watches outlived the grace and were broken off, 1 handler outlived the response',
    ],
    [{ connections: { ...busyEnd.connections, forced: 3 } }, 'no request was cut; 3 connections were closed by force'],
    [{ watches: { before: 2, after: 1, cut: [] }, exitCode: 4 }, 'something failed; 1 watch outlived the grace and was broken off'],
  ])('an end that broke something off says so, whatever its exit code: %#', (change, meaning) => {
    const report = { ...busyEnd, ...change }
    expect(linesOf(renderReport(report, { columns: 200 })).at(-1)).toBe(`exit code ${report.exitCode}: ${meaning}`)
    expect(reportPage(report)).toContain(`exit code ${report.exitCode}: ${meaning}`)
  })

  test('may have more phases and signals than a call has room for', () => {
    const many = Array.from({ length: 130_000 }, (_, at) => phase('x', at, at + 1, 'failed'))
    const report = { ...busyEnd, phases: many, signals: many.map(({ start }) => signal('Y', start)) }
    expect(reportPage(report).length).toBeGreaterThan(130_000)
    const rendered = renderReport({ ...report, signals: [] })
    expect(linesOf(rendered).length).toBeGreaterThan(130_000)
  })

  test('says what became of requests that the last call did not let in', () => {
    const lastCall = { accepted: 1308, answered: 0 }
    const recordOf = (rejections: Report['rejections']) =>
      linesOf(renderReport({ ...busyEnd, lastCall, rejections })).find((line) => line.startsWith('last call'))
    expect(recordOf({ 'retry-after': 1304 })).toMatch(
      /1308 connections accepted, 0 requests let in; the others got the answer of a refusal$/,
    )
    expect(recordOf({ 'retry-after': 0 })).toMatch(/0 requests let in$/)
    const said = '1308 connections accepted, 0 requests let in; the others got the answer of a refusal'
    expect(reportPage({ ...busyEnd, lastCall, rejections: { 'retry-after': 1304 } })).toContain(`<dd>${said}</dd>`)
    expect(lastCallWords({ lastCall: { accepted: 1, answered: 1 }, rejections: {} })).toBe('1 connection accepted, 1 request let in')
  })

  test('has the exit code of a process that ended before its life, and says that it did', () => {
    const report = { ...busyEnd, exitCode: 1, forced: 'process-exit', forcedBy: { exitCode: 9 } } as const
    const said = /^exit code 9: the process ended before its server had: process\.exit\(\) by the program, a crash, or nothing left to run$/
    expect(linesOf(renderReport(report, { columns: 200 })).at(-1)).toMatch(said)
    expect(whyNotGraceful(report)[0]).toMatch(said)
    expect(reportPage(report)).toContain('exit code 9: the process ended before its server had')
    // One of quiesce's own codes means nothing here.
    expect(linesOf(renderReport({ ...report, forcedBy: { exitCode: 0 } }, { columns: 200 })).at(-1)).toMatch(
      /^exit code 0: the process ended/,
    )
  })

  test('has the signal of a phase at the end of its line, so that an end fits 24 rows of 80 columns', () => {
    const text = renderReport(busyEnd, { columns: 80 })
    expect(text).toBe(`\
stopped by SIGTERM, ended in 12.000s
unknown (no sign of any platform), started 2026-01-01T00:00:00.000Z

 +0.000s  * StopRequested, ShutdownInitiated
 +0.001s  pre-shutdown-hooks |==            | 1.501s  PreShutdownHooksStopped
 +0.001s  notify-clients     |===           | 2.539s  ClientsNotified
 +0.001s  shutdown-delay     |====          | 3.039s  AfterShutdownDelayDuration
 +3.041s  * NotAcceptingNewRequest
 +3.041s  request-drain      |   ========   | 6.009s  RequestsDrained
 +3.041s  watch-drain        |   ======     | 4.059s  WatchesDrained
 +3.041s  close-listener     |   =          | 0.159s  HTTPServerStoppedListening
 +3.200s  last-call          |   ==         | 0.300s  LastCallComplete
 +9.050s  * InFlightRequestsDrained
 +9.050s  handlers           |          =   | 0.250s  HandlersDone
 +9.050s  close-connections  |          =   | 0.350s  ConnectionsClosed
 +9.050s  audit-shutdown     |          ==  | 0.450s  AuditStopped
 +9.500s  destroy            |           ===| 2.400s  Destroyed
+11.950s  * AdminClosed, ReportWritten, Ended

requests     3 to drain, 0 left; they had until +8.250s
watches      2 to end, 0 left
connections  3 told to leave, 2 ended by clients, 1 closed idle, 0 by force
hooks        pre-shutdown "leave" 1.501s
exit code 0: graceful: everything ended by itself
`)
    expect(linesOf(text).length).toBeLessThanOrEqual(24)
  })

  test('says what was cut, failed, late and forced', () => {
    const text = renderReport(reportOf(badLife, 1, { 'retry-after': 3 }))
    for (const line of [
      'stopped by uncaughtException: boom, ended by force (deadline) in 0.560s',
      'requests     9 to drain, 7 left; they had until +2.500s',
      '  cut        GET /slow/0 (0.000s), GET /slow/1 (1.000s), GET /slow/2 (2.000s), and 4 more',
      '  cut        GET /watch (0.400s)',
      'handlers     GET /slow/1 (0.540s)',
      'connections  1 told to leave, 0 ended by clients, 0 closed idle, 2 by force',
      '  forced     10.0.0.9:5511 (0.500s)',
      'refused      3 retry-after',
      'hooks        pre-shutdown "leave" 0.005s failed, pre-shutdown "flush" 0.280s cut',
      'failed       pre-shutdown hook "leave": no registry',
      'late         pre-shutdown hook "leave" resolved 0.010s too late',
      'warning      uncaughtException has a listener already',
      'exit code 1: forced by a second signal or process.exit(), or a crash',
    ]) {
      expect(linesOf(text)).toContain(line)
    }
    expect(text).toMatch(/\n\+0\.300s {2}request-drain +\| +=+ +\| {3}0\.180s {2}cut\n/)
    // What is not over lasts to the end of its line.
    expect(text).toMatch(/\n\+0\.500s {2}destroy +\| +=+\| not over\n/)
  })

  test('has what went wrong in full, wrapped between words', () => {
    const message = 'consul: 503 Service Unavailable (agent is not a voter), tried 3 times within 2 s; see https://consul.internal/v1/agent'
    const report = { ...reportOf(quietLife, 4), errors: [{ where: 'pre-shutdown hook "leave"', error: { name: 'Error', message } }] }
    expect(linesOf(renderReport(report, { columns: 60 })).slice(-5)).toEqual([
      'failed       pre-shutdown hook "leave": consul: 503 Service',
      '             Unavailable (agent is not a voter), tried 3',
      '             times within 2 s; see',
      '             https://consul.internal/v1/agent',
      'exit code 4: ended in order, but something failed',
    ])
  })

  test('shows the longest of many hooks, in the order they began', () => {
    const hooks = Array.from({ length: 20 }, (_, index) => ({
      kind: 'destroy' as const,
      name: `${index}`,
      outcome: 'ok' as const,
      durationMs: (index * 7) % 20,
    }))
    const [line] = linesOf(renderReport({ ...reportOf(quietLife), hooks }, { columns: 1_000 })).filter((each) => each.startsWith('hooks'))
    expect(line?.match(/"\d+"/g)?.map((name) => Number(JSON.parse(name)))).toEqual(
      hooks.flatMap(({ durationMs }, index) => (durationMs >= 8 ? [index] : [])),
    )
    expect(line).toMatch(/, and 8 shorter ones$/)
  })

  test('gives a wide terminal longer bars', () => {
    const barOf = (columns: number): number => (/\|(.*)\|/.exec(renderReport(busyEnd, { columns })) as RegExpExecArray)[1]?.length ?? 0
    expect([80, 81, 120, 200, 400].map((columns) => columns - barOf(columns))).toEqual([66, 66, 66, 66, 66])
  })

  test('is readable in a narrow one', () => {
    expect(linesOf(renderReport(busyEnd, { columns: 50 })).slice(0, 12)).toEqual([
      'stopped by SIGTERM, ended in 12.000s',
      'unknown (no sign of any platform), started',
      '  2026-01-01T00:00:00.000Z',
      '',
      ' +0.000s  * StopRequested, ShutdownInitiated',
      ' +0.001s  pre-shutdown-hooks 1.501s',
      '            PreShutdownHooksStopped',
      ' +0.001s  notify-clients     2.539s',
      '            ClientsNotified',
      ' +0.001s  shutdown-delay     3.039s',
      '            AfterShutdownDelayDuration',
      ' +3.041s  * NotAcceptingNewRequest',
    ])
  })

  test.each([200, 100, 80, 72, 60, 40, 24])('fits a terminal of %i columns', (columns) => {
    for (const report of [reportOf(quietLife), reportOf(badLife), reportOf([]), busyEnd]) {
      for (const line of linesOf(renderReport(report, { columns }))) expect(cells(line)).toBeLessThanOrEqual(columns)
    }
  })

  test('keeps its columns, whatever script the names are in', () => {
    const phases = ['キューを空にする', 'drain-the-queue', '데이터베이스 연결을 모두 닫고 기다리기', 'verzoegert-u\u0308ber-Maßen'].map(
      (name, i) => phase(name, i, i + 200),
    )
    const bars = linesOf(renderReport({ ...reportOf(quietLife), phases }, { columns: 120 })).filter((line) => line.includes('|'))
    expect(bars).toHaveLength(phases.length)
    const columns = (line: string): number[] => line.split('|').map(cells).slice(0, 2)
    expect(new Set(bars.map((line) => columns(line).join()))).toEqual(new Set([columns(bars[0] as string).join()]))
  })

  test('knows the signal of a phase of the user’s', () => {
    const report = { ...reportOf(quietLife), phases: [phase('flush-queue', 10, 600)], signals: [signal('FlushQueueDone', 600)] }
    expect(renderReport(report)).toMatch(/flush-queue \| *=+ *\| 0\.590s {2}FlushQueueDone\n/)
  })

  test('has the end at its right edge, although nothing else happened then', () => {
    const forced = { ...busyEnd, phases: [phase('destroy', 6_000, null, null)], signals: [signal('StopRequested', 0)] }
    expect(renderReport(forced, { columns: 50 })).toMatch(/\+6\.000s {2}destroy \| {10}={10}\| not over\n/)
  })

  test('has a line for a phase that went wrong in no time', () => {
    const report = { ...busyEnd, phases: [phase('destroy', 500, 500.2, 'failed')], signals: [signal('Destroyed', 500.2, 'failed')] }
    expect(renderReport(report)).toMatch(/destroy \| *= *\| 0\.000s {2}Destroyed failed\n/)
  })

  test('lets no control character of a name or message reach the terminal', () => {
    expect(renderReport(reportOf(badLife))).not.toContain('\u001b')
  })

  test('colours only when it is told to', () => {
    expect(renderReport(reportOf(badLife, 1), { color: true })).toContain('\u001b[31mexit code 1')
    expect(renderReport(reportOf(badLife, 1), { color: true })).toContain('\u001b[33m+0.300s  request-drain')
  })

  test('colours what failed and what was cut, and the end; nothing else', () => {
    const phases = [phase('destroy', 0, 20, 'failed'), phase('request-drain', 20, 40, 'cut'), phase('flush', 40, 60)]
    const rendered = linesOf(renderReport({ ...reportOf(quietLife), phases, signals: [], hooks: [] }, { color: true }))
    const colourOf = (words: string) =>
      rendered
        .find((line) => line.includes(words))
        ?.split('\u001b[')[1]
        ?.split('m')[0]
    const said = ['stopped by', 'started 20', 'destroy', 'request-drain', 'flush', 'requests', 'exit code 0'].map(colourOf)
    expect(said).toEqual(['1', undefined, '31', '33', undefined, undefined, '1'])
  })

  test('begins what goes on below what it is called, where there is room for that', () => {
    const [wide, narrow] = [39, 38].map((columns) => linesOf(renderReport(reportOf(quietLife), { columns })))
    const below = (lines: readonly string[] = []) => lines[lines.findIndex((line) => line.startsWith('connections')) + 1]
    expect([below(wide), below(narrow)].map((line) => line?.search(/\S/))).toEqual([13, 2])
  })

  test('may be for one column, as narrow as words allow', () => {
    expect(renderReport(busyEnd, { columns: 1 })).toBe(renderReport(busyEnd, { columns: 24 }))
  })

  test('of a life without a stop', () => {
    const served: readonly LifecycleEvent[] = quietLife.slice(0, 6)
    expect(renderReport(reportOf(served))).toMatch(/^no stop was requested, ended\n/)
  })

  test('describes every reason in one line', () => {
    const error = { name: 'Error', message: 'x' }
    expect(describeReason({ kind: 'start-failed', phase: 'bind', error })).toBe('a failed start (bind): x')
    expect(describeReason({ kind: 'listener-died', address: 'http://[::]:80', error })).toBe('the listener http://[::]:80: x')
  })

  test.each([
    [
      undefined,
      {},
      'report of renderReport(report, options?): got undefined, allowed: a report, as run() resolves with and a report file holds',
    ],
    [{}, {}, 'report of renderReport(report, options?): got {}, allowed: a report, as run() resolves with and a report file holds'],
    [
      { phases: [] },
      {},
      'report of renderReport(report, options?): got {"phases":[]}, allowed: a report, as run() resolves with and a report file holds',
    ],
    [busyEnd, { columns: 0 }, 'columns: got 0, allowed: a whole number of at least 1'],
    [busyEnd, { columns: '80' }, 'columns: got "80", allowed: a whole number of at least 1'],
    [busyEnd, { color: 'yes' }, 'color: got "yes", allowed: true, false'],
  ])('is refused for what cannot be used (%#)', (report, options, message) => {
    expect(() => renderReport(report as Report, options as object)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', message }),
    )
  })
})
