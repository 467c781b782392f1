import {
  type ActorState,
  type ActorView,
  broken,
  type Edge,
  type Effect,
  type Graph,
  isDone,
  type Monitor,
  type Property,
  type Violation,
  viewOf,
} from '#model'
import { instantMs } from '../../base/stop-profile.ts'
import { BUDGET_INSTANTS, type BudgetInstant, CUT_SIGNALS, cutSignal, cutsFrom } from '../../machines/signals.ts'
import type { LifecycleContext, LifecycleInput } from '../../machines/vocabulary.ts'
import type { Wiring } from '../../machines/wiring.ts'
import { exitGraceMs } from '../../options/budget.ts'
import { factOf, signalOf } from './facts.ts'
import { actorBelow, isForcing, isStopping, placeOf, regionOf, stopOf } from './life-views.ts'
import { has, withName } from './names.ts'
import { onceForEach } from './once.ts'

/**
 * Together `isBudgetPending` and `neverBack` bound the end in time, though time is abstract
 * elsewhere: the distances add up to the deadline, one of them is always running, and after the
 * last one the life is over or being ended by force. Whatever effects do, nothing is later.
 */
type Stop = NonNullable<LifecycleContext['stop']>
interface Spending {
  readonly deadline: string
  readonly crash: string
  readonly cuts: string
}
const spendingOf = onceForEach((root: ActorView): Spending | undefined => {
  const { running } = root.value as { readonly running?: { readonly budget?: unknown } }
  return ((running?.budget ?? {}) as { readonly spending?: Spending }).spending
})
const instantOf = (root: ActorView): string | undefined => spendingOf(root)?.deadline

export function isBudgetPending(root: ActorView): true | string {
  if (!isStopping(root) || isDone(root) || isForcing(root)) return true
  return isChainPending(root, instantOf(root), 'until', (stopOf(root) as Stop).profile)
}

/**
 * A crash during a stop shortens what is left: its own budget runs beside that of the stop. One
 * that asked for the stop is that budget.
 */
export function isCrashBudgetPending(root: ActorView): true | string {
  if (!isStopping(root) || isDone(root) || isForcing(root)) return true
  if (['none', 'over'].includes(regionOf(root, 'crash') as string) || stopOf(root)?.reason.kind === 'crash') return true
  return isChainPending(root, spendingOf(root)?.crash, 'crash.until', (root.context as LifecycleContext).profiles.crash)
}

/** The budget that is further decides what has been cut, so a crash makes nothing later. */
export function furtherDecides(root: ActorView): true | string {
  const spending = spendingOf(root)
  if (!spending) return true
  const [deadline, crash, cuts] = [spending.deadline, spending.crash, spending.cuts].map((instant) =>
    BUDGET_INSTANTS.indexOf(instant as BudgetInstant),
  ) as [number, number, number]
  return cuts === Math.max(deadline, crash) || `the cuts are at ${spending.cuts}, the budgets at ${spending.deadline} and ${spending.crash}`
}

function isChainPending(root: ActorView, instant: string | undefined, delay: string, profile: Stop['profile']): true | string {
  const i = BUDGET_INSTANTS.indexOf(instant as BudgetInstant)
  if (i < 0) return `the budget is at ${instant ?? 'no instant'} while the life goes on`
  const at = [0, ...BUDGET_INSTANTS.map((name) => instantMs(profile, name))]
  const distance = (at[i + 1] as number) - (at[i] as number)
  const isPending = root.timers.some(
    ({ event, delayMs }) => event.type.startsWith(`xstate.after.${delay}.${instant}.`) && delayMs === distance,
  )
  return isPending || `no timer of ${distance} ms for ${delay}.${instant} is pending`
}

export function neverBack(before: ActorView, after: ActorView): true | string {
  if (isDone(after) || isForcing(after)) return true
  const [from, to] = [before, after].map(instantOf)
  if (from === undefined || from === to) return true
  const [i, j] = [from, to].map((instant) => BUDGET_INSTANTS.indexOf(instant as BudgetInstant)) as [number, number]
  return j === i || j === i + 1 || `from ${from} to ${to ?? 'none'}`
}

