import { describe, expect, test } from 'vitest'
import { cells } from '#src/base/cells.ts'
import { renderReport } from '#src/report/render-report.ts'
import { describeReason } from '#src/report/describe-reason.ts'
import { badLife, quietLife, reportOf } from './lives.ts'

describe('a rendered report', () => {
  test('is a short timeline from the stop request on', () => {
    expect(renderReport(reportOf(quietLife))).toBe(`\
stopped by SIGTERM, ended in 1.203s
  unknown (no sign of any platform), started 2026-01-01T00:00:00.000Z

      +0ms  * StopRequested              |*                                     |
      +0ms  * ShutdownInitiated          |*                                     |
      +0ms    shutdown-delay             |================================      | 1s ok
       +1s  * AfterShutdownDelayDuration |                               *      |
       +1s  * PreShutdownHooksStopped    |                               *      |
       +1s  * NotAcceptingNewRequest     |                               *      |
     +1.2s  * InFlightRequestsDrained    |                                     *|
   +1.201s  * HTTPServerStoppedListening |                                     *|

requests     3 to drain, 0 left; they had until +8.25s
watches      0 to end, 0 left
connections  3 told to leave, 2 ended by clients, 1 idle and untold, 0 by force
exit code 0: graceful: everything ended by itself
`)
  })

  test('says what was cut, failed, late and forced', () => {
    const text = renderReport(reportOf(badLife, 1, { 'retry-after': 3 }))
    for (const line of [
      'stopped by uncaughtException: boom, ended by force (deadline) in 560ms',
      'requests     9 to drain, 7 left; they had until +2.5s',
      '  cut        GET /slow/0 (0ms), GET /slow/1 (1s), GET /slow/2 (2s), and 4 more',
      '  cut        GET /watch (400ms)',
      'handlers     GET /slow/1 (540ms)',
      'connections  1 told to leave, 0 ended by clients, 0 idle and untold, 2 by force',
      '  forced     10.0.0.9:5511 (500ms)',
      'refused      3 retry-after',
      'cut          pre-shutdown hook "flush"',
      'failed       pre-shutdown hook "leave": no registry',
      'late         pre-shutdown hook "leave" resolved 10ms too late',
      'warning      uncaughtException has a listener already',
      'exit code 1: forced by a second signal or process.exit(), or a crash',
    ]) {
      expect(text.split('\n')).toContain(line)
    }
    expect(text).toMatch(/destroy .*not over/)
  })

  test.each([100, 80, 72, 20])('fits a terminal of %i columns, or 72', (width) => {
    for (const life of [quietLife, badLife, []]) {
      for (const line of renderReport(reportOf(life), { width }).split('\n')) expect(line.length).toBeLessThanOrEqual(Math.max(width, 72))
    }
  })

  test('keeps its columns, whatever script the names are in', () => {
    const phases = ['キューを空にする', 'drain-the-queue', '데이터베이스 연결을 모두 닫고 기다리기', 'verzoegert-u\u0308ber-Maßen'].map(
      (name, i) => ({
        name,
        start: i,
        end: i + 10,
        outcome: 'ok' as const,
        cut: [],
        budget: null,
      }),
    )
    const bars = renderReport({ ...reportOf(quietLife), phases })
      .split('\n')
      .filter((line) => line.includes('|'))
    expect(bars).toHaveLength(7 + phases.length)
    const columns = (line: string): number[] => line.split('|').map(cells).slice(0, 2)
    expect(new Set(bars.map((line) => columns(line).join()))).toEqual(new Set([columns(bars[0] as string).join()]))
  })

  test('lets no control character of a name or message reach the terminal', () => {
    expect(renderReport(reportOf(badLife))).not.toContain('\u001b')
  })

  test('colours only when it is told to', () => {
    expect(renderReport(reportOf(badLife, 1), { color: true })).toContain('\u001b[31mexit code 1')
  })

  test('of a life without a stop', () => {
    expect(renderReport(reportOf(quietLife.slice(0, 6)))).toMatch(/^no stop was requested, ended\n/)
  })

  test('describes every reason in one line', () => {
    const error = { name: 'Error', message: 'x' }
    expect(describeReason({ kind: 'start-failed', phase: 'bind', error })).toBe('a failed start (bind): x')
    expect(describeReason({ kind: 'listener-died', address: 'http://[::]:80', error })).toBe('the listener http://[::]:80: x')
  })
})
