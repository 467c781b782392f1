import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pictureIn, useBrowser } from './pages.ts'

/** The animated picture of the README, in a real browser. */

useBrowser()

const DRAIN = readFileSync(join(import.meta.dirname, '../../diagrams/drain.svg'))
const RUNNING = 'document.getAnimations().length'

test('the drain goes on in an image, as a forge shows it', async () => {
  // A corner of it: all of it is painted sixty times a second without a graphics card.
  const page = await pictureIn(DRAIN, 'image', { viewport: { width: 220, height: 110 } })
  const first = await page.screenshot()
  await expect.poll(async () => (await page.screenshot()).equals(first), { timeout: 20_000 }).toBe(false)
})

test('the drain stands still where no motion is wanted', async () => {
  expect(await (await pictureIn(DRAIN, 'page')).evaluate(RUNNING)).toBeGreaterThan(10)
  const still = await pictureIn(DRAIN, 'page', { reducedMotion: 'reduce' })
  expect(await still.evaluate(RUNNING)).toBe(0)
})
