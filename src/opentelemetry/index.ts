export { type MeterOptions, meterLifecycle } from './meter-lifecycle.ts'
export type { RequestSpan, RequestTracing, TracedRequest } from './request-tracing.ts'
export { type TraceOptions, traceLifecycle } from './trace-lifecycle.ts'
export { type TraceRequestsOptions, traceRequests } from './trace-requests.ts'
