/** Names in a line, `a, b, and 3 more`: at most `max` are spelled out. */
export function andMore(names: readonly string[], max: number): string {
  const more = names.length - max
  return `${names.slice(0, max).join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}
