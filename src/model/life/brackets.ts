import { type Broken, broken, type Effect, type Monitor } from '#model'
import type { LifecycleFact } from '../../base/events.ts'
import type { LifecycleInput } from '../../machines/vocabulary.ts'
import type { Wiring } from '../../machines/wiring.ts'
import { factOf } from './facts.ts'
import { has, withName, without } from './names.ts'

/**
 * A bracket: what begins has ended when the life has. Phases, hooks, and what start-up acquired.
 */

interface Bracket {
  readonly name: string
  readonly opens: boolean
  /** Whether it must have begun when it ends, or must not have; default either. */
  readonly isOpened?: boolean
}

export function phaseBracket(fact: LifecycleFact): Bracket | undefined {
  if (fact.type === 'phase.started') return { name: fact.phase, opens: true }
  return fact.type === 'phase.ended' ? { name: fact.phase, opens: false } : undefined
}

export function hookBracket(fact: LifecycleFact): Bracket | undefined {
  if (fact.type === 'hook.started') return { name: `${fact.kind} ${fact.name}`, opens: true }
  return fact.type === 'hook.ended' ? { name: `${fact.kind} ${fact.name}`, opens: false, isOpened: fact.outcome !== 'skipped' } : undefined
}

/** A monitor that only looks at ends which are not forced. */
function untilEnd(next: (seen: string, fact: LifecycleFact) => string | Broken, atEnd: (seen: string) => string | undefined): Monitor {
  return {
    initial: '',
    next: (seen: string, effect: Effect) => {
      const fact = factOf(effect)
      if (!fact || has(seen, 'forced')) return seen
      if (fact.type === 'forced') return 'forced'
      const wrong = fact.type === 'ended' ? atEnd(seen) : undefined
      return wrong === undefined ? next(seen, fact) : broken(wrong)
    },
  }
}

/** Opened names have a `+`, closed ones a `-`. */
export const bracketsOf = (bracketIn: (fact: LifecycleFact) => Bracket | undefined): Monitor =>
  untilEnd(
    (seen, fact) => {
      const bracket = bracketIn(fact)
      if (!bracket) return seen
      const { name, opens, isOpened } = bracket
      if (has(seen, `-${name}`)) return broken(`${name} ${opens ? 'starts' : 'ends'} a second time`)
      if (opens) return has(seen, `+${name}`) ? broken(`${name} starts a second time`) : withName(seen, `+${name}`)
      if (isOpened === true && !has(seen, `+${name}`)) return broken(`${name} ends without having started`)
      if (isOpened === false && has(seen, `+${name}`)) return broken(`${name} is skipped, though it has started`)
      return withName(without(seen, `+${name}`), `-${name}`)
    },
    (seen) => {
      const open = seen.split('\n').find((name) => name.startsWith('+'))
      return open === undefined ? undefined : `the life has ended, but ${open.slice(1)} has not`
    },
  )

/**
 * Whether a phase has begun or was skipped, an observer is told that it is over: before its signal,
 * and before the life is over.
 */
export function eachSaysItsEnd(wiring: Wiring): Monitor {
  const phaseOf = new Map(Object.entries(wiring).map(([phase, { fires }]) => [fires, phase]))
  return untilEnd(
    (ended, fact) => {
      const phase = fact.type === 'signal' ? phaseOf.get(fact.name) : undefined
      if (phase !== undefined && !has(ended, phase)) return broken(`${wiring[phase]?.fires} fires before ${phase} has said that it ended`)
      if (fact.type !== 'phase.ended') return ended
      return has(ended, fact.phase) ? broken(`${fact.phase} ends a second time`) : withName(ended, fact.phase)
    },
    (ended) => {
      const silent = Object.keys(wiring).find((phase) => !has(ended, phase))
      return silent && `${silent} has not said that it ended`
    },
  )
}

const ACQUIRED_RELEASED = [
  ['AuditRunning', 'AuditStopped'],
  ['Bound', 'HTTPServerStoppedListening'],
] as const

/** What start-up acquired is released; that each is so once follows from `signals/once`. */
export const acquiredReleased = (): Monitor =>
  untilEnd(
    (seen, fact) => {
      // A phase that was skipped has released nothing.
      if (fact.type !== 'signal' || fact.outcome === 'skipped') return seen
      const early = ACQUIRED_RELEASED.find(
        ([acquired, released]) => fact.name === 'Destroyed' && has(seen, acquired) && !has(seen, released),
      )
      if (early) return broken(`Destroyed before ${early[1]}`)
      return ACQUIRED_RELEASED.flat().includes(fact.name as never) ? withName(seen, fact.name) : seen
    },
    (seen) => {
      const left = ACQUIRED_RELEASED.find(([acquired, released]) => has(seen, acquired) && !has(seen, released))
      return left && `${left[0]} was not followed by ${left[1]}`
    },
  )

/**
 * Destroy functions run one after the other, each of them, in the order of registration or the
 * reverse that was asked for, and in reverse after a failed start (ER-09, V12); but before the one
 * whose turn it is, those that it comes after. What comes after one that was cut is not waited for.
 */
export function inDestroyOrder({ destroyFunctions, destroyOrder }: LifecycleInput): Monitor {
  const names = destroyFunctions.map(({ name }) => name)
  const reversed = [...names].reverse()
  const firstOf = (name: string | undefined, isLeft: (name: string) => boolean): string | undefined => {
    const earlier = destroyFunctions.find((fn) => fn.name === name)?.after?.find((other) => names.includes(other) && isLeft(other))
    return earlier === undefined ? name : firstOf(earlier, isLeft)
  }
  return untilEnd(
    (seen, fact) => {
      if (fact.type === 'signal' && fact.reason?.kind === 'start-failed') return withName(seen, 'failed')
      if (fact.type === 'hook.ended' && fact.kind === 'destroy' && fact.outcome === 'cut') return withName(seen, 'cut')
      if (fact.type !== 'hook.started' || fact.kind !== 'destroy') return seen
      const order = has(seen, 'failed') || destroyOrder === 'reverse' ? reversed : names
      const isLeft = (name: string): boolean => !has(seen, `+${name}`)
      const expected = firstOf(order.find(isLeft), isLeft)
      return fact.name === expected
        ? withName(seen, `+${fact.name}`)
        : broken(`${fact.name} starts when it is the turn of ${expected ?? 'none'}`)
    },
    (seen) => {
      const left = has(seen, 'cut') ? undefined : names.find((name) => !has(seen, `+${name}`))
      return left && `${left} has not run`
    },
  )
}

/** Every one of these signals has fired. */
export const complete = (signals: readonly string[]): Monitor =>
  untilEnd(
    (seen, fact) => (fact.type === 'signal' ? withName(seen, fact.name) : seen),
    (seen) => {
      const missing = signals.find((name) => !has(seen, name))
      return missing && `${missing} has not fired`
    },
  )
