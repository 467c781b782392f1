import type { ErrorRecord, HookKind, LifecycleEvent, PhaseOutcome, StopReason, Straggler } from '../base/events.ts'
import type { StopProfile } from '../base/stop-profile.ts'
import type { CutSignal } from '../machines/signals.ts'
import type { PhaseName, PhaseRow } from '../machines/wiring.ts'

/**
 * What is known of a life by its events. Everything that shows one reads it here: report, terminal,
 * gauges, inspector. `reduce` is the only way to the next view and changes nothing in place, so
 * that a reader may keep old ones. All times are milliseconds since the life began.
 *
 * What may come any number of times in a life is not in it (`error`, `late`, `warning`): its
 * readers keep as many as they can use.
 */
export interface LifeView {
  /** The time of the last event. */
  readonly at: number
  /** The instant that cuts a phase, by phase; of a life that is not composed yet, none. */
  readonly cuts: Readonly<Record<string, CutSignal>>
  readonly platform: Omit<EventOf<'platform'>, 'type' | 'at'>
  readonly stop: StopView | undefined
  /** The signals in the order they fired. */
  readonly signals: ReadonlyMap<string, SignalView>
  /** The phases in the order they began. */
  readonly phases: ReadonlyMap<string, PhaseView>
  /** The hooks in the order they began, by kind and name. */
  readonly hooks: ReadonlyMap<string, HookView>
  /** The listeners in the order they were bound; also those that are closed by now. */
  readonly listeners: readonly ListenerView[]
  readonly lastCall: EventOf<'last-call'> | undefined
  readonly drained: Readonly<Partial<Record<'requests' | 'watches', EventOf<'drained'>>>>
  readonly connections: EventOf<'connections'> | undefined
  /** Handlers that outlived their responses. */
  readonly handlers: readonly Straggler[]
  /** The first. */
  readonly forced: EventOf<'forced'> | undefined
  readonly exitCode: number | undefined
}

export type EventOf<Type extends LifecycleEvent['type']> = Extract<LifecycleEvent, { readonly type: Type }>

export interface StopView {
  readonly at: number
  readonly reason: StopReason | undefined
  /** What the machine chose for it; unknown to a recording that was made from a report. */
  readonly budget: StopProfile | undefined
  /** A crash in the middle of it has a budget of its own, which counts from there. */
  readonly crash: { readonly at: number; readonly budget: StopProfile } | undefined
}

export interface SignalView {
  readonly name: string
  readonly at: number
  readonly outcome: PhaseOutcome
}

/** A piece of work with a beginning; without `endedAt` and `outcome` it is under way. */
export interface WorkView {
  readonly name: string
  readonly startedAt: number
  /** Its own limit, counted from its beginning. */
  readonly limitMs: number | undefined
  readonly endedAt: number | undefined
  readonly outcome: PhaseOutcome | undefined
  readonly error: ErrorRecord | undefined
}

export type PhaseView = WorkView

export interface HookView extends WorkView {
  readonly kind: HookKind
  readonly durationMs: number | undefined
  /** The hooks that one which never began waited for, and that were cut. */
  readonly waitedFor?: readonly string[]
}

export interface ListenerView {
  readonly url: string
  readonly admin: boolean
  readonly inspector?: true
  readonly isOpen: boolean
}

/** Which phase waits for what. */
export const WAITED_FOR_BY = {
  request: 'request-drain',
  hold: 'request-drain',
  watch: 'watch-drain',
  handler: 'handlers',
  connection: 'close-connections',
} as const satisfies Readonly<Record<string, PhaseName>>

const PHASE_OF_HOOKS = {
  'post-start': 'post-start-hooks',
  'pre-shutdown': 'pre-shutdown-hooks',
  destroy: 'destroy',
} as const satisfies Readonly<Partial<Record<HookKind, PhaseName>>>

/** The phase in which a hook runs; a phase of the user's is one hook. */
export const phaseOfHook = ({ kind, name }: Pick<HookView, 'kind' | 'name'>): string => (kind === 'phase' ? name : PHASE_OF_HOOKS[kind])

export const hookKey = ({ kind, name }: Pick<HookView, 'kind' | 'name'>): string => `${kind} ${name}`

export const NOTHING_KNOWN: LifeView = {
  at: 0,
  cuts: {},
  platform: { platform: 'unknown', reason: '', defaults: {} },
  stop: undefined,
  signals: new Map(),
  phases: new Map(),
  hooks: new Map(),
  listeners: [],
  lastCall: undefined,
  drained: {},
  connections: undefined,
  handlers: [],
  forced: undefined,
  exitCode: undefined,
}

