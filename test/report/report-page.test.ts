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
  expect(page).toContain('uncaughtException has a listener already')
  expect(reportPage(reportOf(quietLife))).toContain('<h1>Stopped by SIGTERM</h1>')
})

test('says nothing of the phase that writes it, of whose end it cannot tell', () => {
  const report = reportOf(quietLife)
  const writing = { name: 'report', start: 5, end: null, budget: null, outcome: null, cut: [] }
  expect(reportPage({ ...report, phases: [...report.phases, writing] })).not.toContain('<td>report</td>')
  expect(reportPage({ ...report, phases: [...report.phases, { ...writing, name: 'destroy' }] })).toContain('<td>destroy</td>')
})

test('leaves out what there was nothing of', () => {
  const page = reportPage(reportOf(quietLife))
  for (const title of ['Failures', 'Cut before it was done', 'Warnings', 'Late answers']) expect(page).not.toContain(title)
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
  ] as const)('is whole from a file: %s, %i wide', { timeout: 60_000 }, async (colorScheme, width) => {
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

  test('shows what users and clients wrote as text', { timeout: 60_000 }, async () => {
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
