// @ts-check
// `npm run screenshots`: the pictures of the inspector in docs/images/, from lives that are recorded
// first: a drain and its end, 5000 watches, 100 hooks. `-- --all FOLDER`: as well all that is worth a
// look, into FOLDER: six sizes, light and dark, before, during and after, with the statechart before
// the timeline, too.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import sharp from 'sharp'
import { browserLaunch } from './browser.mjs'
import { givenArguments } from './usage.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const { values } = givenArguments({ options: { all: { type: 'string' } } })

/** The lives: what records each, and how long after the stop request its middle is. */
const LIVES = {
  refuse: { program: ['life.mjs', 'refuse'], duringMs: 3_500 },
  'retry-after': { program: ['life.mjs', 'retry-after'], duringMs: 3_500 },
  watches: { program: ['many.mjs', 'watches'], duringMs: 1_500 },
  hooks: { program: ['many.mjs', 'hooks'], duringMs: 1_500 },
}
/** @typedef {keyof typeof LIVES} Life */
/** @typedef {'before' | 'during' | 'after' | 'chart'} Moment `chart`: as `during`, with the statechart before the timeline */
/** @type {readonly (readonly [number, number])[]} */
const SIZES = [
  [390, 844],
  [768, 1024],
  [1280, 800],
  [1440, 900],
  [1920, 1080],
  [3840, 2160],
]
const SCHEMES = /** @type {const} */ (['light', 'dark'])
/** The pictures that documents show: life, moment, colours, size, file. @type {readonly (readonly [Life, Moment, 'light' | 'dark', readonly [number, number], string])[]} */
const SHOWN = [
  ['refuse', 'during', 'light', [1440, 900], 'inspector-light.png'],
  ['refuse', 'during', 'dark', [1440, 900], 'inspector-dark.png'],
  ['refuse', 'chart', 'light', [1440, 900], 'inspector-chart.png'],
  ['refuse', 'after', 'light', [1440, 900], 'inspector-end.png'],
  ['watches', 'during', 'dark', [1440, 900], 'inspector-5000-watches.png'],
  ['hooks', 'after', 'light', [1440, 900], 'inspector-100-hooks.png'],
  ['refuse', 'during', 'dark', [390, 844], 'inspector-phone.png'],
]

const browser = await chromium.launch(browserLaunch())
const folder = mkdtempSync(join(tmpdir(), 'quiesce-'))
const journalOf = (/** @type {string} */ life) => join(folder, `${life}.ndjson`)
try {
  const { all } = values
  for (const life of /** @type {Life[]} */ (Object.keys(LIVES))) {
    await recorded(life)
    const inspector = spawn(process.execPath, ['dist/cli.js', 'inspect', journalOf(life)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const url = await addressOf(inspector)
    for (const [, moment, scheme, size, file] of SHOWN.filter(([of]) => of === life)) {
      await pictured(life, url, { moments: [moment], scheme, size, nameOf: () => `docs/images/${file}` })
    }
    if (all !== undefined) {
      mkdirSync(all, { recursive: true })
      for (const size of SIZES)
        for (const scheme of SCHEMES)
          await pictured(life, url, {
            moments: ['before', 'during', 'after', 'chart'],
            scheme,
            size,
            nameOf: (moment) => join(all, `${life}-${moment}-${size[0]}-${scheme}.png`),
          })
    }
    inspector.kill()
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true })
}

/** @param {Life} life */
async function recorded(life) {
  const [program, ...args] = LIVES[life].program
  await once(spawn(process.execPath, [`scripts/screenshots/${program}`, ...args, journalOf(life)], { stdio: 'inherit' }), 'exit')
}

/** @param {import('node:child_process').ChildProcess} inspector @returns {Promise<string>} */
function addressOf({ stdout }) {
  return new Promise((resolve) => {
    createInterface({ input: /** @type {import('node:stream').Readable} */ (stdout) }).on('line', (line) => {
      const [found] = /http:\/\/\S+\/inspector\//.exec(line) ?? []
      if (found) resolve(found)
    })
  })
}

/** The entry that a picture is of. @param {Life} life @param {Moment} moment */
function entryAt(life, moment) {
  const entries = readFileSync(journalOf(life), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const stop = entries.findIndex(({ event }) => event?.name === 'StopRequested')
  if (moment === 'before') return stop - 1
  return moment === 'after' ? entries.length - 1 : entries.findLastIndex(({ at }) => at <= entries[stop].at + LIVES[life].duringMs)
}

/**
 * @param {Life} life @param {string} url
 * @param {{ moments: readonly Moment[], scheme: 'light' | 'dark', size: readonly [number, number], nameOf: (moment: Moment) => string }} of
 */
async function pictured(life, url, { moments, scheme, size: [width, height], nameOf }) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' })
  await page.goto(url)
  await page.locator('[data-state]').first().waitFor({ state: 'attached' })
  for (const moment of moments) {
    await page.locator('#scrubber').fill(String(entryAt(life, moment)))
    await page.locator('#scrubber').blur()
    const tab = page.locator(`.tab[data-shows=${moment === 'chart' ? 'chart' : 'timeline'}]:visible`)
    if (await tab.evaluateAll((tabs) => tabs.some((each) => !each.closest('[inert]')))) await tab.click()
    await page.evaluate('scrollTo(0, 0)')
    // What moves has come to rest.
    await page.waitForTimeout(600)
    const picture = await page.screenshot({ fullPage: moments.length > 1 && width < 1_000 })
    // Few colours, a third of the size.
    await sharp(picture).png({ palette: true, effort: 10 }).toFile(nameOf(moment))
  }
  await page.close()
}
