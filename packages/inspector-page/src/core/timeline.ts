import { type EntryOf, type HookView, originOf, type PhaseView, unitsOf, type View } from './view.ts'
import { duration, STEPS, type Standing, type Units } from './words.ts'

/**
 * The timeline as numbers between 0 and 1: which part of a life is shown, and where in it every bar
 * and mark stands. Rows exist from the beginning and keep their places, so that nothing moves while
 * a life goes on.
 */

/** `auto` is what matters now: the last minute while it serves, the shutdown once one has begun. */
export const SCALES = ['auto', 'deadline', 'life'] as const
export type Scale = (typeof SCALES)[number]

export interface Span {
  readonly from: number
  readonly to: number
  /** The time that the axis counts from: the stop request, or the beginning of the life. */
  readonly origin: number
}

const SERVING_WINDOW_MS = 60_000
/** Room for the marks of what comes with the stop request itself. */
const LEAD = 0.02

/** What the axis shows. Its end grows in steps while a life goes on, and fits when it has ended. */
export function spanOf(view: View, now: number, scale: Scale): Span {
  const { stop, budget, exitCode } = view
  const { least } = unitsOf(view)
  const ended = exitCode !== undefined
  const origin = originOf(view)
  if (scale === 'life' || unitsOf(view) === STEPS) return { from: 0, to: ended ? Math.max(now, least) : stepUp(now, least), origin }
  if (!stop) {
    const to = Math.max(stepUp(Math.min(now, SERVING_WINDOW_MS), least), now)
    return { from: Math.max(0, to - SERVING_WINDOW_MS), to, origin }
  }
  const elapsed = Math.max(now - stop.at, least)
  const fitting = ended ? elapsed * (1 + LEAD) : stepUp(elapsed, least)
  const shown = scale === 'deadline' && budget ? Math.max(budget.deadlineMs * (1 + LEAD), elapsed) : fitting
  return { from: stop.at - shown * LEAD, to: stop.at + shown, origin }
}

const ROUND = [1, 2, 3, 5, 7.5, 10]
/** The next larger of 1, 2, 3, 5, 7.5 times a power of ten, with some room to grow into. */
function stepUp(length: number, least: number): number {
  const wanted = Math.max(length * 1.05, least)
  const power = 10 ** Math.floor(Math.log10(wanted))
  return (ROUND.find((step) => step * power >= wanted) ?? 10) * power
}

/** A time as a part of what is shown; outside of it below 0 or above 1. */
export const place = (span: Span, at: number): number => (at - span.from) / (span.to - span.from)

export interface Tick {
  readonly place: number
  readonly text: string
}

const TICK_STEPS = [1, 2, 5]
/** About so many round times, from the origin on. */
export function ticksOf(view: View, span: Span, about: number): readonly Tick[] {
  const units = unitsOf(view)
  const rough = (span.to - span.from) / about
  const power = 10 ** Math.floor(Math.log10(rough))
  const fine = (TICK_STEPS.find((candidate) => candidate * power >= rough) ?? 10) * power
  const step = units === STEPS ? Math.max(1, fine) : fine
  const ticks: Tick[] = []
  for (let i = Math.ceil((span.from - span.origin) / step); ; i++) {
    const at = span.origin + i * step
    if (at > span.to) return ticks
    ticks.push({ place: place(span, at), text: i === 0 ? '0' : axisTime(i * step, step, units) })
  }
}

function axisTime(ms: number, step: number, units: Units): string {
  if (units === STEPS) return String(ms)
  if (Math.abs(ms) >= 60_000) return duration(ms)
  if (step < 100) return `${Math.round(ms)}ms`
  return `${(ms / 1_000).toFixed(step < 1_000 ? 1 : 0)}s`
}

export interface Row {
  readonly key: string
  readonly kind: 'phase' | 'hook'
  readonly name: string
  readonly standing: Standing
  /** What comes next to the bar: how it stands and how long it took. */
  readonly note: string
  /** Undefined before it begins, or when all of it is outside of the span. */
  readonly bar: { readonly from: number; readonly to: number } | undefined
  /** Where its signal fired. */
  readonly mark: { readonly at: number; readonly signal: string } | undefined
  /** A sentence for screen readers and for the tooltip. */
  readonly title: string
}

