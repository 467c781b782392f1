import type { LifecycleEvent } from '../base/events.ts'
import type { SecondSignalState } from '../machines/stop.ts'
import type { Gauges } from '../report/gauges.ts'
import type { Progress } from '../report/progress.ts'
import type { Report } from '../report/report.ts'
import { type ShownLife, type Terminal, terminalOfProcess } from './terminal.ts'

export { terminalOfProcess }

/** What is asked of a life that is shown. */
export interface PresentedLife {
  readonly events$: { subscribe(next: (event: LifecycleEvent) => void): unknown }
  readonly report: Report
  progress(): Progress | undefined
  gauges(): Gauges
  /** What the next signal does. */
  readonly secondSignal: SecondSignalState | undefined
}

/** Longest wait for a terminal that has been stopped, once everything else is over. */
const LAST_WRITE_MS = 500

/** One life on the terminal: what it waits for while it ends, and the timeline of its end. */
export class Presentation implements ShownLife {
  readonly #life: PresentedLife
  readonly #terminal: Terminal
  readonly #endsBySignal: (signal: 'SIGINT') => boolean
  #isPrinted = false

  /**
   * @param endsBySignal whether a signal, from now on, is one that the life hears
   */
  constructor(life: PresentedLife, endsBySignal: (signal: 'SIGINT') => boolean, terminal = terminalOfProcess()) {
    this.#life = life
    this.#endsBySignal = endsBySignal
    this.#terminal = terminal
    life.events$.subscribe((event) => this.#follow(event))
    // It may have been stopped before this was loaded.
    if (life.progress()) terminal.show(this)
  }

  progress(): Progress | undefined {
    return this.#life.progress()
  }

  gauges(): Gauges {
    return this.#life.gauges()
  }

  get hint(): string | undefined {
    if (!this.#endsBySignal('SIGINT')) return undefined
    const { secondSignal } = this.#life
    if (secondSignal === 'none') return 'press Ctrl-C twice to end now'
    // A signal that comes while the first is debounced counts as that one.
    if (secondSignal !== 'armed') return undefined
    const { reason } = this.progress() ?? {}
    const isAgain = reason?.kind === 'os-signal' && reason.signal === 'SIGINT'
    return `press Ctrl-C ${isAgain ? 'again ' : ''}to end now`
  }

  /** Whether those who read standard error have the timeline before them, which says the same. */
  get saysWhy(): boolean {
    return this.#terminal.hasStandardError
  }

  /** Prints the timeline; a second call does nothing. */
  end(report: Report): void {
    this.#terminal.hide(this)
    if (this.#isPrinted) return
    this.#isPrinted = true
    // Of a start that has failed the log has said why, and nothing was drained.
    if (report.reason?.kind !== 'start-failed') this.#terminal.print(report)
    // The process exits in this very step, or goes on as long as it likes.
    if (report.forced === null) void this.#terminal.flush(LAST_WRITE_MS)
    else this.#terminal.flushNow(LAST_WRITE_MS)
  }

  /**
   * Shows events from the stop request to the report: what is written after that is for the
   * terminal to keep.
   */
  #follow(event: LifecycleEvent): void {
    if (event.type === 'signal' && event.name === 'StopRequested') this.#terminal.show(this)
    const isOver = (event.type === 'phase.started' && event.phase === 'report') || event.type === 'forced' || event.type === 'ended'
    if (isOver) this.#terminal.hide(this)
    else this.#terminal.refresh(this)
    // After an exit that is not ours nothing else runs.
    if (event.type === 'ended' && this.#life.report.forced === 'process-exit') {
      this.end({ ...this.#life.report, exitCode: event.exitCode })
    }
  }
}
