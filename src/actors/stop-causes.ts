import { toError } from '../base/errors.ts'
import type { ErrorRecord, LifecycleEvent, StopCause, StopReason } from '../base/events.ts'

/**
 * Why a life ends, with the error itself: machines, events and reports have its record only, which
 * survives JSON and keeps nothing of the program alive.
 */
export class StopCauses {
  /** The first of all failures that may end the life. */
  readonly #thrown = new Map<string, unknown>()
  #cause: StopCause | undefined

  /** A sink of events. */
  readonly observe = (event: LifecycleEvent): void => {
    if (event.type === 'signal' && event.name === 'StopRequested' && event.reason) this.#cause ??= this.#causeOf(event.reason)
  }

  /** undefined until a stop is requested; the same object whenever it is read. */
  get cause(): StopCause | undefined {
    return this.#cause
  }

  /** Keeps a failure. The machine must be told of it only afterwards. */
  keep(what: string, thrown: unknown): void {
    if (this.#cause === undefined && !this.#thrown.has(what)) this.#thrown.set(what, thrown)
  }

  #causeOf(reason: StopReason): StopCause {
    if (!('error' in reason)) return reason
    const what = whatFailed(reason)
    // What a machine finds out by itself, such as the end of a bound, was never thrown.
    const error = this.#thrown.has(what) ? toError(this.#thrown.get(what)) : errorOf(reason.error)
    this.#thrown.clear()
    return { ...reason, error }
  }
}

/** The name under which the failure behind a stop is kept, as late answers call it too. */
function whatFailed(reason: Extract<StopReason, { readonly error: ErrorRecord }>): string {
  switch (reason.kind) {
    case 'crash':
      return reason.origin
    case 'listener-died':
      return reason.address
    case 'hook-failed':
      return `post-start hook "${reason.hook}"`
    case 'start-failed':
      return OWN_PHASES[reason.phase] ?? `phase hook "${reason.phase}"`
  }
}

const OWN_PHASES: Readonly<Record<string, string>> = { start: 'start', bind: 'bind', 'audit-run': 'audit backend run' }

const errorOf = ({ message, ...fields }: ErrorRecord): Error => Object.assign(new Error(message), fields)
