/**
 * What a request passes, outermost first, and why it stands there. This list is the order: filters
 * are put together by it, the diagram is drawn from it, and a test compares it with upstream's.
 *
 * The `part` says who asks: the steps of the engine's chain that come before its refusals
 * (`outer`), between them (`between`), the engine itself (`engine`), or the server's handler, once
 * the request is counted (`inner`). Filters of the last part may take time; the others may not.
 *
 * @see kubernetes/apiserver pkg/server/config.go DefaultBuildHandlerChain
 */
export const CHAIN_ORDER = [
  { name: 'audit-init', part: 'outer', upstream: 'WithAuditInit', why: 'every answer, refusals too, carries the id of its request' },
  { name: 'panic-recovery', part: 'outer', upstream: 'WithPanicRecovery', why: 'whatever fails behind it is answered', ends: [500] },
  {
    name: 'mux-complete',
    part: 'outer',
    upstream: 'WithMuxAndDiscoveryComplete',
    why: 'a request keeps what was true when it came: whether every path was installed',
  },
  {
    name: 'request-received',
    part: 'outer',
    upstream: 'WithRequestReceivedTimestamp',
    why: 'deadlines, logs and audit events count from here',
  },
  { name: 'request-info', part: 'outer', upstream: 'WithRequestInfo', why: 'all filters behind it read the same' },
  { name: 'latency', part: 'outer', upstream: 'WithLatencyTrackers', why: 'what filters take is measured from here on' },
  { name: 'http-log', part: 'outer', upstream: 'WithHTTPLogging', why: 'refusals are logged, too' },
  {
    name: 'retry-after',
    part: 'engine',
    upstream: 'WithRetryAfter',
    why: 'nothing more is done for a request that is sent elsewhere',
    ends: [429],
  },
  { name: 'hsts', part: 'between', upstream: 'WithHSTS', why: 'on every answer of a server that goes on' },
  { name: 'cache-control', part: 'between', upstream: 'WithCacheControl', why: 'on every answer of a server that goes on' },
  { name: 'goaway', part: 'between', upstream: 'WithProbabilisticGoaway', why: 'before the count, so that what it tells is true of all' },
  {
    name: 'count',
    part: 'engine',
    upstream: 'WithWatchTerminationDuringShutdown, WithWaitGroup',
    why: 'what goes on from here is waited for by a drain',
    ends: [503],
  },
  {
    name: 'request-deadline',
    part: 'inner',
    upstream: 'WithRequestDeadline',
    why: 'everything behind it shares one deadline',
    ends: [400],
  },
  {
    name: 'timeout',
    part: 'inner',
    upstream: 'WithTimeoutForNonLongRunningRequests',
    why: 'a client is answered in time, whatever a handler does',
    ends: [504],
  },
  { name: 'warnings', part: 'inner', upstream: 'WithWarningRecorder', why: 'filters and handlers behind it may warn the client' },
  { name: 'cors', part: 'inner', upstream: 'WithCORS', why: 'browsers ask before they have credentials', ends: [204] },
  {
    name: 'authentication',
    part: 'inner',
    upstream: 'WithAuthentication, WithFailedAuthenticationAudit',
    why: 'what is recorded and decided needs a user',
    ends: [401],
  },
  { name: 'tracing', part: 'inner', upstream: 'WithTracing', why: 'spans of strangers are not recorded' },
  { name: 'audit', part: 'inner', upstream: 'WithAudit', why: 'records the user who came, before it acts as another', ends: [500] },
  {
    name: 'impersonation',
    part: 'inner',
    upstream: 'WithImpersonation',
    why: 'limits and permissions are those of the user acted as',
    ends: [400, 403, 500],
  },
  {
    name: 'flow-control',
    part: 'inner',
    upstream: 'WithMaxInFlightLimit, WithPriorityAndFairness',
    why: 'permission may cost a call to another server: not for more than are let in',
    ends: [429],
  },
  { name: 'authorization', part: 'inner', upstream: 'WithAuthorization', why: 'last: nothing behind it asks again', ends: [403, 500] },
] as const satisfies readonly ChainPlace[]

export interface ChainPlace {
  readonly name: string
  readonly part: 'outer' | 'engine' | 'between' | 'inner'
  readonly upstream: string
  readonly why: string
  /** The statuses that it may answer with itself. */
  readonly ends?: readonly number[]
}

export type ChainName = (typeof CHAIN_ORDER)[number]['name']
export type ChainPart = ChainPlace['part']
