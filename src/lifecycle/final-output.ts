import type { HostProcess } from '../actors/host.ts'
import type { Clock } from '../base/clock.ts'
import { formatDuration } from '../base/duration.ts'
import { show, toError } from '../base/errors.ts'
import { RESERVES_DEFAULT_MS } from '../base/stop-profile.ts'
import type { WarningCode } from '../base/warnings.ts'
import type { EventLog } from '../log/event-log.ts'
import { sayOnStandardError, sayWithCode } from '../log/terminal.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import { leftUntil } from '../report/ending.ts'
import type { Recorder } from '../report/recorder.ts'
import type { ReportBuilder } from '../report/report-builder.ts'
import { writeReport, writeReportNow } from '../report/report-file.ts'

/**
 * An end that comes this long after its deadline has missed it; timers on a busy machine are not
 * that late.
 */
const LATE_MS = 250
/**
 * The time in milliseconds that is kept from a log that is not read: writing the report takes that.
 */
const REPORT_MS = 100

const MISSED: WarningCode = 'WARN_DEADLINE_MISSED'
const LOST: WarningCode = 'WARN_LOG_LOST'

const missedWarning = (late: string): string => `the deadline was missed by ${late}: the event loop was blocked, or the process was paused`

export interface FinalOutputContext {
  readonly clock: Clock
  readonly process: Pick<HostProcess, 'stderr'>
  readonly recorder: Recorder
  readonly log: EventLog
  readonly report: ReportBuilder
  readonly reportFile: string | undefined
  /** Time that the budget keeps for what is written last. */
  readonly flushReserveMs: number
  /** The longest wait for a logger of the user's; the built-in one knows what its reader takes. */
  readonly loggerMs: number | undefined
  /** Whether the user wants nothing said. */
  readonly isSilent: boolean
}

/**
 * What is written and said when a life is over, or has no time left: report and log in one step,
 * and on standard error what neither can say.
 */
export class FinalOutput {
  readonly #context: FinalOutputContext
  #isLate = false
  /** Why the log was not flushed. */
  #unflushed: string | undefined
  /** The report that stands in its file, if another one may be written over it. */
  #written: { readonly lostLines: number } | undefined

  constructor(context: FinalOutputContext) {
    this.#context = context
  }

