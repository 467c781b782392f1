import { type StandardError, sayOnStandardError } from '../log/terminal.ts'

/** What tells that a process has nothing left to do: the process. */
export interface EndSource {
  readonly stderr: StandardError
  on(event: 'beforeExit', listener: () => void): unknown
  off(event: 'beforeExit', listener: () => void): unknown
}

const waiting = new WeakMap<EndSource, Waiting>()

/**
 * A life was made that is still to be started. A process that comes to its end with one says so:
 * it has served nothing, with exit code 0, and nothing else would tell. Keeps neither the process
 * nor the life.
 *
 * @returns what says that it was begun; a second call does nothing
 */
export function awaitStart(source: EndSource): () => void {
  const known = waiting.get(source) ?? new Waiting(source)
  waiting.set(source, known)
  return known.add()
}

/** A number is enough: a life that is not used any more was not started either. */
class Waiting {
  readonly #source: EndSource
  #count = 0

  constructor(source: EndSource) {
    this.#source = source
  }

  add(): () => void {
    if (this.#count++ === 0) this.#source.on('beforeExit', this.#say)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      if (--this.#count === 0) this.#source.off('beforeExit', this.#say)
    }
  }

  readonly #say = (): void => {
    // What is said may take a turn more, after which the process comes to its end again.
    this.#source.off('beforeExit', this.#say)
    const [what, it] = this.#count === 1 ? ['a life was', 'it'] : [`${this.#count} lives were`, 'them']
    sayOnStandardError(
      this.#source.stderr,
      `quiesce: ${what} created and never started, so nothing was served: call run() on ${it}, or start()\n`,
    )
  }
}
