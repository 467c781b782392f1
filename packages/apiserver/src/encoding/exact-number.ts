/**
 * Whether a number is the same after it was read and written. No server here keeps more of an
 * integer than a double holds, and nothing that JSON has no word for; fractions are rounded
 * everywhere.
 * @param literal as JSON has it
 */
export function isExact(literal: string): boolean {
  const value = Number(literal)
  return /^-?\d+$/.test(literal) ? literal === '-0' || String(value) === literal : Number.isFinite(value)
}

const SHOWN_MAX = 40

/** What a client is told of a number that is not {@link isExact}: it may be as long as its body. */
export const inexactNumber = (literal: string): string =>
  `the number ${literal.length > SHOWN_MAX ? `${literal.slice(0, SHOWN_MAX)}...` : literal} cannot be kept as it is`
