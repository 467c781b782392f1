const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  // Micro sign and Greek mu, each as its bytes of UTF-8.
  '\u00c2\u00b5s': 1_000n,
  '\u00ce\u00bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const LARGEST = (1n << 63n) - 1n
const NUMBER = /^(\d*)(?:\.(\d*))?/
const UNIT = /^[^.\d]+/
/** A longer text has more digits than any duration. */
const LENGTH_MAX = 1000

/**
 * A duration as Go writes it: `1h15m30.918s`, `-1.5h`, `300ms`, `0`. What is wrong with one is said
 * in Go's words.
 * @param text one character per byte
 * @returns milliseconds, or what is wrong
 * @see Go's time.ParseDuration
 */
export function parseGoDuration(text: string): number | { readonly error: string } {
  const invalid = { error: `time: invalid duration ${quote(text)}` }
  const isNegative = text.startsWith('-')
  let rest = isNegative || text.startsWith('+') ? text.slice(1) : text
  if (rest === '0') return 0
  if (rest === '' || rest.length > LENGTH_MAX) return invalid
  let total = 0n
  while (rest !== '') {
    const [number, whole = '', fraction = ''] = NUMBER.exec(rest) as RegExpExecArray as unknown as [string, string?, string?]
    if (whole === '' && fraction === '') return invalid
    rest = rest.slice(number.length)
    const unit = UNIT.exec(rest)?.[0]
    if (unit === undefined) return { error: `time: missing unit in duration ${quote(text)}` }
    const nanoseconds = Object.hasOwn(NANOSECONDS, unit) ? NANOSECONDS[unit] : undefined
    if (nanoseconds === undefined) return { error: `time: unknown unit ${quote(unit)} in duration ${quote(text)}` }
    total += BigInt(whole || '0') * nanoseconds + (BigInt(fraction || '0') * nanoseconds) / 10n ** BigInt(fraction.length)
    if (total > LARGEST + 1n) return invalid
    rest = rest.slice(unit.length)
  }
  if (!isNegative && total > LARGEST) return invalid
  const ms = Number(total) / 1e6
  return isNegative ? -ms : ms
}

/**
 * A duration as Go writes it: `1h2m3.5s`, `12.345678ms`, `0s`.
 * @see Go's time.Duration String
 */
export function formatGoDuration(ms: number): string {
  const nanoseconds = Math.round(Math.abs(ms) * 1e6)
  if (nanoseconds === 0) return '0s'
  const sign = ms < 0 ? '-' : ''
  if (nanoseconds < 1e3) return `${sign}${nanoseconds}ns`
  if (nanoseconds < 1e6) return `${sign}${nanoseconds / 1e3}µs`
  if (nanoseconds < 1e9) return `${sign}${nanoseconds / 1e6}ms`
  const seconds = Math.floor(nanoseconds / 1e9)
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor(seconds / 60) % 60
  const rest = `${(nanoseconds % 60e9) / 1e9}s`
  return `${sign}${hours > 0 ? `${hours}h` : ''}${seconds >= 60 ? `${minutes}m` : ''}${rest}`
}

/** Printable ASCII as it is; every other byte by its number. */
function quote(text: string): string {
  const quoted = text.replace(/["\\]|[^ -\x7f]/g, (character) =>
    character === '"' || character === '\\' ? `\\${character}` : `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return `"${quoted}"`
}
