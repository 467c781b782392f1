// A report as a page that is attached to an incident. Fails when: something of the report is
// missing, what users and clients wrote becomes markup, the page asks for anything, or it cannot be
// read on a phone or in the dark.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Report } from '#src/report/report.ts'
import { reportPage } from '#src/report/report-page.ts'
import { InspectorPage, useBrowser } from '../browser/pages.ts'
import { badLife, quietLife, reportOf } from './lives.ts'

const bad = reportOf(badLife, 1)

test('says what the report says', () => {
  const page = reportPage(bad)
  for (const words of ['exit code 1: forced by', 'no registry', 'E_GONE', 'GET /slow/6', 'GET /watch', '10.0.0.9:5511', 'audit is down'])
    expect(page).toContain(words)
  for (const { name } of bad.signals) expect(page).toContain(`<td>${name}</td>`)
  expect(page).toContain('<ul><li>uncaughtException has a listener already</li></ul>')
  expect(reportPage(reportOf(quietLife))).toContain('<h1>Stopped by SIGTERM</h1>')
})

test('says nothing of the phase that writes it, of whose end it cannot tell', () => {
  const report = reportOf(quietLife)
  const writing = { name: 'report', start: 5, end: null, budget: null, outcome: null, cut: [] }
  expect(reportPage({ ...report, phases: [...report.phases, writing] })).not.toContain('<td>report</td>')
  expect(reportPage({ ...report, phases: [...report.phases, { ...writing, name: 'destroy' }] })).toContain('<td>destroy</td>')
})

test('has no control of a terminal in it, and no mark that turns the direction of a text', () => {
  const message = '\x1b]0;owned\x07red\u202eevil\u0000\u009b31m\nsecond line'
  const page = reportPage({
    ...bad,
    errors: [{ at: 1, where: 'x', error: { name: 'Error', message, stack: message } }],
  } as unknown as Report)
  expect(page).toContain('\ufffd]0;owned\ufffdred\ufffdevil\ufffd\ufffd31m\nsecond line')
  expect(page).not.toMatch(/(?![\n\t])[\p{Cc}\u202a-\u202e]/u)
})

test('leaves out what there was nothing of', () => {
  const page = reportPage(reportOf(quietLife))
  expect(page.slice(page.indexOf('<main>'))).not.toContain('\n\n')
  for (const title of ['Failures', 'Cut before it was done', 'Warnings', 'Late answers']) expect(page).not.toContain(title)
})

/** What a page says: its terms, and of each section the cells of each row, or its text. */
function read(page: string) {
  const all = (pattern: RegExp, html: string) => [...html.matchAll(pattern)].map(([, first = '', second = '']) => [first, second] as const)
  const terms = (html: string) => Object.fromEntries(all(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g, html))
  const [header = '', main = ''] = page.slice(page.indexOf('<header>')).split('<main>')
  const sections = all(/<section><h2>(.*?)<\/h2>(.*?)<\/section>/gs, main).map(([title, html]) => {
    const rows = all(/<tr>(.*?)<\/tr>/gs, html).map(([row]) => all(/<t[dh]\b[^>]*>(.*?)<\/t[dh]>/g, row).map(([cell]) => cell))
    return [title, html.includes('<dl>') ? terms(html) : rows.length > 0 ? rows : html] as const
  })
  return {
    title: all(/<h1>(.*?)<\/h1>/g, header),
    verdict: all(/<p class="(.*?)">(.*?)<\/p>/g, header),
    facts: terms(header),
    sections: Object.fromEntries<unknown>(sections),
  }
}

const phase = (name: string, given: object) => ({ name, start: 0, end: 10, budget: null, outcome: 'ok' as const, cut: [], ...given })

test('says how a life has ended that was forced to, and where it listened', () => {
  const listeners = [...bad.listeners, { url: 'http://127.0.0.1:9229', admin: true, inspector: true as const }]
  const error = { name: 'Error', message: 'again' }
  expect(read(reportPage({ ...bad, listeners, forced: 'second-crash', forcedBy: { error } }))).toMatchObject({
    verdict: [['verdict failed', 'exit code 1: forced by a second signal or process.exit(), or a crash']],
    facts: {
      Started: '2026-01-01T00:00:00.000Z',
      'Stop requested': '2026-01-01T00:00:00.020Z',
      Ended: '2026-01-01T00:00:00.580Z, after 560ms',
      Deadline: '5s',
      'Ended by force': 'second-crash: again',
      Platform: 'unknown (no sign of any platform)',
      'Listened on': 'http://127.0.0.1:8080, http://127.0.0.1:9090 (admin), http://127.0.0.1:9229 (inspector)',
    },
  })
})

