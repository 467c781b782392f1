/**
 * The ways in which people read a length of time, in one notation (Go's, which options are
 * written in, too). Without any import: the inspector's page loads this file as it is.
 */
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** A duration that is over or set, to the microsecond: `250ms`, `1.234s`, `1m30s`, `2h5m0s`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${round(ms)}ms`
  if (ms < MINUTE_MS) return `${round(ms / 1_000)}s`
  const hours = ms < HOUR_MS ? '' : `${Math.floor(ms / HOUR_MS)}h`
  return `${hours}${Math.floor((ms % HOUR_MS) / MINUTE_MS)}m${round((ms % MINUTE_MS) / 1_000)}s`
}

/**
 * A duration that still runs, as exact as it can be read while it changes: `0.2s`, `12.0s`,
 * `1m30s`. Never more than it is.
 */
export function formatRunning(ms: number): string {
  return ms < MINUTE_MS ? `${(Math.floor(ms / 100) / 10).toFixed(1)}s` : formatDuration(Math.floor(ms / 1_000) * 1_000)
}

/** A duration in a column, always to the millisecond: `0.062s`, `58.111s`, `1m0.500s`. */
export function formatInColumn(ms: number): string {
  const whole = Math.round(ms)
  const minutes = Math.floor(whole / MINUTE_MS)
  const seconds = `${((whole % MINUTE_MS) / 1_000).toFixed(3)}s`
  if (minutes === 0) return seconds
  return whole < HOUR_MS ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`
}

const round = (n: number): number => Math.round(n * 1_000) / 1_000
