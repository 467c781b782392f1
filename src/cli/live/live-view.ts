import { stripVTControlCharacters } from 'node:util'
import { cells } from '../../base/cells.ts'
import type { Clock } from '../../base/clock.ts'

export interface LiveViewOptions {
  readonly clock: Clock
  /** The terminal, as the log writes to it. */
  readonly terminal: {
    write(text: string): void
    /** Above 0 while the terminal takes nothing: it is stopped, or slow. */
    readonly pendingBytes: number
  }
  /** Asked for every time, because a window changes its size. */
  readonly size: () => { readonly columns: number; readonly rows: number }
  /** The lines to show now; none when there is nothing to show. */
  readonly lines: (width: number, height: number) => readonly string[]
}

const REDRAW_MS = 250
const ESC = '\u001b['
const CLEAR_BELOW = `${ESC}J`
const CLEAR_REST_OF_LINE = `${ESC}K`

/**
 * A few lines at the bottom of a terminal, redrawn in place while the log goes on above them.
 *
 * Every change is one write, through whatever the log is written with, so that nothing comes in
 * between and nothing flickers. A terminal that takes nothing is left alone: the view never waits,
 * keeps no process alive, and a frame that is not drawn is not missed.
 */
export class LiveView {
  readonly #options: LiveViewOptions
  /** On the screen, with the cursor on the line below them. */
  #drawn: readonly string[] = []
  #timer: unknown

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

  /** Takes the lines off the screen. */
  stop(): void {
    this.#options.clock.clearTimeout(this.#timer)
    this.#timer = undefined
    const { terminal } = this.#options
    if (this.#drawn.length > 0) terminal.write(`${this.#toTop()}${CLEAR_BELOW}`)
    this.#drawn = []
  }

  /**
   * What to write in place of `text`, which ends with a newline, so that it stands above the lines.
   */
  above(text: string): string {
    return this.#drawn.length === 0 ? text : `${this.#toTop()}${CLEAR_BELOW}${text}${this.#drawn.map((line) => `${line}\n`).join('')}`
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
    // One row for the cursor.
    const next = lines(columns, rows - 1)
    const text = next.map((line) => `${line}${CLEAR_REST_OF_LINE}\n`).join('')
    if (next.length > 0 || this.#drawn.length > 0) terminal.write(`${this.#toTop()}${text}${CLEAR_BELOW}`)
    this.#drawn = next
  }

  /**
   * To the first cell of what is drawn. In a window that has become narrower since, its lines have
   * wrapped.
   */
  #toTop(): string {
    const { columns, rows } = this.#options.size()
    const drawn = this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(cells(stripVTControlCharacters(line)) / columns)), 0)
    const up = Math.min(drawn, rows - 1)
    // What the user has typed stands behind the cursor.
    return up > 0 ? `\r${ESC}${up}A` : '\r'
  }
}
