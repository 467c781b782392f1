import type { AnyStateMachine } from 'xstate'
import type { Choice } from '../engine/choice.ts'
import type { Exploration } from '../engine/explore.ts'
import type { Effect } from '../engine/state.ts'
import { printTrace, type Trace, traceOf } from '../engine/trace.ts'
import { checkGiven, EXPLORED, ModelError } from '../errors.ts'
import { asked } from './asked.ts'

/**
 * A property of what is said along every run: an automaton that reads the effects. Its own states
 * are texts; it is run beside the graph, so it may remember whatever it needs.
 */
export interface Monitor {
  readonly initial: string
  /** The state after an effect, or what is wrong with it. */
  readonly next: (state: string, effect: Effect) => string | Broken
  /**
   * The state when something is about to happen, before what that leads to is said: for events from
   * outside, which nothing says.
   */
  readonly heard?: (state: string, choice: Choice) => string
  /**
   * What is wrong with a state when a step is over: for what has to be said in the same step as
   * something else.
   */
  readonly atRest?: (state: string) => string | undefined
  /**
   * The effects that it is about; without any it is vacuous. Default: what makes it leave its first
   * state. Needed by a monitor that remembers nothing.
   */
  readonly concerns?: (effect: Effect) => boolean
}

export interface Broken {
  readonly broken: string
}

/** Something that holds for a system or does not. */
export interface Property<M extends AnyStateMachine = AnyStateMachine> {
  /** Short and stable: `order/refuse-before-drain`. */
  readonly id: string
  /** One sentence that says what holds. */
  readonly text: string
  /** The first violation found, or undefined. */
  readonly violation: (exploration: Exploration<M>) => Violation | undefined
  /**
   * The reason why a property with a condition holds of nothing, when its condition came true in no
   * run. Asked only of one that is not violated.
   */
  readonly vacuous?: (exploration: Exploration<M>) => string | undefined
  /** Whether it may hold of nothing; set by {@link mayBeVacuous}. */
  readonly mayBeVacuous?: boolean
  /** What reads what is said, of a property that is about nothing else. */
  readonly monitor?: Monitor
}

/**
 * A property that is meant for more systems than this one: where its condition never comes true, it
 * holds all the same, and its verdict says so.
 */
export const mayBeVacuous = <M extends AnyStateMachine>(property: Property<M>): Property<M> => ({ ...property, mayBeVacuous: true })

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
  /** Whether it is not violated, and not vacuous unless that is meant. */
  readonly holds: boolean
  /** Why there was nothing that could have violated it. */
  readonly vacuous?: string
  /** The way to the violation, when it does not hold. */
  readonly trace?: Trace
}

/**
 * Checks properties, each on all states. Verdicts come in the order of the properties.
 * @throws ModelError ERR_MODEL_OPTION for what is no list of properties; ERR_MODEL_UNKNOWN for a
 * property that names what there is not; ERR_MODEL_MUTATED for one that changes what it looks at;
 * ERR_MODEL_PROPERTY for one that throws
 */
export function check<M extends AnyStateMachine>(exploration: Exploration<M>, properties: readonly Property<NoInfer<M>>[]): Verdict[] {
  checkGiven('check(exploration, properties)', 'exploration', exploration, EXPLORED, 'graph', 'model')
  assertProperties(properties)
  const verdicts = properties.map((property): Verdict => {
    const { id, text } = property
    const ask = <T>(call: () => T): T => asked(id, () => ({ what: 'it', where: 'while it is checked' }), call)
    const found = ask(() => property.violation(exploration))
    const vacuous = found ? undefined : ask(() => property.vacuous?.(exploration))
    if (vacuous !== undefined) return { id, text, holds: property.mayBeVacuous === true, vacuous }
    if (!found) return { id, text, holds: true }
    const loopsFrom = found.loopsFrom === undefined ? undefined : found.loopsFrom + 1
    return { id, text, holds: false, trace: traceOf(exploration, found.edges, found.finding, loopsFrom) }
  })
  exploration.model.steps.assertUnchanged(properties.length > 3 ? 'a property' : properties.map(({ id }) => id).join(' or '))
  return verdicts
}

function assertProperties(given: unknown): asserts given is readonly Property[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new ModelError('ERR_MODEL_OPTION', 'properties: the list is empty, allowed: at least one property')
  for (const [i, property] of (given as readonly Partial<Property>[]).entries())
    if (typeof property?.id !== 'string' || typeof property.violation !== 'function')
      throw new ModelError(
        'ERR_MODEL_OPTION',
        `properties[${i}]: allowed: a result of always(), noErrors() or the like, with id, text and violation`,
      )
}

/**
 * Throws when a verdict is not good, with what does not hold and, for the first of them, the way
 * there: the last line of a test.
 * @throws ModelError with the verdicts that are not good in `details.violated`: ERR_MODEL_VIOLATED,
 * or ERR_MODEL_VACUOUS when all of them hold of nothing; ERR_MODEL_OPTION without any verdict
 */
export function assertHolds(verdicts: readonly Verdict[]): void {
  checkGiven('assertHolds(verdicts)', 'verdicts', verdicts, 'the list that check() returns', 'length', 'filter')
  if (verdicts.length === 0) throw new ModelError('ERR_MODEL_OPTION', 'verdicts: the list is empty, so nothing was checked')
  const violated = verdicts.filter(({ holds }) => !holds)
  if (violated.length === 0) return
  const lines = violated.map(({ id, text, vacuous }) => (vacuous === undefined ? `${id} does not hold: ${text}` : vacuousLine(id, vacuous)))
  const first = violated.find(({ trace }) => trace)
  const message = `${lines.join('\n')}\n\n${first?.trace ? printTrace(first.trace) : ''}`
  const isAllVacuous = violated.every(({ vacuous }) => vacuous !== undefined)
  throw new ModelError(isAllVacuous ? 'ERR_MODEL_VACUOUS' : 'ERR_MODEL_VIOLATED', message.trimEnd(), { violated })
}

const vacuousLine = (id: string, vacuous: string): string =>
  `${id} is vacuous: ${vacuous}; if this is intended, wrap the property in mayBeVacuous()`
