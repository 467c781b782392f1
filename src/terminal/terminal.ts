import { fstatSync } from 'node:fs'
import { type Clock, systemClock } from '../base/clock.ts'
import { look } from '../base/look.ts'
import { stdoutDestination } from '../log/log-destination.ts'
import { canRedraw, isSharedTerminal, takesColor } from '../platforms/terminal.ts'
import type { Gauges } from '../report/gauges.ts'
import type { Progress } from '../report/progress.ts'
import { type RenderOptions, renderReport } from '../report/render-report.ts'
import type { Report } from '../report/report.ts'
import { drainLines } from './drain-lines.ts'
import { LiveView } from './live-view.ts'
import { type Stream, takeOverWriters } from './other-writers.ts'
import { prettyFormat } from './pretty-lines.ts'

/** A life, as far as it is shown. */
export interface ShownLife {
  progress(): Progress | undefined
  gauges(): Gauges
  /** What a person can do about a stop that is under way. */
  readonly hint: string | undefined
}

/** A terminal that does not know its size says 0, or nothing. */
const SIZE_DEFAULT = { columns: 80, rows: 24 }

/**
 * Standard output as people read it: the log in lines for them, what the lives of this process wait
 * for while they end, and the timelines of their ends. Where it is no terminal, lines and
 * timelines.
 */
export class Terminal {
  readonly #destination = stdoutDestination()
  readonly #lives = new Set<ShownLife>()
  readonly #view: LiveView | undefined
  readonly #format: (jsonLine: string) => string
  #others: Disposable | undefined

  constructor(clock: Clock = systemClock) {
    this.#format = prettyFormat({ color: this.#rendering.color, columns: () => this.#rendering.columns })
    if (!canRedraw(process)) return
    this.#view = new LiveView({
      clock,
      terminal: this.#destination,
      size: () => ({ columns: process.stdout.columns || SIZE_DEFAULT.columns, rows: process.stdout.rows || SIZE_DEFAULT.rows }),
      lines: (width, height) => this.#lines(width, height),
    })
  }

  /** A JSON line of the log, as it is to be written. */
  readonly format = (jsonLine: string): string => {
    const line = this.#format(jsonLine)
    return this.#view?.above(line) ?? line
  }

  /**
   * Shows what a life waits for, until it is hidden; nothing where other processes write as well. A
   * second call does nothing.
   */
  show(life: ShownLife): void {
    if (!this.#view || isSharedTerminal()) return
    this.#lives.add(life)
    this.#view.start()
    this.#others ??= takeOverWriters(terminals(), (text) => this.#view?.write(text))
  }

  /** What a shown life waits for has changed. Nothing for one that is not shown. */
  refresh(life: ShownLife): void {
    if (this.#lives.has(life)) this.#view?.refresh()
  }

  /** Hides a life; does nothing for one that is not shown. */
  hide(life: ShownLife): void {
    if (!this.#lives.delete(life) || this.#lives.size > 0) return
    this.#view?.stop()
    this.#others?.[Symbol.dispose]()
    this.#others = undefined
  }

  /** Whether what is said on standard error is read in the same place. */
  get hasStandardError(): boolean {
    return terminals().length > 1
  }

  /** The timeline of an end, below the log. */
  print(report: Report): void {
    const text = `\n${renderReport(report, this.#rendering)}`
    // A terminal that has been stopped would hold the process for ever, and a process that exits in
    // this step drops what a full pipe has not taken: both go the way of the log. Other output
    // tells its stream's listeners when it cannot be written.
    if (process.stdout.isTTY || report.forced !== null) this.#destination.write(this.#view?.above(text) ?? text)
    else process.stdout.write(text)
  }

  /** Writes what has been printed, and gives it up when the terminal takes nothing for `ms`. */
  async flush(ms: number): Promise<void> {
    await this.#destination.flushBounded(ms)
  }

  /** The same in one step, for the last one before the process exits. */
  flushNow(ms: number): void {
    this.#destination.flushSync(ms)
  }

  get #rendering(): RenderOptions & { readonly color: boolean } {
    const { columns } = process.stdout
    return { color: takesColor(process.stdout, process.env), ...(columns > 0 && { columns }) }
  }

  /** One life after the other; usually there is one. */
  #lines(width: number, height: number): string[] {
    const { color } = this.#rendering
    return [...this.#lives]
      .flatMap((life) => {
        const progress = life.progress()
        return progress ? drainLines(progress, life.gauges(), { width, height, color, hint: life.hint }) : []
      })
      .slice(0, height)
  }
}

/** Standard output, and standard error when it is the same terminal. */
function terminals(): Stream[] {
  const { stdout, stderr } = process
  // One that has been closed is none.
  return stderr.isTTY && look(() => fstatSync(stderr.fd).rdev === fstatSync(stdout.fd).rdev) ? [stdout, stderr] : [stdout]
}

let ofProcess: Terminal | undefined

/** The terminal of the process, as its standard output is. */
export function terminalOfProcess(): Terminal {
  ofProcess ??= new Terminal()
  return ofProcess
}
