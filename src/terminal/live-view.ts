import { clip } from '../base/cells.ts'
import type { Clock } from '../base/clock.ts'

export interface LiveViewOptions {
  readonly clock: Clock
  /** The terminal, as the log writes to it. */
  readonly terminal: {
    write(text: string): void
    /** Above 0 while the terminal takes nothing: it is stopped, or slow. */
    readonly pendingBytes: number
  }
  /** The size of the window, asked for every time, because it changes. */
  readonly size: () => { readonly columns: number; readonly rows: number }
  /** The lines to show now, none wider than `width`; none when there is nothing to show. */
  readonly lines: (width: number, height: number) => readonly string[]
}

const REDRAW_MS = 250
const ESC = '\u001b['
const CLEAR_BELOW = `\r${ESC}J`
const CLEAR_REST_OF_LINE = `${ESC}K`
/**
 * The cursor's, and one above it: some terminals keep a copy of the screen in their history when
 * all of it is cleared.
 */
const KEPT_ROWS = 2
/** What is wider than a window that has just become narrower is cut off, and needs no more rows. */
const WRAP_OFF = `${ESC}?7l`
const WRAP_ON = `${ESC}?7h`

/**
 * A few lines at the bottom of a terminal, redrawn in place while the log goes on above them.
 *
 * The cursor rests at the top of them, on a row of its own: what is above the cursor is never
 * touched. So a window may change its size at any time, and what others write to the terminal
 * stands where the cursor is and stays: neither costs a line of the log. Every change is one write,
 * through whatever the log is written with, so that nothing comes in between and nothing flickers.
 * A terminal that takes nothing is left alone: the view never waits, keeps no process alive, and a
 * frame that is not drawn is not missed.
 */
export class LiveView {
  readonly #options: LiveViewOptions
  /** The lines that are on the screen now. */
  #drawn: readonly string[] = []
  /** The last line of others, as far as it has been written. */
  #unended = ''
  #timer: unknown
  #isStale = false

  constructor(options: LiveViewOptions) {
    this.#options = options
  }

  /**
   * Shows the lines from a moment later on: an end that takes no time needs no view. A second call
   * does nothing.
   */
  start(): void {
    if (this.#timer === undefined) this.#schedule()
  }

  /**
   * Something has happened: what is on the screen is drawn again before the turn is over, once for
   * all that happens in it. A line of the log about it would stand above what was so
   * before.
   */
  refresh(): void {
    if (this.#isStale || this.#drawn.length === 0) return
    this.#isStale = true
    queueMicrotask(() => {
      if (!this.#isStale) return
      this.#isStale = false
      this.#draw()
    })
  }

  /** Takes the lines off the screen. */
  stop(): void {
    this.#isStale = false
    this.#options.clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#erase()
    this.#unended = ''
  }

  /**
   * What to write in place of `text`, which ends with a newline, so that it stands above the lines.
   */
  above(text: string): string {
    if (this.#drawn.length === 0) return text
    // A frame for every line that waits would be longer than what it waits with.
    if (this.#options.terminal.pendingBytes > 0) this.#drawn = []
    return `${CLEAR_BELOW}${text}${this.#drawn.length > 0 ? this.#place(this.#drawn) : this.#unended}`
  }

  /**
   * Writes what is not of the log, however it ends: a line that is not over yet is kept in the row
   * above the lines.
   */
  write(text: string): void {
    const all = this.#unended + text
    const whole = all.slice(0, all.lastIndexOf('\n') + 1)
    this.#unended = all.slice(whole.length)
    this.#options.terminal.write(this.#drawn.length === 0 ? text : this.above(whole))
  }

  #schedule(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#draw()
      this.#schedule()
    }, REDRAW_MS)
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  #draw(): void {
    const { terminal, size, lines } = this.#options
    if (terminal.pendingBytes > 0) return
    const { columns, rows } = size()
    const next = lines(columns, Math.max(0, rows - KEPT_ROWS))
    if (next.length === 0) this.#erase()
    else terminal.write(this.#place(next))
    this.#drawn = next
  }

  #erase(): void {
    if (this.#drawn.length > 0) this.#options.terminal.write(`${CLEAR_BELOW}${this.#unended}`)
    this.#drawn = []
  }

  /** Draws lines from the cursor's row on, over what is there, and goes back to it. */
  #place(lines: readonly string[]): string {
    // The last cell stays empty: some terminals wrap as soon as it is written.
    const unended = clip(this.#unended, this.#options.size().columns - 1)
    const rows = [unended, ...lines].map((line) => `${line}${CLEAR_REST_OF_LINE}`)
    return `\r${WRAP_OFF}${rows.join('\n')}${WRAP_ON}${ESC}J\r${ESC}${lines.length}A`
  }
}
