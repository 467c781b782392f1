/**
 * The `max` items that began first, oldest first. One pass and a short list, because the items are
 * all requests or connections of a busy server; they come nearly in order, so most cost one
 * comparison.
 */
export function oldest<T>(items: Iterable<T>, max: number, since: (item: T) => number): T[] {
  const first: T[] = []
  for (const item of items) {
    const at = since(item)
    let place = first.length
    while (place > 0 && at < since(first[place - 1] as T)) place--
    if (place >= max) continue
    first.splice(place, 0, item)
    if (first.length > max) first.pop()
  }
  return first
}
