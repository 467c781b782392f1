import { type LifeView, nextCutOf, tookMs } from '../quiesce.ts'
import { budgetOf, type View } from './view.ts'

/** How much of the budget is used; undefined before a stop, and without a deadline. */
export interface Spent {
  readonly part: number
  readonly elapsedMs: number
  readonly leftMs: number
  readonly deadlineMs: number
  readonly cuts: readonly Cut[]
  readonly nextCut: { readonly signal: string; readonly inMs: number } | undefined
}

export interface Cut {
  readonly signal: string
  /** Milliseconds after the stop request. */
  readonly atMs: number
  readonly part: number
  readonly past: boolean
}

export function spentOf(view: View, now: number): Spent | undefined {
  const { stop } = view.life
  const budget = budgetOf(view)
  if (!stop || !budget) return undefined
  const deadlineMs = budget.deadlineAt - stop.at
  // The report comes a little after the end that it is of.
  const elapsedMs = Math.max(0, (view.report && tookMs(view.report)) ?? now - stop.at)
  return {
    part: Math.min(1, elapsedMs / deadlineMs),
    elapsedMs,
    leftMs: Math.max(0, deadlineMs - elapsedMs),
    deadlineMs,
    cuts: budget.cuts.map(({ signal, at }) => cutAt(signal, at - stop.at, deadlineMs, elapsedMs)),
    nextCut: nextCut(view.life, now),
  }
}

/** The cuts of a stop that would begin now, as it is set up. */
export function plannedCuts({ setup }: View): readonly Cut[] {
  if (!setup) return []
  const { deadlineMs, cutsMs } = setup.stop
  return Object.entries(cutsMs).map(([instant, atMs]) => cutAt(`Cut.${instant}`, atMs, deadlineMs, Number.NEGATIVE_INFINITY))
}

const cutAt = (signal: string, atMs: number, deadlineMs: number, elapsedMs: number): Cut => ({
  signal,
  atMs,
  part: Math.min(1, atMs / deadlineMs),
  past: atMs <= elapsedMs,
})

function nextCut(life: LifeView, now: number): Spent['nextCut'] {
  const next = nextCutOf(life, now)
  return next && { signal: next.by, inMs: next.at - now }
}
