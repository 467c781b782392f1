import { statesOf } from './chart.ts'
import type { Placed, Point, Size } from './graph.ts'
import { FONT_SIZE, painted, round } from './paint.ts'
import { isUpstream, LINE_HEIGHT, type Scene, type Text } from './scene.ts'
import { arrowSvg, dotSvg, rectSvg, textSvg } from './shapes.ts'
import { textWidth } from './text-width.ts'

/**
 * What stands around every picture: above it what it shows and in which mode, below it a key to
 * what it is drawn with, and to no more than that.
 */
export interface Caption {
  readonly title: string
  /** Below it, a line each: the mode, and what else has to be known. */
  readonly notes: readonly string[]
}

/** One line of a key: a small sample, or a word of the picture, and what it means. */
export interface Key {
  readonly sample: ((at: Point) => string[]) | string
  readonly words: string
}

const sampleRect = (look: Parameters<typeof rectSvg>[0], radius = 4) => ({
  sample: ({ x, y }: Point) => [rectSvg(look, { x, y: y - 6, width: SAMPLE, height: 12 }, radius)],
})
const sampleLine = (signal?: string) => ({
  sample: ({ x, y }: Point) => [arrowSvg(signal, `M${round(x)} ${round(y)}L${round(x + SAMPLE - 6)} ${round(y)}`, headAt(x + SAMPLE, y))],
})
const headAt = (x: number, y: number): string => `M${round(x)} ${round(y)}l-7 -3.5v7z`

const state = { ...sampleRect('box'), words: 'a state' }

export const KEYS = {
  phase: { ...sampleRect('card'), words: 'a phase that does work' },
  noWork: { ...sampleRect('box', 6), words: 'a phase without work: it only fires its signal' },
  state,
  frame: { ...sampleRect('frame'), words: 'a state with states inside' },
  parallel: { ...sampleRect('box-parallel'), words: 'its regions run side by side' },
  begins: {
    sample: ({ x, y }: Point) => [`<circle${painted('initial')} cx="${round(x + SAMPLE / 2)}" cy="${round(y)}" r="3.5"/>`],
    words: 'a region begins here',
  },
  ends: {
    sample: (at: Point) => [...state.sample(at), rectSvg('inner', { x: at.x + 2.5, y: at.y - 3.5, width: SAMPLE - 5, height: 7 }, 2)],
    words: 'nothing leads out of it',
  },
  transition: { ...sampleLine(), words: 'from state to state' },
  upstreamLine: { ...sampleLine('ShutdownInitiated'), words: 'one of the eight signals of Kubernetes, to what waits for it' },
  ownLine: { ...sampleLine('Start'), words: 'a signal of our own, to what waits for it' },
  upstreamDot: {
    sample: ({ x, y }: Point) => [dotSvg('NotAcceptingNewRequest', { x: x + SAMPLE / 2, y })],
    words: 'one of the eight signals of Kubernetes',
  },
  ownDot: { sample: ({ x, y }: Point) => [dotSvg('Start', { x: x + SAMPLE / 2, y })], words: 'a signal of our own' },
  raised: { sample: 'bold', words: 'a signal that is raised here; not bold: one that is heard' },
  work: { sample: 'do NAME', words: 'what runs meanwhile' },
  condition: { sample: '[NAME]', words: 'only if so' },
  cuts: { sample: 'Cut.NAME …', words: 'this cut of the budget, and every later one' },
} satisfies Readonly<Record<string, Key>>

/** Names of states, and words on lines, that a reader cannot guess. */
const WORDS: Readonly<Record<string, string>> = {
  unarmed: 'without the next signal there is nothing to do',
  fired: 'its signal has been raised',
  skipped: 'the stop came before its turn',
  'all done': 'everything inside has ended',
  'done · error': 'the work has ended, or failed',
  untouched: 'no stop has been requested',
  spending: 'the deadline runs',
  none: 'nothing of the kind has happened',
  armed: 'the next signal ends it at once',
}
const FAMILIES: readonly Key[] = [
  { sample: 'due.NAME', words: 'the time of this cut has come' },
  { sample: 'after until.NAME', words: 'when its instant of the budget has come' },
]

