import type { Exploration } from '../engine/explore.ts'
import { printTrace, type Trace, traceOf } from '../engine/trace.ts'
import { ModelError } from '../errors.ts'

/** Something that holds for a system or does not. */
export interface Property {
  /** Short and stable: `order/refuse-before-drain`. */
  readonly id: string
  /** One sentence that says what holds. */
  readonly text: string
  /** The first violation found, or undefined. */
  readonly violation: (exploration: Exploration) => Violation | undefined
}

/**
 * Where a property does not hold: a way there, as edges of the graph, shortest first where that
 * means something.
 */
export interface Violation {
  readonly finding: string
  readonly edges: readonly number[]
  /** Index into `edges` from which the way repeats for ever. */
  readonly loopsFrom?: number
}

export interface Verdict {
  readonly id: string
  readonly text: string
  readonly holds: boolean
  /** Only when it does not hold. */
  readonly trace?: Trace
}

/** Checks properties, each on all states. Verdicts come in the order of the properties. */
export const check = (exploration: Exploration, properties: readonly Property[]): Verdict[] =>
  properties.map(({ id, text, violation }) => {
    const found = violation(exploration)
    if (!found) return { id, text, holds: true }
    const loopsFrom = found.loopsFrom === undefined ? undefined : found.loopsFrom + 1
    return { id, text, holds: false, trace: traceOf(exploration, found.edges, found.finding, loopsFrom) }
  })

/**
 * For the last line of a test: throws when a verdict is not good, with what does not hold and, for
 * the first of them, the way there.
 * @throws ModelError ERR_MODEL_VIOLATED, with the verdicts that are not good in `details.violated`
 */
export function assertHolds(verdicts: readonly Verdict[]): void {
  const violated = verdicts.filter(({ holds }) => !holds)
  const [first] = violated
  if (!first) return
  const lines = violated.map(({ id, text }) => `${id} does not hold: ${text}`)
  const message = `${lines.join('\n')}\n\n${first.trace ? printTrace(first.trace) : ''}`
  throw new ModelError('ERR_MODEL_VIOLATED', message.trimEnd(), { violated })
}
