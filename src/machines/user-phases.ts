import { didYouMean, meant, misspelt } from '../base/did-you-mean.ts'
import { QuiesceError } from '../base/errors.ts'
import { BUDGET_INSTANTS, cutSignal } from './signals.ts'
import { GIVEN_SIGNALS, isMuxSignal, type PhaseRow, type Wiring } from './wiring.ts'

/**
 * The user's own phases as rows of the wiring: each says what it comes `after` (signals or phases)
 * and which phases it comes `before`, and is drawn, reported, bounded and checked like a built-in
 * one.
 */
export interface UserPhase {
  readonly name: string
  /** Signals or phase names that come first; at least one. */
  readonly after: readonly string[]
  /** Phases that wait for this one. A stop phase without dependents runs before the report. */
  readonly before: readonly string[]
  readonly timeoutMs: number
}

/** `flush-queue` fires `FlushQueueDone`. */
export const userSignal = (name: string): string =>
  `${name
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')}Done`

/**
 * The table with the user's phases in their places, which may name each other in any order. Their
 * lane and cut are still to be found by {@link placeUserPhases}, because that needs a table without
 * cycles.
 * @throws QuiesceError ERR_DUPLICATE, ERR_UNKNOWN_REFERENCE
 */
export function addUserPhases(wiring: Wiring, phases: readonly UserPhase[]): Wiring {
  const rows = new Map(Object.entries(wiring))
  for (const { name, timeoutMs } of phases) {
    if (rows.has(name)) throw new QuiesceError('ERR_DUPLICATE', `phase "${name}" exists already`, { phase: name })
    rows.set(name, {
      lane: 'stop',
      after: [],
      fires: userSignal(name),
      work: 'userPhase',
      workKind: 'effect',
      input: { kind: 'phase', name, timeoutMs },
    })
  }
  const named = Object.fromEntries(rows)
  for (const phase of phases) {
    const { name, after, before } = phase
    const [unknown] = unknownNames(named, phase)
    if (unknown) throw refusal(name, unknown, didYouMean(unknown.given, unknown.known))
    waitFor(
      rows,
      name,
      after.map((other) => rows.get(other)?.fires ?? other),
    )
    for (const other of before) waitFor(rows, other, [userSignal(name)])
  }
  return Object.fromEntries(rows)
}

/**
 * A name that belongs to nothing may be that of a phase which is added later; one of the table's
 * own, misspelt, is not.
 * @param wiring the built-in rows
 * @throws QuiesceError ERR_UNKNOWN_REFERENCE
 */
export function refuseMisspelt(wiring: Wiring, phase: Pick<UserPhase, 'name' | 'after' | 'before'>): void {
  for (const unknown of unknownNames(wiring, phase)) {
    const name = misspelt(unknown.given, unknown.known)
    if (name !== undefined) throw refusal(phase.name, unknown, meant(name))
  }
}

/** Whether a refusal of phases says only that something is missing, which a later one may bring. */
export const mayBeMended = (thrown: unknown): boolean =>
  thrown instanceof QuiesceError && (thrown.code === 'ERR_UNKNOWN_REFERENCE' || Object.hasOwn(thrown.details, 'waitsForNothing'))

interface Unknown {
  readonly field: 'after' | 'before'
  readonly given: string
  readonly known: readonly string[]
}

/** What a phase names that the rows do not have. */
function unknownNames(rows: Wiring, { after, before }: Pick<UserPhase, 'after' | 'before'>): Unknown[] {
  const phases = Object.keys(rows)
  const signals = [...GIVEN_SIGNALS, ...Object.values(rows).map(({ fires }) => fires)]
  const of = (field: Unknown['field'], names: readonly string[], known: readonly string[]): Unknown[] =>
    names.filter((given) => !known.includes(given) && !isMuxSignal(given)).map((given) => ({ field, given, known }))
  return [...of('after', after, [...signals, ...phases]), ...of('before', before, phases)]
}

function waitFor(rows: Map<string, PhaseRow>, phase: string, signals: readonly string[]): void {
  const row = rows.get(phase) as PhaseRow
  rows.set(phase, { ...row, after: [...row.after, ...signals] })
}

