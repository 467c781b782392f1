import type { Choice } from '#model'
import { stateKey } from '../../machines/region.ts'
import type { Wiring } from '../../machines/wiring.ts'
import { ABORT_POST_START_HOOKS, isPostStartHook } from './hook-properties.ts'

/**
 * An answer that ends a phase is independent of one that ends another. Effects of one phase are
 * not: one may replace the other. Nor are answers that ask for a stop, which ends start-up wherever
 * it stands, or those of post-start hooks, which are ended by how far the stop has come: of those,
 * only the weaker `confluence/independent` holds.
 */
export function areAnswersOfTwoPhases(wiring: Wiring): (one: Choice, other: Choice) => boolean {
  const failsStart = mayFailStart(wiring)
  const isAnswer = (choice: Choice): boolean => choice.kind === 'outcome' && !isOfPostStartHooks(choice) && !failsStart(choice)
  return (one, other) => isAnswer(one) && isAnswer(other) && ownerOf(one) !== ownerOf(other)
}

/** A failure of one of these phases, or the end of its bound, asks for a stop. */
function mayFailStart(wiring: Wiring): (choice: Choice) => boolean {
  const owners = new Set(Object.entries(wiring).flatMap(([phase, { onFailure }]) => (onFailure === 'StartFailed' ? [stateKey(phase)] : [])))
  return (choice) => owners.has(ownerOf(choice)) && (choice.kind === 'timer' || choice.event.type.startsWith('xstate.error.'))
}

/**
 * A hook, or what tells all of them to end: with AdminClosed nothing of theirs is waited for any
 * more.
 */
const isOfPostStartHooks = (choice: Choice): boolean => isPostStartHook(choice) || choice.path.id === ABORT_POST_START_HOOKS
/** The child of the root below which something happens. */
const ownerOf = ({ path }: Choice): string => path.text.split('/')[0] as string

/**
 * Neither asks for a stop, of which the first decides, nor is an instant of the budget, which cuts
 * what has begun by then.
 */
export function areQuiet(wiring: Wiring): (one: Choice, other: Choice) => boolean {
  const failsStart = mayFailStart(wiring)
  const isQuiet = (choice: Choice): boolean => {
    const { kind, path, event } = choice
    if (kind === 'event') return event.type === 'readyz.passed'
    if (kind === 'timer' && path.text === '') return false
    return !failsStart(choice) && !(isPostStartHook(choice) && event.type.startsWith('xstate.error.'))
  }
  return (one, other) => isQuiet(one) && isQuiet(other) && ownerOf(one) !== ownerOf(other)
}
