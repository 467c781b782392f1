export { type TraceOptions, traceLifecycle } from './trace-lifecycle.ts'
