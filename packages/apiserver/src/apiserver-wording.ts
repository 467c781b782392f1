import type { RefusalWords, Wording } from './engine.ts'

/** Two newlines: upstream's encoder writes one and its printer another. */
const KUBERNETES_STATUS = `${JSON.stringify({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'apiserver is shutting down',
  reason: 'ServiceUnavailable',
  code: 503,
})}\n\n`

const UPSTREAM_503: RefusalWords = { body: KUBERNETES_STATUS, contentType: 'application/json', retryAfterSeconds: 1, headers: {} }

/**
 * The words of the Kubernetes API server, byte for byte.
 * @see kubernetes/apiserver pkg/server/filters with_retry_after.go, waitgroup.go,
 * watch_termination.go
 * @see kubernetes/apiserver pkg/server/genericapiserver.go RunWithContext
 * @example
 * createServer(app, { wording: apiserverWording })
 */
export const apiserverWording: Wording = {
  refusals: {
    'retry-after': {
      body: 'The apiserver is shutting down, please try again later.\n',
      contentType: 'text/plain; charset=utf-8',
      retryAfterSeconds: 5,
      headers: {},
    },
    'not-accepting': UPSTREAM_503,
    watch: UPSTREAM_503,
  },
  log: {
    shutdownTimeout: '[graceful-termination] using HTTP Server shutdown timeout',
    waiting: '[graceful-termination] waiting for shutdown to be initiated',
    stopRequested: '[graceful-termination] stop requested',
    shutdownEvent: '[graceful-termination] shutdown event',
    preShutdownHooksCompleted: '[graceful-termination] pre-shutdown hooks completed',
    auditCompleted: '[graceful-termination] audit backend shutdown completed',
    requestsDrained: '[graceful-termination] in-flight non long-running request(s) have drained',
    watchesDrained: '[graceful-termination] active watch request(s) have drained',
    watchesNotAwaited: '[graceful-termination] not going to wait for active watch request(s) to drain',
    muxComplete: 'MuxAndDiscoveryComplete has all endpoints registered and discovery information is complete',
    muxIncomplete: "haven't completed MuxAndDiscoveryComplete, stop requested",
    exiting: '[graceful-termination] apiserver is exiting',
  },
  metrics: {
    requests: {
      name: 'apiserver_request_total',
      help: 'Requests answered by the server itself, by path and status.',
      // Upstream counts those of GET so, under the path as subresource; here all are (V43).
      pathLabel: 'subresource',
      labels: { component: '', dry_run: '', group: '', resource: '', scope: '', verb: 'GET', version: '' },
    },
    check: { name: 'kubernetes_healthcheck', help: 'Last result of a health check: 1 passed, 0 failed.' },
    checks: { name: 'kubernetes_healthchecks_total', help: 'Results of health checks.' },
    certificateNotAfter: {
      name: 'apiserver_certificate_not_after_timestamp_seconds',
      help: 'When a served certificate expires, in seconds since the epoch.',
    },
    certificateExpiry: { name: 'apiserver_certificate_expiry_seconds', help: 'Seconds until a served certificate expires.' },
    certificateLoads: { name: 'apiserver_certificate_loads_total', help: 'Certificates that were read, by result.' },
    handshakeErrors: { name: 'apiserver_tls_handshake_errors_total', help: 'TLS handshakes that have failed.' },
    sourceFailures: {
      name: 'apiserver_metric_source_failures_total',
      help: 'Sources of metrics that were left out of a scrape, by reason.',
    },
    connections: { name: 'apiserver_connections', help: 'Open connections, by protocol and version of TLS.' },
    notified: { name: 'apiserver_connections_notified', help: 'Open connections whose client was told to leave.' },
    inFlight: { name: 'apiserver_in_flight', help: 'What a drain waits for, by kind.' },
    rejections: {
      name: 'apiserver_requests_rejected_total',
      help: 'Requests and holds refused because the server ends, by kind of refusal.',
    },
    signals: { name: 'apiserver_lifecycle_signal_timestamp_seconds', help: 'When a lifecycle signal fired, in seconds since the epoch.' },
    phases: { name: 'apiserver_lifecycle_phase_duration_seconds', help: 'How long a phase of the life took, or runs by now, in seconds.' },
    budgetLeft: { name: 'apiserver_stop_budget_left_seconds', help: 'Seconds until the deadline of the stop under way.' },
  },
}
