import { show, toError } from '../base/errors.ts'
import type { InspectedRoot } from './inspection.ts'
import type { UserCode } from './user-code.ts'

/** Events, by what has become of them. */
export interface AuditCounts {
  /** Stored where they are kept. */
  readonly delivered: number
  /** Dropped, or tried in vain: they will not be stored. */
  readonly lost: number
  /** Accepted and not yet one of the others. */
  readonly pending: number
}

/**
 * Gets events about requests and must have delivered them before the end. @see kubernetes/apiserver
 * pkg/audit/types.go Backend
 */
export interface AuditBackend {
  /**
   * The start of the backend, called once, before the first request; a rejection is a failed start.
   * `signal` aborts when the last request is done, or when start-up is given up. One that succeeds
   * after that is shut down again, also when the life has ended meanwhile; `run()` leaves it a
   * second for that.
   */
  run(context: { readonly signal: AbortSignal }): void | Promise<void>
  /**
   * The sink of the API server's filter chain, called for every event; false, or a promise of it,
   * when one could not be accepted.
   */
  processEvents?(events: readonly unknown[]): boolean | Promise<boolean>
  /**
   * The end of the backend, called once, after the last request; resolves when everything accepted
   * is delivered. `signal` aborts at the budget's cut.
   */
  shutdown(context: { readonly signal: AbortSignal }): void | Promise<void>
  /** What has become of the events so far; read whenever a report is built. */
  counts?(): AuditCounts
  /** Roots of actors of its own: what inspects the life is shown them, too. */
  actors?(): readonly InspectedRoot[]
}

/**
 * What a backend says of its events. One that throws, or answers with something else, has said
 * nothing, and `failed` is told so once.
 */
export function countsOf(backend: AuditBackend | undefined, failed: (error: unknown) => void): () => AuditCounts | undefined {
  let hasFailed = false
  return () => {
    try {
      const counts: unknown = backend?.counts?.()
      if (counts === undefined || areCounts(counts)) return counts
      throw new TypeError(
        `counts() of the option audit returned ${show(counts)}, allowed: an object with the numbers delivered, lost and pending`,
      )
    } catch (thrown) {
      if (!hasFailed) {
        hasFailed = true
        failed(thrown)
      }
      return undefined
    }
  }
}

function areCounts(given: unknown): given is AuditCounts {
  const { delivered, lost, pending } = (given ?? {}) as Partial<AuditCounts>
  return [delivered, lost, pending].every((count) => typeof count === 'number' && count >= 0)
}

/**
 * The audit backend. Its `run` gets a signal that outlives start-up and is aborted when its
 * shutdown begins: from then on no request is left that it could be told about.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go RunWithContext, the stop channel of the
 * audit backend
 */
export class Audit {
  readonly #backend: AuditBackend | undefined
  readonly #stop = new AbortController()

  constructor(backend: AuditBackend | undefined) {
    this.#backend = backend
  }

  /**
   * A backend that answers after start-up was given up has begun all the same, so it is shut down
   * again.
   */
  readonly run: UserCode = async (context) => {
    if (!this.#backend) return
    const { signal } = context
    signal.addEventListener('abort', () => this.#stop.abort(signal.reason), { once: true })
    try {
      await this.#backend.run({ ...context, signal: this.#stop.signal })
    } catch (thrown) {
      throw new Error(`failed to run the audit backend: ${toError(thrown).message}`, { cause: thrown })
    }
    if (signal.aborted) await this.#backend.shutdown(context)
  }

  readonly shutdown: UserCode = (context) => {
    this.#stop.abort(new Error('no request is left'))
    return this.#backend?.shutdown(context)
  }
}
