import { QuiesceError } from '../base/errors.ts'
import type { Consequence } from '../base/events.ts'
import { type ForcedBy, forcedBy } from '../base/events.ts'
import { budgetRegion } from './budget.ts'
import { ON_SIGNAL, type OnSignal } from './on-signal.ts'
import type { HookPlan } from './phases/hook.ts'
import { postStartHooksRegion } from './phases/post-start-hooks.ts'
import { findCycle } from './phases/pre-shutdown-hooks.ts'
import { lastingRegion, phaseRegion, type StateConfig, say, stateKey } from './region.ts'
import { CUT_SIGNALS } from './signals.ts'
import { crashRegion, secondSignalRegion, startRegion, stopRegion } from './stop.ts'
import { addUserPhases, placeUserPhases, type UserPhase } from './user-phases.ts'
import { type LifecycleInput, vocabulary } from './vocabulary.ts'
import { GIVEN_SIGNALS, type Mode, type PhaseRow, WIRING, type Wiring } from './wiring.ts'

/**
 * The root machine: a whole life, composed from the wiring table. `running` holds one region per
 * row and the regions of stop, budget, second signal and crash. It is left in two ways: by `Ended`,
 * which the last row fires, or something means "now" and `forcing` ends what is left in one
 * synchronous step. No region has a final state: xstate would raise an event for each, and the
 * whole machine would look for what hears it (docs/decisions/0013).
 */
export interface Composition {
  readonly mode: Mode
  /** Post-start hooks, fixed when the life begins. */
  readonly postStartHooks?: readonly HookPlan[]
  /**
   * The server has an owner who has still to call its `listen()`, which may come after a database:
   * nothing bounds the wait for that.
   */
  readonly awaitsListen?: boolean
  /** Names of the mux-complete signals to wait for. */
  readonly muxSignals?: readonly string[]
  /** The user's own phases. */
  readonly userPhases?: readonly UserPhase[]
  /** Replaces the built-in table; for tests of the composition itself. */
  readonly wiring?: Wiring
  /** The same for what signals lead to outside the machines. */
  readonly onSignal?: OnSignal
}

/**
 * Everything that decides how one life can go: what its machine is composed of, and what that
 * machine is given.
 */
export interface LifePlan extends Composition {
  readonly input: LifecycleInput
}

/**
 * The rows of this life: the table without the other mode's rows and edges, plus mux signals and
 * user phases.
 */
export function effectiveWiring({
  mode,
  awaitsListen = false,
  muxSignals = [],
  userPhases = [],
  wiring = WIRING,
  onSignal = ON_SIGNAL,
}: Composition): Wiring {
  const rows: Record<string, PhaseRow> = {}
  for (const [phase, row] of Object.entries(wiring as Wiring)) {
    if (row.when !== undefined && row.when !== mode) continue
    const { alsoAfter, ...always } = row
    const does = consequenceOf(onSignal, row.fires)
    const further = alsoAfter?.[mode] ?? []
    rows[phase] = {
      ...(phase === 'mux-complete' ? muxRow(always, muxSignals) : always),
      ...(does && { does }),
      ...(further.length > 0 && { after: [...row.after, ...further] }),
      ...(phase === 'bind' && awaitsListen && { unbounded: true }),
    }
  }
  const all = addUserPhases(rows, userPhases)
  checkWiring(all)
  return placeUserPhases(all, userPhases)
}

/** The row of mux-complete signals; without a signal there is nothing to wait for. */
function muxRow({ work, workKind, hears, ...row }: PhaseRow, signals: readonly string[]): PhaseRow {
  return signals.length === 0 || !work
    ? row
    : { ...row, work, workKind: 'lasting', ...(hears && { hears }), awaits: signals, input: { signals } }
}

const consequenceOf = (onSignal: OnSignal, signal: string): Consequence | undefined =>
  Object.hasOwn(onSignal, signal) ? onSignal[signal as keyof OnSignal] : undefined

/** Regions of the root that are no phases. */
const otherRegions = (onSignal: OnSignal = ON_SIGNAL) => ({
  start: startRegion,
  stop: stopRegion(consequenceOf(onSignal, 'StopRequested')),
  'second-signal': secondSignalRegion,
  crash: crashRegion,
  budget: budgetRegion,
})
const OTHER_REGIONS: readonly string[] = Object.keys(otherRegions())
const ROOT = 'lifecycle'

/** Signals that come from outside the rows. */
const isGiven = (signal: string): boolean => (GIVEN_SIGNALS as readonly string[]).includes(signal)
const isOfTheRoot = (signal: string): boolean => isGiven(signal) || signal === 'StartFailed' || Object.hasOwn(CUT_SIGNALS, signal)

