import { formatDuration } from '../base/duration.ts'
import { effectiveWiring, type LifePlan } from '../machines/lifecycle.ts'
import { decoded } from './drawing/chart.ts'
import { type WalkStep, walk } from './walk.ts'

/**
 * A life as a sequence: who was told what, which phases ran when, and which signals came of it.
 * Drawn by `sequence-svg.ts` and `mermaid.ts`.
 */
export type Moment =
  /** From outside to the lifecycle. */
  | { readonly type: 'notified'; readonly time: string; readonly text: string }
  | { readonly type: 'begun'; readonly time: string; readonly phase: string }
  /** A phase has answered; most fire their signal at once. */
  | { readonly type: 'ended'; readonly time: string; readonly phase: string; readonly outcome: string; readonly signal?: string }
  /** A signal without any work before it. */
  | { readonly type: 'signal'; readonly time: string; readonly signal: string }
  | { readonly type: 'pause'; readonly time: string; readonly text: string }

/** Longer than this between two moments means that nothing happened but serving. */
const PAUSE_MS = 30_000

export async function sequenceOf(plan: LifePlan): Promise<readonly Moment[]> {
  const rows = effectiveWiring(plan)
  const steps = await walk(plan)
  const moments: Moment[] = []
  const working = new Set<string>()
  let base = 0
  let last = 0
  for (const [i, step] of steps.entries()) {
    if (step.at - last >= PAUSE_MS) {
      moments.push({ type: 'pause', time: '', text: 'serves' })
      base = step.at
    }
    last = step.at
    const time = `+${formatDuration(step.at - base)}`
    if (step.type === 'notified') moments.push({ type: 'notified', time, text: decoded(step.event) })
    else if (step.fact.type === 'phase.started') {
      working.add(step.fact.phase)
      moments.push({ type: 'begun', time, phase: step.fact.phase })
    } else if (step.fact.type === 'phase.ended' && working.delete(step.fact.phase)) {
      const { phase, outcome } = step.fact
      const signal = signalOf(steps[i + 1])
      moments.push({ type: 'ended', time, phase, outcome, ...(signal !== undefined && signal === rows[phase]?.fires && { signal }) })
    } else if (step.fact.type === 'signal') {
      const { name } = step.fact
      const before = moments.at(-1)
      if (!(before?.type === 'ended' && before.signal === name)) moments.push({ type: 'signal', time, signal: name })
    }
  }
  return moments
}

const signalOf = (step: WalkStep | undefined): string | undefined =>
  step?.type === 'fact' && step.fact.type === 'signal' ? step.fact.name : undefined
