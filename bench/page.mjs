// @ts-check
// `npm run bench:page`: how the inspector's page keeps up with a life that does much: the time
// between two frames while 200 hooks start together, and while 1 000 requests are drained; and how
// often it shows another instant while one drags through a journal of 10 000 entries. A blank page
// in the same browser, beside the same life, is the control, in turns. Exit code 1 when a target is
// missed. `-- --rounds 5` for more.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { browserLaunch } from '../scripts/browser.mjs'
import { givenArguments, wholeNumber } from '../scripts/usage.mjs'
import { median } from './statistics.mjs'

const { values } = givenArguments({ options: { rounds: { type: 'string', default: '3' } } })
const rounds = wholeNumber('--rounds', values.rounds, 1)
const SCENES = [
  { name: '200 hooks that start together', hooks: 200, requests: 0 },
  { name: '1000 requests in flight', hooks: 0, requests: 1_000 },
]
const TIMES_MAX = 2
const PER_SECOND_MIN = 30
const ENTRIES = 10_000
const DRAG_MS = 4_000
const VIEWPORT = { width: 1920, height: 1080 }

const here = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url))

/** @param {readonly string[]} command @returns {Promise<{ child: import('node:child_process').ChildProcess, url: string }>} */
async function inspected(...command) {
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines = [child.stdout, child.stderr].map((input) => createInterface({ input }))
  const url = await new Promise((resolve, reject) => {
    for (const line of lines)
      line.on('line', (text) => /http:\S+\/inspector\/[^\s"]*/.test(text) && resolve(/http:\S+\/inspector\/[^\s"]*/.exec(text)?.[0]))
    child.once('exit', () => reject(new Error('it ended without an inspector')))
  })
  return { child, url }
}

/** Milliseconds between the frames of a page, from now until it is asked for them. */
const FRAMES = `(() => {
  globalThis.frames_ = []
  let last = performance.now()
  const next = (now) => {
    globalThis.frames_.push(now - last)
    last = now
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)
})()`

/** @param {readonly number[]} all */
const p95 = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length * 0.95)] ?? Number.NaN

const browser = await chromium.launch(browserLaunch())

/** @param {(typeof SCENES)[number]} scene @param {boolean} isBlank */
async function drainSeen({ hooks, requests }, isBlank) {
  const { child, url } = await inspected(here('page-life.mjs'), String(hooks), String(requests))
  const page = await browser.newPage({ viewport: VIEWPORT })
  await page.goto(isBlank ? 'about:blank' : url)
  // The requests have come, and the picture is there.
  await page.waitForTimeout(2_500)
  await page.evaluate(FRAMES)
  child.kill('SIGTERM')
  await once(child, 'exit')
  const frames = /** @type {number[]} */ (await page.evaluate('globalThis.frames_'))
  await page.close()
  return p95(frames)
}

/** How many instants a second are shown while the slider moves with every frame. @param {string} url */
async function dragged(url) {
  const page = await browser.newPage({ viewport: VIEWPORT })
  await page.goto(url)
  await page.waitForFunction(`document.getElementById('scrubber')?.max >= ${ENTRIES - 1}`, undefined, { polling: 100 }).catch(() => {})
  await page.waitForTimeout(3_000)
  const shown = await page.evaluate(`new Promise((resolve) => {
    const slider = document.getElementById('scrubber')
    const position = document.getElementById('position')
    const begun = performance.now()
    let frames = 0
    let shown = 0
    let before = ''
    const next = () => {
      const gone = performance.now() - begun
      if (position.textContent !== before) shown++
      before = position.textContent
      frames++
      if (gone > ${DRAG_MS}) return resolve({ shown: (shown * 1000) / gone, frames: (frames * 1000) / gone })
      // There and back.
      slider.value = String(Math.round(Number(slider.max) * (1 - Math.abs(1 - (gone / ${DRAG_MS}) * 2))))
      slider.dispatchEvent(new Event('input', { bubbles: true }))
      requestAnimationFrame(next)
    }
    requestAnimationFrame(next)
  })`)
  await page.close()
  return /** @type {{ shown: number, frames: number }} */ (shown)
}

async function blankFrames() {
  const page = await browser.newPage({ viewport: VIEWPORT })
  await page.evaluate(FRAMES)
  await page.waitForTimeout(DRAG_MS)
  const frames = /** @type {number[]} */ (await page.evaluate('globalThis.frames_'))
  await page.close()
  return (frames.length * 1_000) / DRAG_MS
}

/** A journal of so many entries: that of a life with 600 hooks, and what it says of load again and again. */
async function longJournal(/** @type {string} */ folder) {
  const path = join(folder, 'journal.ndjson')
  const { child } = await inspected(here('page-life.mjs'), '600', '0', path)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  child.kill('SIGTERM')
  await once(child, 'exit')
  const entries = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const gauges = entries.filter(({ kind }) => kind === 'gauges')
  const missing = Math.max(0, ENTRIES - entries.length)
  const more = Array.from({ length: missing }, (_, i) => gauges[i % gauges.length])
  // Between those that there are, so that there is no end without anything.
  const all = entries.flatMap((entry, i) =>
    i === 0 || i === entries.length - 1
      ? [entry]
      : [entry, ...more.splice(0, Math.ceil(more.length / (entries.length - i))).map((gauge) => ({ ...gauge, at: entry.at }))],
  )
  writeFileSync(path, all.map((entry, i) => `${JSON.stringify({ ...entry, n: i + 1 })}\n`).join(''))
  return { path, length: all.length }
}

let missed = 0
const verdict = (/** @type {boolean} */ isMet) => {
  if (!isMet) missed++
  return isMet ? 'met' : 'missed'
}

console.log(`node ${process.versions.node}, ${browser.version()}, ${VIEWPORT.width}x${VIEWPORT.height}, ${rounds} rounds\n`)
console.log('| while it ends | p95 of a frame, ms | blank page, ms | times | target |\n|---|---|---|---|---|')
for (const scene of SCENES) {
  /** @type {{ blank: number[], page: number[] }} */
  const seen = { blank: [], page: [] }
  for (let round = 0; round < rounds; round++) {
    for (const isBlank of round % 2 === 0 ? [true, false] : [false, true])
      seen[isBlank ? 'blank' : 'page'].push(await drainSeen(scene, isBlank))
  }
  const [blank, page] = [median(seen.blank), median(seen.page)]
  const times = page / blank
  console.log(`| ${[scene.name, page.toFixed(1), blank.toFixed(1), times.toFixed(2), verdict(times < TIMES_MAX)].join(' | ')} |`)
}
const folder = mkdtempSync(join(tmpdir(), 'quiesce-'))
try {
  const { path, length } = await longJournal(folder)
  const { child, url } = await inspected(here('../dist/cli.js'), 'inspect', path)
  /** @type {number[]} */
  const shown = []
  /** @type {number[]} */
  const blank = []
  for (let round = 0; round < rounds; round++) {
    blank.push(await blankFrames())
    shown.push((await dragged(url)).shown)
  }
  child.kill('SIGKILL')
  console.log(`\n| dragging through ${length} entries | instants shown per second | frames of a blank page | target |\n|---|---|---|---|`)
  console.log(`| | ${[median(shown).toFixed(1), median(blank).toFixed(1), verdict(median(shown) > PER_SECOND_MIN)].join(' | ')} |`)
} finally {
  rmSync(folder, { recursive: true })
}
await browser.close()
process.exit(missed > 0 ? 1 : 0)