/**
 * @throws QuiesceError ERR_OPTION_INVALID, ERR_UNKNOWN_REFERENCE, ERR_DUPLICATE or ERR_CYCLE: a
 * table that could not run is refused when it is composed.
 */
function checkWiring(rows: Wiring): void {
  const firedBy = new Map<string, string>()
  for (const [phase, { after, fires }] of Object.entries(rows)) {
    if (phase === ROOT || OTHER_REGIONS.includes(phase))
      throw new QuiesceError('ERR_DUPLICATE', `phase "${phase}" exists already`, { phase })
    if (after.length === 0)
      throw new QuiesceError('ERR_OPTION_INVALID', `phase "${phase}" waits for nothing, so it would never begin`, {
        phase,
        waitsForNothing: true,
      })
    const other = firedBy.get(fires) ?? (isOfTheRoot(fires) ? 'the root machine' : undefined)
    if (other !== undefined)
      throw new QuiesceError('ERR_DUPLICATE', `phase "${phase}" fires ${fires}, which ${other} fires already`, { phase, fires })
    firedBy.set(fires, phase)
  }
  const after = new Map<string, string[]>()
  for (const [phase, row] of Object.entries(rows)) {
    for (const signal of [
      ...row.after,
      ...(row.unless ? [row.unless] : []),
      ...Object.values(row.until ?? {}),
      ...(row.abandonedAt ? [row.abandonedAt] : []),
      ...Object.keys(row.hears ?? {}),
    ]) {
      if (isGiven(signal) || firedBy.has(signal)) continue
      throw new QuiesceError('ERR_UNKNOWN_REFERENCE', `phase "${phase}" waits for ${signal}, which no phase fires`, { phase, signal })
    }
    after.set(
      phase,
      row.after.flatMap((signal) => firedBy.get(signal) ?? []),
    )
  }
  const cycle = findCycle(after)
  if (cycle) throw new QuiesceError('ERR_CYCLE', `phases wait for each other: ${cycle.join(' -> ')}`, { cycle })
}

/**
 * Named, and not what the compiler infers: that repeats every child, and says it in words that
 * `exactOptionalPropertyTypes` refuses in xstate's own types.
 */
type Config = Parameters<typeof vocabulary.createMachine>[0]
export type LifecycleMachine = ReturnType<typeof vocabulary.createMachine<Config>>

/** Composes the root machine of a life. Pure: the same machine runs, is drawn and is checked. */
export function composeLifecycle(composition: Composition): LifecycleMachine {
  const rows = effectiveWiring(composition)
  const regions = Object.fromEntries(
    Object.entries(rows).map(([phase, row]) => [
      stateKey(phase),
      row.workKind === 'regions'
        ? postStartHooksRegion(phase, row, composition.mode, composition.postStartHooks ?? [])
        : row.workKind === 'lasting'
          ? lastingRegion(phase, row)
          : phaseRegion(phase, row),
    ]),
  )
  const forced = (exitCode: 1 | 5, why: 'stop-now' | 'second-signal' | 'second-crash' | 'deadline') => ({
    target: 'forcing',
    actions: [{ type: 'worsen', params: { exitCode } }, say(({ event }) => ({ type: 'forced', why, ...forcedBy(event as ForcedBy) }))],
  })
  const config: StateConfig = {
    id: ROOT,
    context: ({ input }: { input: object }) => ({ ...input, exitCode: 0 }),
    initial: 'running',
    states: {
      running: {
        type: 'parallel',
        states: { ...otherRegions(composition.onSignal), ...regions },
        on: {
          StopNow: forced(1, 'stop-now'),
          SecondSignal: forced(1, 'second-signal'),
          SecondCrash: forced(1, 'second-crash'),
          Forced: forced(5, 'deadline'),
          Ended: 'ended',
          // Serving goes on, as with a signal that never comes; but the failure sets exit code 4.
          'mux-signal.failed': { actions: { type: 'worsen', params: { exitCode: 4 } } },
          'work.left': {
            actions: { type: 'worsen', params: ({ event }: { event: { exitCode: 4 | 5 } }) => ({ exitCode: event.exitCode }) },
          },
          'pre-shutdown-hooks.changed': { actions: 'replaceHooks' },
          'destroy-functions.changed': { actions: 'replaceDestroyFunctions' },
        },
      },
      forcing: { invoke: { id: 'force', src: 'force', onDone: 'ended', onError: 'ended' } },
      ended: { type: 'final', entry: say(({ context }) => ({ type: 'ended', exitCode: context.exitCode })) },
    },
    output: ({ context }: { context: { exitCode: number } }) => ({ exitCode: context.exitCode }),
  }
  // The configuration is generated; what it may name is typed in vocabulary.ts, and test/machines
  // checks that every name exists.
  return vocabulary.createMachine(config as Config)
}
