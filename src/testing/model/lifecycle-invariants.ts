import type { LifecycleFact } from '../../events.ts'
import { EXIT_CODES_BY_SEVERITY, type ExitCode } from '../../machines/exit-codes.ts'
import { BUDGET_INSTANTS, type BudgetInstant, cutSignal } from '../../machines/signals.ts'
import type { LifecycleContext } from '../../machines/vocabulary.ts'
import type { Mode, Wiring } from '../../machines/wiring.ts'
import { alongEdges } from './along-edges.ts'
import { canonical } from './canonical.ts'
import type { Choice } from './choice.ts'
import { confluent } from './confluence.ts'
import { factOf, signalOf } from './facts.ts'
import { atMostOnce, broken, inOrder, monitored } from './monitor.ts'
import type { Property } from './property.ts'
import { endReachable, isDone } from './reachability.ts'
import { always, noDeadlock, noErrors } from './safety.ts'
import type { Effect } from './state.ts'
import { terminates, timersAnd } from './termination.ts'
import type { ActorView } from './view.ts'

/**
 * What holds for every life, whatever its hooks, phases and mode: stated once, checked on every configuration. The ids are
 * stable; the names in the texts are upstream's.
 */
export const lifecycleInvariants = (mode: Mode, wiring: Wiring): Property[] => [
  noErrors(),
  noDeadlock(),
  endReachable('end/possible', 'from every state some way leads to the end'),
  terminates('end/certain', 'once StopRequested the end comes, even if no effect ever answers; only the synchronous end by force has to', {
    from: isStopping,
    isFair: timersAnd('force'),
  }),
  always(
    'end/never-waiting-on-nothing',
    'between the stop and the end a timer is pending or an effect is running',
    (root) => !isStopping(root) || isDone(root) || isWaitingForSomething(root),
  ),
  atMostOnce('signals/once', 'every signal fires at most once', signalOf),
  ...UPSTREAM_ORDER[mode].map(([earlier, later]) =>
    inOrder(`order/${later}`, `${later} only after ${earlier.join(' and ')}`, signalOf, earlier, later),
  ),
  monitored('order/wiring', 'a phase ends with its signal only after everything that it waits for', orderOf(wiring)),
  monitored('order/cuts', 'the budget cuts in its order', cutsInOrder()),
  monitored('brackets/phases', 'every phase that was started ends, once, unless the end was forced', bracketsOf(phaseBracket)),
  monitored('brackets/hooks', 'every hook that was started ends, once, unless the end was forced', bracketsOf(hookBracket)),
  monitored(
    'brackets/acquired-released',
    'what start-up acquired is released before an unforced end: audit backend and listeners',
    acquiredReleased(),
  ),
  alongEdges('exit-code/never-milder', 'the exit code never becomes milder', (before, after) => severity(after) >= severity(before)),
  alongEdges(
    'stop/first-reason-stands',
    'the first reason of a stop stands',
    (before, after) => !isStopping(before) || sameStop(before, after),
  ),
  always(
    'deadline/pending',
    'from StopRequested to the end the next instant of the budget is pending, at its distance from the one before',
    isBudgetPending,
  ),
  alongEdges('deadline/never-back', 'the budget never goes back to an earlier instant, and its last one ends the life', neverBack),
  confluent('confluence/answers', 'two effects that answer give the same state in either order', areAnswersOfDifferentPhases),
]

/** L 1.4 and 1.5: what upstream's edges guarantee, independent of the table that the machine is made from. */
const BOTH: readonly Order[] = [
  [['ShutdownInitiated'], 'AfterShutdownDelayDuration'],
  [['StopRequested'], 'ShutdownInitiated'],
  [['AfterShutdownDelayDuration', 'PreShutdownHooksStopped'], 'NotAcceptingNewRequest'],
  [['NotAcceptingNewRequest', 'RequestsDrained', 'WatchesDrained'], 'InFlightRequestsDrained'],
  [['InFlightRequestsDrained'], 'AuditStopped'],
  [['HTTPServerStoppedListening', 'AuditStopped', 'InFlightRequestsDrained'], 'Destroyed'],
  [['Destroyed'], 'ReportWritten'],
  [['AuditRunning'], 'Bound'],
  [['Bound'], 'PostStartHooksLaunched'],
  [['PostStartHooksLaunched'], 'Announced'],
]
const UPSTREAM_ORDER: Readonly<Record<Mode, readonly Order[]>> = {
  refuse: [...BOTH, [['NotAcceptingNewRequest'], 'HTTPServerStoppedListening']],
  'retry-after': [...BOTH, [['InFlightRequestsDrained'], 'HTTPServerStoppedListening']],
}
type Order = readonly [earlier: readonly string[], later: string]

const contextOf = ({ context }: ActorView): LifecycleContext => context as LifecycleContext
const stopOf = (root: ActorView): LifecycleContext['stop'] => contextOf(root).stop
function isStopping(root: ActorView): boolean {
  return stopOf(root) !== undefined
}
const sameStop = (one: ActorView, other: ActorView): boolean => canonical(stopOf(one), 'stop') === canonical(stopOf(other), 'stop')
const severity = (root: ActorView): number => EXIT_CODES_BY_SEVERITY.indexOf(contextOf(root).exitCode as ExitCode)

/**
 * Together the two properties of the deadline bound the end in time, though time is abstract elsewhere: the distances add up to the
 * deadline, one of them is always running, and after the last one the life is over or being ended by force. Whatever effects do,
 * nothing is later.
 */
function instantOf(root: ActorView): string | undefined {
  const { running } = root.value as { readonly running?: { readonly budget?: unknown } }
  const { spending } = (running?.budget ?? {}) as { readonly spending?: { readonly deadline: string } }
  return spending?.deadline
}

