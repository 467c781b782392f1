export type { RequestSpan, RequestTracing, TracedRequest } from './request-tracing.ts'
export { type TraceRequestsOptions, traceRequests } from './trace-requests.ts'
