import type { Point, Rect } from './graph.ts'
import { escaped, type LookName, painted, round } from './paint.ts'
import { isUpstream } from './scene.ts'

/** What every picture is made of. */

/** A signal: upstream's stand out, ours are small and hollow. */
export function dotSvg(signal: string, { x, y }: Point): string {
  const [look, radius] = isUpstream(signal) ? (['dot-upstream', 5.5] as const) : (['dot-own', 3] as const)
  return `<circle${painted(look)} cx="${round(x)}" cy="${round(y)}" r="${radius}"/>`
}

/** A browser with another font squeezes or stretches it a little; nothing ever overlaps. */
export const textSvg = (look: LookName, { x, y }: Point, width: number, words: string): string =>
  `<text${painted(look)} x="${round(x)}" y="${round(y)}" textLength="${width}" lengthAdjust="spacingAndGlyphs">${escaped(words)}</text>`

export const rectSvg = (look: LookName, { x, y, width, height }: Rect, radius: number): string =>
  `<rect${painted(look)} x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="${radius}"/>`

/** A line with its head, in the colour of its signal when it has one. */
export function arrowSvg(signal: string | undefined, line: string, head: string): string {
  const whose = signal === undefined ? '' : isUpstream(signal) ? '-upstream' : '-own'
  return `<path${painted(`line${whose}` as LookName)} d="${line}"/><path${painted(`head${whose}` as LookName)} d="${head}"/>`
}