function isBudgetPending(root: ActorView): true | string {
  if (!isStopping(root) || isDone(root) || root.matches('forcing')) return true
  const instant = instantOf(root)
  const i = BUDGET_INSTANTS.indexOf(instant as BudgetInstant)
  if (i < 0) return `the budget is at ${instant ?? 'no instant'} while the life goes on`
  const { cutsMs, deadlineMs } = (stopOf(root) as NonNullable<LifecycleContext['stop']>).profile
  const at = [0, ...BUDGET_INSTANTS.map((name) => (name === 'forced' ? deadlineMs : cutsMs[name]))]
  const distance = (at[i + 1] as number) - (at[i] as number)
  const isPending = root.timers.some(
    ({ event, delayMs }) => event.type.startsWith(`xstate.after.until.${instant}.`) && delayMs === distance,
  )
  return isPending || `no timer of ${distance} ms for ${instant} is pending`
}

function neverBack(before: ActorView, after: ActorView): true | string {
  const [from, to] = [before, after].map(instantOf)
  if (from === undefined) return true
  if (isDone(after) || after.matches('forcing')) return true
  const [i, j] = [from, to].map((instant) => BUDGET_INSTANTS.indexOf(instant as BudgetInstant)) as [number, number]
  return j === i || j === i + 1 || `from ${from} to ${to ?? 'none'}`
}

const isWaitingForSomething = (actor: ActorView): boolean =>
  actor.timers.length > 0 || actor.value === undefined || actor.children.some(isWaitingForSomething)

/** Texts of sets: the states of the monitors below. */
const withName = (names: string, name: string): string => [...new Set([...names.split('\n'), name])].sort().join('\n')
const without = (names: string, name: string): string =>
  names
    .split('\n')
    .filter((other) => other !== name)
    .join('\n')
const has = (names: string, name: string): boolean => names.split('\n').includes(name)

function orderOf(wiring: Wiring) {
  const rows = new Map(Object.values(wiring).map((row) => [row.fires, row.after]))
  const fired = new Set(rows.keys())
  return {
    initial: '',
    next: (said: string, effect: Effect) => {
      const name = signalOf(effect)
      if (name === undefined) return said
      const missing = rows
        .get(name)
        ?.find((other) => (fired.has(other) || other === 'StopRequested' || other === 'Start') && !has(said, other))
      return missing === undefined ? withName(said, name) : broken(`${name} fires before ${missing}`)
    },
  }
}

function cutsInOrder() {
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

interface Bracket {
  readonly name: string
  readonly opens: boolean
}

function phaseBracket(fact: LifecycleFact): Bracket | undefined {
  if (fact.type === 'phase.started') return { name: fact.phase, opens: true }
  return fact.type === 'phase.ended' ? { name: fact.phase, opens: false } : undefined
}

function hookBracket(fact: LifecycleFact): Bracket | undefined {
  if (fact.type === 'hook.started') return { name: `${fact.kind} ${fact.name}`, opens: true }
  return fact.type === 'hook.ended' ? { name: `${fact.kind} ${fact.name}`, opens: false } : undefined
}

/** Opened names have a `+`, closed ones a `-`. */
function bracketsOf(bracketIn: (fact: LifecycleFact) => Bracket | undefined) {
  return {
    initial: '',
    next: (seen: string, effect: Effect) => {
      const fact = factOf(effect)
      if (fact?.type === 'forced') return withName(seen, 'forced')
      if (fact?.type === 'ended' && !has(seen, 'forced')) {
        const open = seen.split('\n').find((name) => name.startsWith('+'))
        return open === undefined ? seen : broken(`the life has ended, but ${open.slice(1)} has not`)
      }
      const bracket = fact && bracketIn(fact)
      if (!bracket) return seen
      const { name, opens } = bracket
      if (has(seen, `-${name}`)) return broken(`${name} ${opens ? 'starts' : 'ends'} a second time`)
      if (opens) return has(seen, `+${name}`) ? broken(`${name} starts a second time`) : withName(seen, `+${name}`)
      return withName(without(seen, `+${name}`), `-${name}`)
    },
  }
}

function acquiredReleased() {
  const pairs = [
    ['AuditRunning', 'AuditStopped'],
    ['Bound', 'HTTPServerStoppedListening'],
  ] as const
  return {
    initial: '',
    next: (seen: string, effect: Effect) => {
      const fact = factOf(effect)
      if (fact?.type === 'forced') return withName(seen, 'forced')
      if (fact?.type === 'ended' && !has(seen, 'forced')) {
        const left = pairs.find(([acquired, released]) => has(seen, acquired) && !has(seen, released))
        return left ? broken(`${left[0]} was not followed by ${left[1]}`) : seen
      }
      // A phase that was skipped has released nothing.
      if (fact?.type !== 'signal' || fact.outcome === 'skipped') return seen
      return pairs.flat().includes(fact.name as never) ? withName(seen, fact.name) : seen
    },
  }
}

/**
 * An answer that ends a phase is independent of one that ends another. Two kinds are not: effects of one phase, of which one may
 * replace the other, and post-start hooks, which ask for the stop when they fail and are ended by how far the stop has come.
 */
function areAnswersOfDifferentPhases(one: Choice, other: Choice): boolean {
  const phase = ({ path }: Choice): string | undefined => path.text.split('/')[0]
  const isIndependent = ({ kind, path }: Choice): boolean => kind === 'outcome' && !path.id.startsWith('post-start-hook:')
  return isIndependent(one) && isIndependent(other) && phase(one) !== phase(other)
}
