/** Where a key is in a sorted list, or would be. */
export function indexOfKey(keys: readonly string[], key: string): number {
  let low = 0
  for (let high = keys.length; low < high; ) {
    const middle = (low + high) >> 1
    if ((keys[middle] as string) < key) low = middle + 1
    else high = middle
  }
  return low
}
