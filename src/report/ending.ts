import type { Straggler } from '../base/events.ts'
import { formatRunning } from '../base/format-duration.ts'
import { type ConnectionProtocol, nameWithProtocol } from '../base/protocol.ts'
import { instantMs } from '../base/stop-profile.ts'
import { BUDGET_INSTANTS, type BudgetInstant, type CutSignal, cutSignal } from '../machines/signals.ts'
import { type Gauges, hookName } from './gauges.ts'
import { type LifeView, phaseOfHook, type StopView, WAITED_FOR_BY, type WorkView } from './view.ts'

/**
 * What holds up the end of a life, which bound will end it, and when. There is one answer, given
 * here: the report, the terminal, the inspector and `progress()` read it. Times are milliseconds
 * since the life began, as in the view.
 */

/** What ends something that does not end by itself. */
export interface TimeBound {
  /** A limit of its own, or an instant of the budget. */
  readonly by: 'limit' | CutSignal
  readonly at: number
}

/** Something that the end waits for, or will wait for. */
export interface Blocker extends Partial<ConnectionProtocol> {
  readonly kind: keyof typeof WAITED_FOR_BY | 'hook' | 'phase'
  readonly name: string
  readonly ageMs: number
  /** The phase that waits for it. */
  readonly phase: string
  /** False: its phase has not begun. */
  readonly isWaitedFor: boolean
  /** Whether a request is a stream: see {@link Straggler}. */
  readonly streaming?: true
  /** Undefined: nothing, because no stop has been requested. */
  readonly bound: TimeBound | undefined
}

/**
 * When an instant of the budget comes; undefined without a budget. A crash in the middle of a stop
 * takes time away and gives none.
 */
export function instantAt({ at, budget, crash }: StopView, instant: BudgetInstant): number | undefined {
  if (!budget) return undefined
  const regular = at + instantMs(budget, instant)
  return crash ? Math.min(regular, crash.at + instantMs(crash.budget, instant)) : regular
}

/**
 * Milliseconds until an instant of the budget, below 0 when it is over; without a stop there is no
 * end to the time.
 */
export function leftUntil({ stop }: LifeView, instant: BudgetInstant, now: number): number {
  const at = stop && instantAt(stop, instant)
  return at === undefined ? Number.POSITIVE_INFINITY : at - now
}

/**
 * The instant that cuts a phase: its own, or the next one for a phase that goes on then, or starts
 * later.
 */
export function cutOf({ cuts, stop }: LifeView, phase: string, now: number): TimeBound | undefined {
  const first = BUDGET_INSTANTS.findIndex((instant) => cutSignal(instant) === cuts[phase])
  if (first < 0 || !stop) return undefined
  return BUDGET_INSTANTS.slice(first)
    .map((instant) => boundBy(stop, instant))
    .find((bound) => bound && (bound.at > now || bound.by === 'Forced'))
}

/** Every instant of a stop's budget, in order, the deadline last; none without a budget. */
export const instantsOf = (stop: StopView): readonly (TimeBound & { readonly by: CutSignal })[] =>
  BUDGET_INSTANTS.flatMap((instant) => boundBy(stop, instant) ?? [])

/** The next instant that cuts something which is not over yet, or may still begin. */
export function nextCutOf(view: LifeView, now: number): TimeBound | undefined {
  const live = new Set(Object.entries(view.cuts).flatMap(([phase, cut]) => (view.phases.get(phase)?.endedAt === undefined ? [cut] : [])))
  return view.stop && instantsOf(view.stop).find(({ by, at }) => at > now && live.has(by))
}

const boundBy = (stop: StopView, instant: BudgetInstant): (TimeBound & { readonly by: CutSignal }) | undefined => {
  const at = instantAt(stop, instant)
  return at === undefined ? undefined : { by: cutSignal(instant), at }
}

const limitOf = ({ startedAt, limitMs }: WorkView): TimeBound | undefined =>
  limitMs === undefined ? undefined : { by: 'limit', at: startedAt + limitMs }

const sooner = (...bounds: readonly (TimeBound | undefined)[]): TimeBound | undefined =>
  bounds.reduce((first, bound) => (first && bound ? (bound.at < first.at ? bound : first) : (first ?? bound)), undefined)

/**
 * What ends a phase, at `now` or whenever it begins: its own limit or its cut, whichever comes
 * first; if it has neither, the deadline.
 */
