import type {
  ErrorRecord,
  HookKind,
  JournalEntry,
  LifecycleEvent,
  LifeView,
  Outcome,
  PhaseDescription,
  Report,
  StateEntry,
  StopProfile,
  StopReason,
} from '../quiesce.ts'
import { NOTHING_KNOWN, reduceLife } from '../quiesce.ts'
import { STEPS, type Standing, TIME, type Units } from './words.ts'

/**
 * What is known of a life at one entry of its journal. `reduce` is the only way to the next one and
 * changes nothing in place, so that the page can keep old views and go back in time: live, ended
 * and replayed lives are the same code.
 */
export interface View {
  /** Of the last entry; milliseconds since the life began. */
  readonly at: number
  readonly opening: EntryOf<'opening'> | undefined
  /** What its facts tell, as every other part of quiesce reads them. */
  readonly life: LifeView
  readonly stop: { readonly at: number; readonly reason: StopReason | undefined } | undefined
  readonly budget: Budget | undefined
  /** In the order they fired. */
  readonly signals: ReadonlyMap<string, SignalView>
  /** In the order of the wiring; phases that it does not know follow as they appear. */
  readonly phases: ReadonlyMap<string, PhaseView>
  /** In the order they began. */
  readonly hooks: ReadonlyMap<string, HookView>
  readonly actors: ReadonlyMap<string, ActorView>
  /** The edges of the last step that took any, and all of the life. */
  readonly lastTaken: readonly Edge[]
  readonly taken: ReadonlySet<string>
  readonly gauges: EntryOf<'gauges'> | undefined
  readonly failures: readonly { readonly at: number; readonly where: string; readonly error: ErrorRecord }[]
  readonly listeners: readonly { readonly url: string; readonly admin: boolean }[]
  readonly forced: Extract<LifecycleEvent, { type: 'forced' }>['why'] | undefined
  readonly exitCode: number | undefined
  readonly report: Report | undefined
}

/** Milliseconds after StopRequested. */
export interface Budget {
  readonly deadlineMs: number
  /** By the signal that tells of them, in order; unknown before a machine has chosen them. */
  readonly cuts: readonly { readonly signal: string; readonly atMs: number }[]
}

export interface SignalView {
  readonly name: string
  readonly at: number
  readonly outcome: Outcome
}

export interface PhaseView extends PhaseDescription {
  readonly standing: Standing
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
  readonly error: ErrorRecord | undefined
}

export interface HookView {
  readonly key: string
  readonly kind: HookKind
  readonly name: string
  readonly standing: Standing
  readonly startedAt: number
  readonly endedAt: number | undefined
  readonly error: ErrorRecord | undefined
}

export interface ActorView {
  readonly id: string
  readonly name: string
  readonly parent: string | undefined
  readonly machine: string | undefined
  /** Undefined for an actor that is an effect: it has no states to show. */
  readonly value: unknown
  /** Of an effect: its input, and its answer once there is one. */
  readonly context: unknown
  readonly status: StateEntry['status']
  /** What it went through last. */
  readonly lastTaken: readonly Edge[]
}

/** Entries of one kind. */
export type EntryOf<K extends JournalEntry['kind']> = Extract<JournalEntry, { kind: K }>

export type Edge = StateEntry['taken'][number]

export const EMPTY_VIEW: View = {
  at: 0,
  opening: undefined,
  life: NOTHING_KNOWN,
  stop: undefined,
  budget: undefined,
  signals: new Map(),
  phases: new Map(),
  hooks: new Map(),
  actors: new Map(),
  lastTaken: [],
  taken: new Set(),
  gauges: undefined,
  failures: [],
  listeners: [],
  forced: undefined,
  exitCode: undefined,
  report: undefined,
}

const isCounted = ({ opening }: Pick<View, 'opening'>): boolean => opening?.source === 'counter-example'

export const unitsOf = (view: Pick<View, 'opening'>): Units => (isCounted(view) ? STEPS : TIME)

/** Where an axis counts from: the stop request, once there was one. */
export const originOf = (view: Pick<View, 'opening' | 'stop'>): number => (isCounted(view) ? 0 : (view.stop?.at ?? 0))

/** Requests refused so far, of every kind. */
export const refusals = (gauges: EntryOf<'gauges'> | undefined): number =>
  Object.values(gauges?.rejected ?? {}).reduce((sum, n) => sum + n, 0)

/** The name of an edge in the chart. */
export const edgeKey = ({ from, on, to }: Edge): string => `${from}|${on}|${to ?? from}`

export function reduce(view: View, entry: JournalEntry): View {
  return { ...view, ...change(view, entry), at: Math.max(view.at, entry.at) }
}

