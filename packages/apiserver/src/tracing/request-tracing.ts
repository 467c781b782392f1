import type { RequestLike } from '../engine.ts'

/** One request that is to be a span. */
export interface TracedRequest {
  /** Node's. Its socket is gone once its session of HTTP/2 is over. */
  readonly request: RequestLike & {
    readonly httpVersion: string
    readonly socket?: { readonly remoteAddress?: string | undefined } | undefined
  }
  /** The name of the span. Names of objects and namespaces are not in it. */
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  /** Whether the span of its client is to be the parent; else it is only linked. */
  readonly isTrusted: boolean
  readonly attributes: Readonly<Record<string, string>>
}

export interface RequestSpan {
  /** Runs what belongs to the request: spans that it makes are children of this one. */
  run<R>(work: () => R): R
  /**
   * @param status what the client was told; 0: nothing
   * @param thrown by its handler
   */
  end(status: number, thrown?: unknown): void
}

/** What makes requests spans; nothing of it throws. */
export interface RequestTracing {
  begin(traced: TracedRequest): RequestSpan | undefined
}
