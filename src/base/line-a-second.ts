import type { Clock } from './clock.ts'

const LINE_MS = 1_000

/**
 * Counts what would be a line each, of which one a second at most is to be written: a flood of it
 * is no reason for more.
 * @returns counts one more; how many the line stands for that is to be written now, or 0 for none
 */
export function linesASecond(clock: Clock): () => number {
  let times = 0
  let writtenAt = Number.NEGATIVE_INFINITY
  return () => {
    times++
    if (clock.now() - writtenAt < LINE_MS) return 0
    writtenAt = clock.now()
    const all = times
    times = 0
    return all
  }
}

/**
 * Has something said at most once a second: the latest of it, and how often it has happened since
 * the last time.
 */
export function lineASecond<T>(clock: Clock, say: (latest: T, times: number) => void): (latest: T) => void {
  const lines = linesASecond(clock)
  return (latest) => {
    const times = lines()
    if (times > 0) say(latest, times)
  }
}