test('says of a life that was never asked to stop what there is to say', () => {
  const never = { reason: null, stopRequestedAt: null, budget: null, listeners: [], phases: [phase('bind', { start: -2, end: 1 })] }
  const { title, verdict, facts, sections } = read(reportPage({ ...reportOf(quietLife), ...never, hooks: [], signals: [] }))
  expect({ title, verdict }).toEqual({
    title: [['No stop was requested', '']],
    verdict: [['verdict ok', 'exit code 0: graceful: everything ended by itself']],
  })
  expect(facts).toEqual({
    Started: '2026-01-01T00:00:00.000Z',
    'Stop requested': 'never',
    Ended: '2026-01-01T00:01:01.203Z',
    Platform: 'unknown (no sign of any platform)',
  })
  expect(Object.keys(sections)).toEqual(['What took how long', 'Requests and connections', 'Times that were chosen'])
  expect(sections).toMatchObject({ 'What took how long': [expect.anything(), ['bind', expect.anything(), '-2ms', '3ms', '', 'ok']] })
})

test('draws each phase since the stop in the time of the whole end, and where its time was over', () => {
  const page = reportPage({
    ...bad,
    signals: [{ name: 'StopRequested', at: 400, outcome: 'ok' }],
    phases: [
      phase('bind', { start: -2, end: 1 }),
      phase('shutdown-delay', { end: 100, budget: 400 }),
      phase('request-drain', { start: 100, end: 200, budget: 200, outcome: 'cut' }),
      phase('destroy', { start: 300, end: null, outcome: null, budget: 101 }),
      phase('flush', { start: 300, outcome: 'skipped' }),
    ],
  })
  const bar = (how: string, left: number, width: number, over?: number) =>
    `<i class="${how}" style="left:min(${left.toFixed(2)}%,100% - 3px);width:max(3px,${width.toFixed(2)}%)"></i>${over === undefined ? '' : `<b style="left:min(${over.toFixed(2)}%,100% - 2px)" title="its time was over here"></b>`}`
  expect(read(page).sections).toMatchObject({
    'What took how long': [
      ['phase', 'from the stop request to the end', 'began', 'took', 'had', ''],
      ['shutdown-delay', bar('ok', 0, 25, 100), '+0ms', '100ms', '400ms', 'ok'],
      ['request-drain', bar('cut', 25, 25, 75), '+100ms', '100ms', '200ms', 'cut'],
      ['destroy', bar('cut', 75, 25), '+300ms', 'not over', '101ms', 'not over'],
    ],
  })
  // On a phone a cell is told by its column, where that has a name.
  expect(page).toContain('<td class="outcome cut">not over</td></tr>')
  expect(page).toContain('<th scope="col">had</th><td></td></tr>')
  expect(page).toContain('<td data-head="began">+300ms</td>')
  const phases = [phase('flush', { end: 25 }), phase('destroy', { start: 50, end: null, outcome: null })]
  expect(read(reportPage({ ...bad, signals: [], phases })).sections).toMatchObject({
    'What took how long': [
      expect.anything(),
      ['flush', bar('ok', 0, 50), '+0ms', '25ms', '', 'ok'],
      ['destroy', bar('cut', 100, 0), '+50ms', 'not over', '', 'not over'],
    ],
  })
})

test('says what was cut, what failed how often, and which hooks are not over', () => {
  const report = reportOf(badLife, 1)
  const hooks = [...report.hooks.slice(0, 2), { kind: 'destroy' as const, name: 'pool', outcome: null, durationMs: null }]
  const cut = [
    { name: 'GET /a', ageMs: 5, undeliveredBytes: 12 },
    { name: 'GET /b', ageMs: 6 },
  ]
  const errors = [
    { where: 'logger', error: { name: 'Error', message: 'no log' }, count: 3 },
    { where: 'hook', error: { name: 'TypeError', message: 'no', code: 'E_GONE', stack: 'at hook' } },
  ]
  const page = read(
    reportPage({ ...report, hooks, errors, requests: { before: 2, after: 2, cut }, watches: { ...report.watches, cut: [] } }),
  )
  expect(page.sections).toMatchObject({
    'Cut before it was done': [
      ['what', 'name', 'age', '', ''],
      ['request', 'GET /a', '5ms', '', '12 bytes undelivered'],
      ['request', 'GET /b', '6ms', '', ''],
      ['connection', '10.0.0.9:5511', '500ms', '', ''],
      ['handler that outlived its response', 'GET /slow/1', '540ms', '', ''],
    ],
    Failures:
      '<article><h3>logger (3 times)</h3><p class="failed">Error: no log</p></article>' +
      '<article><h3>hook</h3><p class="failed">TypeError [E_GONE]: no</p><details><summary>Stack</summary><pre>at hook</pre></details></article>',
    Hooks: [
      ['hook', 'kind', 'took', '', ''],
      ['warm', 'post-start', '5ms', 'ok', ''],
      ['leave', 'pre-shutdown', '5ms', 'failed', 'no registry'],
      ['pool', 'destroy', 'not over', 'not over', ''],
    ],
  })
})

