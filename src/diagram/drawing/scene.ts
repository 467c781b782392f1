import { UPSTREAM_SIGNALS } from '../../machines/signals.ts'
import { type Chart, type ChartEdge, type ChartState, decoded, statesOf } from './chart.ts'
import type { Rect, Size } from './graph.ts'
import { FONT_SIZE, type LookName } from './paint.ts'
import { textWidth } from './text-width.ts'

/**
 * What is written where: the texts of every state and of every line, measured. Several transitions
 * between the same two states are one line with several words.
 */

export type TextRole = 'title' | 'work' | 'raised' | 'heard' | 'plain'

/**
 * One line of text. `edges` are those it stands for: a signal that is heard but not drawn as a
 * line, or an internal transition.
 */
export interface Text {
  readonly role: TextRole
  readonly text: string
  readonly edges: readonly ChartEdge[]
}

export interface Box {
  readonly state: ChartState
  readonly texts: readonly Text[]
  readonly size: Size
}

export interface Link {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly kind: 'transition' | 'signal'
  /** The signal of a line that leads to what waits for it. */
  readonly signal?: string
  readonly edges: readonly ChartEdge[]
  readonly texts: readonly Text[]
}

export interface Scene {
  readonly boxes: ReadonlyMap<string, Box>
  readonly links: readonly Link[]
  readonly parents: ReadonlyMap<string, ChartState>
}

/** Whether a signal is one of upstream's eight; all others are ours. */
export const isUpstream = (signal: string): boolean => Object.hasOwn(UPSTREAM_SIGNALS, signal)

export const lookOf = ({ role, text }: Pick<Text, 'role' | 'text'>): LookName =>
  role === 'raised' || role === 'heard' ? `${role}-${isUpstream(text) ? 'upstream' : 'own'}` : role

/** How large a text is written, and whether in bold. */
export function fontOf(text: Pick<Text, 'role' | 'text'>): { readonly size: number; readonly bold: boolean } {
  const look = lookOf(text)
  return { size: look === 'title' ? TITLE_SIZE : FONT_SIZE, bold: look === 'title' || text.role === 'raised' }
}
const TITLE_SIZE = 12.5
export const LINE_HEIGHT = 14
/** Room for the small arrow before a signal's name. */
export const MARK = 14
export const PADDING: Size = { width: 8, height: 4 }

export function widthOf(text: Text): number {
  const { size, bold } = fontOf(text)
  return textWidth(text.text, size, bold) + (text.role === 'raised' || text.role === 'heard' ? MARK : 0)
}

export function sizeOf(texts: readonly Text[]): Size {
  return { width: Math.max(0, ...texts.map(widthOf)), height: texts.length * LINE_HEIGHT }
}

/**
 * `isDrawn` says which signals are lines; the others are named where they are heard.
 * @param words what is said in a state besides what it does
 */
export function sceneOf(
  chart: Chart,
  isDrawn: (edge: ChartEdge) => boolean,
  words: (state: ChartState) => readonly string[] = () => [],
): Scene {
  const parents = new Map(statesOf(chart.root).flatMap((parent) => parent.states.map(({ id }) => [id, parent] as const)))
  const signals = groupBy(
    chart.edges.filter(({ kind }) => kind === 'signal'),
    ({ event, to }) => `${event}|${to}`,
  )
  const heardBy = (edge: ChartEdge): readonly ChartEdge[] => signals.get(`${edge.event}|${edge.from}`) ?? []

  const transitions = groupBy(
    chart.edges.filter(({ kind }) => kind === 'transition'),
    (edge) => endsOf(edge, parents).join('->'),
  )
  const drawn = groupBy(
    chart.edges.filter((edge) => edge.kind === 'signal' && isDrawn(edge)),
    ({ from, to }) => `${from}=>${to}`,
  )
  const boxes = statesOf(chart.root).map((state): [string, Box] => {
    const internal = chart.edges.filter(({ kind, from }) => kind === 'internal' && from === state.id)
    const texts: Text[] = [
      { role: 'title', text: state.title, edges: [] },
      ...state.work.map((name): Text => ({ role: 'work', text: `do ${name}`, edges: [] })),
      ...words(state).map((text): Text => ({ role: 'plain', text, edges: [] })),
      ...wordsOf(internal, heardBy, isDrawn).map((text) => ({ ...text, edges: [...text.edges] })),
      ...state.raises.map((signal): Text => ({ role: 'raised', text: decoded(signal), edges: [] })),
    ]
    const { width, height } = sizeOf(texts)
    return [state.id, { state, texts, size: { width: width + 2 * PADDING.width, height: height + 2 * PADDING.height } }]
  })
  /**
   * What a state does about a signal without being left is shown by the line on which the signal
   * comes; by the first, if there are several.
   */
  const isShown = new Set<ChartEdge>()
  const heardWithin = ({ edges }: Link): ChartEdge[] => {
    const found = chart.edges.filter(
      (own) => own.kind === 'internal' && !isShown.has(own) && edges.some(({ event, to }) => event === own.event && to === own.from),
    )
    for (const own of found) isShown.add(own)
    return found
  }
  const linkOf =
    (kind: Link['kind'], texts: (edges: readonly ChartEdge[]) => readonly Text[]) =>
    ([id, edges]: [string, readonly ChartEdge[]]): Link => {
      const { event, ...ends } = edges[0] as ChartEdge
      const [from, to] = kind === 'signal' ? [ends.from, ends.to] : endsOf(ends, parents)
      return { id, from, to, kind, ...(kind === 'signal' && { signal: event }), edges, texts: texts(edges) }
    }
  return {
    boxes: new Map(boxes),
    parents,
    links: [
      ...[...transitions].map(linkOf('transition', (edges) => wordsOf(edges, heardBy, isDrawn))),
      ...[...drawn].map(linkOf('signal', () => [])).map((link) => ({ ...link, edges: [...link.edges, ...heardWithin(link)] })),
    ],
  }
}

