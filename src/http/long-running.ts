import { toError } from '../errors.ts'
import { type RequestInfo, type RequestLike, requestInfo } from './request-info.ts'

export interface LongRunningSets {
  /** Verbs of {@link RequestInfo} that are long-running. */
  readonly verbs: Iterable<string>
  /** Subresources that are, under any verb. */
  readonly subresources: Iterable<string>
}

/** Profiles are taken for as long as the client asks. */
const PROFILES = '/debug/pprof/'

/**
 * Upstream's rule: by verb, by subresource, and `/debug/pprof/` always. kube-apiserver uses the verbs `watch`, `proxy` and
 * the subresources `attach`, `exec`, `proxy`, `log`, `portforward`.
 *
 * @see kubernetes/apiserver pkg/server/filters/longrunning.go BasicLongRunningRequestCheck
 */
export function longRunningRule({ verbs, subresources }: LongRunningSets): (info: RequestInfo) => boolean {
  const verbSet = new Set(verbs)
  const subresourceSet = new Set(subresources)
  return ({ verb, isResourceRequest, subresource, path }) => {
    if (verbSet.has(verb)) return true
    return isResourceRequest ? subresourceSet.has(subresource) : path.startsWith(PROFILES)
  }
}

/** The generic server's: watches. @see kubernetes/apiserver pkg/server/config.go NewConfig */
const watches = longRunningRule({ verbs: ['watch'], subresources: [] })

export interface LongRunningExtra<Request extends RequestLike> {
  /** The rule for API paths. Default: verb `watch`, no subresource. */
  readonly rule?: (info: RequestInfo) => boolean
  /** The user's own opinion, asked last. Must be quick: it runs for each request that nothing else has claimed. */
  readonly longRunning?: (request: Request) => boolean
  /** Told when `longRunning` throws or answers with something else than a boolean; the answer counts as false. */
  readonly onError?: (error: Error) => void
}

/**
 * Whether a request is a watch: it is expected to last, is drained by the watch drain's rules and bounds, and gets the
 * shutdown signal. True for upstream's rule on API paths, for an upgraded connection, for `Accept: text/event-stream`,
 * and for whatever the user says. Never throws.
 *
 * Runs once for every request: where neither path nor headers concern it, it allocates nothing.
 */
export function isLongRunning<Request extends RequestLike>(request: Request, extra: LongRunningExtra<Request> = NOTHING): boolean {
  return isUpgrade(request) || isByPath(request, extra.rule) || acceptsEventStream(request) || isByUser(request, extra)
}

const NOTHING = {}

function isUpgrade(request: RequestLike): boolean {
  return request.upgrade ?? request.headers.upgrade !== undefined
}

function isByPath({ method = 'GET', url = '/' }: RequestLike, rule: ((info: RequestInfo) => boolean) | undefined): boolean {
  if (!url.startsWith('/api') && !url.startsWith(PROFILES) && url.startsWith('/')) return false
  // A watch has the word in its URL, as parameter or as segment; spares the many applications with an /api/ of their own.
  if (rule === undefined && !url.includes('watch') && !url.includes('%') && !url.includes(PROFILES)) return false
  return (rule ?? watches)(requestInfo(method, url))
}

/** Shorter values of Accept, which are the usual ones, are told apart without the expression. */
const EVENT_STREAM_LENGTH = 'text/event-stream'.length
const EVENT_STREAM = /(?:^|,)\s*text\/event-stream\s*(?:[;,]|$)/i

function acceptsEventStream({ headers: { accept } }: RequestLike): boolean {
  return accept !== undefined && accept.length >= EVENT_STREAM_LENGTH && EVENT_STREAM.test(String(accept))
}

function isByUser<Request extends RequestLike>(request: Request, { longRunning, onError }: LongRunningExtra<Request>): boolean {
  if (longRunning === undefined) return false
  try {
    const answer: unknown = longRunning(request)
    if (typeof answer !== 'boolean') throw new TypeError(`longRunning must return a boolean, got ${typeof answer}`)
    return answer
  } catch (thrown) {
    onError?.(toError(thrown))
    return false
  }
}