export interface RowGroup {
  readonly name: string
  readonly rows: readonly Row[]
}

/**
 * The stop first, because that is what the page is about; hooks, which come one by one, above what
 * is over by then.
 */
export function rowsOf(view: View, now: number, span: Span): readonly RowGroup[] {
  const phases = [...view.phases.values()]
  const half = (name: 'start' | 'stop') =>
    inOrder(phases.filter((phase) => phase.half === name)).map((phase) => phaseRow(view, phase, now, span))
  return [
    { name: 'Stop', rows: half('stop') },
    { name: 'Hooks', rows: [...view.hooks.values()].map((hook) => hookRow(view, hook, now, span)) },
    { name: 'Start', rows: half('start') },
  ].filter(({ rows }) => rows.length > 0)
}

/**
 * Phases of the user's come last in the wiring, after the end: each belongs before those that wait
 * for it.
 */
function inOrder(phases: readonly PhaseView[]): readonly PhaseView[] {
  const end = phases.findIndex(({ fires }) => fires.includes('Ended')) + 1
  const ordered = phases.slice(0, end)
  for (const phase of phases.slice(end)) {
    const waiting = ordered.findIndex(({ waitsFor }) => waitsFor.some((signal) => phase.fires.includes(signal)))
    ordered.splice(waiting < 0 ? ordered.length : waiting, 0, phase)
  }
  return ordered
}

function phaseRow(view: View, phase: PhaseView, now: number, span: Span): Row {
  const { name, standing, startedAt, endedAt, fires } = phase
  const units = unitsOf(view)
  const fired = fires.map((signal) => view.signals.get(signal)).find((signal) => signal !== undefined)
  const mark = fired && inside(place(span, fired.at)) ? { at: place(span, fired.at), signal: fired.name } : undefined
  const took = startedAt === undefined ? undefined : (endedAt ?? now) - startedAt
  const missing = phase.waitsFor.filter((signal) => !view.signals.has(signal))
  return {
    key: `phase ${name}`,
    kind: 'phase',
    name,
    standing: settledStanding(standing, fired?.outcome),
    note: noteOf(standing, took, units),
    bar: standing === 'skipped' ? undefined : barOf(span, startedAt, endedAt ?? now),
    mark,
    title: `${name}: ${sentenceOf(standing, took, units)}${standing === 'waiting' && missing.length > 0 ? ` for ${missing.join(' and ')}` : ''}${
      fires.length > 0 ? `; fires ${fires.join(', ')}` : ''
    }${phase.error ? `; ${phase.error.message}` : ''}`,
  }
}

/** A phase without work of its own says nothing but its signal. */
const settledStanding = (standing: Standing, fired: Standing | undefined): Standing => (standing === 'waiting' && fired ? fired : standing)

function hookRow(view: View, { key, kind, name, standing, startedAt, endedAt, error }: HookView, now: number, span: Span): Row {
  // A post-start hook may run as long as the server; it is ended by the stop and says nothing.
  const to = endedAt ?? now
  const units = unitsOf(view)
  const took = to - startedAt
  return {
    key: `hook ${key}`,
    kind: 'hook',
    name,
    standing,
    note: noteOf(standing, took, units),
    bar: standing === 'skipped' ? undefined : barOf(span, startedAt, to),
    mark: undefined,
    title: `${kind} hook ${name}: ${sentenceOf(standing, took, units)}${error ? `; ${error.message}` : ''}${view.exitCode !== undefined && endedAt === undefined ? '; it never answered' : ''}`,
  }
}

const noteOf = (standing: Standing, took: number | undefined, units: Units): string =>
  took === undefined || standing === 'skipped' ? '' : standing === 'working' ? units.running(took) : units.duration(took)

function sentenceOf(standing: Standing, took: number | undefined, units: Units): string {
  if (took === undefined || standing === 'skipped') return standing
  return standing === 'working' ? `under way for ${units.running(took)}` : `${standing} after ${units.duration(took)}`
}

