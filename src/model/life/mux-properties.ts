import { type ActorView, alongEdges, always, broken, type Choice, type Edge, type Monitor, monitored, type Property } from '#model'
import type { MuxSignalState } from '../../base/events.ts'
import { MUX_SIGNAL, type MuxCompleteContext } from '../../machines/phases/mux-complete.ts'
import { factOf } from './facts.ts'
import { actorBelow, isForcing, isStopping, placeOf } from './life-views.ts'
import { has, withName, without } from './names.ts'

/** MuxAndDiscoveryComplete, by what each of its mux-complete signals answers. */

const PHASE = 'mux-complete'
/** What waits for one signal. */
export const AWAITS_MUX_SIGNAL = 'await-mux-signal'

interface Answer {
  readonly name: string
  readonly kind: 'complete' | 'failed'
}

/** What a mux-complete signal answers in a step. */
export function muxAnswerIn({ kind, path, event }: Choice): Answer | undefined {
  if (kind !== 'message' || path.id !== AWAITS_MUX_SIGNAL || !path.parent) return undefined
  return { name: path.parent.id.slice(MUX_SIGNAL.length), kind: event.type as Answer['kind'] }
}

/** The properties of mux-complete signals; none, for a life that waits for no signal. */
export function muxProperties(names: readonly string[]): Property[] {
  if (names.length === 0) return []
  return [
    monitored(
      'mux/complete',
      'MuxAndDiscoveryComplete fires in the step in which the last mux-complete signal is complete, and only then',
      firesWithTheLast(names),
    ),
    monitored(
      'mux/each',
      'every mux-complete signal is reported once: as complete or failed before StopRequested, as late after it, as left at AdminClosed',
      saysEachEnd(names),
    ),
    alongEdges(
      'mux/failed',
      'a mux-complete signal that fails is named with its error, and one that answers after StopRequested as a late answer',
      namesItsAnswer,
    ),
    monitored(
      'mux/overdue',
      'a mux-complete signal that is not complete 5 s after Serving, or at the stop, is named once',
      namesThoseMissing(names),
    ),
    always(
      'mux/awaited',
      'the server waits for signals that have not answered, until they are overdue while it serves, and not for those that have',
      areAwaited(names),
    ),
  ]
}

/** The state: what is missing, and `over` when nothing can fire any more. */
const firesWithTheLast = (names: readonly string[]): Monitor => ({
  initial: ['Start', ...names.map((name) => `+${name}`)].sort().join('\n'),
  heard: (missing, choice) => {
    const answer = muxAnswerIn(choice)
    return answer?.kind === 'complete' ? without(missing, `+${answer.name}`) : missing
  },
  next: (missing, effect) => {
    const fact = factOf(effect)
    if (fact?.type === 'forced' || fact?.type === 'ended') return OVER
    if (fact?.type !== 'signal') return missing
    if (fact.name === 'Start') return without(missing, 'Start')
    if (fact.name === 'StopRequested') return OVER
    if (fact.name !== 'MuxAndDiscoveryComplete') return missing
    return missing === ''
      ? OVER
      : broken(`MuxAndDiscoveryComplete is said ${missing === OVER ? 'after the stop' : `before ${listed(missing)}`}`)
  },
  atRest: (missing) => (missing === '' ? 'every mux-complete signal is complete, and MuxAndDiscoveryComplete is not said' : undefined),
})
const OVER = 'over'
const listed = (names: string): string => names.split('\n').join(' and ')

/**
 * The state: `-name` of those whose end was said, `name state` of what has to be said in this step,
 * `stopped`, `closed` and `over`.
 */
const saysEachEnd = (names: readonly string[]): Monitor => {
  const isOpen = (seen: string, name: string): boolean => !has(seen, `-${name}`)
  return {
    initial: '',
    heard: (seen, choice) => {
      const answer = muxAnswerIn(choice)
      if (!answer || has(seen, OVER)) return seen
      return withName(seen, dueText(answer.name, has(seen, 'stopped') ? 'late' : answer.kind))
    },
    next: (seen, effect) => {
      const fact = factOf(effect)
      switch (fact?.type) {
        case 'signal':
          if (fact.name === 'StopRequested') return withName(seen, 'stopped')
          if (fact.name !== 'AdminClosed') return seen
          return names.filter((name) => isOpen(seen, name)).reduce((all, name) => withName(all, dueText(name, 'left')), seen)
        case 'forced':
          return OVER
        case 'ended': {
          const open = has(seen, OVER) ? undefined : names.find((name) => isOpen(seen, name))
          return open === undefined ? OVER : broken(`the life ends without a word about ${open}`)
        }
        case 'mux-signal': {
          const due = dueText(fact.name, fact.state)
          if (!has(seen, due)) return broken(`${due} is said for no reason`)
          return withName(without(seen, due), `-${fact.name}`)
        }
        default:
          return seen
      }
    },
    atRest: (seen) => {
      const due = seen.split('\n').find((name) => name.includes(DUE))
      return due === undefined ? undefined : `${due} is not said`
    },
  }
}
const DUE = ' is '
const dueText = (name: string, state: MuxSignalState): string => `${name}${DUE}${state}`

