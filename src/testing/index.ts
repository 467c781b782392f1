export { FakeProcess, ProcessExit } from './fake-process.ts'
export { VirtualClock, type VirtualClockOptions } from './virtual-clock.ts'
