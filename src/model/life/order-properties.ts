import { broken, type Monitor } from '#model'
import type { HookKind } from '../../base/events.ts'
import type { Wiring } from '../../machines/wiring.ts'
import { factOf, signalOf } from './facts.ts'

/**
 * What start-up has not brought about does not fire: phases that wait for it are skipped (decision
 * 0003).
 */
export function firesOnSuccess(wiring: Wiring): Monitor {
  const starts = new Set(Object.values(wiring).flatMap(({ lane, fires }) => (lane === 'start' ? [fires] : [])))
  return {
    initial: '',
    next: (state, effect) => {
      const fact = factOf(effect)
      if (fact?.type !== 'signal' || fact.outcome === 'ok' || !starts.has(fact.name)) return state
      return broken(`${fact.name} fires, though its phase is ${fact.outcome}`)
    },
    concerns: (effect) => starts.has(signalOf(effect) ?? ''),
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
