import { formatDuration, formatRunning, type PhaseOutcome } from '../quiesce.ts'

/**
 * Numbers and outcomes as a person reads them. The same word everywhere: on screen, in titles, and
 * read aloud.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** A minus as wide as a plus, so that columns stay aligned. */
export const MINUS = '\u2212'

/** How long something took. */
export const durationText = (ms: number): string => signed(ms, (size) => (size > 0 && size < 1 ? '<1ms' : formatDuration(Math.round(size))))

/** How long something has been going on, or has left. */
export const running = (ms: number): string => signed(ms, formatRunning)

const signed = (ms: number, format: (size: number) => string): string => (ms < 0 ? `${MINUS}${format(-ms)}` : format(ms))

/** A point in time relative to another, to the millisecond: `+1.028s`, `+12:05.250`. */
export function offset(ms: number): string {
  const rounded = Math.round(ms)
  const sign = rounded < 0 ? MINUS : '+'
  const size = Math.abs(rounded)
  if (size < MINUTE_MS) return `${sign}${(size / 1_000).toFixed(3)}s`
  const minutes = Math.floor(size / MINUTE_MS)
  const seconds = ((size % MINUTE_MS) / 1_000).toFixed(3).padStart(6, '0')
  if (size < HOUR_MS) return `${sign}${minutes}:${seconds}`
  return `${sign}${Math.floor(minutes / 60)}:${two(minutes % 60)}:${seconds}`
}

/**
 * What times are counted in: a life's in milliseconds, those of a counter-example, which knows no
 * clock, in steps.
 */
export interface Units {
  readonly duration: (length: number) => string
  readonly running: (length: number) => string
  readonly offset: (from: number) => string
  /** Shortest length that an axis shows. */
  readonly least: number
}

const steps = (length: number): string => count(Math.round(length), 'step')

export const TIME: Units = { duration: durationText, running, offset, least: 100 }
export const STEPS: Units = {
  duration: steps,
  running: steps,
  offset: (from) => `step ${Math.round(from)}`,
  least: 1,
}

const two = (n: number): string => String(Math.floor(n)).padStart(2, '0')

/** `1 request`, `2 requests`; `watch` knows its plural. */
export const count = (n: number, noun: string): string => `${n} ${n === 1 ? noun : noun.endsWith('ch') ? `${noun}es` : `${noun}s`}`

/** `a`, `a and b`, `a, b and c`. */
export const listText = (items: readonly string[]): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`

/** Where something stands: waiting for its turn, at work, or one of the outcomes. */
export type WorkStatus = 'waiting' | 'working' | PhaseOutcome

export const STATUS_WORDS: Readonly<Record<WorkStatus, string>> = {
  waiting: 'waiting',
  working: 'under way',
  ok: 'ok',
  failed: 'failed',
  cut: 'cut',
  skipped: 'skipped',
}

export const FORCED_WORDS = {
  'stop-now': 'the program asked for the end at once',
  'second-signal': 'a second signal asked for the end at once',
  'second-crash': 'it crashed a second time',
  deadline: 'the deadline was reached',
  'process-exit': 'the process ended before it',
  'internal-error': 'quiesce itself failed',
} as const
