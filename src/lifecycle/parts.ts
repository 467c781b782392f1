import type { AnyActor } from 'xstate'
import type { Host } from '../actors/host.ts'
import { type InspectedRoot, SystemsBeside } from '../actors/inspection.ts'
import type { Listener } from '../actors/listener.ts'
import type { LifecycleEvent, StopReason } from '../base/events.ts'
import type { FailureAnswer } from '../http/traffic/recovery.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import type { OlderConnections } from '../http/transport.ts'
import type { LifePlan } from '../machines/lifecycle.ts'
import type { MetricFamily } from '../metrics/family.ts'
import type { ResolvedOptions } from '../options/options.ts'
import type { Recorder } from '../report/recorder.ts'
import type { Report } from '../report/report.ts'
import type { LifecycleStatus } from './lifecycle-status.ts'
import type { DefaultLog } from './output.ts'

/** What a server that is built on a created one answers and counts itself. */
export interface OwnAnswers {
  /**
   * The handler answers the health endpoints itself, with `Lifecycle.health`; an admin listener
   * answers them in any case.
   */
  readonly healthIsHandlers?: boolean
  /** What failed handlers are answered for with. Default: a plain 500. */
  readonly failureAnswer?: FailureAnswer
  /** Metrics of its own, after those of health. */
  readonly metrics?: () => readonly MetricFamily[]
  /** Roots of actors that belong to it: an inspector of the life sees them, too. */
  readonly actors?: () => readonly InspectedRoot[]
}

/** What a life is made of; `createServer` and `attachLifecycle` differ in nothing else. */
export interface LifecycleParts extends OwnAnswers {
  readonly options: ResolvedOptions
  /** Whether it has no listener but that of the option `admin`. */
  readonly servesNothing?: true
  readonly host: Host
  /** Creates the listeners behind the gate; called once, when they are to be bound. */
  readonly openListeners: (traffic: Traffic) => Promise<readonly Listener[]>
  /** What requests come to behind the gate, to find routes that it hides. */
  readonly applications?: () => readonly unknown[]
  /**
   * Listeners that are there already; a stop closes them even when it comes before they were bound.
   */
  readonly adopted?: readonly Listener[]
  /** Connections that the adopted server may have by now. */
  readonly older?: OlderConnections | undefined
  readonly log: DefaultLog
  /** What watches the life, if anything shall. */
  readonly observe?: (life: ObservedLife) => Observer | undefined
}

/** Systems of actors beside the life's own: of its audit backend, and of what is built on it. */
export const systemsBeside = ({ options, actors }: LifecycleParts): SystemsBeside =>
  new SystemsBeside(() => [...(options.audit?.actors?.() ?? []), ...(actors?.() ?? [])])

/** What an observer may read of a life, and do. */
export interface ObservedLife {
  /** Systems of actors beside the life's own. */
  readonly beside: SystemsBeside
  readonly host: Host
  readonly options: ResolvedOptions
  readonly record: Recorder['record']
  readonly status: LifecycleStatus
  plan(): LifePlan
  requestStop(reason: StopReason): void
  /**
   * Says what is no event, because it is a secret and must not stand in a report: in the log, or
   * on standard error when no log has it.
   */
  sayUnrecorded(fields: Readonly<Record<string, string>>, message: string): void
}

/** Watches a life, decides nothing, and changes nothing in it: the inspector and its journal. */
export interface Observer {
  /** A sink of events. */
  readonly fact: (event: LifecycleEvent) => void
  /** Begins the observation. Call it before the machine starts. */
  begin(root: AnyActor): void
  /** A listener of its own, if it has one; bound with the others. */
  open(): Promise<readonly Listener[]>
  /** The last word: undefined when there is nothing to wait for. */
  end(report: Report, flushMs: number): Promise<unknown> | undefined
}