  /** Time that is left for what is written last. */
  get flushMs(): number {
    return Math.min(this.#context.flushReserveMs, Math.max(0, this.#leftMs))
  }

  /**
   * Resolves when the log is written, or given up: a logger of the user's that hangs has the time
   * of a hook, and what it may have lost costs no exit code (docs/decisions/0008).
   */
  async flushLog(): Promise<void> {
    const { clock, log, recorder, flushReserveMs, loggerMs } = this.#context
    const failed = (how: string): void => {
      if (this.#unflushed !== undefined) return
      this.#unflushed = `lines of the log may be lost: flush() of the option logger ${how}`
      recorder.record({ type: 'warning', message: this.#unflushed, details: { code: LOST } })
    }
    const flushed = log.flush().catch((thrown: unknown) => failed(`failed with ${show(toError(thrown).message)}`))
    if (loggerMs === undefined) return flushed
    const ms = Math.min(loggerMs, msForReaders(recorder))
    await new Promise<void>((resolve) => {
      const bound = clock.setTimeout(() => {
        failed(`has not ended within ${formatDuration(Math.round(ms))}`)
        log.flushNow(Math.min(flushReserveMs, msForReaders(recorder)))
        resolve()
      }, ms)
      void flushed.then(() => {
        clock.clearTimeout(bound)
        resolve()
      })
    })
  }

  /**
   * Writes the report while there is time.
   * @throws QuiesceError ERR_REPORT_WRITE
   */
  async writeReport(exitCode: ExitCode, signal: AbortSignal): Promise<void> {
    const { reportFile, log, report } = this.#context
    const lostLines = log.lostLines()
    const mayWriteAgain = await writeReport(reportFile, report.build(exitCode), signal)
    if (!signal.aborted) this.#written = mayWriteAgain ? { lostLines } : undefined
  }

  /**
   * Writes the report and what it can of the logs, in one synchronous step. The report first:
   * writing it takes no time, and a log that is not read takes all that it gets.
   */
  write(exitCode: ExitCode): void {
    this.#writeReportNow(exitCode)
    this.#context.log.flushNow(this.flushMs)
    this.#amendReport(exitCode)
  }

  /**
   * No timer of ours can end a step of the user's that blocks. It costs no exit code: the budget
   * has cut what it could, and that has its own.
   */
  warnIfLate(): void {
    const late = this.#late()
    if (late !== undefined)
      this.#context.recorder.record({ type: 'warning', message: missedWarning(late), details: { code: MISSED, late } })
  }

  /**
   * The same when nothing is in the report or the log any more. A second call, or one after a
   * warning, does nothing.
   */
  sayIfLate(): void {
    const late = this.#late()
    if (late !== undefined) this.#warn(MISSED, missedWarning(late))
  }

  /**
   * Says what is lost, which costs no exit code (docs/decisions/0008): the log itself cannot say
   * how it ended.
   */
  sayLost(exitCode: ExitCode): void {
    this.#amendReport(exitCode)
    const { log, report, isSilent } = this.#context
    if (this.#unflushed !== undefined) this.#warn(LOST, this.#unflushed)
    const why = log.whyRefused === undefined ? '' : `: the option logger failed with ${show(log.whyRefused)}`
    this.#warnOfLost(LOST, log.lostLines(), 'log line', why)
    if (!isSilent) this.#warnOfLost('WARN_AUDIT_LOST', report.lostAuditEvents, 'audit event')
  }

  /**
   * Says what is no event, because it is a secret and must not stand in a report: in the log, or
   * on standard error when no log has it.
   */
  sayUnrecorded(fields: Readonly<Record<string, string>>, message: string): void {
    const { log } = this.#context
    if (log.writes('info')) log.info(fields, message)
    else this.say(message)
  }

  say(what: string): void {
    sayOnStandardError(this.#context.process.stderr, `quiesce: ${what}\n`)
  }

  #warnOfLost(code: WarningCode, count: number, what: string, why = ''): void {
    if (count > 0) this.#warn(code, `${count} ${what}${count === 1 ? ' was' : 's were'} lost${why}`)
  }

  #warn(code: WarningCode, message: string): void {
    sayWithCode(this.#context.process.stderr, code, message)
  }

  #writeReportNow(exitCode: ExitCode): void {
    const { reportFile, log, report } = this.#context
    const lostLines = log.lostLines()
    this.#written = writeReportNow(reportFile, report.build(exitCode)) ? { lostLines } : undefined
  }

  /** What was lost of the log since the report was written stands in the report, too. */
  #amendReport(exitCode: ExitCode): void {
    if (this.#written && this.#context.log.lostLines() > this.#written.lostLines) this.#writeReportNow(exitCode)
  }

  /** The time by which the deadline has been missed, once. */
  #late(): string | undefined {
    const lateMs = -this.#leftMs
    if (lateMs <= LATE_MS || this.#isLate) return undefined
    this.#isLate = true
    return formatDuration(Math.round(lateMs))
  }

  /** The time until the deadline; below 0 when it is over. */
  get #leftMs(): number {
    const { view, elapsed } = this.#context.recorder
    return leftUntil(view, 'forced', elapsed)
  }
}

/**
 * How long the end waits for a reader of the log that takes nothing: as long as there is time. The
 * report is written after that, within its phase.
 */
export function msForReaders({ view, elapsed }: Recorder): number {
  const leftMs = leftUntil(view, 'flush', elapsed)
  return Number.isFinite(leftMs) ? Math.max(0, leftMs - Math.min(REPORT_MS, leftMs / 2)) : RESERVES_DEFAULT_MS.flush
}
