export { type MeterOptions, meterLifecycle } from './meter-lifecycle.ts'
export { type TraceOptions, traceLifecycle } from './trace-lifecycle.ts'