/**
 * An end that is not forced leaves the process the rest of its budget, as far as a second of it, to
 * end by itself; a forced one nothing. Either way it is gone by the deadline. Time is abstract
 * here: the end comes at the latest when the budget's next instant would.
 */
export function exitsInTime(before: ActorView, after: ActorView): true | string {
  const stop = stopOf(before)
  if (!stop || isDone(before) || !isDone(after) || isForcing(before)) return true
  const next = BUDGET_INSTANTS.find((instant) => instant === instantOf(before))
  const latestMs = next === undefined ? stop.profile.deadlineMs : instantMs(stop.profile, next)
  const goneMs = latestMs + exitGraceMs(stop.profile.cutsMs.flush - latestMs)
  return goneMs <= stop.profile.deadlineMs || `the process lives until ${goneMs} ms, its deadline is ${stop.profile.deadlineMs} ms`
}

export function cutsInOrder(): Monitor {
  const order = BUDGET_INSTANTS.map(cutSignal) as readonly string[]
  return {
    initial: '0',
    next: (next: string, effect: Effect) => {
      const at = order.indexOf(signalOf(effect) ?? '')
      if (at < 0) return next
      return at === Number(next) ? String(at + 1) : broken(`${order[at]} comes when ${order[Number(next)]} is next`)
    },
  }
}

/**
 * An end by force for the deadline's sake is said as the last instant of the budget, like every
 * instant before it.
 */
export const forcedIsSaid = (): Monitor => ({
  initial: '',
  next: (said, effect) => {
    if (signalOf(effect) === 'Forced') return 'said'
    const fact = factOf(effect)
    return fact?.type === 'forced' && fact.why === 'deadline' && said === '' ? broken('the end is forced before Forced') : said
  },
})

/**
 * Phases that may be cut by a limit of their own which costs nothing: the watch grace and the
 * connection timeout.
 */
export const OWN_LIMIT: readonly string[] = ['watch-drain', 'close-connections']

/**
 * Nothing is cut before its instant has come, but by a limit of its own. The drain of requests may
 * have one, which costs as much as a cut.
 */
export function ownCutFirst(wiring: Wiring, { requestDrainTimeoutMs }: LifecycleInput): Monitor {
  const mayBeEarly = requestDrainTimeoutMs === undefined ? OWN_LIMIT : [...OWN_LIMIT, 'request-drain']
  const order = BUDGET_INSTANTS.map(cutSignal) as readonly string[]
  return {
    initial: '',
    next: (said, effect) => {
      const fact = factOf(effect)
      if (fact?.type === 'signal') return order.includes(fact.name) ? withName(said, fact.name) : said
      if (fact?.type !== 'phase.ended' || fact.outcome !== 'cut' || mayBeEarly.includes(fact.phase)) return said
      const cut = wiring[fact.phase]?.cut
      return cut === undefined || has(said, cut) ? said : broken(`${fact.phase} is cut before ${cut}`)
    },
  }
}

/**
 * Everything that works when its instant, or a later one, comes is over with it or on its way out:
 * a machine that was told is in another state. And no machine is on its way out before.
 */
export function cutIsHeard(wiring: Wiring): (before: ActorView, after: ActorView, step: Edge) => true | string {
  const phases = Object.entries(wiring).flatMap(([phase, { cut, workKind }]) =>
    cut === undefined ? [] : [{ phase, cut, cuts: cutsFrom(cut) as readonly string[], workKind }],
  )
  const cutsSaid = onceForEach((effects: readonly Effect[]) =>
    effects.flatMap((effect) => signalOf(effect) ?? []).filter((signal) => Object.hasOwn(CUT_SIGNALS, signal)),
  )
  const isAnyCutting = onceForEach(({ children }: ActorView) => children.some(({ value }) => value === 'cutting'))
  return (before, after, { effects }) => {
    if (isForcing(after) || isDone(after)) return true
    const said = cutsSaid(effects)
    if (said.length === 0 && !isAnyCutting(after)) return true
    for (const { phase, cut, cuts, workKind } of phases) {
      const isItsTime = said.some((signal) => cuts.includes(signal))
      const [was, is] = [actorBelow(before, phase)?.value, actorBelow(after, phase)?.value]
      if (!isItsTime && was === is) continue
      if (placeOf(before, phase) !== 'working' || placeOf(after, phase) !== 'working') continue
      if (isItsTime && (workKind === 'effect' || was === is)) return `${phase} goes on as if ${said.join(' and ')} had not come`
      if (!isItsTime && was !== is && is === 'cutting') return `${phase} is cut before ${cut}`
    }
    return true
  }
}

