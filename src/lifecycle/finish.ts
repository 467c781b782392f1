import type { Host } from '../actors/host.ts'
import type { Drains } from '../actors/reported-drains.ts'
import type { Deferred } from '../base/deferred.ts'
import { takeSteps } from '../base/each-of.ts'
import { QuiesceError, toError } from '../base/errors.ts'
import { errorRecord, osSignalOf, type StopReason } from '../base/events.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import { moreSevere } from '../machines/exit-codes.ts'
import type { ResolvedOptions } from '../options/options.ts'
import { ProcessEnd } from '../process/process-end.ts'
import { onProcessExit } from '../process/process-exit.ts'
import type { UnseenWork, WorkLeft } from '../process/work-left.ts'
import type { Recorder } from '../report/recorder.ts'
import type { Report } from '../report/report.ts'
import type { ReportBuilder } from '../report/report-builder.ts'
import { SKIPPED_NAMES_MAX, unfinishedWords } from '../report/skipped-hooks.ts'
import type { EventOutlet } from './event-outlet.ts'
import type { FinalOutput } from './final-output.ts'
import type { LifecycleStatus } from './lifecycle-status.ts'
import type { OpenedListeners } from './opened-listeners.ts'
import type { Ownership } from './ownership.ts'
import type { Observer } from './parts.ts'
import type { RootActor } from './root-actor.ts'
import type { StartOutcome } from './start-outcome.ts'
import { whyNotServed } from './why-not-served.ts'

export interface FinishContext {
  readonly host: Host
  readonly options: Pick<ResolvedOptions, 'exit'>
  readonly record: Recorder['record']
  readonly root: RootActor
  readonly status: LifecycleStatus
  readonly report: ReportBuilder
  readonly traffic: Traffic
  readonly drains: Drains
  readonly listeners: OpenedListeners
  readonly finalOutput: FinalOutput
  readonly outlet: EventOutlet
  readonly observer: Observer | undefined
  readonly ownership: Ownership
  readonly unseenWork: UnseenWork
  readonly startOutcome: StartOutcome
  readonly ended: Deferred<Report>
}

/**
 * How a life finishes: in order, by the end of its process in the middle of it, or by a failure of
 * its own machine.
 */
export class Finish {
  readonly #context: FinishContext
  #processExit: Disposable | undefined

  constructor(context: FinishContext) {
    this.#context = context
  }

  /** Begins to listen for the end of the process. */
  begin(): void {
    this.#processExit = onProcessExit(this.#context.host.process, (code) => this.#processExits(code))
  }

  /** The machine has come to its end. */
  inOrder(): void {
    const { status, startOutcome } = this.#context
    const { report } = status
    this.#finish(report, whyNotServed(report, startOutcome.error))
  }

  /**
   * The root machine itself has failed, which is a defect of ours: ends what can be ended, outside
   * of it.
   */
  lastResort(error: unknown): void {
    const { record, listeners, traffic, finalOutput, report: builder } = this.#context
    record({ type: 'error', where: 'lifecycle', error: errorRecord(toError(error)) })
    record({ type: 'forced', why: 'internal-error' })
    record({ type: 'ended', exitCode: 70 })
    for (const listener of listeners.all) listener.close()
    traffic.destroyConnections()
    traffic.destroyAdminConnections()
    finalOutput.write(70)
    const report = builder.build(70)
    this.#finish(report, new QuiesceError('ERR_INTERNAL', 'the lifecycle itself has failed', { report }, error))
  }

  /**
   * Resolves when no work is left that the life does not know of, or no time for it. Only where
   * this life ends the process: elsewhere what goes on is not cut. What was cut or forced is said
   * already.
   */
  async unseenWorkOver(signal: AbortSignal): Promise<void> {
    const { host, options, ownership, root, status, unseenWork, record } = this.#context
    if (!ownership.isHeld || options.exit === 'natural') return
    if (!ProcessEnd.of(host.process).isLast || moreSevere(root.exitCode, 4) !== 4) return
    const left = await unseenWork.over(status.leftUntil('flush'), signal)
    if (!left) return
    record({ type: 'handlers', running: [{ name: `work outside of requests (${left.what})`, ageMs: left.afterMs }] })
    record({ type: 'warning', message: workLeftWarning(left) })
    root.send({ type: 'work.left', exitCode: left.exitCode })
  }

