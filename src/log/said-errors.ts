import { type ErrorRecord, isCrashEvent, type LifecycleEvent } from '../base/events.ts'
import { type StandardError, sayOnStandardError } from './terminal.ts'

/** A program that fails in more places than this has been told so. */
const PLACES_MAX = 100
/** Messages may be of any length. */
const LENGTH_MAX = 8_192

const FIRST = 'Further errors from the same place are not printed here: the option logger gets every error.'
const LAST = `Errors from ${PLACES_MAX} places were printed here. Errors from other places are not printed: the option logger gets every error.`

/**
 * Errors of a life that has no logger, on standard error: each place of the program that fails is
 * said once, with its stack, so that a handler that fails with every request writes one.
 */
export class SaidErrors {
  readonly #stderr: StandardError
  readonly #places = new Set<string>()
  readonly #hasNoLog: () => boolean

  constructor(stderr: StandardError, hasNoLog: () => boolean) {
    this.#stderr = stderr
    this.#hasNoLog = hasNoLog
  }

  /** A sink of events. A crash is said by `run()`, which owns it, also without a place. */
  readonly observe = (event: LifecycleEvent): void => {
    if (event.type !== 'error' || event.times === 0 || isCrashEvent(event.where)) return
    if (this.#hasNoLog()) this.say(event.where, event.error)
  }

  say(where: string, error: ErrorRecord): void {
    const place = placeOf(where, error)
    if (this.#places.size >= PLACES_MAX || this.#places.has(place)) return
    this.#places.add(place)
    const stack = (error.stack ?? `${error.name}: ${error.message}`).slice(0, LENGTH_MAX)
    const note = this.#places.size === 1 ? `\n${FIRST}` : this.#places.size === PLACES_MAX ? `\n${LAST}` : ''
    sayOnStandardError(this.#stderr, `quiesce: ${where}: ${stack}${note}\n`)
  }
}

/** The frames of its stack, since messages differ; what has none is known by what has failed. */
function placeOf(where: string, { stack = '' }: ErrorRecord): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  return (frames.length > 0 ? frames.join('\n') : where).slice(0, LENGTH_MAX)
}