/** The cuts of these rows, for {@link LifeView.cuts}. */
export const cutsOf = (rows: Readonly<Record<string, Pick<PhaseRow, 'lane' | 'cut'>>>): LifeView['cuts'] =>
  Object.fromEntries(Object.entries(rows).flatMap(([phase, { cut }]) => (cut ? [[phase, cut]] : [])))

export const reduceLife = (view: LifeView, event: LifecycleEvent): LifeView => ({ ...view, ...changeBy(event, view), at: event.at })

function changeBy(event: LifecycleEvent, view: LifeView): Partial<LifeView> {
  const { at } = event
  switch (event.type) {
    case 'platform':
      return { platform: { platform: event.platform, reason: event.reason, defaults: event.defaults } }
    case 'signal': {
      const signals = withValue(view.signals, event.name, { name: event.name, at, outcome: event.outcome })
      if (event.name !== 'StopRequested' || view.stop) return { signals }
      return { signals, stop: { at, reason: event.reason, budget: event.budget, crash: undefined } }
    }
    case 'phase.started':
      return { phases: withValue(view.phases, event.phase, begun(event.phase, at, event.limitMs)) }
    case 'phase.ended': {
      const { phase, outcome, error } = event
      // A phase without work of its own begins and ends in one step.
      const known = view.phases.get(phase) ?? begun(phase, at, undefined)
      return { phases: withValue(view.phases, phase, { ...known, endedAt: at, outcome, error }) }
    }
    case 'hook.started': {
      const hook = { ...begun(event.name, at, event.limitMs), kind: event.kind, durationMs: undefined }
      return { hooks: withValue(view.hooks, hookKey(event), hook) }
    }
    case 'hook.ended': {
      const { kind, name, outcome, durationMs, error, waitedFor } = event
      // One that never began, because its phase was cut before its turn.
      const known = view.hooks.get(hookKey(event)) ?? begun(name, at - durationMs, undefined)
      return {
        hooks: withValue(view.hooks, hookKey(event), {
          ...known,
          kind,
          durationMs,
          endedAt: at,
          outcome,
          error,
          ...(waitedFor && { waitedFor }),
        }),
      }
    }
    case 'listening':
      return {
        listeners: [...view.listeners, { url: event.url, admin: event.admin, ...(event.inspector && { inspector: true }), isOpen: true }],
      }
    case 'stopped-listening':
      return { listeners: view.listeners.map((listener) => (listener.url === event.url ? { ...listener, isOpen: false } : listener)) }
    case 'last-call':
      return { lastCall: event }
    case 'drained':
      return { drained: { ...view.drained, [event.what]: event } }
    case 'connections':
      return { connections: event }
    case 'handlers':
      return { handlers: event.running }
    case 'forced':
      return { forced: view.forced ?? event }
    case 'ended':
      return { exitCode: event.exitCode }
    case 'certificate':
    case 'error':
    case 'mux-signal':
    case 'late':
    case 'warning':
      return {}
  }
}

/**
 * The process has crashed: of a stop that is under way nothing comes later for it, and some things
 * sooner. Only the first crash counts.
 */
export const crashedAt = (view: LifeView, at: number, budget: StopProfile): LifeView =>
  view.stop && !view.stop.crash ? { ...view, stop: { ...view.stop, crash: { at, budget } } } : view

/**
 * The failure that an event reports, and where it happened. The errors of several hooks as one are
 * none: each has been reported.
 */
export function failureIn(event: LifecycleEvent): { readonly where: string; readonly error: ErrorRecord } | undefined {
  if (!('error' in event) || event.error === undefined || event.type === 'forced') return undefined
  const { error } = event
  switch (event.type) {
    case 'phase.ended':
      return error.name === 'AggregateError' ? undefined : { where: `phase ${event.phase}`, error }
    case 'hook.ended':
      return { where: `${event.kind} hook "${event.name}"`, error }
    case 'late':
      return { where: event.what, error }
    case 'stopped-listening':
      return { where: event.url, error }
    case 'error':
      return { where: event.where, error }
  }
}

const begun = (name: string, startedAt: number, limitMs: number | undefined): WorkView => ({
  name,
  startedAt,
  limitMs,
  endedAt: undefined,
  outcome: undefined,
  error: undefined,
})

export const withValue = <V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> => new Map(map).set(key, value)
