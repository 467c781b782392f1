export { ProcessExit } from '../base/thrown-exit.ts'
export { VirtualClock, type VirtualClockOptions } from '../base/virtual-clock.ts'
export type { LifePlan } from '../machines/lifecycle.ts'
export * from '../model/index.ts'
export { FakeProcess, type FakeProcessOptions } from './fake-process.ts'
export { MemoryNetwork } from './network/memory-network.ts'
export type { TestResponse } from './network/response-reader.ts'
export { type ConnectionState, TestConnection, TestRequest, type TestRequestOptions } from './network/test-connection.ts'
export {
  type TestAttachedOptions,
  TestLife,
  type TestLifeOptions,
  type TestServerOptions,
  testAttached,
  testLife,
  testServer,
} from './test-life.ts'
export { type LogLine, TestWorld, type TestWorldOptions } from './test-world.ts'
export type { MakeLife, ScriptCommand, ScriptContext } from './trace/script-run.ts'
export { type TraceScriptOptions, traceScript } from './trace/trace-script.ts'
