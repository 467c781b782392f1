import type { IncomingMessage } from 'node:http'

/**
 * `retry-after`: 429 of that mode. `not-accepting`: 503 for a request, `watch`: 503 for a watch.
 */
export type RefusalKind = 'retry-after' | 'not-accepting' | 'watch'

/**
 * The words in which a life speaks to clients, to the log and to whatever scrapes its metrics.
 * Plain values, made once: those of `neutral-wording.ts` unless the option `wording` says
 * otherwise.
 */
export interface Wording {
  readonly refusals: Readonly<Record<RefusalKind, RefusalWords>>
  readonly log: LogWords
  readonly metrics: MetricWords
}

/**
 * What is sent to a client whose request is refused. Status and `Connection: close` are not words.
 */
export interface RefusalWords {
  /**
   * A function is called for each refused request. One that throws, or returns something else than
   * text, is reported as an error, and the client reads the status in words.
   */
  readonly body: string | ((refused: RefusedRequest) => string)
  readonly contentType: string
  /**
   * The answer for clients whose `Accept` header names JSON or problem+json; undefined: they read
   * `body`.
   */
  readonly json?: { readonly body: string; readonly contentType: string } | undefined
  /** Whole seconds of the header `Retry-After`; false leaves the header out. */
  readonly retryAfterSeconds: number | false
  /** Sent beside the others. */
  readonly headers: Readonly<Record<string, string>>
}

export interface RefusedRequest {
  /** Node's; its body has not been read. */
  readonly request: IncomingMessage
  readonly kind: RefusalKind
  readonly status: number
}

/** Messages at info level. Their fields are the same in every wording. */
export interface LogWords {
  /**
   * The line at the start, in the mode `retry-after`: how long connections have after the drain.
   */
  readonly shutdownTimeout: string
  /** Everything serves. */
  readonly waiting: string
  readonly muxComplete: string
  readonly muxIncomplete: string
  /** Followed by how long requests and everything have. */
  readonly stopRequested: string
  /** A signal of the stop, which the field `signal` names. */
  readonly shutdownEvent: string
  readonly preShutdownHooksCompleted: string
  readonly auditCompleted: string
  readonly requestsDrained: string
  readonly watchesDrained: string
  readonly watchesNotAwaited: string
  /** The last line. */
  readonly exiting: string
}

/** The label of answered requests that has their status. */
export const STATUS_LABEL = 'code'

export interface MetricWords {
  /** Counter of answered requests for health endpoints. */
  readonly requests: MetricName & {
    /** Name of the label that has the endpoint's path. The status is `code`. */
    readonly pathLabel: string
    /** Labels that every sample has. */
    readonly labels: Readonly<Record<string, string>>
  }
  /** Gauge of each health check: 1 passed, 0 failed. */
  readonly check: MetricName
  /** Counter of results of each health check. */
  readonly checks: MetricName
  /** Gauge of each certificate: when it expires, in seconds since the epoch. */
  readonly certificateNotAfter: MetricName
  /** Gauge of each certificate: seconds until it expires, below zero when it has. */
  readonly certificateExpiry: MetricName
  /** Counter of what was read of each certificate's files, when it was another one or none. */
  readonly certificateLoads: MetricName
  /** Counter of TLS handshakes that have failed. */
  readonly handshakeErrors: MetricName
  /** Counter of sources of metrics that were left out of a scrape, by reason. */
  readonly sourceFailures: MetricName
  /** Gauge of open connections, by protocol and TLS. */
  readonly connections: MetricName
  /** Gauge of connections that were told to close, and are open. */
  readonly notified: MetricName
  /** Gauge of what a drain waits for, by kind. */
  readonly inFlight: MetricName
  /** Counter of requests that were refused because of the end, by kind. */
  readonly rejections: MetricName
  /** Gauge of each lifecycle signal that has fired: when, in seconds since the epoch. */
  readonly signals: MetricName
  /** Gauge of each phase that has begun: how long it took, or runs by now, in seconds. */
  readonly phases: MetricName
  /** Gauge of the time that is left of a stop until its deadline, in seconds. */
  readonly budgetLeft: MetricName
}

export interface MetricName {
  readonly name: string
  /** One line for people. */
  readonly help: string
}

const STATUS = { 'retry-after': 429, 'not-accepting': 503, watch: 503 } as const
const TITLE = { 429: 'Too Many Requests', 503: 'Service Unavailable' } as const

/** The status line of a refusal. */
export const statusOf = (kind: RefusalKind): { readonly status: number; readonly title: string } => ({
  status: STATUS[kind],
  title: TITLE[STATUS[kind]],
})
