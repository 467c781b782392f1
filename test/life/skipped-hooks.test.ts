// Hooks that never ran, because what they wait for was cut. Fails when: one of them is not named in
// a summary (the report, its page, the comparison of two, a terminal while it drains, standard
// error); a hook is named that ran, or that waited for something else; or the reason is another
// one.
import { expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { comparisonText } from '#src/cli/printed-comparison.ts'
import { compareReports } from '#src/report/compare.ts'
import { renderReport } from '#src/report/render-report.ts'
import { reportPage } from '#src/report/report-page.ts'
import { whyNotGraceful } from '#src/report/why-not-graceful.ts'
import { drainLines } from '#src/terminal/drain-lines.ts'
import { never, newLife } from '../support/life.ts'

const LONG = 'a-service-with-a-name-that-is-longer-than-a-column-'

/** `flush` hangs; `leave` follows it, `tell` follows both, and `metrics` follows neither. */
async function cut() {
  const t = newLife({ clock: new VirtualClock(), options: { deadline: '8s', shutdownDelay: '1s' } })
  t.life.addPreShutdownHook('flush', () => never, { timeout: '1h' })
  t.life.addPreShutdownHook('leave', () => {})
  t.life.addPreShutdownHook(`${LONG}1`, () => {}, { after: ['leave', 'metrics'] })
  t.life.addPreShutdownHook(`${LONG}2`, () => {}, { after: ['flush'] })
  t.life.addPreShutdownHook('metrics', () => {}, { after: [] })
  await t.life.start()
  const hold = t.life.hold('job')
  const ended = t.life.stop()
  await t.clock.advance(7_000)
  const lines = drainLines(t.life.status.progress() as never, t.life.status.gauges(), { width: 200, height: 20, color: false })
  hold[Symbol.dispose]()
  return { report: await t.end(ended), lines }
}

test('every summary names them, and what they waited for', async () => {
  const { report, lines } = await cut()
  const words = `pre-shutdown hooks "leave", "${LONG}1" and "${LONG}2" never ran: they waited for "flush", which was cut`
  expect(report.hooks.filter(({ outcome }) => outcome === 'skipped').map(({ name, waitedFor }) => [name, waitedFor])).toEqual([
    ['leave', ['flush']],
    [`${LONG}1`, ['flush']],
    [`${LONG}2`, ['flush']],
  ])
  expect(report.hooks.find(({ name }) => name === 'metrics')).toEqual(expect.objectContaining({ outcome: 'ok' }))
  expect(renderReport(report, { columns: 400 })).toContain(`  skipped    ${words}`)
  expect(reportPage(report)).toContain(words.replaceAll('"', '&quot;'))
  expect(lines).toContain(words)
  expect(whyNotGraceful(report)).toEqual([expect.stringMatching(/^exit code 5: .*: pre-shutdown hook "flush"$/), words])
})

test('in the comparison of two ends each has its whole name, and is worse', async () => {
  const { report } = await cut()
  const good = { ...report, exitCode: 0, hooks: report.hooks.map((hook) => ({ ...hook, outcome: 'ok' as const, durationMs: 5 })) }
  const text = comparisonText(compareReports(good, report), ['good.json', 'bad.json'], false)
  for (const number of [1, 2]) expect(text).toContain(`  pre-shutdown hook "${LONG}${number}"\n`)
  expect(text.match(/never ran +worse/g)).toHaveLength(3)
  expect(new Set(text.trimEnd().split('\n')).size).toBeGreaterThan(6)
})
