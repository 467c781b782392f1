import { type Shape, withFields } from '../../base/arguments.ts'
import type { LifePlan } from '../../machines/lifecycle.ts'
import { BUDGET_INSTANTS, cutSignal } from '../../machines/signals.ts'
import { type UserPhase, userSignal } from '../../machines/user-phases.ts'
import type { PhaseRow, Wiring } from '../../machines/wiring.ts'
import { EDGES, HOOKS_ARE_LEFT, HOOKS_ARE_NOTIFIED, type LifeEdge } from './edges.ts'

export const A_PLAN: Shape = withFields('what planOf() returns', 'mode', 'input')

/**
 * The phases of a life as `edges.ts` and the user's own phases have them, in the shape of the
 * wiring table. Made without that table and without the code that adds users' phases to it, because
 * both are what is checked.
 */
export function specifiedWiring({ mode, muxSignals = [], userPhases = [], awaitsListen = false }: LifePlan): Wiring {
  const rows = new Map<string, PhaseRow>()
  for (const edge of EDGES) if (edge.mode === undefined || edge.mode === mode) rows.set(edge.phase, rowOf(edge))
  if (muxSignals.length === 0) rows.set('mux-complete', withoutWork(rowIn(rows, 'mux-complete')))
  if (awaitsListen) rows.set('bind', { ...rowIn(rows, 'bind'), unbounded: true })
  addPhases(rows, userPhases)
  return Object.fromEntries(rows)
}

function rowOf({ phase, lane, after, fires, given, does, isEffect, hears, cut, failsStart }: LifeEdge): PhaseRow {
  const isHooks = phase === 'post-start-hooks'
  return {
    lane: lane ?? 'stop',
    after,
    fires,
    ...(given !== undefined && { unless: given }),
    ...(does !== undefined && { work: does, workKind: isHooks ? 'regions' : hears ? 'lasting' : isEffect ? 'effect' : 'machine' }),
    ...(hears && { hears }),
    ...(cut !== undefined && { cut }),
    ...(lane === 'start' && does !== undefined && !isHooks && !hears && { onFailure: failsStart ? 'StartFailed' : 'log' }),
    ...(isHooks && { until: HOOKS_ARE_NOTIFIED, abandonedAt: HOOKS_ARE_LEFT }),
  }
}

/** The row without its work, for a life that has nothing of the kind. */
const withoutWork = ({ work: _, workKind: __, hears: ___, ...row }: PhaseRow): PhaseRow => row

const rowIn = (rows: ReadonlyMap<string, PhaseRow>, phase: string): PhaseRow => rows.get(phase) as PhaseRow

function extend(rows: Map<string, PhaseRow>, phase: string, { after }: Pick<PhaseRow, 'after'>): void {
  const row = rowIn(rows, phase)
  rows.set(phase, { ...row, after: [...row.after, ...after] })
}

/**
 * A user's phase begins after what it names, and those it comes before wait for it; the report
 * waits for one that precedes none.
 */
function addPhases(rows: Map<string, PhaseRow>, phases: readonly UserPhase[]): void {
  for (const { name } of phases) rows.set(name, { lane: 'stop', after: [], fires: userSignal(name), work: 'userPhase', workKind: 'effect' })
  for (const { name, after, before } of phases) {
    extend(rows, name, { after: after.map((other) => rows.get(other)?.fires ?? other) })
    for (const other of before) extend(rows, other, { after: [userSignal(name)] })
  }
  for (const { name } of phases) {
    if (isOfStart(rows, name)) rows.set(name, { ...rowIn(rows, name), lane: 'start', onFailure: 'StartFailed' })
    else if (waitersFor(rows, name).length === 0) extend(rows, 'report', { after: [userSignal(name)] })
  }
  for (const { name } of phases) {
    const row = rowIn(rows, name)
    if (row.lane === 'stop') rows.set(name, { ...row, cut: cutSignal(BUDGET_INSTANTS[cutOf(rows, name)] ?? 'flush') })
  }
}

/** What follows start-up alone is start-up; all that follows a stop is not. */
const isOfStart = (rows: ReadonlyMap<string, PhaseRow>, phase: string): boolean =>
  rowIn(rows, phase).after.every((signal) => {
    const [other, row] = [...rows].find(([, { fires }]) => fires === signal) ?? []
    if (other === undefined || row === undefined) return signal !== 'StopRequested'
    return row.lane === 'start' || (row.work === 'userPhase' && isOfStart(rows, other))
  })

const waitersFor = (rows: ReadonlyMap<string, PhaseRow>, phase: string): string[] =>
  [...rows].filter(([, { after }]) => after.includes(rowIn(rows, phase).fires)).map(([waiter]) => waiter)

/**
 * One instant before the earliest of those that wait for it, so that their time stays theirs; as an
 * index.
 */
function cutOf(rows: ReadonlyMap<string, PhaseRow>, phase: string): number {
  const earliest = (waiter: string): number => {
    const { cut, work } = rowIn(rows, waiter)
    if (work === 'userPhase') return cutOf(rows, waiter)
    const own = BUDGET_INSTANTS.findIndex((instant) => cutSignal(instant) === cut)
    return own >= 0 ? own : Math.min(END, ...waitersFor(rows, waiter).map(earliest))
  }
  return Math.max(0, Math.min(END, ...waitersFor(rows, phase).map(earliest)) - 1)
}
const END = BUDGET_INSTANTS.indexOf('forced')
