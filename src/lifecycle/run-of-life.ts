import type { StopCauses } from '../actors/stop-causes.ts'
import type { Deferred } from '../base/deferred.ts'
import { errorRecord, type StopReason } from '../base/events.ts'
import type { Warning } from '../base/warnings.ts'
import type { EventLog } from '../log/event-log.ts'
import { exitGraceMs } from '../options/budget.ts'
import type { StopSignal } from '../options/rows/stop-signals.ts'
import { isInteractiveStop } from '../platforms/terminal.ts'
import type { RunnableLife } from '../process/run.ts'
import type { Recorder } from '../report/recorder.ts'
import type { Report } from '../report/report.ts'
import type { Presentation } from '../terminal/presentation.ts'
import type { Course } from './course.ts'
import type { EventOutlet } from './event-outlet.ts'
import type { FinalOutput } from './final-output.ts'
import type { LifecycleStatus } from './lifecycle-status.ts'
import type { Output } from './output.ts'
import type { LifecycleParts } from './parts.ts'
import type { RootActor } from './root-actor.ts'
import { startAdvice } from './start-advice.ts'

export interface RunOfLifeContext {
  readonly parts: LifecycleParts
  readonly record: Recorder['record']
  readonly course: Course
  readonly root: RootActor
  readonly status: LifecycleStatus
  readonly causes: StopCauses
  readonly log: EventLog
  readonly output: Output
  readonly finalOutput: FinalOutput
  readonly outlet: EventOutlet
  readonly ended: Deferred<Report>
}

/** A life as `run()` has it: the process ends it, and it is said on the process's terminal. */
export class RunOfLife implements RunnableLife {
  readonly #context: RunOfLifeContext

  constructor(context: RunOfLifeContext) {
    this.#context = context
  }

  get host() {
    return this.#context.parts.host
  }

  get options() {
    return this.#context.parts.options
  }

  get record() {
    return this.#context.record
  }

  get events$() {
    return this.#context.outlet.events$
  }

  get ended(): Promise<Report> {
    return this.#context.ended.promise
  }

  /** How long the process may live on after the end of the life, which has come. */
  get exitGraceMs(): number {
    return exitGraceMs(this.#context.status.leftUntil('flush'))
  }

  /** Whether failures are logged nowhere. */
  get isSilent(): boolean {
    return !this.#context.log.writes('error')
  }

  /** What was registered and has no effect; `run()` says it on standard error, too. */
  get startWarnings(): readonly Warning[] {
    return this.#context.course.startWarnings
  }

  /** What to do when it could not start, if that is known. */
  get startAdvice(): string | undefined {
    const { causes, parts } = this.#context
    const { label: named, labelOfField } = parts.log.wording ?? {}
    const label = (option: string): string => {
      // An attached server has no option for its address; what is beside it has.
      const isField = option.includes('.')
      if (!isField && !named && parts.adopted) return 'where it calls listen()'
      return (isField ? labelOfField?.(option) : named?.(option)) ?? `the option ${option}`
    }
    return causes.cause?.kind === 'start-failed' ? startAdvice(causes.cause.error, label) : undefined
  }

  begin(): void {
    this.#context.course.begin()
  }

  start(): Promise<void> {
    return this.#context.course.start()
  }

  requestStop(reason: StopReason): void {
    this.#context.root.requestStop(reason)
  }

  signalled(signal: string): void {
    this.#context.root.send({ type: 'process.signalled', signal, interactive: isInteractiveStop(this.options.facts, signal) })
  }

  /** The process has crashed. */
  crashed(origin: string, thrown: unknown): void {
    this.#context.causes.keep(origin, thrown)
    this.#context.root.send({ type: 'process.crashed', origin, error: errorRecord(thrown) })
  }

  present(endsBySignal: (signal: StopSignal) => boolean): Promise<Presentation> | undefined {
    const { output, outlet, status, root } = this.#context
    const shown = {
      events$: outlet.events$,
      get report() {
        return status.report
      },
      progress: () => status.progress(),
      gauges: () => status.gauges(),
      get secondSignal() {
        return root.secondSignal
      },
    }
    return output.present(shown, endsBySignal)
  }

  /** See {@link FinalOutput.sayIfLate}. */
  sayIfLate(): void {
    this.#context.finalOutput.sayIfLate()
  }
}
