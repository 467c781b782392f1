import { duration, integer, isRecord, isText, listOf, misspeltFieldOf, option, setOf, value, withCommas, writtenNumber } from '../engine.ts'
import type { RequestTracing } from '../tracing/request-tracing.ts'
import { EXPRESSIONS_ALLOWED, wrongExpression } from './cors.ts'
import type { UserFilter } from './filter.ts'
import { type FlowControl, isFlowControl } from './flow-control.ts'
import { DIRECTIVES_ALLOWED, wrongDirective } from './hsts.ts'
import { isTracing } from './tracing.ts'

/** Upstream's flag is a whole number of seconds; what else is written there has a unit. */
const secondsOrDuration = () => ({
  ...duration(),
  allowedAsText: 'whole seconds, or a duration like 30m or 1h30m',
  fromText: (given: unknown) => {
    const seconds = writtenNumber(given)
    return seconds === undefined ? given : `${seconds}s`
  },
})

const FILTER_FIELDS: readonly (keyof UserFilter)[] = ['name', 'admit', 'over', 'before', 'after']

/** What requests pass, and how long and how many at a time they may take. */
export const CHAIN_OPTIONS = {
  /**
   * A watch ends by itself after a random time between this and twice as much, unless its client
   * asks for another.
   * @default 30m
   */
  minRequestTimeout: option(secondsOrDuration(), {
    flag: 'min-request-timeout',
    default: '30m',
    meaning: 'Shortest time after which a watch ends by itself',
    upstream: '--min-request-timeout',
    upstreamRefusal: '--min-request-timeout can not be negative value',
  }),
  /**
   * Requests that only read which are served at a time; 0 is no limit.
   * @default 400
   */
  maxRequestsInFlight: option(integer(0, 1_000_000), {
    flag: 'max-requests-inflight',
    default: 400,
    meaning: 'Reading requests that are served at a time; 0 means no limit',
    upstream: '--max-requests-inflight',
    upstreamRefusal: '--max-requests-inflight can not be negative value',
  }),
  /**
   * Requests that change something which are served at a time; 0 is no limit.
   * @default 200
   */
  maxMutatingRequestsInFlight: option(integer(0, 1_000_000), {
    flag: 'max-mutating-requests-inflight',
    default: 200,
    meaning: 'Changing requests that are served at a time; 0 means no limit',
    upstream: '--max-mutating-requests-inflight',
    upstreamRefusal: '--max-mutating-requests-inflight can not be negative value',
  }),
  /**
   * Which requests are served at a time, and which wait or are sent away, in place of the two
   * limits.
   * @default the limits maxRequestsInFlight and maxMutatingRequestsInFlight
   */
  flowControl: option(value<FlowControl>('an object with admit()', isFlowControl), {
    defaultWords: 'the limits maxRequestsInFlight and maxMutatingRequestsInFlight',
    meaning: 'Your own flow control, instead of the two limits: it decides which requests are served, wait or are refused',
    upstream: 'Config.FlowControl',
  }),
  /**
   * Verbs of requests that last: they are neither bounded nor limited, and a drain tells them to
   * end.
   * @default watch
   */
  longRunningVerbs: option(setOf<string>('a list of verbs', isText), {
    default: ['watch'],
    meaning: 'Verbs of long-running requests',
    upstream: 'Config.LongRunningFunc',
  }),
  /**
   * Subresources whose requests last, under any verb.
   * @default none
   */
  longRunningSubresources: option(setOf<string>('a list of subresources', isText), {
    default: [],
    defaultWords: () => 'none',
    meaning: 'Subresources whose requests are long-running, with any verb',
    upstream: 'Config.LongRunningFunc',
  }),
  /**
   * Origins whose pages may read the answers: regular expressions, each of which matches anywhere
   * in an origin, so that it has to pin to the start and the end of the host. An empty list lets
   * none.
   * @default none
   */
  corsAllowedOrigins: option(withCommas(listOf<string>(EXPRESSIONS_ALLOWED, wrongExpression)), {
    flag: 'cors-allowed-origins',
    default: [],
    defaultWords: () => 'none',
    meaning: 'Origins whose pages may read the answers: regular expressions such as //example.com(:|$)',
    upstream: '--cors-allowed-origins',
  }),
  /**
   * Directives of `Strict-Transport-Security`; an empty list sends none.
   * @default none
   */
  hstsDirectives: option(withCommas(listOf<string>(DIRECTIVES_ALLOWED, wrongDirective)), {
    flag: 'strict-transport-security-directives',
    default: [],
    defaultWords: () => 'none',
    meaning: 'Directives of the header Strict-Transport-Security',
    upstream: '--strict-transport-security-directives',
  }),
  /**
   * Has each request be a span, with what `traceRequests()` of `quiesce/opentelemetry` returns.
   * @default none
   */
  tracing: option(value<RequestTracing>('what traceRequests() returns', isTracing), {
    defaultWords: 'none',
    meaning: 'Whether each request is recorded as a span of OpenTelemetry',
    upstream: 'Config.TracerProvider',
  }),
  /**
   * Filters of your own, each directly before or after another one; without a place behind the
   * last.
   * @default none
   */
  filters: option(
    listOf<UserFilter>('a list of { name, admit, over?, before?, after? }', (item) =>
      isRecord(item) && isText(item['name']) && typeof item['admit'] === 'function'
        ? misspeltFieldOf(item, FILTER_FIELDS)
        : { path: '', given: item, allowed: 'an object with name and admit' },
    ),
    { defaultWords: 'none', meaning: 'Your own filters, each directly before or after another filter' },
  ),
}
