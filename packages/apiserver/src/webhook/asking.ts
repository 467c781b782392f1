import { type Clock, toError } from '../engine.ts'
import { ATTEMPTS, backoffMs } from './backoff.ts'
import { BYTES_MAX, isTaken, type Poster } from './client.ts'
import { type RemoteFailure, statusFailureIn } from './review.ts'

interface AskingSettings {
  /** The time of one attempt. */
  readonly timeoutMs: number
  /** The wait before the second of five attempts; it grows with each. */
  readonly initialBackoffMs: number
}

interface AskingWorld {
  readonly clock: Clock
  /** A random number from 0 up to 1. */
  readonly random: () => number
}

/**
 * Asks a server that answers what it is posted: up to five times while it is overloaded, fails, or
 * resets the connection.
 * @see kubernetes/apiserver pkg/util/webhook/webhook.go WithExponentialBackoff
 */
export class Asking {
  readonly #client: Poster
  readonly #settings: AskingSettings
  #world: AskingWorld | undefined

  constructor(client: Poster, settings: AskingSettings) {
    this.#client = client
    this.#settings = settings
  }

  /** @throws QuiesceError ERR_OPTION_INVALID for files of no use */
  async open(world: AskingWorld): Promise<void> {
    await this.#client.open(world.clock)
    this.#world = world
  }

  close(): void {
    this.#client.close()
  }

  /**
   * The body of the answer.
   * @param secret in what is asked: it does not come into messages
   * @throws Error that says why there is none; aborted, the reason of the signal
   */
  async ask(body: string, signal: AbortSignal, secret = ''): Promise<string> {
    if (this.#world === undefined) throw new Error('the webhook cannot be asked before the server has started')
    const { clock, random } = this.#world
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#attempt(clock, body, signal, secret)
      if (typeof answer === 'string') return answer
      if (!answer.isTransient || attempt === ATTEMPTS) throw answer.error
      await sleep(clock, backoffMs(this.#settings.initialBackoffMs, attempt, random), signal)
    }
  }

  async #attempt(clock: Clock, body: string, signal: AbortSignal, secret: string): Promise<string | FailedAttempt> {
    const { timeoutMs } = this.#settings
    const timeout = new AbortController()
    const timer = clock.setTimeout(() => timeout.abort(new Error(`the webhook did not answer within ${timeoutMs / 1_000}s`)), timeoutMs)
    try {
      const { status, retryAfter, body: answer } = await this.#client.post(body, AbortSignal.any([timeout.signal, signal]))
      if (isTaken(status)) return answer ?? { error: new Error(`the answer is longer than ${BYTES_MAX} bytes`), isTransient: false }
      const failure = statusFailureIn(answer, secret)
      const said = failure ? `: ${failure.message}` : ''
      return {
        error: new Error(`the webhook answered ${status}${said}`),
        isTransient: retryAfter !== undefined || mayPass(status, failure),
      }
    } catch (thrown) {
      const error = toError(thrown)
      return { error, isTransient: isReset(error) }
    } finally {
      clock.clearTimeout(timer)
    }
  }
}

interface FailedAttempt {
  readonly error: Error
  /** The next attempt may succeed. */
  readonly isTransient: boolean
}

/**
 * Whether the failure may pass, by the reason that the server gives, else by the status.
 * @see kubernetes/apiserver pkg/util/webhook/webhook.go DefaultShouldRetry
 */
const mayPass = (status: number, failure: RemoteFailure | undefined): boolean =>
  failure?.reason === undefined ? TRANSIENT.has(status) : TRANSIENT_REASONS.has(failure.reason)

const TRANSIENT: ReadonlySet<number> = new Set([429, 500, 504])
const TRANSIENT_REASONS: ReadonlySet<string> = new Set(['InternalError', 'Timeout', 'TooManyRequests', 'ServerTimeout'])

/** A connection that ends without an answer has not been reset; node has one code for both. */
const isReset = ({ code, syscall }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' && syscall !== undefined

/** Rejects with the reason of the signal. */
function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clock.clearTimeout(timer)
      reject(toError(signal.reason))
    }
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', aborted)
      resolve()
    }, ms)
    if (signal.aborted) aborted()
    else signal.addEventListener('abort', aborted, { once: true })
  })
}
