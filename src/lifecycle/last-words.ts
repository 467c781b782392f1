import type { HostProcess } from '../actors/host.ts'
import { formatDuration } from '../base/duration.ts'
import type { EventLog } from '../log/event-log.ts'
import { sayOnStandardError } from '../log/terminal.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import { leftUntil } from '../report/ending.ts'
import type { Recorder } from '../report/recorder.ts'
import type { ReportBuilder } from '../report/report-builder.ts'
import { writeReportNow } from '../report/report-file.ts'

/**
 * An end that comes this long after its deadline has missed it; timers on a busy machine are not
 * that late.
 */
const LATE_MS = 250

const missedWarning = (late: string): string => `the deadline was missed by ${late}: the event loop was blocked, or the process was paused`

export interface LastWordsContext {
  readonly process: Pick<HostProcess, 'stderr'>
  readonly recorder: Recorder
  readonly log: EventLog
  readonly report: ReportBuilder
  readonly reportFile: string | undefined
  /** Time that the budget keeps for what is written last. */
  readonly flushReserveMs: number
}

/**
 * What is written and said when a life is over, or has no time left: report and log in one step,
 * and on standard error what neither can say.
 */
export class LastWords {
  readonly #context: LastWordsContext
  #isLate = false

  constructor(context: LastWordsContext) {
    this.#context = context
  }

  /** Time that is left for what is written last. */
  get flushMs(): number {
    return Math.min(this.#context.flushReserveMs, Math.max(0, this.#leftMs))
  }

  /**
   * Writes the report and what it can of the logs, in one synchronous step. The report first:
   * writing it takes no time, and a log that is not read takes all that it gets. What is lost of
   * the log meanwhile stands in the report too, unless that went to a pipe.
   */
  write(exitCode: ExitCode): void {
    const { reportFile, log, report } = this.#context
    const lost = log.lostLines()
    const mayWriteAgain = writeReportNow(reportFile, report.build(exitCode))
    log.flushNow(this.flushMs)
    if (mayWriteAgain && log.lostLines() > lost) writeReportNow(reportFile, report.build(exitCode))
  }

  /**
   * No timer of ours can end a step of the user's that blocks. It costs no exit code: the budget
   * has cut what it could, and that has its own.
   */
  warnIfLate(): void {
    const late = this.#late()
    if (late !== undefined) this.#context.recorder.record({ type: 'warning', message: missedWarning(late), details: { late } })
  }

  /**
   * The same when nothing is in the report or the log any more. A second call, or one after a
   * warning, does nothing.
   */
  sayIfLate(): void {
    const late = this.#late()
    if (late !== undefined) this.say(missedWarning(late))
  }

  /** The log itself cannot say how it ended. */
  sayLostLines(): void {
    const lost = this.#context.log.lostLines()
    if (lost > 0) this.say(`${lost === 1 ? '1 log line was' : `${lost} log lines were`} lost`)
  }

  say(what: string): void {
    sayOnStandardError(this.#context.process.stderr, `quiesce: ${what}\n`)
  }

  /** By how much the deadline has been missed, once. */
  #late(): string | undefined {
    const lateMs = -this.#leftMs
    if (lateMs <= LATE_MS || this.#isLate) return undefined
    this.#isLate = true
    return formatDuration(Math.round(lateMs))
  }

  /** Until the deadline; below 0 when it is over. */
  get #leftMs(): number {
    const { view, elapsed } = this.#context.recorder
    return leftUntil(view, 'forced', elapsed)
  }
}
