import { performance } from 'node:perf_hooks'

/**
 * A client that pauses for less, as it seems from here, may ask again before it hears of a GOAWAY
 * that is sent behind an answer.
 */
const SHORT_MS = 15
/** The share of the last pause in the average, to which one alone is no more than so long. */
const WEIGHT = 0.25
const LONGEST_MS = 30

/** Milliseconds that the event loop has waited for something to do. */
const loopIdleMs = (): number => performance.nodeTiming.idleTime

/** How a client asks: one thing after the other or several at a time, and how soon again. */
export class ClientPace {
  readonly #loopIdleMs: () => number
  #isInTurn = true
  /** The mean of the pauses so far, the later ones more; undefined before the first. */
  #pauseMs: number | undefined
  /** {@link loopIdleMs} when nothing was owed any more. */
  #idleSince: number | undefined

  constructor(idleMs: () => number = loopIdleMs) {
    this.#loopIdleMs = idleMs
  }

  /**
   * Notes a request.
   * @param isAlone nothing else is owed
   */
  asked(isAlone: boolean): void {
    if (!isAlone) this.#isInTurn = false
    else if (this.#idleSince !== undefined) {
      const pauseMs = Math.min(LONGEST_MS, this.#loopIdleMs() - this.#idleSince)
      this.#pauseMs = this.#pauseMs === undefined ? pauseMs : this.#pauseMs + WEIGHT * (pauseMs - this.#pauseMs)
    }
  }

  /** Notes that everything was answered. */
  answered(): void {
    this.#idleSince = this.#loopIdleMs()
  }

  /** Whether it has asked one thing after the other so far. */
  get isInTurn(): boolean {
    return this.#isInTurn
  }

  /** Whether it asks one thing after the other, with hardly a pause. */
  get isQuick(): boolean {
    return this.#isInTurn && this.#pauseMs !== undefined && this.#pauseMs < SHORT_MS
  }
}