test('says of requests and connections what there was', () => {
  const quiet = reportOf(quietLife)
  const plain = {
    Requests: '3 to drain, 0 left',
    Watches: '0 to end, 0 left',
    Connections: '3 told to leave, 2 ended by clients, 1 closed idle, 0 by force',
  }
  const title = 'Requests and connections'
  expect(read(reportPage(quiet)).sections[title]).toEqual(plain)
  const connections = { ...quiet.connections, lastRequestMs: 30, upgraded: { websocket: 2, connect: 1 } }
  const given = { rejections: { draining: 2, late: 0, full: 1 }, audit: { delivered: 5, lost: 1 }, connections }
  expect(read(reportPage({ ...quiet, ...given })).sections[title]).toEqual({
    ...plain,
    Upgraded: '2 websocket, 1 connect',
    'Last request': '30ms after the stop',
    Refused: '2 draining, 1 full',
    Audit: '5 events stored, 1 lost',
  })
})

test('says which times were chosen, whatever else stands there in the report of another version', () => {
  const defaults = { deadline: { ms: 5_000, because: 'given' }, hookTimeout: { ms: 5 }, gone: null, other: { ms: '5s', because: 'text' } }
  const { platform } = bad
  expect(read(reportPage({ ...bad, platform: { ...platform, defaults } })).sections).toMatchObject({
    'Times that were chosen': [
      ['option', 'time', 'because'],
      ['deadline', '5s', 'given'],
      ['hookTimeout', '5ms', ''],
    ],
  })
})

const HOSTILE = `</td></script><script>alert(1)</script><img src=x onerror="alert('1')">&amp;`

describe('in a browser', () => {
  useBrowser()
  const opened = (report: Report, options = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'quiesce-page-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'report.html')
    writeFileSync(file, reportPage(report))
    return InspectorPage.open(pathToFileURL(file).href, options)
  }

  test.each([
    ['light', 1280],
    ['dark', 360],
  ] as const)('is whole from a file: %s, %i wide', async (colorScheme, width) => {
    const opening = opened(bad, { colorScheme, viewport: { width, height: 800 } })
    const { page, complaints, hosts } = await opening
    expect(await page.title()).toMatch(/^Stopped by uncaughtException: boom, exit code 1, 2026-/)
    expect(await page.locator('h1').innerText()).toBe('Stopped by uncaughtException: boom')
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true)
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
    expect(ground).toBe(colorScheme === 'dark' ? 'rgb(14, 17, 22)' : 'rgb(243, 244, 246)')
    // No column is out of sight.
    const hidden = 'Array.from(document.querySelectorAll(".wide")).filter((box) => box.scrollWidth > box.clientWidth).length'
    expect(await page.evaluate(hidden)).toBe(0)
    // Bars are where they belong: the drain ends where its time was over.
    const bars = await page.locator('.track i').evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width))
    expect(bars.length).toBeGreaterThan(0)
    for (const wide of bars) expect(wide).toBeGreaterThanOrEqual(3)
    expect(complaints).toEqual([])
    // Of the file itself; nothing else was asked for.
    expect([...hosts]).toEqual([''])
  })

  test('shows what users and clients wrote as text', async () => {
    const requests = { before: 1, after: 1, cut: [{ name: HOSTILE, ageMs: 5 }] }
    const errors = [{ where: HOSTILE, error: { name: HOSTILE, message: HOSTILE, stack: HOSTILE, code: HOSTILE } }]
    const warnings = [{ message: HOSTILE }]
    const report: Report = { ...bad, requests, errors, warnings, reason: { kind: 'stop', reason: HOSTILE } }
    const { page, complaints } = await opened(report)
    expect(await page.locator('script, img').count()).toBe(0)
    expect(await page.locator('h1').innerText()).toContain(HOSTILE)
    expect(await page.locator('td', { hasText: HOSTILE }).count()).toBe(1)
    expect(complaints).toEqual([])
  })
})
