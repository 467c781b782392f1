import type { Clock } from '../engine.ts'

const LINE_MS = 1000

/**
 * Has something said at most once a second, with how often it has happened since the last time: a
 * flood of it is no reason for more lines.
 */
export function lineASecond<T>(clock: Clock, say: (latest: T, times: number) => void): (latest: T) => void {
  let times = 0
  let saidAt = Number.NEGATIVE_INFINITY
  return (latest) => {
    times++
    if (clock.now() - saidAt < LINE_MS) return
    saidAt = clock.now()
    say(latest, times)
    times = 0
  }
}
