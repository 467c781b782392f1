import { checkArguments } from './arguments.ts'
import { type RefusalKind, type RefusalWords, statusOf, type Wording } from './wording.ts'

/** The start of each metric's name. */
export const METRIC_PREFIX_DEFAULT = 'quiesce_'

const TEXT = 'text/plain; charset=utf-8'
/**
 * The seconds after which another instance has taken over; a request that was refused by 503 is
 * sooner there.
 */
const RETRY_AFTER_SECONDS = { 'retry-after': 5, 'not-accepting': 1, watch: 1 } as const

/**
 * What everything says that has no words of its own. The body is text, or problem+json (RFC 9457)
 * for clients that ask for JSON.
 */
function neutralRefusal(kind: RefusalKind, name: string): RefusalWords {
  const { status, title } = statusOf(kind)
  const detail = `${sentence(name)} is shutting down, please try again later.`
  return {
    body: `${detail}\n`,
    contentType: TEXT,
    json: { body: `${JSON.stringify({ type: 'about:blank', title, status, detail })}\n`, contentType: 'application/problem+json' },
    retryAfterSeconds: RETRY_AFTER_SECONDS[kind],
    headers: {},
  }
}

const NAME_DEFAULT = 'the server'
/** A name of the user's is spelt as the user spells it, also where a sentence begins. */
const sentence = (name: string): string => (name === NAME_DEFAULT ? 'The server' : name)

/**
 * Words for any server: no product's name but the one that is given.
 *
 * @param name what the server calls itself to clients and in the log; default `the server`
 * @param prefix the start of each metric's name; default `quiesce_`
 * @example
 * createServer(app, { wording: neutralWording('orders', 'orders_') })
 */
export function neutralWording(name: string = NAME_DEFAULT, prefix: string = METRIC_PREFIX_DEFAULT): Wording {
  checkArguments('neutralWording(name?, prefix?)', [name, 'a text'], [prefix, 'a text'])
  return {
    refusals: {
      'retry-after': neutralRefusal('retry-after', name),
      'not-accepting': neutralRefusal('not-accepting', name),
      watch: neutralRefusal('watch', name),
    },
    log: {
      shutdownTimeout: 'requests are answered with 429 while the server drains; connections have this long after it',
      waiting: 'ready, until a stop is requested',
      stopRequested: 'stop requested',
      shutdownEvent: 'shutdown step',
      preShutdownHooksCompleted: 'pre-shutdown hooks are over',
      auditCompleted: 'audit events are delivered',
      requestsDrained: 'requests are over',
      watchesDrained: 'watches are over',
      watchesNotAwaited: 'watches were told to end, and are not waited for',
      muxComplete: 'all endpoints are registered',
      muxIncomplete: 'stop requested before all endpoints were registered',
      exiting: `${name} is exiting`,
    },
    metrics: {
      requests: {
        name: `${prefix}health_requests_total`,
        help: 'Answered requests for health endpoints, by path and status.',
        pathLabel: 'path',
        labels: {},
      },
      check: { name: `${prefix}health_check`, help: 'Last result of a health check: 1 passed, 0 failed.' },
      checks: { name: `${prefix}health_checks_total`, help: 'Results of health checks.' },
      certificateNotAfter: {
        name: `${prefix}certificate_not_after_timestamp_seconds`,
        help: 'When a served certificate expires, in seconds since the epoch.',
      },
      certificateExpiry: { name: `${prefix}certificate_expiry_seconds`, help: 'Seconds until a served certificate expires.' },
      certificateLoads: { name: `${prefix}certificate_loads_total`, help: 'Certificates that were read, by result.' },
      handshakeErrors: { name: `${prefix}tls_handshake_errors_total`, help: 'TLS handshakes that have failed.' },
      sourceFailures: {
        name: `${prefix}metric_source_failures_total`,
        help: 'Sources of metrics that were left out of a scrape, by reason.',
      },
      connections: { name: `${prefix}connections`, help: 'Open connections, by protocol and version of TLS.' },
      notified: { name: `${prefix}connections_notified`, help: 'Open connections whose client was told to leave.' },
      inFlight: { name: `${prefix}in_flight`, help: 'What a drain waits for, by kind.' },
      rejections: {
        name: `${prefix}requests_rejected_total`,
        help: 'Requests and holds refused because the server ends, by kind of refusal.',
      },
      signals: { name: `${prefix}lifecycle_signal_timestamp_seconds`, help: 'When a lifecycle signal fired, in seconds since the epoch.' },
      phases: { name: `${prefix}lifecycle_phase_duration_seconds`, help: 'How long a phase of the life took, or runs by now, in seconds.' },
      budgetLeft: { name: `${prefix}stop_budget_left_seconds`, help: 'Seconds until the deadline of the stop under way.' },
    },
  }
}