/** The key to what is drawn of a scene of states and signals. */
export function keysOf(scene: Scene, { nodes, lines }: Placed): Key[] {
  const boxes = [...scene.boxes.values()].filter(({ state }) => nodes.has(state.id))
  const links = scene.links.filter(({ id }) => lines.has(id))
  const states = boxes.map(({ state }) => state)
  const isWiring = states.some(({ meta }) => meta['rounded'] === true)
  const texts: readonly Text[] = [...boxes, ...links].flatMap((each) => each.texts)
  const written = new Set(texts.map(({ text }) => text))
  const signals = texts.filter(({ role }) => role === 'raised' || role === 'heard').map(({ text }) => text)
  const has = (test: (text: string) => boolean): boolean => texts.some(({ text }) => test(text))
  const phases = states.filter((state) => state.meta['phase'] !== undefined && statesOf(state).length === 1)
  return [
    ...when(phases.length > 0, KEYS.phase),
    ...(isWiring
      ? [KEYS.noWork]
      : [
          ...when(
            states.some(({ states, meta }) => states.length === 0 && meta['phase'] === undefined),
            KEYS.state,
          ),
          ...when(
            states.some(({ kind, states }) => kind !== 'parallel' && states.length > 0),
            KEYS.frame,
          ),
        ]),
    ...when(
      states.some(({ kind }) => kind === 'parallel'),
      KEYS.parallel,
    ),
    ...when(
      states.some(({ isInitial }) => isInitial),
      KEYS.begins,
    ),
    ...when(
      states.some(({ kind }) => kind === 'final'),
      KEYS.ends,
    ),
    ...when(
      links.some(({ kind }) => kind === 'transition'),
      KEYS.transition,
    ),
    ...signalKeys(signals),
    ...when(
      texts.some(({ role }) => role === 'heard'),
      KEYS.raised,
    ),
    ...when(
      texts.some(({ role }) => role === 'work'),
      KEYS.work,
    ),
    ...when(
      has((text) => /^Cut\..* …$/.test(text)),
      KEYS.cuts,
    ),
    ...when(
      has((text) => /\[.+\]/.test(text)),
      KEYS.condition,
    ),
    ...Object.entries(WORDS).flatMap(([sample, words]) => when(written.has(sample), { sample, words })),
    ...FAMILIES.filter(({ sample }) => has((text) => text.startsWith(String(sample).replace('NAME', '')))),
  ]
}

/** What the colours of signals mean, as lines or as dots. */
export function signalKeys(signals: readonly string[], upstream: Key = KEYS.upstreamLine, own: Key = KEYS.ownLine): Key[] {
  return [...when(signals.some(isUpstream), upstream), ...when(!signals.every(isUpstream), own)]
}

const when = (holds: boolean, key: Key): Key[] => (holds ? [key] : [])

const SAMPLE = 22
const MARGIN = 12
const HEADING = 15
const HEAD_HEIGHT = 36
const ROW = LINE_HEIGHT + 4
const COLUMN_GAP = 22
/** The width of a picture that is narrower than its own key. */
const WIDTH_MIN = 380

export interface Sheet {
  readonly size: Size
  /** Where the picture itself begins. */
  readonly body: Point
  readonly above: readonly string[]
  readonly below: readonly string[]
}

/** A sheet for a picture of this size. */
export function sheetOf({ title, notes }: Caption, keys: readonly Key[], size: Size): Sheet {
  const headings = [textWidth(title, HEADING, true), ...notes.map((note) => textWidth(note, FONT_SIZE))]
  const width = Math.max(WIDTH_MIN, size.width + 2 * MARGIN, ...headings.map((wide) => wide + 2 * MARGIN))
  const head = HEAD_HEIGHT + LINE_HEIGHT * notes.length
  const top = head + size.height + MARGIN
  const placed = rowsOf(keys, width - 2 * MARGIN)
  const height = top + (placed.rows > 0 ? placed.rows * ROW + MARGIN : 0)
  return {
    size: { width, height },
    body: { x: MARGIN, y: head },
    above: [
      `<rect${painted('ground')} width="100%" height="100%"/>`,
      textSvg('heading', { x: MARGIN, y: 22 }, headings[0] as number, title),
      ...notes.map((note, i) => textSvg('plain', { x: MARGIN, y: 38 + LINE_HEIGHT * i }, textWidth(note, FONT_SIZE), note)),
    ],
    below: [
      ...(placed.rows > 0 ? [`<path${painted('rule')} d="M${MARGIN} ${round(top - 2)}H${round(width - MARGIN)}"/>`] : []),
      '<g class="legend">',
      ...placed.keys.flatMap(({ key, x, row }) => keySvg(key, { x: MARGIN + x, y: top + ROW * row + ROW / 2 + 2 })),
      '</g>',
    ],
  }
}

interface PlacedKey {
  readonly key: Key
  readonly x: number
  readonly row: number
}

/** Rows of columns as wide as the widest of them, as many as fit. */
function rowsOf(keys: readonly Key[], width: number): { readonly keys: readonly PlacedKey[]; readonly rows: number } {
  const wide = Math.max(0, ...keys.map(keyWidth))
  const columns = Math.max(1, Math.floor((width + COLUMN_GAP) / (wide + COLUMN_GAP)))
  const rows = Math.ceil(keys.length / columns)
  return { keys: keys.map((key, i) => ({ key, x: Math.floor(i / rows) * (wide + COLUMN_GAP), row: i % rows })), rows }
}

const sampleWidth = ({ sample }: Key): number => (typeof sample === 'string' ? textWidth(sample, FONT_SIZE, true) : SAMPLE)
const keyWidth = (key: Key): number => sampleWidth(key) + 8 + textWidth(key.words, FONT_SIZE)

function keySvg(key: Key, { x, y }: Point): string[] {
  const { sample, words } = key
  const base = y + FONT_SIZE * 0.35
  return [
    ...(typeof sample === 'string' ? [textSvg('name', { x, y: base }, sampleWidth(key), sample)] : sample({ x, y })),
    textSvg('plain', { x: x + sampleWidth(key) + 8, y: base }, textWidth(words, FONT_SIZE), words),
  ]
}
