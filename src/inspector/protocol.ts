import type { HookKind, LifecycleEvent } from '../base/events.ts'
import type { StopProfile } from '../base/stop-profile.ts'
import type { CutSignal } from '../machines/signals.ts'
import type { Mode } from '../machines/wiring.ts'
import type { Gauges } from '../report/gauges.ts'
import type { Report } from '../report/report.ts'

/**
 * What a journal consists of: everything that happened in a life, in order, one entry per line of
 * NDJSON. The inspector's page shows nothing that is not in it, so that a life that runs, one that
 * has ended and a recorded one look the same.
 */
export type JournalEntry = EntryBase &
  (OpeningEntry | SetupEntry | FactEntry | ActorEntry | ActorStoppedEntry | SentEntry | StateEntry | GaugesEntry | ReportEntry)

interface EntryBase {
  /**
   * The number of the entry. Numbers only grow, with gaps where entries are not kept any more. A
   * reader that was cut off asks for what comes after the last one it has; if that is gone, it gets
   * everything anew, beginning with the opening, which has the number 1.
   */
  readonly n: number
  /** Milliseconds since the life began. */
  readonly at: number
}

/**
 * The first entry of every journal. A stream that sends it again begins anew: what was shown before
 * is to be forgotten.
 */
export interface OpeningEntry {
  readonly kind: 'opening'
  readonly format: 1
  /** Where it comes from: a life as it runs or ran, or a counter-example of the checker. */
  readonly source: 'life' | 'report' | 'counter-example'
  readonly title: string
  readonly wallAtStart: string
  readonly pid?: number
  /** How new requests are refused while draining. */
  readonly mode?: Mode
  /**
   * Rows of the wiring that this life has: the order of regions, and what each one waits for and
   * fires.
   */
  readonly phases: readonly PhaseDescription[]
  /** Milliseconds after StopRequested; undefined without a deadline. */
  readonly deadlineMs?: number
}

export interface PhaseDescription {
  readonly name: string
  readonly half: 'start' | 'stop'
  readonly waitsFor: readonly string[]
  readonly fires: readonly string[]
  /** The cut of the budget that ends it, when one does. */
  readonly cut?: CutSignal
}

/**
 * What a life has registered, and what a stop of it would have; written when it differs from the
 * one before. A report and a counter-example have none.
 */
export interface SetupEntry {
  readonly kind: 'setup'
  /** The times of a stop that begins now, unless by Ctrl-C on a terminal. */
  readonly stop: StopProfile
  /** The times of a stop by a crash. */
  readonly crash: StopProfile
  /** The hooks, also those that have not begun, in the order of registration by kind. */
  readonly hooks: readonly { readonly kind: HookKind; readonly name: string; readonly limitMs?: number }[]
  /** The checks of readiness, as the last request found them; none when health is off. */
  readonly readiness: Readiness | undefined
}

export interface Readiness {
  /** Where it answers. */
  readonly path: string
  readonly checks: readonly {
    readonly name: string
    /** Undefined before anything has asked. */
    readonly passed?: boolean
    /** The reason of a check that failed. */
    readonly reason?: string
  }[]
}

/** A fact of the life: signals, phases, hooks, drains, errors. */
export interface FactEntry {
  readonly kind: 'fact'
  readonly event: LifecycleEvent
}

/** An actor has begun. */
export interface ActorEntry {
  readonly kind: 'actor'
  readonly actor: string
  readonly parent?: string
  /** Its id within its parent, such as `request-drain`. */
  readonly name: string
  /** The id of its machine; undefined for an actor that is an effect. */
  readonly machine?: string
}

export interface ActorStoppedEntry {
  readonly kind: 'actor.stopped'
  readonly actor: string
}

/** An event was sent. `from` is undefined when it came from outside. */
export interface SentEntry {
  readonly kind: 'sent'
  readonly from?: string
  readonly to: string
  readonly event: { readonly type: string }
}

/**
 * A machine is in another state than before, or its context differs; or watching has begun, and
 * this is how it was found.
 */
export interface StateEntry {
  readonly kind: 'state'
  readonly actor: string
  /** The event that led here; undefined for a state that was found. */
  readonly on?: string
  /** A machine's state value. An effect has none. */
  readonly value?: unknown
  /**
   * A machine's context, an effect's input and answer. Undefined: as in this actor's entry before.
   */
  readonly context?: unknown
  readonly status: 'active' | 'done' | 'error' | 'stopped'
  /**
   * The edges that led here; ids of state nodes. Without `to` the transition stayed where it was.
   */
  readonly taken: readonly { readonly on: string; readonly from: string; readonly to?: string }[]
}

/**
 * What is going on now; written when it differs from the one before, at most some times per second.
 */
export interface GaugesEntry extends Gauges {
  readonly kind: 'gauges'
}

/** The last entry: the report of the whole life. */
export interface ReportEntry {
  readonly kind: 'report'
  readonly report: Report
}

/**
 * Routes below `/inspector/`, relative so that they work behind any prefix; the page passes its own
 * query (a token) on to each.
 *
 * - GET ``: `index.html` of the page, whose other files stand beside it under their
 *   relative paths
 * - GET `events`: server-sent events. `session` first, then an unnamed one per entry (`id` is its
 *   `n`; `Last-Event-ID` resumes), then `end`
 * - GET `chart.svg`: the statechart of this life, with every state
 * - GET `chart.json`: the same as data, for a page that draws it by itself
 * - GET `report`: the report so far, as JSON
 * - GET `journal`: the journal so far, as NDJSON
 * - POST `stop`, `drill`: 202, or a problem as text; with `Content-Type: application/json`, so that
 *   no other site can send one unasked
 *
 * A problem is a status from 400 on with one line of text. The policy of the page's content allows
 * scripts, styles, pictures and connections of its own origin and nothing inline.
 */
export interface Session {
  /** A life that runs behind this page, or a recorded one. */
  readonly mode: 'live' | 'recording'
  /** Milliseconds since the life began, when this was sent: a life that idles writes no entries. */
  readonly at: number
  /** Whether POST `stop` and POST `drill` are allowed. */
  readonly canStop: boolean
  readonly canDrill: boolean
}
