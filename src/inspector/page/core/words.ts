import type { Outcome, StopReason } from '../../../base/events.ts'
import type { ExitCode } from '../../../machines/exit-codes.ts'

/** Numbers and outcomes as a person reads them. The same word everywhere: on screen, in titles, and read aloud. */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** A minus as wide as a plus, so that columns stay aligned. */
const MINUS = '\u2212'

/** `430 ms`, `1.03 s`, `2 min 05 s`, `1 h 02 min`. */
export function duration(ms: number): string {
  if (ms < 0) return `${MINUS}${duration(-ms)}`
  const whole = Math.round(ms)
  if (whole < 1_000) return `${ms > 0 && ms < 1 ? '<1' : whole} ms`
  if (whole < 10_000) return `${(ms / 1_000).toFixed(2)} s`
  if (whole < MINUTE_MS) return `${(ms / 1_000).toFixed(1)} s`
  if (whole < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ${two((ms % MINUTE_MS) / 1_000)} s`
  return `${Math.floor(ms / HOUR_MS)} h ${two((ms % HOUR_MS) / MINUTE_MS)} min`
}

/** A point in time relative to another, to the millisecond: `+1.028 s`, `+12:05.250`. */
export function offset(ms: number): string {
  const sign = ms < 0 ? MINUS : '+'
  const size = Math.abs(ms)
  if (size < MINUTE_MS) return `${sign}${(size / 1_000).toFixed(3)} s`
  const minutes = Math.floor(size / MINUTE_MS)
  const seconds = ((size % MINUTE_MS) / 1_000).toFixed(3).padStart(6, '0')
  if (size < HOUR_MS) return `${sign}${minutes}:${seconds}`
  return `${sign}${Math.floor(minutes / 60)}:${two(minutes % 60)}:${seconds}`
}

/** What times are counted in: a life's in milliseconds, those of a counter-example, which knows no clock, in steps. */
export interface Units {
  readonly duration: (length: number) => string
  readonly offset: (from: number) => string
  /** Shortest length that an axis shows. */
  readonly least: number
}

export const TIME: Units = { duration, offset, least: 100 }
export const STEPS: Units = {
  duration: (length) => count(Math.round(length), 'step'),
  offset: (from) => `step ${Math.round(from)}`,
  least: 1,
}

const two = (n: number): string => String(Math.floor(n)).padStart(2, '0')

/** `1 request`, `2 requests`; `watch` knows its plural. */
export const count = (n: number, noun: string): string => `${n} ${n === 1 ? noun : noun.endsWith('ch') ? `${noun}es` : `${noun}s`}`

/** `a`, `a and b`, `a, b and c`. */
export const list = (items: readonly string[]): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`

/** Where something stands: waiting for its turn, at work, or one of the outcomes. */
export type Standing = 'waiting' | 'working' | Outcome

export const STANDING_WORDS: Readonly<Record<Standing, string>> = {
  waiting: 'waiting',
  working: 'under way',
  ok: 'ok',
  failed: 'failed',
  cut: 'cut',
  skipped: 'skipped',
}

/** How a life ended, in the words of somebody who tells it. */
export const ENDINGS: Readonly<Record<ExitCode, string>> = {
  0: 'Ended in order',
  4: 'Ended in order, but something failed',
  5: 'Ended, but the deadline cut something',
  1: 'Ended by force',
  3: 'Could not start',
  2: 'Refused its options',
  70: 'Failed inside quiesce',
}

export const ending = (exitCode: number): string => (Object.hasOwn(ENDINGS, exitCode) ? ENDINGS[exitCode as ExitCode] : 'Ended')

export const FORCED_WORDS = {
  'stop-now': 'the program asked for the end at once',
  'second-signal': 'a second signal asked for the end at once',
  'second-crash': 'it crashed a second time',
  deadline: 'the deadline was reached',
  'process-exit': 'the process ended before it',
  'internal-error': 'quiesce itself failed',
} as const

/** Why a life ends, after "because of". */
export function reasonWords(reason: StopReason): string {
  switch (reason.kind) {
    case 'os-signal':
      return reason.signal
    case 'stop':
      return `stop(): ${reason.reason}`
    case 'ipc':
      return 'its parent process'
    case 'disconnected':
      return 'the lost channel to its primary'
    case 'abort-signal':
      return `an AbortSignal: ${reason.reason}`
    case 'server-closed':
      return 'server.close()'
    case 'listener-died':
      return `the listener ${reason.address}: ${reason.error.message}`
    case 'hook-failed':
      return `the post-start hook ${reason.hook}: ${reason.error.message}`
    case 'start-failed':
      return `a failed start (${reason.phase}): ${reason.error.message}`
    case 'crash':
      return `a crash (${reason.origin}): ${reason.error.message}`
  }
}
