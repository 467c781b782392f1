import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
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
    .poll(() => page.locator('#chart-notified').innerText())
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
  await page.getByRole('link', { name: 'Options', exact: true }).click()
  expect(await page.locator('h1').innerText()).toBe('Options')
  expect(complaints).toEqual([])
})

test('it begins with install and go, and leads on by what a reader wants', async () => {
  const { page, complaints } = await openPage(pathToFileURL(join(out, 'index.html')).href)
  expect(await page.locator('main pre').first().innerText()).toMatch(/^npm install quiesce\s*$/)
  expect(await page.locator('main pre').nth(1).innerText()).toContain('await life.run()')
  await page.getByRole('link', { name: 'Watch a shutdown', exact: true }).click()
  expect(await page.locator('h1').innerText()).toBe('The inspector')
  expect(complaints).toEqual([])
})

/** What is wider than its place: the page, and tables, of which a part would be cut off. */
const TOO_WIDE = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement
  const tables = [...document.querySelectorAll('.table')].filter((table) => table.scrollWidth > table.clientWidth + 1)
  return [...(scrollWidth > clientWidth ? ['the page'] : []), ...tables.map((table) => table.textContent.slice(0, 40))]
})()`

const SIZES = [
  { width: 1440, height: 900 },
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
  { width: 320, height: 640 },
]

test('every page and table is whole on every screen, and its content comes first', { timeout: 240_000 }, async () => {
  const pages = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.html'))
  expect(pages.length).toBeGreaterThan(50)
  const { page, complaints } = await openPage(pathToFileURL(join(out, 'index.html')).href)
  for (const path of pages) {
    await page.goto(pathToFileURL(join(out, path)).href)
    for (const size of SIZES) {
      await page.setViewportSize(size)
      const top = (await page.locator('h1').first().boundingBox())?.y ?? Number.POSITIVE_INFINITY
      expect([path, size, await page.evaluate(TOO_WIDE), top < 150]).toEqual([path, size, [], true])
    }
  }
  expect(complaints).toEqual([])
})

test('on a phone the pages are behind a button, without a script, too', async () => {
  const viewport = { width: 390, height: 844 }
  const { page } = await openPage(pathToFileURL(join(out, 'docs/options.html')).href, { viewport, javaScriptEnabled: false })
  const link = page.getByRole('link', { name: 'Install and go' })
  expect(await link.isVisible()).toBe(false)
  await page.getByText('All pages').click()
  await link.click()
  expect(await page.locator('h1').innerText()).toBe('Stop a Node server without losing a request')
})
