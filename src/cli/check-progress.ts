import { type Clock, systemClock } from '../base/clock.ts'
import { canRedraw } from '../platforms/terminal.ts'
import type { CliHost } from './host.ts'
import { groupedDigits } from './printed-verdicts.ts'

/** What is over sooner needs no word. */
const QUIET_MS = 1_000
const EVERY_MS = 250
const CLEARED = '\r\u001b[K'

/**
 * Says on a terminal how far a long exploration has come, in one line that is written over and goes
 * away. The total is not known before the end.
 */
export class CheckProgress {
  readonly #stderr: CliHost['stderr']
  readonly #isShown: boolean
  readonly #clock: Pick<Clock, 'now'>
  readonly #from: number
  #writtenAt = Number.NEGATIVE_INFINITY

  constructor({ stderr, env }: Pick<CliHost, 'stderr' | 'env'>, clock: Pick<Clock, 'now'> = systemClock) {
    this.#clock = clock
    this.#from = clock.now()
    this.#stderr = stderr
    this.#isShown = canRedraw({ stdout: stderr, env })
  }

  /** @param found how many states; @param taken of how many all ways were taken */
  update(mode: string, found: number, taken: number): void {
    const now = this.#clock.now()
    if (!this.#isShown || now - this.#from < QUIET_MS || now - this.#writtenAt < EVERY_MS) return
    this.#writtenAt = now
    this.#stderr.write(`${CLEARED}${mode}: ${groupedDigits(found)} states, ${groupedDigits(found - taken)} of them still to explore`)
  }

  clear(): void {
    if (this.#writtenAt > 0) this.#stderr.write(CLEARED)
    this.#writtenAt = Number.NEGATIVE_INFINITY
  }
}
