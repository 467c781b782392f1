import type { Trace } from '#model'
import { checkArguments, withFields } from '../../base/arguments.ts'
import type { LifecycleFact } from '../../base/events.ts'
import { type BudgetInstant, cutSignal } from '../../machines/signals.ts'
import { factOf } from './facts.ts'

/**
 * A trace of a life in the words of a report: signals with their outcomes, phases and hooks that
 * begin and end. What the machines do to bring that about is left out; phases that a stop has made
 * pointless are one line.
 */
export function inWordsOfLife(trace: Trace): Trace {
  checkArguments('inWordsOfLife(trace)', [trace, withFields('the trace of a verdict', 'steps')])
  return {
    ...trace,
    steps: trace.steps.map((step) => ({
      ...step,
      label: labelOf(step.label),
      changes: happenings(step.effects.flatMap(({ effect }) => factOf(effect) ?? [])),
      effects: [],
    })),
  }
}

/**
 * Timers by what they are for, and events without what they carry: that is said by what follows.
 */
const labelOf = (label: string): string =>
  label
    .replace(/^after (?:crash\.)?until\.(\w+)\..*$/, (_, instant: string) => `time passes: ${cutSignal(instant as BudgetInstant)} is due`)
    .replace(/^(\S*) ?after (\w+)\.\S+$/, (_, path: string, delay: string) => `time passes: ${delay}${path && ` of ${path}`} is over`)
    .replace(/ \{.*\}$/, '')

function happenings(facts: readonly LifecycleFact[]): string[] {
  const skipped = facts.flatMap((fact, i) => (isSkip(fact) && !isSaidBySignal(facts, i) ? [fact.phase] : []))
  const said = facts.flatMap((fact, i) => (isSaidBySignal(facts, i) || isSkip(fact) ? [] : (sentence(fact) ?? [])))
  return skipped.length === 0 ? said : [...said, `skipped: ${skipped.join(', ')}`]
}

type PhaseEnded = Extract<LifecycleFact, { type: 'phase.ended' }>
const isSkip = (fact: LifecycleFact): fact is PhaseEnded => fact.type === 'phase.ended' && fact.outcome === 'skipped'

/** The end of a phase that fires says everything in its signal, which comes next. */
function isSaidBySignal(facts: readonly LifecycleFact[], i: number): boolean {
  const [fact, next] = [facts[i], facts[i + 1]]
  return fact?.type === 'phase.ended' && fact.error === undefined && next?.type === 'signal' && next.outcome === fact.outcome
}

function sentence(fact: LifecycleFact): string | undefined {
  switch (fact.type) {
    case 'signal':
      return fact.reason ? `${fact.name}: ${fact.reason.kind}` : `${fact.name}${outcomeText(fact.outcome)}`
    case 'phase.started':
      return `${fact.phase} starts`
    case 'phase.ended':
      return `${fact.phase} ends${outcomeText(fact.outcome)}${fact.error ? `: ${fact.error.message}` : ''}`
    case 'hook.started':
      return `${fact.kind} hook ${fact.name} starts`
    case 'hook.ended':
      return `${fact.kind} hook ${fact.name} ends${outcomeText(fact.outcome)}${fact.error ? `: ${fact.error.message}` : ''}`
    case 'forced':
      return `forced: ${fact.why}`
    case 'ended':
      return `over, exit code ${fact.exitCode}`
    default:
      return undefined
  }
}

const outcomeText = (outcome: string): string => (outcome === 'ok' ? '' : ` (${outcome})`)
