/** The largest of any many numbers: too many as arguments of one call overflow the stack. */
export function largest(atLeast: number, values: Iterable<number>): number {
  let found = atLeast
  for (const value of values) found = Math.max(found, value)
  return found
}
