// @ts-check
// `npm run screenshots`: the pictures of the inspector in docs/images/, from a life that is recorded
// first. `-- --all FOLDER`: as well all that is worth a look, into FOLDER: five sizes, light and
// dark, before, during and after a drain, in both modes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { browserLaunch } from './browser.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const { values } = parseArgs({ options: { all: { type: 'string' } } })

/** Milliseconds after the stop request. */
const DURING_MS = 3_500
/** @type {readonly (readonly [number, number])[]} */
const SIZES = [
  [360, 740],
  [768, 1024],
  [1280, 800],
  [1920, 1080],
  [3840, 2160],
]
const SCHEMES = /** @type {const} */ (['light', 'dark'])

const browser = await chromium.launch(browserLaunch())
const folder = mkdtempSync(join(tmpdir(), 'quiesce-'))
const journalOf = (/** @type {string} */ mode) => join(folder, `${mode}.ndjson`)
try {
  await Promise.all(['refuse', 'retry-after'].map(recorded))
  await pictured('refuse', [[1440, 900]], ['during'], (scheme) => `docs/images/inspector-${scheme}.png`)
  const { all } = values
  if (all !== undefined) {
    mkdirSync(all, { recursive: true })
    const name =
      (/** @type {string} */ mode) => (/** @type {string} */ scheme, /** @type {string} */ moment, /** @type {number} */ width) =>
        join(all, `${mode}-${moment}-${width}-${scheme}.png`)
    for (const mode of ['refuse', 'retry-after']) await pictured(mode, SIZES, ['before', 'during', 'after'], name(mode))
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true })
}

/** @param {string} mode */
async function recorded(mode) {
  await once(spawn(process.execPath, ['scripts/screenshots/life.mjs', mode, journalOf(mode)], { stdio: 'inherit' }), 'exit')
}

/** The entry that a picture is of. @param {string} mode @param {string} moment */
function entryAt(mode, moment) {
  const entries = readFileSync(journalOf(mode), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const stop = entries.findIndex(({ event }) => event?.name === 'StopRequested')
  if (moment === 'before') return stop - 1
  return moment === 'after' ? entries.length - 1 : entries.findLastIndex(({ at }) => at <= entries[stop].at + DURING_MS)
}

/**
 * @param {string} mode @param {readonly (readonly [number, number])[]} sizes @param {readonly string[]} moments
 * @param {(scheme: string, moment: string, width: number) => string} nameOf
 */
async function pictured(mode, sizes, moments, nameOf) {
  const inspector = spawn(process.execPath, ['dist/cli.js', 'inspect', journalOf(mode)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise((resolve) => {
    createInterface({ input: inspector.stdout }).on('line', (line) => {
      const [found] = /http:\/\/\S+\/inspector\//.exec(line) ?? []
      if (found) resolve(found)
    })
  })
  for (const [width, height] of sizes) {
    for (const colorScheme of SCHEMES) {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' })
      await page.goto(url)
      await page.locator('[data-state]').first().waitFor({ state: 'attached' })
      for (const moment of moments) {
        await page.locator('#scrubber').fill(String(entryAt(mode, moment)))
        await page.locator('#scrubber').blur()
        await page.evaluate('scrollTo(0, 0)')
        // What moves has come to rest.
        await page.waitForTimeout(600)
        await page.screenshot({ path: nameOf(colorScheme, moment, width), fullPage: moments.length > 1 && width < 1_000 })
      }
      await page.close()
    }
  }
  inspector.kill()
}
