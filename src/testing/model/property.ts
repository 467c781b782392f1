import type { Exploration } from './explore.ts'
import { type Trace, traceOf } from './trace.ts'

/** Something that holds for a system or does not. */
export interface Property {
  /** Short and stable: `order/refuse-before-drain`. */
  readonly id: string
  /** One sentence that says what holds. */
  readonly text: string
  /** The first violation found, or undefined. */
  readonly violation: (exploration: Exploration) => Violation | undefined
}

/** Where a property does not hold: a way there, as edges of the graph, shortest first where that means something. */
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