export function boundOfPhase(view: LifeView, phase: string, now: number): TimeBound | undefined {
  const known = view.phases.get(phase)
  return sooner(known && limitOf(known), cutOf(view, phase, now)) ?? (view.stop && boundBy(view.stop, 'forced'))
}

/**
 * Everything that the end waits for or will wait for, and what ends it: the last to be ended first,
 * of those the oldest.
 */
export function blockersOf(view: LifeView, { blocking }: Pick<Gauges, 'blocking'>, now: number): readonly Blocker[] {
  const isUnderWay = (phase: string): boolean => view.phases.has(phase) && view.phases.get(phase)?.endedAt === undefined
  const counted = (kind: keyof typeof WAITED_FOR_BY, all: readonly Straggler[]): Blocker[] => {
    const phase = WAITED_FOR_BY[kind]
    const bound = boundOfPhase(view, phase, now)
    return all.map((straggler) => ({ ...straggler, kind, phase, isWaitedFor: isUnderWay(phase), bound }))
  }
  const hooks = running(view.hooks).flatMap((hook): Blocker[] => {
    const phase = phaseOfHook(hook)
    // One that lives on through the stop, and is only told of it, holds nothing up.
    if (view.cuts[phase] === undefined) return []
    const bound = sooner(limitOf(hook), boundOfPhase(view, phase, now))
    return [{ kind: 'hook', name: hookName(hook), ageMs: now - hook.startedAt, phase, isWaitedFor: true, bound }]
  })
  const things = [
    ...counted('request', blocking.requests),
    ...counted('hold', blocking.holds),
    ...counted('watch', blocking.watches),
    ...counted('handler', blocking.handlers),
    ...counted('connection', blocking.connections),
    ...hooks,
  ]
  const phases = running(view.phases).flatMap(({ name, startedAt }): Blocker[] =>
    view.cuts[name] === undefined || things.some(({ phase }) => phase === name)
      ? []
      : [{ kind: 'phase', name, ageMs: now - startedAt, phase: name, isWaitedFor: true, bound: boundOfPhase(view, name, now) }],
  )
  return [...things, ...phases].sort(
    (a, b) => (b.bound?.at ?? Number.POSITIVE_INFINITY) - (a.bound?.at ?? Number.POSITIVE_INFINITY) || b.ageMs - a.ageMs,
  )
}

const running = <W extends WorkView>(works: ReadonlyMap<string, W>): W[] =>
  [...works.values()].filter(({ endedAt }) => endedAt === undefined)

/**
 * What holds up the end now, in a sentence that names it and says when that is over: `GET /hang
 * blocks the exit; cut in 35.8s`.
 * @param gauges what was counted, of which not all may have a name
 */
export function headlineOf(blockers: readonly Blocker[], gauges: Counted, now: number): string {
  const waitedFor = blockers.filter(({ isWaitedFor }) => isWaitedFor)
  const things = waitedFor.filter(({ kind }) => kind !== 'phase')
  const [first] = things
  if (!first) {
    const [phase] = waitedFor
    return phase ? `waiting for ${phase.name}${endWords(phase, now)}` : 'nothing blocks the exit'
  }
  const others = things.length - 1 + unnamedIn(blockers, gauges)
  const name = nameWithProtocol(first)
  const subject = others === 0 ? `${name} blocks` : `${name} and ${others} more block`
  return `${subject} the exit${endWords(first, now)}`
}

type Counted = Pick<Gauges, 'requests' | 'holds' | 'watches' | 'handlers'> & { readonly connections?: Gauges['connections'] }

/** The number of those waited for that have no name here. */
function unnamedIn(blockers: readonly Blocker[], { requests, holds, watches, handlers, connections }: Counted): number {
  const counts = { request: requests, hold: holds, watch: watches, handler: handlers, connection: connections?.blocking ?? 0 }
  return Object.entries(counts).reduce((sum, [kind, count]) => {
    const named = blockers.filter((blocker) => blocker.kind === kind)
    return sum + (named.some(({ isWaitedFor }) => isWaitedFor) ? Math.max(0, count - named.length) : 0)
  }, 0)
}

/** How and when something is ended that does not end by itself. */
function endWords({ kind, bound }: Blocker, now: number): string {
  if (!bound) return ''
  const left = bound.at - now
  if (left <= 0) return '; being cut'
  const how = bound.by !== 'limit' ? 'cut' : kind === 'phase' ? 'over' : kind === 'hook' ? 'times out' : 'cut'
  return `; ${how} in ${formatRunning(left)}`
}