/**
 * Where the line of a transition begins and ends: at two states of one state, so that none leads
 * through the border of another, which is left or entered with it.
 */
function endsOf({ from, to }: Pick<ChartEdge, 'from' | 'to'>, parents: Scene['parents']): [from: string, to: string] {
  const ways = [from, to].map((id) => {
    const way = [id]
    for (let parent = parents.get(id); parent; parent = parents.get(parent.id)) way.unshift(parent.id)
    return way
  }) as [string[], string[]]
  const [one, other] = ways
  const apart = one.findIndex((id, i) => id !== other[i])
  return [one[apart] ?? from, apart < 0 ? to : (other[apart] ?? to)]
}

type HeardBy = (edge: ChartEdge) => readonly ChartEdge[]

/**
 * Words of transitions that share a line: what the machine waits for by itself in one, then each
 * signal.
 */
function wordsOf(edges: readonly ChartEdge[], heardBy: HeardBy, isDrawn: (edge: ChartEdge) => boolean): Text[] {
  const plain = edges.filter((edge) => heardBy(edge).length === 0)
  const words = [...new Set(plain.map(wordOf))].filter((word) => word !== '')
  const heard = edges.flatMap((edge) => {
    const signals = heardBy(edge).filter((signal) => !isDrawn(signal))
    return signals.length === 0 ? [] : [{ name: edge.event, edges: signals, own: edge }]
  })
  const families = groupBy(heard, ({ name }) => (name.includes('.') ? name.slice(0, name.indexOf('.')) : name))
  return [
    ...wrapped(words).map(
      (text, i): Text => ({ role: 'plain', text, edges: i === 0 ? plain.filter(({ kind }) => kind === 'internal') : [] }),
    ),
    ...[...families.values()].map((family): Text => {
      const [first] = family
      const own = family.flatMap(({ own }) => (own.kind === 'internal' ? [own] : []))
      return {
        role: 'heard',
        text: `${decoded(first?.name ?? '')}${family.length > 1 ? ' …' : ''}`,
        edges: [...family.flatMap((member) => member.edges), ...own],
      }
    }),
  ]
}

const WRAP_AT = 150

/** Several words in one line while they fit. */
function wrapped(words: readonly string[]): string[] {
  const lines: string[] = []
  for (const word of words) {
    const longer = `${lines.at(-1)} · ${word}`
    if (lines.length > 0 && textWidth(longer, FONT_SIZE) <= WRAP_AT) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** An event in a word or two. */
function wordOf({ from, event, guard }: ChartEdge): string {
  const word = event.startsWith('xstate.done.state.')
    ? 'all done'
    : event.startsWith('xstate.done.actor.')
      ? 'done'
      : event.startsWith('xstate.error.actor.')
        ? 'error'
        : event.startsWith('xstate.after.')
          ? `after ${event.slice('xstate.after.'.length, -`.${from}`.length)}`
          : decoded(event)
  return guard === undefined ? word : `${word} [${guard}]`.trim()
}

/** Height at which the title of a box stands, where lines come in from the side. */
export const titleMiddle = ({ y }: Rect): number => y + PADDING.height + LINE_HEIGHT / 2

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return groups
}
