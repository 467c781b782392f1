import { optionError } from './errors.ts'

export { formatDuration } from './format-duration.ts'

/**
 * What users write for a length of time: milliseconds, or text such as `'500ms'`, `'1.5s'`,
 * `'1m30s'`, `'2h'`, `'7d'` (Go's notation, and days).
 */
export type Duration = number | string

const UNIT_MS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const PART = /(\d+(?:\.\d+)?|\.\d+)(ns|us|µs|ms|s|m|h|d)/y
/** Node's timers take no more; about 24.8 days. */
export const DURATION_MS_MAX = 2 ** 31 - 1
const NOTATION = '500ms, 5s, 1m30s (units ns, us, ms, s, m, h, d); 0 to 24d'
export const DURATION_ALLOWED = `milliseconds as a number, or text like ${NOTATION}`
/** The allowed durations in a place where numbers cannot be written. */
export const DURATION_TEXT_ALLOWED = `a duration like ${NOTATION}`

/**
 * Milliseconds of a duration.
 * @throws QuiesceError ERR_OPTION_INVALID naming `field` when it is malformed, negative, not finite
 * or above 24.8 days.
 */
export function parseDuration(field: string, given: Duration): number {
  const ms = typeof given === 'number' ? given : textMs(given)
  if (ms === undefined || !Number.isFinite(ms) || ms < 0 || ms > DURATION_MS_MAX) throw optionError(field, given, DURATION_ALLOWED)
  return ms
}

/** Whether {@link parseDuration} takes it. */
export function isDuration(given: unknown): given is Duration {
  try {
    parseDuration('', given as Duration)
    return true
  } catch {
    // Its message names no field; the caller reports this one with the others.
    return false
  }
}

function textMs(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  if (text === '0') return 0
  let total = 0
  PART.lastIndex = 0
  let end = 0
  while (end < text.length) {
    const part = PART.exec(text)
    if (!part) return undefined
    total += Number(part[1]) * (UNIT_MS[part[2] as string] as number)
    end = PART.lastIndex
  }
  return end > 0 ? total : undefined
}