function namesItsAnswer(before: ActorView, after: ActorView, { choice, effects }: Edge): true | string {
  const answer = muxAnswerIn(choice)
  if (!answer || isForcing(before) || isForcing(after)) return true
  const facts = effects.flatMap((effect) => factOf(effect) ?? [])
  if (isStopping(before)) {
    const said = facts.find((fact) => fact.type === 'late')
    const due = answer.kind === 'failed' ? 'rejected' : 'resolved'
    const isSaid = said?.type === 'late' && said.what.includes(answer.name) && said.answer === due && !said.error === (due === 'resolved')
    return isSaid || `${answer.name} is late, which is not said`
  }
  const error = facts.find((fact) => fact.type === 'error')
  const isNamed = error?.type === 'error' && error.where.includes(answer.name)
  return isNamed === (answer.kind === 'failed') || `${answer.name} is ${answer.kind}, and its error is ${isNamed ? '' : 'not '}named`
}

/**
 * The state: `-name` of those that are there or were named, `name?` of what has to be named in this
 * step, `serving` and `over`.
 */
const namesThoseMissing = (names: readonly string[]): Monitor => {
  const allDue = (seen: string): string =>
    names.filter((name) => !has(seen, `-${name}`)).reduce((all, name) => withName(all, `${name}?`), seen)
  return {
    initial: '',
    heard: (seen, choice) => {
      const answer = muxAnswerIn(choice)
      if (answer) return withName(seen, `-${answer.name}`)
      return choice.kind === 'timer' && choice.path.id === PHASE ? allDue(seen) : seen
    },
    next: (seen, effect) => {
      const fact = factOf(effect)
      if (fact?.type === 'signal' && fact.name === 'Serving') return withName(seen, 'serving')
      if (fact?.type === 'signal' && fact.name === 'StopRequested') return has(seen, 'serving') ? allDue(seen) : seen
      const name = fact?.type === 'warning' ? fact.details?.['muxSignal'] : undefined
      if (typeof name !== 'string') return fact?.type === 'forced' ? withName(seen, OVER) : seen
      return has(seen, `${name}?`) ? withName(without(seen, `${name}?`), `-${name}`) : broken(`${name} is named for no reason`)
    },
    atRest: (seen) => {
      const due = has(seen, OVER) ? undefined : seen.split('\n').find((name) => name.endsWith('?'))
      return due && `${due.slice(0, -1)} is not there, and not named`
    },
  }
}

/** Stated apart from the machine: docs/divergences.md, V19. */
const OVERDUE_MS = 5_000

const areAwaited =
  (names: readonly string[]) =>
  (root: ActorView): true | string => {
    const phase = actorBelow(root, PHASE)
    if (!phase || isForcing(root)) return true
    const { waiting } = phase.context as MuxCompleteContext
    const isAwaited = (name: string): boolean => actorBelow(phase, MUX_SIGNAL + name, AWAITS_MUX_SIGNAL) !== undefined
    const wrong = names.find((name) => waiting.includes(name) !== isAwaited(name))
    if (wrong !== undefined)
      return `${wrong} ${isAwaited(wrong) ? 'has answered, and something' : 'has not answered, and nothing'} waits for it`
    if (isStopping(root)) return waiting.length > 0 || 'what waits for the signals goes on, though all have answered'
    if (placeOf(root, 'serve') !== 'fired' || phase.matches('overdue')) return true
    const isPending = phase.timers.some(({ event, delayMs }) => event.type.startsWith('xstate.after.overdue.') && delayMs === OVERDUE_MS)
    return isPending || `no timer of ${OVERDUE_MS} ms is pending, though a signal is waited for`
  }
