import { stdoutDestination } from '../engine.ts'
import type { LineWriter } from './log-backend.ts'

/**
 * Standard output, shared with the log of the process: lines of both are whole. A line counts as
 * stored when the operating system has taken it: a reader that is slow is waited for, and memory
 * holds no more lines than there are requests that wait.
 */
export function stdoutWriter(destination = stdoutDestination()): LineWriter {
  const checkNoneIsLost = (before: number): void => {
    if (destination.lostLines > before) throw new Error('standard output did not accept the line')
  }
  return {
    write: (line) => {
      const lostBefore = destination.lostLines
      destination.write(line)
      if (destination.pendingBytes === 0) return checkNoneIsLost(lostBefore)
      return destination.flushed().then(() => checkNoneIsLost(lostBefore))
    },
    close: (signal) => Promise.race([destination.flushed(), aborted(signal)]),
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
