import { type StandardError, sayOnStandardError } from '../log/terminal.ts'

/** What tells that a process has nothing left to do: the process. */
export interface EndSource {
  readonly stderr: StandardError
  on(event: 'beforeExit', listener: () => void): unknown
  off(event: 'beforeExit', listener: () => void): unknown
}

const ofSources = new WeakMap<EndSource, Unstarted>()

function of(source: EndSource): Unstarted {
  const unstarted = ofSources.get(source) ?? new Unstarted(source)
  ofSources.set(source, unstarted)
  return unstarted
}

/**
 * A life was created, which is still to be started. A process that comes to its end, and no life of
 * it was ever begun, says so: it has served nothing, with exit code 0, and nothing else would tell.
 * Keeps neither the process nor the life.
 */
export const lifeCreated = (source: EndSource): void => of(source).created()

/** A life has begun: those of the process that have not are left so on purpose. */
export const lifeBegun = (source: EndSource): void => of(source).begun()

class Unstarted {
  readonly #source: EndSource
  /** A number is enough: a life that is not used any more was not started either. */
  #lives = 0
  #isOver = false

  constructor(source: EndSource) {
    this.#source = source
  }

  created(): void {
    if (this.#isOver) return
    if (this.#lives === 0) this.#source.on('beforeExit', this.#say)
    this.#lives++
  }

  begun(): void {
    this.#isOver = true
    this.#source.off('beforeExit', this.#say)
  }

  readonly #say = (): void => {
    // What is said may take a turn more, after which the process comes to its end again.
    this.#source.off('beforeExit', this.#say)
    const [what, it] = this.#lives === 1 ? ['a life was', 'it'] : [`${this.#lives} lives were`, 'them']
    sayOnStandardError(
      this.#source.stderr,
      `quiesce: ${what} created and never started, so nothing was served: call run() on ${it}, or start()\n`,
    )
  }
}
