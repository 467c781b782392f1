/**
 * How what is drawn looks. Every element carries its light colours as attributes, which any
 * renderer reads; what reads style sheets too gets the same from them, by variables that a dark
 * theme, or a page around the picture, sets otherwise.
 */

/** The colours by day and by night. */
const COLOURS = {
  ground: ['#ffffff', '#0d1117'],
  frame: ['#f6f8fa', '#151b23'],
  card: ['#ffffff', '#0d1117'],
  box: ['#eef2f7', '#212830'],
  border: ['#8c959f', '#656c76'],
  text: ['#1f2328', '#f0f6fc'],
  muted: ['#59636e', '#9198a1'],
  line: ['#59636e', '#9198a1'],
  // Signals: upstream's eight, and ours.
  upstream: ['#bc4c00', '#f0883e'],
  own: ['#0550ae', '#79c0ff'],
  // What goes on, and what went well.
  accent: ['#1f4fbf', '#8fb4ff'],
  'accent-ground': ['#dce7fd', '#1c2f57'],
  good: ['#1d6b3a', '#7fd39a'],
  'good-ground': ['#d9efdf', '#173523'],
} as const

type Colour = keyof typeof COLOURS

interface Look {
  readonly fill?: Colour | 'none'
  readonly stroke?: Colour | 'none'
  readonly 'stroke-width'?: number
  readonly 'stroke-dasharray'?: string
  readonly 'font-size'?: number
  readonly 'font-weight'?: number
}

export const FONT_SIZE = 11
/** The size of the title of a group. */
export const GROUP_SIZE = 12.5
export const FONT_FAMILY = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans Condensed', sans-serif"

const SIGNAL_DASH = '4 3'

/** The looks by the class of an element. */
const LOOKS = {
  ground: { fill: 'ground' },
  heading: { fill: 'text', 'font-size': 15, 'font-weight': 600 },
  group: { fill: 'muted', 'font-size': GROUP_SIZE, 'font-weight': 600 },
  title: { fill: 'text', 'font-size': 12.5, 'font-weight': 600 },
  name: { fill: 'text', 'font-weight': 600 },
  work: { fill: 'muted' },
  plain: { fill: 'muted' },
  'raised-upstream': { fill: 'upstream', 'font-weight': 600 },
  'raised-own': { fill: 'own', 'font-weight': 600 },
  'heard-upstream': { fill: 'upstream' },
  'heard-own': { fill: 'own' },
  box: { fill: 'box', stroke: 'border' },
  card: { fill: 'card', stroke: 'border' },
  frame: { fill: 'frame', stroke: 'border' },
  'box-parallel': { fill: 'frame', stroke: 'border', 'stroke-dasharray': SIGNAL_DASH },
  inner: { fill: 'none', stroke: 'border' },
  initial: { fill: 'text' },
  line: { fill: 'none', stroke: 'line' },
  head: { fill: 'line', stroke: 'none' },
  'line-upstream': { fill: 'none', stroke: 'upstream', 'stroke-width': 1.5, 'stroke-dasharray': SIGNAL_DASH },
  'head-upstream': { fill: 'upstream', stroke: 'none' },
  'line-own': { fill: 'none', stroke: 'own', 'stroke-dasharray': SIGNAL_DASH },
  'head-own': { fill: 'own', stroke: 'none' },
  lifeline: { fill: 'none', stroke: 'line', 'stroke-width': 1.5 },
  'dot-upstream': { fill: 'upstream', stroke: 'ground' },
  'dot-own': { fill: 'ground', stroke: 'own', 'stroke-width': 1.5 },
  pause: { fill: 'none', stroke: 'border', 'stroke-dasharray': '2 5' },
  rule: { fill: 'none', stroke: 'border', 'stroke-width': 0.5 },
  tick: { fill: 'none', stroke: 'frame' },
  area: { fill: 'accent-ground' },
  curve: { fill: 'none', stroke: 'accent', 'stroke-width': 1.5 },
  bar: { fill: 'accent-ground', stroke: 'accent' },
  pending: { fill: 'none', stroke: 'border' },
  good: { fill: 'good', 'font-size': 12.5, 'font-weight': 600 },
  'good-heading': { fill: 'good', 'font-size': 15, 'font-weight': 600 },
  'good-box': { fill: 'good-ground', stroke: 'good' },
} as const satisfies Readonly<Record<string, Look>>

export type LookName = keyof typeof LOOKS

/** The attributes of an element that looks so, beginning with a space. */
export function painted(look: LookName): string {
  const attributes = Object.entries(LOOKS[look]).map(([name, value]) => ` ${name}="${concrete(value)}"`)
  return ` class="${look}"${attributes.join('')}`
}

const concrete = (value: string | number): string | number => (isColour(value) ? COLOURS[value][0] : value)

const isColour = (value: string | number): value is Colour => Object.hasOwn(COLOURS, value)

const variables = (theme: 0 | 1): string =>
  Object.entries(COLOURS)
    .map(([name, shades]) => `--${name}: ${shades[theme]};`)
    .join(' ')

const rules = Object.entries(LOOKS).flatMap(([look, properties]) => {
  const colours = Object.entries(properties).filter(([, value]) => isColour(value))
  return colours.length === 0 ? [] : [`.${look} { ${colours.map(([name, value]) => `${name}: var(--${value});`).join(' ')} }`]
})

/**
 * Renderers without variables pass over all of it: they would take a rule that they cannot read for
 * one that says black.
 */
export const STYLE = `
@supports (color: var(--text)) {
  svg { ${variables(0)} color-scheme: light dark; }
  ${rules.join('\n  ')}
}
@media (prefers-color-scheme: dark) {
  svg { ${variables(1)} }
}
`

/** The picture's element with everything in it, under a title for those who cannot see it. */
export function svgDocument(size: { readonly width: number; readonly height: number }, title: string, lines: readonly string[]): string {
  const [width, height] = [round(size.width), round(size.height)]
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}" font-family="${FONT_FAMILY}" font-size="${FONT_SIZE}">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    ...lines,
    '</svg>',
  ].join('\n')}\n`
}

export const round = (value: number): string => String(Math.round(value * 10) / 10)

export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[character] as string)
