import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage, useBrowser } from './pages.ts'

/** The documentation's site as it lies on a disk, without any server. */

useBrowser()

const ROOT = join(import.meta.dirname, '../..')
let out: string
beforeAll(() => {
  out = mkdtempSync(join(tmpdir(), 'quiesce-site-'))
  const { status, stderr } = spawnSync(process.execPath, ['scripts/docs-site.mjs', '--out', out], { cwd: ROOT, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})
afterAll(() => rmSync(out, { recursive: true }))

const RELATED = `[...document.getElementById('chart-body').firstElementChild.shadowRoot.querySelectorAll('.region.related')]
  .map((region) => region.getAttribute('data-state'))
  .sort()`

test('the chart lights what a phase waits for and what waits for it, in both modes', async () => {
  const { page, complaints } = await openPage(pathToFileURL(join(out, 'chart.html')).href)
  const region = (name: string) => page.locator(`[data-state="${name}"]`).first()
  await region('in-flight-drained').hover()
  expect(await page.evaluate(RELATED)).toEqual([
    'audit-shutdown',
    'close-connections',
    'handlers',
    'in-flight-drained',
    'request-drain',
    'watch-drain',
  ])
  await expect
    .poll(() => page.locator('#chart-told').innerText())
    .toMatch(/^in-flight-drained waits for RequestsDrained and WatchesDrained; fires InFlightRequestsDrained; .* wait for it$/)
  await page.locator('h1').hover()
  expect(await page.evaluate(RELATED)).toEqual([])

  await page.locator('input[value="retry-after"]').check()
  await region('in-flight-drained').hover()
  expect(await page.evaluate(RELATED)).toContain('close-listener-after-drain')
  expect(complaints).toEqual([])
})

test('pages are read without a script, and lead to each other', async () => {
  const { page, complaints } = await openPage(pathToFileURL(join(out, 'readme.html')).href, { javaScriptEnabled: false })
  await page.locator('nav details', { hasText: 'Documents' }).locator('summary').click()
  await page.getByRole('link', { name: 'Options', exact: true }).click()
  expect(await page.locator('h1').innerText()).toBe('Options')
  expect(complaints).toEqual([])
})
