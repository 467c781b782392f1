import type { Health } from '../http/health/health.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import type { ResolvedOptions } from '../options/options.ts'
import { leftUntil } from '../report/ending.ts'
import { type Gauges, gaugesOf, NAMES_MAX } from '../report/gauges.ts'
import { type Progress, progressOf } from '../report/progress.ts'
import type { Recorder } from '../report/recorder.ts'
import type { Report } from '../report/report.ts'
import type { ReportBuilder } from '../report/report-builder.ts'
import type { LifeView } from '../report/view.ts'
import type { LifeHealth } from './life-health.ts'
import type { RootActor } from './root-actor.ts'

export interface LifecycleStatusContext {
  readonly options: Pick<ResolvedOptions, 'whileDraining'>
  readonly recorder: Recorder
  readonly root: RootActor
  readonly traffic: Traffic
  readonly health: LifeHealth
  readonly report: ReportBuilder
}

/** How a life stands, for those who show it: to be read some times per second at most. */
export class LifecycleStatus {
  readonly #context: LifecycleStatusContext

  constructor(context: LifecycleStatusContext) {
    this.#context = context
  }

  /** Milliseconds since the life began. */
  get elapsed(): number {
    return this.#context.recorder.elapsed
  }

  /** What is known by now. */
  get view(): LifeView {
    return this.#context.recorder.view
  }

  /** What is going on now. */
  gauges(): Gauges {
    return gaugesOf(this.#context.traffic.snapshot.blocking(NAMES_MAX), this.view, this.elapsed)
  }

  /**
   * How far the end has come, what it waits for, and how long it may still take; undefined until a
   * stop is requested.
   */
  progress(): Progress | undefined {
    return this.view.stop && progressOf(this.view, this.#context.options.whileDraining, this.gauges(), this.elapsed)
  }

  /** How the checks of readiness stand by the last request for them; none when health is off. */
  readiness(): ReturnType<Health['checkStatuses']> | undefined {
    return this.#context.health.answered?.checkStatuses('readyz')
  }

  /** The report so far. */
  get report(): Report {
    return this.#context.report.build(this.#context.root.exitCode)
  }

  /** Time that is left until a bound of the stop, in milliseconds. */
  leftUntil(bound: Parameters<typeof leftUntil>[1]): number {
    return leftUntil(this.view, bound, this.elapsed)
  }
}