/**
 * The earlier phases cannot use up the time of these. On every run on which the cuts themselves do
 * not hang, each of these phases has begun when the next instant of the budget but its own comes.
 * Effects named in `synchronous` are one step without waiting, so no time passes while they run. A
 * limit named in `short` is over before the next instant of the budget, whatever order of timers
 * the model tries.
 */
export const getsItsTurn = (
  id: string,
  text: string,
  {
    turns,
    synchronous,
    short,
  }: { readonly turns: Readonly<Record<string, string>>; readonly synchronous: readonly string[]; readonly short: readonly string[] },
): Property => ({
  id,
  text,
  violation({ graph }): Violation | undefined {
    const arrival = new Map<number, number>()
    const queue = [0]
    for (let i = 0; i < queue.length; i++) {
      const state = queue[i] as number
      const isBusy = runsOneOf(graph.states[state] as ActorState, synchronous)
      const isHurried = awaitsOneOf(graph.states[state] as ActorState, short)
      for (let edge = graph.firstEdge(state); edge < graph.endEdge(state); edge++) {
        const { kind, path, event } = graph.choice(edge)
        if (isHurried && kind === 'timer' && isOfBudget(event.type)) continue
        if (isBusy && !(kind === 'outcome' && synchronous.includes(sourceAt(graph, state, path.text)))) continue
        const late = lateOne(graph, state, edge, turns)
        if (late !== undefined) return { finding: late, edges: [...wayTo(graph, arrival, state), edge] }
        const to = graph.to(edge)
        if (to === 0 || arrival.has(to)) continue
        arrival.set(to, edge)
        queue.push(to)
      }
    }
    return undefined
  },
})

/** A phase whose instant is said while it still waits. */
function lateOne(graph: Graph, state: number, edge: number, turns: Readonly<Record<string, string>>): string | undefined {
  const effects = graph.effects(edge)
  if (effects.length === 0) return undefined
  const said = effects.map(signalOf)
  const late = Object.entries(turns).find(
    ([phase, cut]) => said.includes(cut) && placeOf(viewOf(graph.states[state] as ActorState), phase) === 'waiting',
  )
  return late && `${late[0]} has not begun when ${late[1]} comes, though no cut hangs`
}

const isOfBudget = (type: string): boolean => /^xstate\.after\.(crash\.)?until\./.test(type)
const awaitsOneOf = ({ timers, children }: ActorState, limits: readonly string[]): boolean =>
  timers.some(({ event }) => limits.some((limit) => event.type.startsWith(`xstate.after.${limit}.`))) ||
  children.some((child) => awaitsOneOf(child, limits))

const runsOneOf = ({ local, children }: ActorState, sources: readonly string[]): boolean =>
  (local.logic.machine === undefined && sources.includes(local.logic.name)) || children.some((child) => runsOneOf(child, sources))

function sourceAt(graph: Graph, state: number, path: string): string {
  let actor = graph.states[state] as ActorState | undefined
  for (const id of path.split('/')) actor = actor?.children.find((child) => child.id === id)
  return actor?.local.logic.name ?? ''
}

function wayTo(graph: Graph, arrival: ReadonlyMap<number, number>, state: number): number[] {
  const way: number[] = []
  for (let at = state; at !== 0; at = graph.from(way[0] as number)) way.unshift(arrival.get(at) as number)
  return way
}
