/** The second that was written last, in microseconds, and as text: `2026-07-01T10:00:00.` */
let second = Number.NaN
let ofSecond = ''

/** Wall-clock milliseconds with their fraction, as `2026-07-01T10:00:00.000000Z`. */
export function microTime(wallMs: number): string {
  const micros = Math.round(wallMs * 1_000)
  const rest = micros % 1_000_000
  if (micros - rest !== second) {
    second = micros - rest
    ofSecond = new Date(second / 1_000).toISOString().slice(0, -4)
  }
  return `${ofSecond}${String(rest).padStart(6, '0')}Z`
}
