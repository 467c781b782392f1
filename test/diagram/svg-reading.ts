/** Reads back what a picture shows, from the text of its SVG alone. */

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface WrittenText extends Box {
  readonly text: string
}

export interface Segment {
  readonly from: { readonly x: number; readonly y: number }
  readonly to: { readonly x: number; readonly y: number }
}

const attribute = (tag: string, name: string): string | undefined => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]
const number = (tag: string, name: string): number => Number(attribute(tag, name))

const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' }
const unescaped = (text: string): string => text.replace(/&(amp|lt|gt|quot);/g, (entity) => entities[entity] ?? entity)

/** Letters reach from their base line to about three quarters of their size above it. */
const ASCENT = 8
const DESCENT = 2

export const textsOf = (svg: string): WrittenText[] =>
  [...svg.matchAll(/<text ([^>]*)>([^<]*)<\/text>/g)].map(([tag, , text = '']) => ({
    text: unescaped(text),
    x: number(tag, 'x'),
    y: number(tag, 'y') - ASCENT,
    width: number(tag, 'textLength'),
    height: ASCENT + DESCENT,
  }))

/** Every line between two corners; heads of arrows and marks before texts are no lines. */
export const segmentsOf = (svg: string): Segment[] =>
  [...svg.matchAll(/<path[^>]* d="(M[^"hvlz]*)"/g)].flatMap(([, path = '']) => {
    const points = path
      // `M1 2H3` is `M1 2L3 2`.
      .replace(/M(\S+) (\S+)H(\S+)/, 'M$1 $2L$3 $2')
      .slice(1)
      .split('L')
      .map((pair) => pair.split(' ').map(Number))
      .map(([x = 0, y = 0]) => ({ x, y }))
    return points.slice(1).map((to, i) => ({ from: points[i] as Segment['from'], to }))
  })

export const statesIn = (svg: string): string[] => [...svg.matchAll(/ data-state="([^"]*)"/g)].map(([, id = '']) => unescaped(id))
export const edgesIn = (svg: string): string[] => [...svg.matchAll(/ data-edge="([^"]*)"/g)].map(([, id = '']) => unescaped(id))

export function sizeOf(svg: string): { width: number; height: number } {
  const [tag = ''] = /<svg [^>]*>/.exec(svg) ?? []
  return { width: number(tag, 'width'), height: number(tag, 'height') }
}

const overlap = (a: Box, b: Box): boolean => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

/** Pairs of texts, and texts with a line through them. */
export function collisions(svg: string): string[] {
  const texts = textsOf(svg)
  const segments = segmentsOf(svg)
  return texts.flatMap((text, i) => [
    ...texts
      .slice(i + 1)
      .filter((other) => overlap(text, other))
      .map((other) => `"${text.text}" and "${other.text}"`),
    ...segments
      .filter((segment) => overlap(text, boxOf(segment)))
      .map((segment) => `"${text.text}" and a line at ${segment.from.x}, ${segment.from.y}`),
  ])
}

const boxOf = ({ from, to }: Segment): Box => ({
  x: Math.min(from.x, to.x),
  y: Math.min(from.y, to.y),
  width: Math.abs(from.x - to.x) || 0.5,
  height: Math.abs(from.y - to.y) || 0.5,
})

/** Texts that stand outside the picture. */
export function outside(svg: string): string[] {
  const { width, height } = sizeOf(svg)
  return textsOf(svg)
    .filter((text) => text.x < 0 || text.y < 0 || text.x + text.width > width || text.y + text.height > height)
    .map(({ text }) => text)
}
