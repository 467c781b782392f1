import { constants, openSync, writeSync } from 'node:fs'
import type { ErrorCode } from '../base/errors.ts'
import { look } from '../base/look.ts'
import type { WarningCode } from '../base/warnings.ts'

const opened = new Map<number, number>()

/**
 * The terminal on `fd`, in non-blocking mode. Node leaves a terminal in blocking mode, so that one
 * which is stopped (Ctrl-S, a frozen window) would stop the server with it, deadline and all
 * [measured]. Opened anew because the mode belongs to every process that shares `fd`, the shell
 * too; where that cannot be done, on systems without /proc, it stays as it is.
 */
export function nonBlockingTerminal(fd: number): number {
  const known = opened.get(fd)
  if (known !== undefined) return known
  // A terminal of another namespace cannot be opened, nor one without /proc.
  const own = look(() => openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)) ?? fd
  opened.set(fd, own)
  return own
}

/** What is said to on standard error; `process.stderr` is one. */
export interface StandardError {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly fd?: number
}

/**
 * Says a line that ends with its code, which is stable, in brackets. An operator's tools look for
 * the code, as the words may change.
 */
export const sayWithCode = (stderr: StandardError, code: ErrorCode | WarningCode, message: string): void =>
  sayOnStandardError(stderr, `quiesce: ${message} [${code}]\n`)

/** Says something that may be lost: a terminal that is stopped must not hold the process for it. */
export function sayOnStandardError(stderr: StandardError, text: string): void {
  if (!stderr.isTTY || stderr.fd === undefined) {
    stderr.write(text)
    return
  }
  try {
    writeSync(nonBlockingTerminal(stderr.fd), text)
  } catch {
    // Stopped, or closed.
  }
}
