import { raise, sendTo } from 'xstate'
import { type ErrorRecord, errorRecord } from '../events.ts'
import type { MachineFact, PhaseOutput } from './phase.ts'
import { cutsFrom, type Outcome } from './signals.ts'
import { type LifecycleContext, WORK_INPUT } from './vocabulary.ts'
import type { PhaseRow } from './wiring.ts'

/**
 * One row of the wiring table as a region of the root machine:
 *
 *     waiting (a latch per signal) → working (the invoked work) → fired (raises the signal)
 *
 * Start rows have two more ends, `skipped` by a stop and `failed`, which raise nothing: their waiters are skipped too.
 */

/** State configurations here are generated; the named actions, guards and delays in them are typed in `vocabulary.ts`, and a test checks that every name exists. */
export type StateConfig = Readonly<Record<string, unknown>>

interface Args {
  readonly context: LifecycleContext
  readonly event: { readonly output?: unknown; readonly error?: unknown }
}

export const say = (fact: MachineFact | ((args: Args) => MachineFact)) => ({ type: 'record', params: fact })

/** A state that waits for every signal of `after`, in any order: one latch each, joined by the parallel state's own end. */
export function gate(after: readonly string[], next: StateConfig): StateConfig {
  const [only] = after
  if (after.length === 1 && only !== undefined) return { on: { [only]: next } }
  const latch = (signal: string): StateConfig => ({
    initial: 'pending',
    states: { pending: { on: { [signal]: 'seen' } }, seen: { type: 'final' } },
  })
  return { type: 'parallel', onDone: next, states: Object.fromEntries(after.map((signal) => [stateKey(signal), latch(signal)])) }
}

/**
 * A user's name as part of a state key, id or event name, where xstate would read dots as a path, `#` as an id and `*` as a
 * wildcard, and where `__proto__` would be no key at all.
 */
export const stateKey = (name: string): string => name.replace(/[%.#*\\]|^_(?=_proto__$)/g, encodeCharacter)
/** The event by which a mux-complete signal arrives. */
export const muxEvent = (name: string): `mux.${string}` => `mux.${stateKey(name)}`

const encodeCharacter = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

/** The actions of a phase's end: what came of it, for the exit code and the observers. The signal itself is raised by `fired`. */
function ending(phase: string, row: PhaseRow, outputOf: (args: Args) => PhaseOutput, fires: boolean) {
  return [
    { type: 'settle', params: (args: Args) => ({ output: outputOf(args) }) },
    say((args) => {
      const { outcome, error } = outputOf(args)
      return { type: 'phase.ended', phase, outcome, ...(error && { error }) }
    }),
    ...(fires ? [say((args) => ({ type: 'signal', name: row.fires, outcome: outputOf(args).outcome }))] : []),
  ]
}

const fixed = (outcome: Outcome, error?: ErrorRecord) => (): PhaseOutput => ({ outcome, ...(error && { error }) })
const outputOf = ({ event }: Args): PhaseOutput => (event.output as PhaseOutput | undefined) ?? { outcome: 'ok' }
const failure = ({ event }: Args): PhaseOutput => ({ outcome: 'failed', error: errorRecord(event.error) })

export function phaseRegion(phase: string, row: PhaseRow): StateConfig {
  const end = new RegionEnds(phase, row)
  const onwards = row.work ? { target: end.state('working') } : end.fired(fixed('ok'))
  return {
    id: stateKey(phase),
    initial: row.unless ? 'unarmed' : 'waiting',
    meta: { phase, row },
    states: {
      ...(row.unless && { unarmed: withEvents(gate(row.after, end.fired(fixed('skipped'))), { [row.unless]: end.state('waiting') }) }),
      waiting: withEvents(gate(row.after, onwards), end.skippedByStop()),
      ...(row.work && { working: working(phase, row, row.work, end) }),
      fired: { type: 'final', entry: raise({ type: row.fires } as never) },
      ...(row.lane === 'start' && { skipped: { type: 'final' } }),
      ...(row.lane === 'start' && row.work && { failed: { type: 'final' } }),
    },
  }
}

/** The transitions that end a region. */
class RegionEnds {
  readonly #phase: string
  readonly #row: PhaseRow

  constructor(phase: string, row: PhaseRow) {
    this.#phase = phase
    this.#row = row
  }

  state(name: string): string {
    return `#${stateKey(this.#phase)}.${name}`
  }

  fired(output: (args: Args) => PhaseOutput): StateConfig {
    return { target: this.state('fired'), actions: ending(this.#phase, this.#row, output, true) }
  }

  skippedByStop(): StateConfig {
    if (this.#row.lane === 'stop') return {}
    return { StopRequested: { target: this.state('skipped'), actions: ending(this.#phase, this.#row, fixed('skipped'), false) } }
  }

  /** A stop row goes on whatever happened; a failed start row leads to the roll-back, or, if it does not matter that much, to a log line. */
  failed(output: (args: Args) => PhaseOutput): StateConfig {
    if (this.#row.lane === 'stop') return this.fired(output)
    const error = (args: Args): ErrorRecord => output(args).error ?? { name: 'Error', message: 'unknown' }
    const consequence =
      this.#row.onFailure === 'StartFailed'
        ? [
            { type: 'worsen', params: { exitCode: 3 } },
            raise(((args: Args) => ({ type: 'StartFailed', phase: this.#phase, error: error(args) })) as never),
          ]
        : []
    return {
      target: this.state('failed'),
      actions: [say((args) => ({ type: 'phase.ended', phase: this.#phase, outcome: 'failed', error: error(args) })), ...consequence],
    }
  }
}

function working(phase: string, row: PhaseRow, work: string, end: RegionEnds): StateConfig {
  const input = WORK_INPUT[work]
  const id = stateKey(phase)
  const onCut = row.workKind === 'machine' ? { actions: sendTo(id, { type: 'cut' }) } : end.fired(fixed('cut'))
  const timedOut: PhaseOutput = {
    outcome: 'failed',
    error: { name: 'QuiesceError', code: 'ERR_TIMEOUT', message: `${phase} did not end within its bound` },
  }
  return {
    entry: say({ type: 'phase.started', phase }),
    invoke: {
      id,
      src: work,
      ...(row.input !== undefined ? { input: row.input } : input && { input: ({ context }: Args) => input(context) }),
      // User code reports a failure by its output; for start-up that is a failure like any other.
      onDone: [...(row.lane === 'start' ? [{ guard: 'workFailed', ...end.failed(outputOf) }] : []), end.fired(outputOf)],
      onError: end.failed(failure),
    },
    on: { ...end.skippedByStop(), ...(row.cut && onEach(cutsFrom(row.cut), onCut)) },
    ...(row.lane === 'start' && { after: { startBound: end.failed(() => timedOut) } }),
  }
}

const onEach = (signals: readonly string[], transition: StateConfig): StateConfig =>
  Object.fromEntries(signals.map((signal) => [signal, transition]))
export const withEvents = (state: StateConfig, events: StateConfig): StateConfig => ({
  ...state,
  on: { ...(state.on as StateConfig | undefined), ...events },
})
