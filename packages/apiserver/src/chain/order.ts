import type { Clock } from '../engine.ts'
import { timed } from '../latency.ts'
import type { RequestMetrics } from '../request-metrics.ts'
import { audit } from './audit.ts'
import { auditInit } from './audit-init.ts'
import { authentication } from './authentication.ts'
import { authorization } from './authorization.ts'
import { cacheControl } from './cache-control.ts'
import { cors } from './cors.ts'
import type { ChainPlace, MadeFilter, PlacedFilter } from './filter.ts'
import { flowControl } from './flow-control.ts'
import { hsts } from './hsts.ts'
import { httpLog } from './http-log.ts'
import { impersonation } from './impersonation.ts'
import { muxComplete } from './mux-complete.ts'
import { requestDeadline } from './request-deadline.ts'
import { requestInfoFilter } from './request-info.ts'
import { timeout } from './timeout.ts'
import { tracing } from './tracing.ts'

/**
 * What a request passes, outermost first. This list is the order: filters are made and put together
 * by it, the diagram is drawn from it, and a test compares it with upstream's. A filter says itself
 * where it stands and why; a place that is written here has none: what is there is the engine's, or
 * is done without being asked.
 *
 * The `part` says who asks: the steps of the engine's chain that come before its refusals
 * (`outer`), between them (`between`), the engine itself (`engine`), or the server's handler, once
 * the request is counted (`inner`). Filters of the last part may take time; the others may not.
 *
 * @see kubernetes/apiserver pkg/server/config.go DefaultBuildHandlerChain
 */
const CHAIN = [
  auditInit,
  { name: 'panic-recovery', part: 'outer', upstream: 'WithPanicRecovery', why: 'whatever fails behind it is answered', ends: [500] },
  muxComplete,
  {
    name: 'request-received',
    part: 'outer',
    upstream: 'WithRequestReceivedTimestamp',
    why: 'deadlines, logs and audit events count from here',
  },
  requestInfoFilter,
  { name: 'latency', part: 'outer', upstream: 'WithLatencyTrackers', why: 'what filters take is measured from here on' },
  httpLog,
  {
    name: 'retry-after',
    part: 'engine',
    upstream: 'WithRetryAfter',
    why: 'nothing more is done for a request that is sent elsewhere',
    ends: [429],
  },
  hsts,
  cacheControl,
  { name: 'goaway', part: 'between', upstream: 'WithProbabilisticGoaway', why: 'before the count, so that it applies to every request' },
  {
    name: 'count',
    part: 'engine',
    upstream: 'WithWatchTerminationDuringShutdown, WithWaitGroup',
    why: 'what goes on from here is waited for by a drain',
    ends: [503],
  },
  requestDeadline,
  timeout,
  { name: 'warnings', part: 'inner', upstream: 'WithWarningRecorder', why: 'filters and handlers behind it may warn the client' },
  cors,
  authentication,
  tracing,
  audit,
  impersonation,
  flowControl,
  authorization,
] as const satisfies readonly ChainPlace[]

/** The same, as what is told of a place. */
export const CHAIN_ORDER: readonly ChainPlace[] = CHAIN

/** What a filter says that it needs, if it needs anything. */
type NeedsOf<Place> = Place extends { readonly make: (needs: infer Needs) => unknown } ? (unknown extends Needs ? never : Needs) : never
/** The intersection of a union: of what several need, all of it. */
type All<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer Every) => void ? Every : never

/** What a server makes its filters of: what each of them says that it needs. */
export type ChainWorld = All<NeedsOf<(typeof CHAIN)[number]>> & { readonly clock: Clock; readonly metrics: RequestMetrics }

/** The filters of the chain that are always there, or that the config asks for. */
export const filtersFor = (world: ChainWorld): readonly PlacedFilter[] =>
  CHAIN.flatMap((place): PlacedFilter | readonly [] => {
    const made = 'make' in place ? (place.make as (needs: ChainWorld) => MadeFilter | undefined)(world) : undefined
    if (made === undefined) return []
    const filter = { ...made, name: place.name }
    return 'isTimed' in place ? timed(filter, world.clock, world.metrics) : filter
  })
