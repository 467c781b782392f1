/** How many of the items, in an order in which those that are `before` come first, are before. */
export function countBefore<T>(items: readonly T[], before: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (before(items[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}
