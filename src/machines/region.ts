import { sendTo } from 'xstate'
import { type ErrorRecord, errorRecord, type PhaseOutcome } from '../base/events.ts'
import type { MachineFact, PhaseOutput } from './phases/phase.ts'
import { cutsFrom } from './signals.ts'
import { type Arrival, type InternalEvent, type LifecycleContext, ownLimitOf, RAISE_ACTION, WORK_INPUT } from './vocabulary.ts'
import type { PhaseRow } from './wiring.ts'

/**
 * One row of the wiring table as a region of the root machine:
 *
 *     waiting (a latch per signal) → working (the invoked work) → fired (raises the signal)
 *
 * Start rows have two more ends, `skipped` by a stop and `failed`, which raise nothing: their
 * waiters are skipped too.
 *
 * Theory of operation
 *
 * The root machine has one state, `running`, which is parallel: every row of the table is a region
 * of it, beside those that hear what asks for the end (stop.ts) and the budget (budget.ts). No
 * region knows another. A row that waits for `Serving` does not say who fires that; it waits for
 * the event of that name, and the row whose `fires` is `Serving` raises it.
 *
 * A signal travels by `raise`: an event of the root's to itself, which all regions see. A row fires
 * once, because nothing leads out of `fired`. What has come while a region still waits for another
 * signal is kept in the context (`gate`), and no signal is taken back, so the order in which they
 * come cannot matter to a region that waits for all of them.
 *
 * A step of the root (xstate: a macrostep) is one event from outside, or the end of one invoked
 * work, and all that follows from it at once: the transition it takes, the signal that is raised by
 * it, the regions that begin by that signal, and so on until no raised event is left. From
 * `StopRequested` to the first phase that has to wait everything happens in one step, and no
 * request comes in between. Actions of a step run in its order, so `record` tells observers of a
 * signal in the step in which it fires, and `does` of a row is done there (on-signal.ts). An actor
 * that is invoked in a step starts at its end; one that answers at once does so in the next.
 *
 * Work is invoked, by name: a machine of phases/ with states of its own, or an effect, which is a
 * promise. It ends by itself (`done`), by an error, or by a cut of the budget: a machine is told
 * (`cut`) and ends in order, an effect is stopped and its signal fires. A stop row fires its signal
 * by each of these ends, because a shutdown has to progress; how it ended is the outcome, which
 * costs an exit code (`settle`) and cuts nothing else. Only a start row may end without its signal.
 *
 * So three things hold by construction, and the checker (src/model) verifies them for every
 * composed table: whatever is waited for is fired by a row or comes from outside, every stop row
 * that begins ends by the last instant of the budget, and a signal fires once.
 */

/**
 * State configurations here are generated; the named actions, guards and delays in them are typed
 * in `vocabulary.ts`, and a test checks that every name exists.
 */
export type StateConfig = Readonly<Record<string, unknown>>

interface Args {
  readonly context: LifecycleContext
  readonly event: { readonly output?: unknown; readonly error?: unknown }
}

/** An action that says what has happened. */
export const say = (fact: MachineFact | ((args: Args) => MachineFact)) => ({ type: 'record', params: fact })

/**
 * An action that tells the other regions, by name and not as xstate's own `raise()`: that is a
 * function, which inspectors leave out of the definitions they are sent.
 */
export const raiseEvent = (event: InternalEvent | ((args: Args) => InternalEvent)) => ({
  type: RAISE_ACTION,
  params: typeof event === 'function' ? (args: Args) => ({ event: event(args) }) : { event },
})

/**
 * A state that waits for every signal of `after`, in any order. What has come is remembered in the
 * context and not by a latch each: every state and every end of one is looked at by each later step
 * of the whole machine (docs/decisions/0013).
 */
export function gate(phase: string, after: readonly string[], next: StateConfig): StateConfig {
  const [only, ...others] = new Set(after)
  if (only !== undefined && others.length === 0) return { on: { [only]: next } }
  const hears = (signal: string) => {
    const params: Arrival = { phase, signal, after }
    const arrive = { type: 'arrive', params }
    return [{ ...next, guard: { type: 'isLast', params }, actions: [arrive, ...listOf(next['actions'])] }, { actions: arrive }]
  }
  return { on: Object.fromEntries(after.map((signal) => [signal, hears(signal)])) }
}

const listOf = (actions: unknown): unknown[] => (actions === undefined ? [] : [actions].flat())

/**
 * A user's name as part of a state key, id or event name, where xstate would read dots as a path,
 * `#` as an id and `*` as a wildcard, and where `__proto__` would be no key at all.
 */
