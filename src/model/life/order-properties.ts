import type { HookKind } from '../../base/events.ts'
import type { Wiring } from '../../machines/wiring.ts'
import { has, withName } from '../engine/names.ts'
import type { ActorView } from '../engine/view.ts'
import { broken, type Monitor } from '../properties/monitor.ts'
import { isDone } from '../properties/reachability.ts'
import { factOf } from './facts.ts'
import { isForcing, isStopping, placeOf, regionOf } from './life-views.ts'

/** What a phase waits for has been said when it begins, and when it fires; and it is skipped only for want of its `unless`. */
export function inWiredOrder(wiring: Wiring): Monitor {
  const phaseOf = new Map(Object.entries(wiring).map(([phase, { fires }]) => [fires, phase]))
  const isSaid = (signal: string): boolean => phaseOf.has(signal) || signal === 'StopRequested' || signal === 'Start'
  const missing = (said: string, phase: string | undefined): string | undefined =>
    wiring[phase ?? '']?.after.find((signal) => isSaid(signal) && !has(said, signal))
  return {
    initial: '',
    next: (said, effect) => {
      const fact = factOf(effect)
      if (fact?.type === 'signal') {
        const early = missing(said, phaseOf.get(fact.name))
        return early === undefined ? withName(said, fact.name) : broken(`${fact.name} fires before ${early}`)
      }
      if (fact?.type === 'phase.started') {
        const { unless } = wiring[fact.phase] ?? {}
        const early = missing(said, fact.phase) ?? (unless !== undefined && !has(said, unless) ? unless : undefined)
        if (early !== undefined) return broken(`${fact.phase} starts before ${early}`)
      }
      if (fact?.type === 'phase.ended' && fact.outcome === 'skipped') {
        const { lane, unless } = wiring[fact.phase] ?? {}
        if (lane === 'stop' && (unless === undefined || has(said, unless))) return broken(`${fact.phase} is skipped for no reason`)
      }
      return said
    },
  }
}

/** What start-up has not brought about is not said: whoever waits for it is skipped (decision 0003). */
export function firesOnSuccess(wiring: Wiring): Monitor {
  const starts = new Set(Object.values(wiring).flatMap(({ lane, fires }) => (lane === 'start' ? [fires] : [])))
  return {
    initial: '',
    next: (state, effect) => {
      const fact = factOf(effect)
      if (fact?.type !== 'signal' || fact.outcome === 'ok' || !starts.has(fact.name)) return state
      return broken(`${fact.name} fires, though its phase is ${fact.outcome}`)
    },
  }
}

/** No phase goes on waiting when all it waits for has come. */
export function beginsAtOnce(wiring: Wiring): (root: ActorView) => true | string {
  const phaseOf = new Map(Object.entries(wiring).map(([phase, { fires }]) => [fires, phase]))
  const hasCome = (root: ActorView, signal: string): boolean => {
    if (signal === 'Start') return regionOf(root, 'start') === 'started'
    if (signal === 'StopRequested') return isStopping(root)
    const phase = phaseOf.get(signal)
    return phase !== undefined && placeOf(root, phase) === 'fired'
  }
  return (root) => {
    if (isDone(root) || isForcing(root)) return true
    for (const [phase, { after }] of Object.entries(wiring)) {
      const place = placeOf(root, phase)
      if ((place === 'waiting' || place === 'unarmed') && after.every((signal) => hasCome(root, signal)))
        return `${phase} still waits, though ${after.join(' and ')} came`
    }
    return true
  }
}

/** Hooks of a kind are cut only after a signal. */
export const cutOnlyAfter = (kind: HookKind, signal: string | undefined): Monitor => ({
  initial: '',
  next: (said, effect) => {
    const fact = factOf(effect)
    if (fact?.type === 'signal' && fact.name === signal) return 'said'
    const isEarly = fact?.type === 'hook.ended' && fact.kind === kind && fact.outcome === 'cut' && said === ''
    return isEarly ? broken(`${kind} hook ${fact.name} is cut before ${signal ?? 'anything'}`) : said
  },
})
