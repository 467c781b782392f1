// Pictures as a renderer without CSS variables draws them: librsvg, which file managers, document
// converters and image tools use. Fails when a picture is one black rectangle, when its texts are
// not there, and when it has no title, no mode or no key.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import { textsOf } from './svg-reading.ts'

const FOLDER = join(import.meta.dirname, '../../diagrams')
const PICTURES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.svg'))
  .map((name) => name.replaceAll('\\', '/'))
  .sort()

const DARK = 60

interface Rendered {
  readonly pixels: Buffer
  /** Colours that are seen: each on at least one pixel in two thousand. */
  readonly colours: number
  /** The share of the picture that is nearly black. */
  readonly dark: number
}

async function rendered(svg: string): Promise<Rendered> {
  const { data, info } = await sharp(Buffer.from(svg)).flatten({ background: '#ffffff' }).raw().toBuffer({ resolveWithObject: true })
  const counts = new Map<number, number>()
  let dark = 0
  // By index: a view of each pixel, of millions, costs more than all that is drawn.
  for (let i = 0; i < data.length; i += info.channels) {
    const [red, green, blue] = [data[i] as number, data[i + 1] as number, data[i + 2] as number]
    if (red < DARK && green < DARK && blue < DARK) dark++
    // Shades that differ only by smoothing are one.
    const colour = ((red >> 4) << 8) | ((green >> 4) << 4) | (blue >> 4)
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const all = info.width * info.height
  return { pixels: data, colours: [...counts.values()].filter((count) => count > all / 2_000).length, dark: dark / all }
}

const withoutTexts = (svg: string): string => svg.replace(/<text [^>]*>[^<]*<\/text>/g, '')
function differing(a: Buffer, b: Buffer): number {
  let count = 0
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) count++
  return count
}

/** What is wrong with a picture as it is drawn. */
async function faultsOf(svg: string): Promise<string[]> {
  const whole = await rendered(svg)
  const bare = await rendered(withoutTexts(svg))
  return [
    ...(whole.dark > 0.1 ? [`${Math.round(whole.dark * 100)} % of it is black`] : []),
    ...(whole.colours < 4 ? [`${whole.colours} colours`] : []),
    ...(differing(whole.pixels, bare.pixels) < 1_000 ? ['no text is seen'] : []),
  ]
}

/** Of machines that no life is made of. */
const WITHOUT_MODE = ['machines/audit-batches.svg', 'machines/leader-election.svg', 'machines/store.svg']

test('there are pictures', () => {
  expect(PICTURES.length).toBeGreaterThan(20)
})

describe.each(PICTURES)('%s', (name) => {
  const svg = readFileSync(join(FOLDER, name), 'utf8')

  test('is drawn by librsvg with its colours and its texts', async () => {
    expect(await faultsOf(svg)).toEqual([])
  })

  test('has a title, the mode unless it has no part in it, and a key', () => {
    const texts = textsOf(svg).map(({ text }) => text)
    expect(/<title>([^<]+)<\/title>/.exec(svg)?.[1]).toBe(texts[0])
    if (!WITHOUT_MODE.includes(name)) expect(texts.slice(1, 3).join(' ')).toMatch(/whileDraining/)
    expect(svg).toMatch(/<g class="legend">\n<(rect|path|circle|text)/)
  })
})

test('the check sees a picture whose colours are variables, and one without texts', async () => {
  const [name] = PICTURES
  const svg = readFileSync(join(FOLDER, name as string), 'utf8')
  expect(await faultsOf(svg.replaceAll(/ fill="#[0-9a-f]{6}"/g, ' fill="var(--text)"'))).toContainEqual(expect.stringMatching(/black/))
  expect(await faultsOf(withoutTexts(svg))).toContain('no text is seen')
})
