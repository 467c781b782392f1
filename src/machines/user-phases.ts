import { didYouMean, meant, misspelt } from '../base/did-you-mean.ts'
import { QuiesceError } from '../base/errors.ts'
import { BUDGET_INSTANTS, cutSignal } from './signals.ts'
import { GIVEN_SIGNALS, type PhaseRow, type Wiring } from './wiring.ts'

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
    names.filter((given) => !known.includes(given)).map((given) => ({ field, given, known }))
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
  const cutIndex = cutsOf(rows)
  for (const { name } of phases) {
    if (lanes.get(name) === 'stop')
      rows.set(name, {
        ...(rows.get(name) as PhaseRow),
        cut: cutSignal(BUDGET_INSTANTS[cutIndex(name)] ?? 'flush'),
      })
  }
  return Object.fromEntries(rows)
}

function laneOf({ name, before }: UserPhase, wiring: Wiring, phases: readonly UserPhase[]): PhaseRow['lane'] {
  const users = new Set(phases.map((phase) => phase.name))
  const lanes = new Set<PhaseRow['lane']>()
  // Grows while it is walked: each phase is asked once.
  const asked = new Set([name, ...before])
  for (const phase of asked) {
    const { lane, after } = wiring[phase] as PhaseRow
    if (!users.has(phase)) lanes.add(lane)
    else
      for (const signal of after) {
        const earlier = phaseFiring(signal, wiring)
        // Whatever else comes from outside may never come, so nothing of the stop lane can wait for
        // it.
        if (earlier === undefined) lanes.add(signal === 'StopRequested' ? 'stop' : 'start')
        else asked.add(earlier)
      }
  }
  const [lane, ...others] = lanes
  if (lane !== undefined && others.length === 0) return lane
  throw new QuiesceError('ERR_OPTION_INVALID', `phase "${name}": after and before must name phases or signals of one lane, start or stop`, {
    phase: name,
  })
}

const phaseFiring = (signal: string, wiring: Wiring): string | undefined =>
  Object.entries(wiring).find(([, { fires }]) => fires === signal)?.[0]

/**
 * When phases are cut, as places among the budget's instants. A user's phase is cut one instant
 * before the earliest of those that wait for it, so that their time stays theirs; a phase without
 * work takes the earliest of those.
 */
function cutsOf(rows: ReadonlyMap<string, PhaseRow>): (name: string) => number {
  const known = new Map<string, number>()
  const cutIndex = (name: string): number => {
    const found = known.get(name) ?? find(rows.get(name) as PhaseRow)
    known.set(name, found)
    return found
  }
  const find = ({ cut, fires, work }: PhaseRow): number => {
    if (cut) return BUDGET_INSTANTS.findIndex((instant) => cutSignal(instant) === cut)
    const earliest = Math.min(BUDGET_INSTANTS.indexOf('forced'), ...waitersOf(fires, rows).map(cutIndex))
    return work === undefined ? earliest : Math.max(0, earliest - 1)
  }
  return cutIndex
}

const waitersOf = (signal: string, rows: ReadonlyMap<string, PhaseRow>): string[] =>
  [...rows].filter(([, { after }]) => after.includes(signal)).map(([name]) => name)

/** Whether a signal fires only when this phase has ended, at whatever remove. */
export function comesBefore(signal: string, phase: string, wiring: Wiring): boolean {
  // Grows while it is walked: each signal is asked for once.
  const signals = new Set([signal])
  for (const each of signals) {
    const firing = phaseFiring(each, wiring)
    if (firing === phase) return true
    for (const earlier of firing === undefined ? [] : (wiring[firing] as PhaseRow).after) signals.add(earlier)
  }
  return false
}
