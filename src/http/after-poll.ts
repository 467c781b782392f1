import { setImmediate } from 'node:timers'

/** The first immediate may run before the loop has polled again, the second one cannot. */
export const afterPoll = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
