/**
 * Time, as everything in quiesce sees it. One clock drives xstate's delays, the watch limiter, hook
 * bounds and the report, so that a test can replace all of it. Nothing else in `src/` may call
 * `Date.now` or `setTimeout` (test/tidy checks it).
 */
export interface Clock {
  /** Milliseconds that only ever grow; differences mean something, the value itself does not. */
  now(): number
  /** Wall-clock milliseconds since the epoch, for what a person reads. */
  wall(): number
  setTimeout(fn: () => void, ms: number): unknown
  clearTimeout(handle: unknown): void
}

/** Longest delay a node timer takes; a longer one would fire at once. Of one below 0 node warns. */
const TIMER_MS_MAX = 2 ** 31 - 1

/**
 * The global of this name is looked up by a getter each time, which every request would pay for.
 */
const { performance } = globalThis

/** Timers of the process's own clock that have neither fired nor been cleared. */
const pending = new Set<NodeJS.Timeout>()

/**
 * How many timers of quiesce keep the process alive: whatever else does is the program's. Those of
 * a browser that a test runner plays are numbers.
 */
export function ownTimers(): number {
  let count = 0
  for (const timer of pending) if ((timer as Partial<NodeJS.Timeout>).hasRef?.() !== false) count++
  return count
}

/**
 * The process's own clock. Its timers keep the process alive: a bound that lets the process end
 * early is no bound.
 */
export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  setTimeout: (fn, ms) => {
    const timer = setTimeout(
      () => {
        pending.delete(timer)
        fn()
      },
      Math.max(0, Math.min(ms, TIMER_MS_MAX)),
    )
    pending.add(timer)
    return timer
  },
  clearTimeout: (handle) => {
    pending.delete(handle as NodeJS.Timeout)
    clearTimeout(handle as NodeJS.Timeout)
  },
}
