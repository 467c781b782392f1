import type { Effect, NameOf } from '#model'
import { optionError } from '../../base/errors.ts'
import type { LifecycleFact } from '../../base/events.ts'

/** Everything that a life's machines say, they say by the action `record`. */
export function factOf(effect: Effect): LifecycleFact | undefined {
  if (typeof (effect as Partial<Effect> | undefined)?.type !== 'string')
    throw optionError('effect', effect, 'what a machine has done: { type, params }')
  return effect.type === 'record' ? (effect.params as LifecycleFact) : undefined
}

/** The name of the signal that is fired. */
export function signalOf(effect: Effect): string | undefined {
  const fact = factOf(effect)
  return fact?.type === 'signal' ? fact.name : undefined
}

/**
 * What happens in a life, in few words, for `inOrder` and `atMostOnce`: a signal by its name
 * (`RequestsDrained`), the beginning and the end of a phase (`flush-queue starts`, `flush-queue
 * ends`) and of a hook (`pre-shutdown leave starts`, `destroy pool ends`).
 */
export const happening: NameOf = (effect) => {
  const fact = factOf(effect)
  switch (fact?.type) {
    case 'signal':
      return fact.name
    case 'phase.started':
      return `${fact.phase} starts`
    case 'phase.ended':
      return `${fact.phase} ends`
    case 'hook.started':
      return `${fact.kind} ${fact.name} starts`
    case 'hook.ended':
      return `${fact.kind} ${fact.name} ends`
    default:
      return undefined
  }
}
