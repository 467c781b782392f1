export type { LifePlan } from '../machines/lifecycle.ts'
export { FakeProcess, ProcessExit } from './fake-process.ts'
export * from './model/index.ts'
export { VirtualClock, type VirtualClockOptions } from './virtual-clock.ts'