function refusal(phase: string, { field, given, known }: Unknown, hint: string): QuiesceError {
  const what = field === 'after' ? 'signals and phases' : 'phases'
  const message = `phase "${phase}": ${field} names ${JSON.stringify(given)}${hint || `, known ${what}: ${known.join(', ')}`}`
  return new QuiesceError('ERR_UNKNOWN_REFERENCE', message, { phase, field, given, known })
}

/**
 * Gives the user's phases the lane and the cut that follow from their neighbours. @throws
 * QuiesceError ERR_OPTION_INVALID when they have neighbours in both lanes
 */
export function placeUserPhases(wiring: Wiring, phases: readonly UserPhase[]): Wiring {
  const rows = new Map(Object.entries(wiring))
  const lanes = new Map(phases.map((phase) => [phase.name, laneOf(phase, wiring, phases)]))
  for (const { name } of phases) {
    const row = rows.get(name) as PhaseRow
    if (lanes.get(name) === 'start') rows.set(name, { ...row, lane: 'start', onFailure: 'StartFailed' })
    else if (waitersOf(row.fires, rows).length === 0) waitFor(rows, 'report', [row.fires])
  }
  for (const { name } of phases) {
    if (lanes.get(name) === 'stop')
      rows.set(name, {
        ...(rows.get(name) as PhaseRow),
        cut: cutSignal(BUDGET_INSTANTS[cutIndex(name, rows)] ?? 'flush'),
      })
  }
  return Object.fromEntries(rows)
}

function laneOf({ name, before }: UserPhase, wiring: Wiring, phases: readonly UserPhase[]): PhaseRow['lane'] {
  const users = new Map(phases.map((phase) => [phase.name, phase]))
  const lanesOf = (phase: string): PhaseRow['lane'][] => {
    const row = wiring[phase] as PhaseRow
    return users.has(phase) ? row.after.flatMap(lanesBefore) : [row.lane]
  }
  const lanesBefore = (signal: string): PhaseRow['lane'][] => {
    if (signal === 'StopRequested') return ['stop']
    const [phase] = Object.entries(wiring).find(([, row]) => row.fires === signal) ?? []
    // Whatever else comes from outside may never come, so nothing of the stop lane can wait for it.
    return phase === undefined ? ['start'] : lanesOf(phase)
  }
  const [lane, ...others] = new Set([name, ...before].flatMap(lanesOf))
  if (lane !== undefined && others.length === 0) return lane
  throw new QuiesceError('ERR_OPTION_INVALID', `phase "${name}": after and before must name phases or signals of one lane, start or stop`, {
    phase: name,
  })
}

/**
 * A user's phase is cut one instant before the earliest of those that wait for it, so that their
 * time stays theirs.
 */
const cutIndex = (name: string, rows: ReadonlyMap<string, PhaseRow>): number => Math.max(0, earliestWaiter(name, rows) - 1)

const earliestWaiter = (name: string, rows: ReadonlyMap<string, PhaseRow>): number =>
  Math.min(
    BUDGET_INSTANTS.indexOf('forced'),
    ...waitersOf((rows.get(name) as PhaseRow).fires, rows).map((waiter) => earliestCut(waiter, rows)),
  )

/** A phase without work takes the earliest cut of those that wait for it. */
function earliestCut(name: string, rows: ReadonlyMap<string, PhaseRow>): number {
  const { cut, work } = rows.get(name) as PhaseRow
  if (cut) return BUDGET_INSTANTS.findIndex((instant) => cutSignal(instant) === cut)
  return work === undefined ? earliestWaiter(name, rows) : cutIndex(name, rows)
}

const waitersOf = (signal: string, rows: ReadonlyMap<string, PhaseRow>): string[] =>
  [...rows].filter(([, { after }]) => after.includes(signal)).map(([name]) => name)

/** Whether a signal fires only when this phase has ended, at whatever remove. */
export function comesBefore(signal: string, phase: string, wiring: Wiring): boolean {
  const found = Object.entries(wiring).find(([, { fires }]) => fires === signal)
  return found !== undefined && (found[0] === phase || found[1].after.some((earlier) => comesBefore(earlier, phase, wiring)))
}