  /**
   * The process ends in the middle of the life, by an exit that is not ours or because nothing
   * keeps it alive: names what is left and writes what must be written, in one synchronous step.
   * The process's exit code is not ours to change.
   */
  #processExits(exitCode: number): void {
    const { root, status, traffic, drains, finalOutput, outlet, record } = this.#context
    this.#processExit?.[Symbol.dispose]()
    const own = moreSevere(root.exitCode, 1)
    const nameRunning = (): void => {
      const running = traffic.runningHandlers()
      if (running.length > 0) record({ type: 'handlers', running })
    }
    const sayWhatIsCut = (): void => {
      const cut = traffic.drains.requestStragglers().length + traffic.drains.watchStragglers().length
      const reason = status.view.stop?.reason
      const event = heardByOthers(reason, status.report.warnings)
      const by = event === undefined ? '' : `; a listener of ${event} may have called process.exit(): leave the end to run()`
      const unfinished = unfinishedWords(status.report.hooks, SKIPPED_NAMES_MAX)
      // Before any stop an exit is the program's own, unless a client notices.
      if (cut === 0 && (reason === undefined || (exitCode === 0 && unfinished === undefined))) return
      const lost = [...(cut > 0 ? [`${cut} in flight cut off`] : []), ...(unfinished === undefined ? [] : [unfinished])].join('; ')
      finalOutput.say(`the process exits with ${exitCode} before its server has ended${lost && `: ${lost}`}${by}`)
    }
    try {
      // An observer may call process.exit() itself, after which nothing runs any more.
      outlet.holdWhile(() =>
        takeSteps(
          () => record({ type: 'forced', why: 'process-exit', exitCode }),
          nameRunning,
          () => drains.name(),
          () => record({ type: 'ended', exitCode: own }),
          () => finalOutput.write(own),
          sayWhatIsCut,
          () => finalOutput.sayLost(own),
        ),
      )
    } catch (error) {
      // An exception would undo the exit: a listener of uncaught ones takes it.
      finalOutput.say(`the process exits, and quiesce could not name all that this has cut off: ${toError(error).message}`)
    }
  }

  #finish(report: Report, whyNotServed: QuiesceError): void {
    const { finalOutput, root, startOutcome, observer, ended, outlet } = this.#context
    this.#processExit?.[Symbol.dispose]()
    finalOutput.sayLost(root.exitCode)
    finalOutput.sayIfLate()
    startOutcome.ends(whyNotServed)
    // Observers hear the last word first. An end by force does not wait for them.
    const resolve = (): void => ended.resolve(report)
    const observed = observer?.end(report, finalOutput.flushMs)
    if (observed && report.forced === null) observed.then(resolve, resolve)
    else resolve()
    outlet.complete()
  }
}

/**
 * The event that has led to the stop, if the program has a listener of its own for it: it may be
 * the one that ends the process. One that is called once is no longer there then, hence the
 * warning.
 */
function heardByOthers(reason: StopReason | undefined, warnings: Report['warnings']): string | undefined {
  if (reason?.kind === 'crash') return reason.origin
  const signal = osSignalOf(reason)
  const isHeard = warnings.some(({ details }) => ((details?.['signals'] ?? []) as readonly unknown[]).includes(signal))
  return isHeard ? signal : undefined
}

const workLeftWarning = ({ what, exitCode, afterMs }: WorkLeft): string =>
  `work outside of requests went on after the destroy functions had run (${what}), and ` +
  `${exitCode === 4 ? `ended ${Math.round(afterMs)} ms later` : 'is cut by the end of the process'}: ` +
  'give its promise to waitUntil(request, promise) or hold(), close pools in addDestroy(), and clear timers that are no longer needed'
