// Fails when: the report, as data or as text, does not say when the last request came after the
// stop request, counts probes among them, or gives no hint when it came about as late as the delay
// is long.
import { expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { renderReport } from '#src/report/render-report.ts'
import { reportPage } from '#src/report/report-page.ts'
import { summary } from '#src/report/summary.ts'
import { newLife } from '../support/life.ts'

const said = (report: Parameters<typeof summary>[0]): string | undefined =>
  summary(report).find(({ label }) => label === 'last request')?.text

async function stoppedWith(...requestsAt: readonly (readonly [ms: number, path: string])[]) {
  const clock = new VirtualClock()
  const rig = newLife({ clock, options: { shutdownDelay: '5s' } })
  await rig.life.start()
  const ended = rig.life.stop('the test asks')
  await rig.fired('ShutdownInitiated')
  let now = 0
  for (const [ms, path] of requestsAt) {
    await clock.advance(ms - now)
    now = ms
    await rig.get(path)
  }
  return rig.end(ended)
}

test('the last request is timed from the stop on, and early ones are no reason for a hint', async () => {
  const report = await stoppedWith([1_000, '/'], [2_000, '/'])
  expect(report.connections.lastRequestMs).toBe(2_000)
  expect(said(report)).toMatch(/^2\.\d+s after the stop, whose delay was 5\.\d*s$/)
  expect(renderReport(report)).toMatch(/^last request +2\.\d+s after the stop/m)
  expect(reportPage(report)).toMatch(/<dt>Last request<\/dt><dd>2s after the stop<\/dd>/)
})

test('one that came near the end of the delay is a hint to lengthen it', async () => {
  const report = await stoppedWith([4_500, '/'])
  expect(report.connections.lastRequestMs).toBe(4_500)
  expect(said(report)).toMatch(/^4\.\d+s after the stop, whose delay was 5\.\d*s: .* shutdownDelay/)
})

test('probes are no requests of clients', async () => {
  expect((await stoppedWith([4_500, '/readyz'])).connections.lastRequestMs).toBeUndefined()
})