function change(view: View, entry: JournalEntry): Partial<View> {
  switch (entry.kind) {
    case 'opening':
      return opened(entry)
    case 'fact':
      return { life: reduceLife(view.life, entry.event), ...happened(view, entry.event, entry.at) }
    case 'actor': {
      const { actor: id, name, parent, machine } = entry
      const begun = { id, name, parent, machine, value: undefined, context: undefined, status: 'active', lastTaken: [] } as const
      return { actors: withValue(view.actors, id, begun) }
    }
    case 'actor.stopped': {
      const actor = view.actors.get(entry.actor)
      // One that has reached its end stays what it was.
      if (actor?.status !== 'active') return {}
      return { actors: withValue(view.actors, entry.actor, { ...actor, status: 'stopped' }) }
    }
    case 'state':
      return moved(view, entry)
    case 'gauges':
      return { gauges: entry }
    case 'report':
      return { report: entry.report, exitCode: entry.report.exitCode }
    case 'sent':
      return {}
  }
}

function opened(entry: EntryOf<'opening'>): Partial<View> {
  const phases = entry.phases.map((phase): [string, PhaseView] => [phase.name, { ...phase, ...NOT_BEGUN }])
  return {
    ...EMPTY_VIEW,
    opening: entry,
    life: { ...NOTHING_KNOWN, cuts: Object.fromEntries(entry.phases.flatMap(({ name, cut }) => (cut ? [[name, cut]] : []))) },
    phases: new Map(phases),
    // Where no time passes, none is spent.
    budget: entry.deadlineMs === undefined || entry.source === 'counter-example' ? undefined : { deadlineMs: entry.deadlineMs, cuts: [] },
  }
}

const NOT_BEGUN = { standing: 'waiting', startedAt: undefined, endedAt: undefined, error: undefined } as const

function happened(view: View, event: LifecycleEvent, at: number): Partial<View> {
  switch (event.type) {
    case 'signal': {
      const signals = withValue(view.signals, event.name, { name: event.name, at, outcome: event.outcome })
      if (event.name !== 'StopRequested') return { signals }
      const budget = event.budget && !isCounted(view) ? { budget: budgetOf(event.budget) } : {}
      return { signals, stop: { at, reason: event.reason }, ...budget }
    }
    case 'phase.started':
      return { phases: withPhase(view, event.phase, { standing: 'working', startedAt: at }) }
    case 'phase.ended': {
      const { phase, outcome, error } = event
      return { phases: withPhase(view, phase, { standing: outcome, endedAt: at, error }), ...failed(view, at, `phase ${phase}`, error) }
    }
    case 'hook.started': {
      const { kind, name } = event
      const key = `${kind} ${name}`
      const hook: HookView = { key, kind, name, standing: 'working', startedAt: at, endedAt: undefined, error: undefined }
      return { hooks: withValue(view.hooks, key, hook) }
    }
    case 'hook.ended': {
      const { kind, name, outcome, durationMs, error } = event
      const key = `${kind} ${name}`
      const startedAt = view.hooks.get(key)?.startedAt ?? at - durationMs
      const hook: HookView = { key, kind, name, standing: outcome, startedAt, endedAt: at, error }
      return { hooks: withValue(view.hooks, key, hook), ...failed(view, at, `${kind} hook ${name}`, error) }
    }
    case 'listening':
      return { listeners: [...view.listeners, { url: event.url, admin: event.admin }] }
    case 'stopped-listening':
      return { listeners: view.listeners.filter(({ url }) => url !== event.url), ...failed(view, at, event.url, event.error) }
    case 'late':
      return failed(view, at, `${event.what}, late`, event.error)
    case 'error':
      return failed(view, at, event.where, event.error)
    case 'forced':
      return { forced: event.why }
    case 'ended':
      return { exitCode: event.exitCode }
    case 'platform':
    case 'last-call':
    case 'drained':
    case 'connections':
    case 'handlers':
    case 'warning':
      return {}
  }
}

function moved(view: View, { actor: id, value, context: changed, status, taken }: StateEntry): Partial<View> {
  const known = view.actors.get(id) ?? { id, name: id, parent: undefined, machine: undefined, context: undefined }
  const context = changed === undefined ? known.context : changed
  const actors = withValue(view.actors, id, { ...known, value, context, status, lastTaken: taken })
  return {
    actors,
    ...(taken.length > 0 && { lastTaken: taken, taken: new Set([...view.taken, ...taken.map(edgeKey)]) }),
  }
}

const budgetOf = ({ deadlineMs, cutsMs }: StopProfile): Budget => ({
  deadlineMs,
  cuts: Object.entries(cutsMs)
    .map(([instant, atMs]) => ({ signal: `Cut.${instant}`, atMs }))
    .sort((a, b) => a.atMs - b.atMs),
})

function withPhase(view: View, name: string, changed: Partial<PhaseView>): View['phases'] {
  const half = view.stop ? 'stop' : 'start'
  const known: PhaseView = view.phases.get(name) ?? { name, half, waitsFor: [], fires: [], ...NOT_BEGUN }
  return withValue(view.phases, name, { ...known, ...changed })
}

function failed(view: View, at: number, where: string, error: ErrorRecord | undefined): Partial<View> {
  // The errors of several hooks as one: each is here already.
  if (!error || error.name === 'AggregateError') return {}
  const known = view.failures.some((other) => other.error.message === error.message && other.error.stack === error.stack)
  return known ? {} : { failures: [...view.failures, { at, where, error }] }
}

const withValue = <V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> => new Map(map).set(key, value)
