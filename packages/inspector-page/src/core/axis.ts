import { budgetOf, originOf, unitsOf, type View } from './view.ts'
import { durationText, MINUS, STEPS, type Units } from './words.ts'

/** Which part of a life the timeline shows, and where in it a time stands: from 0 to 1. */

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

/**
 * What the axis shows. Its end grows in steps while a life goes on, and fits when it has ended.
 * @param room part of the axis that stays free behind what has happened, for the names of signals
 */
export function spanOf(view: View, now: number, scale: Scale, room = 0): Span {
  const { stop, exitCode } = view.life
  const { least } = unitsOf(view)
  const lengthFor = (length: number, free: number): number => {
    const wanted = Math.max(length, least) / (1 - free)
    return exitCode === undefined ? stepUp(wanted, least) : wanted
  }
  const origin = originOf(view)
  if (scale === 'life' || unitsOf(view) === STEPS) return { from: 0, to: lengthFor(now, room), origin }
  if (!stop) {
    const from = Math.max(0, now - SERVING_WINDOW_MS)
    return { from, to: from + lengthFor(now - from, room), origin }
  }
  // Of what comes after the stop request, because the lead has its part.
  const free = room * (1 + LEAD)
  const fitting = lengthFor(now - stop.at, free)
  const budget = budgetOf(view)
  const shown = scale === 'deadline' && budget ? Math.max(((budget.deadlineAt - stop.at) * (1 + LEAD)) / (1 - free), fitting) : fitting
  return { from: stop.at - shown * LEAD, to: stop.at + shown, origin }
}

/**
 * Close enough to each other that little of the axis is empty, and far enough that it rarely moves.
 */
const ROUND = [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10]
/** The next larger round length. */
function stepUp(length: number, least: number): number {
  const wanted = Math.max(length, least)
  const power = 10 ** Math.floor(Math.log10(wanted))
  return (ROUND.find((step) => step * power >= wanted) ?? 10) * power
}

/** The shortest time that is shown, as a part of the shortest axis. */
const FINEST = 0.02

/**
 * A part of what is shown, from one place to another, in whichever order; what lies outside of the
 * life is left out.
 */
export function zoomed(span: Span, one: number, other: number, view: View): Span {
  const at = (part: number): number => span.from + part * (span.to - span.from)
  const [from, to] = [at(Math.min(one, other)), at(Math.max(one, other))]
  const length = Math.max(to - from, unitsOf(view).least * FINEST)
  const middle = Math.max((from + to) / 2, length / 2)
  return { from: middle - length / 2, to: middle + length / 2, origin: span.origin }
}

/** A time as a part of what is shown; outside of it below 0 or above 1. */
export const place = (span: Span, at: number): number => (at - span.from) / (span.to - span.from)

export const inside = (part: number): boolean => part >= 0 && part <= 1

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
  if (ms < 0) return `${MINUS}${axisTime(-ms, step, units)}`
  if (ms >= 60_000) return durationText(ms)
  if (step < 100) return `${Number(ms.toFixed(step < 1 ? 2 : 0))}ms`
  return `${(ms / 1_000).toFixed(step < 1_000 ? 1 : 0)}s`
}

/** Lines through all rows: the stop request, the cuts, the deadline. */
export interface AxisLine {
  readonly kind: 'stop' | 'cut' | 'deadline'
  readonly text: string
  readonly place: number
  /** Whether it has been reached. */
  readonly past: boolean
}

export function linesOf(view: View, now: number, span: Span): readonly AxisLine[] {
  const { stop } = view.life
  if (!stop) return []
  const budget = budgetOf(view)
  const line = (kind: AxisLine['kind'], text: string, at: number): AxisLine => ({ kind, text, place: place(span, at), past: at <= now })
  return [
    line('stop', 'StopRequested', stop.at),
    ...(budget?.cuts ?? []).map(({ signal, at }) => line('cut', signal, at)),
    ...(budget ? [line('deadline', 'deadline', budget.deadlineAt)] : []),
  ].filter((candidate) => inside(candidate.place))
}