export const stateKey = (name: string): string => name.replace(/[%.#*\\]|^_(?=_proto__$)/g, encodeCharacter)

const encodeCharacter = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

/**
 * The actions of a phase's end: what came of it, for the exit code and the observers. The signal
 * itself is raised by `fired`.
 */
function ending(phase: string, row: PhaseRow, outputOf: (args: Args) => PhaseOutput, fires: boolean) {
  return [
    { type: 'settle', params: (args: Args) => ({ output: outputOf(args) }) },
    say((args) => {
      const { outcome, error } = outputOf(args)
      return { type: 'phase.ended', phase, outcome, ...(error && { error }) }
    }),
    ...(fires
      ? [say((args) => ({ type: 'signal', name: row.fires, outcome: outputOf(args).outcome, ...(row.does && { does: row.does }) }))]
      : []),
  ]
}

const fixed = (outcome: PhaseOutcome, error?: ErrorRecord) => (): PhaseOutput => ({ outcome, ...(error && { error }) })
const outputOf = ({ event }: Args): PhaseOutput => (event.output as PhaseOutput | undefined) ?? { outcome: 'ok' }
const failure = ({ event }: Args): PhaseOutput => ({ outcome: 'failed', error: errorRecord(event.error) })

export function phaseRegion(phase: string, row: PhaseRow): StateConfig {
  const ends = regionEnds(phase, row)
  const onwards = row.work ? { target: ends.state('working') } : ends.fired(fixed('ok'))
  return {
    id: stateKey(phase),
    initial: row.unless ? 'unarmed' : 'waiting',
    meta: { phase, row },
    states: {
      ...(row.unless && {
        unarmed: withEvents(gate(phase, row.after, ends.fired(fixed('skipped'))), { [row.unless]: ends.state('waiting') }),
      }),
      waiting: withEvents(gate(phase, row.after, onwards), ends.skippedByStop),
      ...(row.work && { working: working(phase, row, row.work, ends) }),
      fired: firedState(row),
      ...(row.lane === 'start' && { skipped: {} }),
      ...(row.lane === 'start' && row.work && { failed: {} }),
    },
  }
}

/**
 * A row of the start lane whose machine goes on when a stop has ended the phase, until it ends by
 * itself: `open` with what it runs, and in it the phase, which is at work or over.
 */
export function lastingRegion(phase: string, row: PhaseRow): StateConfig {
  const ends = regionEnds(phase, row)
  const id = stateKey(phase)
  const hears = Object.entries(row.hears ?? {}).map(([signal, type]) => [signal, { actions: sendTo(id, { type }) }])
  const done = `xstate.done.actor.${id}`
  const stopped = { StopRequested: { ...ends.skipped, target: ends.state('open.over') } }
  return {
    id,
    initial: 'waiting',
    meta: { phase, row },
    states: {
      waiting: withEvents(gate(phase, row.after, { target: ends.state('open') }), stopped),
      open: {
        invoke: { id, src: row.work, input: row.input, onError: ends.failed(failure) },
        on: Object.fromEntries(hears),
        initial: 'working',
        states: {
          working: { entry: say({ type: 'phase.started', phase }), on: { [done]: ends.fired(outputOf), ...stopped } },
          over: { entry: sendTo(id, { type: 'stop' }), on: { [done]: ends.state('skipped') } },
        },
      },
      fired: firedState(row),
      skipped: {},
      failed: {},
    },
  }
}

/** The end of a row that has done its work. Users' phases fire signals of their own names. */
export const firedState = ({ fires }: PhaseRow): StateConfig => ({ entry: raiseEvent({ type: fires as 'Ended' }) })

/** The transitions that end a region. */
function regionEnds(phase: string, row: PhaseRow) {
  const state = (name: string): string => `#${stateKey(phase)}.${name}`
  const fired = (output: (args: Args) => PhaseOutput): StateConfig => ({
    target: state('fired'),
    actions: ending(phase, row, output, true),
  })
  const skipped = { target: state('skipped'), actions: ending(phase, row, fixed('skipped'), false) }
  const startFailed = (output: (args: Args) => PhaseOutput): StateConfig => {
    const error = (args: Args): ErrorRecord => output(args).error ?? { name: 'Error', message: 'unknown' }
    const rollBack = [
      { type: 'worsen', params: { exitCode: 3 } },
      raiseEvent((args) => ({ type: 'StartFailed', phase, error: error(args) })),
    ]
    return {
      target: state('failed'),
      actions: [
        say((args) => ({ type: 'phase.ended', phase, outcome: 'failed', error: error(args) })),
        ...(row.onFailure === 'StartFailed' ? rollBack : []),
      ],
    }
  }
  return {
    state,
    fired,
    skipped,
    /** The skip of a start row by a stop; a stop row is not skipped. */
    skippedByStop: row.lane === 'start' ? { StopRequested: skipped } : {},
    /**
     * A stop row goes on whatever happened; a failed start row leads to the roll-back, or, if it
     * does not matter that much, to a log line.
     */
    failed: row.lane === 'stop' ? fired : startFailed,
  }
}

function working(phase: string, row: PhaseRow, work: string, ends: ReturnType<typeof regionEnds>): StateConfig {
  const input = row.input ?? WORK_INPUT[work]
  const id = stateKey(phase)
  const limitOf = ownLimitOf(work, row.input)
  const onCut = row.workKind === 'machine' ? { actions: sendTo(id, { type: 'cut' }) } : ends.fired(fixed('cut'))
  const timedOut: PhaseOutput = {
    outcome: 'failed',
    error: { name: 'QuiesceError', code: 'ERR_TIMEOUT', message: `${phase} did not end within its bound` },
  }
  return {
    entry: say(
      limitOf
        ? ({ context }) => {
            const limitMs = limitOf(context)
            return { type: 'phase.started', phase, ...(limitMs !== undefined && { limitMs }) }
          }
        : { type: 'phase.started', phase },
    ),
    invoke: {
      id,
      src: work,
      ...(input !== undefined && { input }),
      // User code reports a failure by its output; for start-up that is a failure like any other.
      onDone: [...(row.lane === 'start' ? [{ guard: 'workFailed', ...ends.failed(outputOf) }] : []), ends.fired(outputOf)],
      onError: ends.failed(failure),
    },
    on: { ...ends.skippedByStop, ...(row.cut && onEach(cutsFrom(row.cut), onCut)) },
    ...(row.lane === 'start' && !row.unbounded && { after: { startBound: ends.failed(() => timedOut) } }),
  }
}

const onEach = (signals: readonly string[], transition: StateConfig): StateConfig =>
  Object.fromEntries(signals.map((signal) => [signal, transition]))
export const withEvents = (state: StateConfig, events: StateConfig): StateConfig => ({
  ...state,
  on: { ...(state.on as StateConfig | undefined), ...events },
})