const inside = (part: number): boolean => part >= 0 && part <= 1

function barOf(span: Span, startedAt: number | undefined, to: number): Row['bar'] {
  if (startedAt === undefined || to < span.from || startedAt > span.to) return undefined
  return { from: Math.max(0, place(span, startedAt)), to: Math.min(1, place(span, to)) }
}

/** Lines through all rows: the stop request, the cuts, the deadline. */
export interface Line {
  readonly kind: 'stop' | 'cut' | 'deadline'
  readonly text: string
  readonly place: number
  /** Whether it has been reached. */
  readonly past: boolean
}

/**
 * Which of the places, in order, have room for a name that takes so much of the whole: the first
 * ones.
 */
export function withRoom(places: readonly number[], name: number): readonly boolean[] {
  let free = Number.NEGATIVE_INFINITY
  return places.map((place) => {
    const fits = place >= free
    if (fits) free = place + name
    return fits
  })
}

export function linesOf(view: View, now: number, span: Span): readonly Line[] {
  const { stop, budget } = view
  if (!stop) return []
  const line = (kind: Line['kind'], text: string, at: number): Line => ({ kind, text, place: place(span, at), past: at <= now })
  return [
    line('stop', 'StopRequested', stop.at),
    ...(budget?.cuts ?? []).map(({ signal, atMs }) => line('cut', signal, stop.at + atMs)),
    ...(budget ? [line('deadline', 'deadline', stop.at + budget.deadlineMs)] : []),
  ].filter((candidate) => inside(candidate.place))
}

/** How much of the budget is used; undefined before a stop, and without a deadline. */
export interface Spent {
  readonly part: number
  readonly elapsedMs: number
  readonly leftMs: number
  readonly deadlineMs: number
  readonly cuts: readonly { readonly signal: string; readonly part: number; readonly past: boolean }[]
  readonly nextCut: { readonly signal: string; readonly inMs: number } | undefined
}

export function spentOf({ stop, budget, phases }: View, now: number): Spent | undefined {
  if (!stop || !budget) return undefined
  // What is over is not cut any more.
  const cuts = new Set<string | undefined>([...phases.values()].flatMap(({ cut, endedAt }) => (endedAt === undefined ? [cut] : [])))
  const { deadlineMs } = budget
  const elapsedMs = Math.max(0, now - stop.at)
  const next = budget.cuts.find(({ signal, atMs }) => atMs > elapsedMs && cuts.has(signal))
  return {
    part: Math.min(1, elapsedMs / deadlineMs),
    elapsedMs,
    leftMs: Math.max(0, deadlineMs - elapsedMs),
    deadlineMs,
    cuts: budget.cuts.map(({ signal, atMs }) => ({ signal, part: Math.min(1, atMs / deadlineMs), past: atMs <= elapsedMs })),
    nextCut: next && { signal: next.signal, inMs: next.atMs - elapsedMs },
  }
}

/** One line of load over time, as steps: the value holds until the next measurement. */
export interface Series {
  readonly name: string
  readonly now: number
  readonly most: number
  /** Part of the span, value. */
  readonly points: readonly (readonly [number, number])[]
}

const POINTS_MAX = 600

export function seriesOf(
  gauges: readonly EntryOf<'gauges'>[],
  now: number,
  span: Span,
  name: string,
  read: (entry: EntryOf<'gauges'>) => number,
): Series {
  const every = Math.max(1, Math.ceil(gauges.length / POINTS_MAX))
  const points: [number, number][] = []
  for (let i = 0; i < gauges.length; i += every) {
    // Of several measurements the highest: a peak must not vanish because the picture is small.
    const together = gauges.slice(i, i + every)
    points.push([Math.max(0, place(span, (together[0] as EntryOf<'gauges'>).at)), Math.max(...together.map(read))])
  }
  const last = gauges.at(-1)
  const value = last ? read(last) : 0
  if (last) points.push([Math.min(1, place(span, now)), value])
  return { name, now: value, most: Math.max(0, ...points.map(([, high]) => high)), points }
}
