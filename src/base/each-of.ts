/**
 * Does `work` for each item, also when it throws for one of them.
 * @throws what was thrown first, when all is done
 */
export function eachOf<T>(items: Iterable<T>, work: (item: T) => void): void {
  const thrown: unknown[] = []
  for (const item of items) {
    try {
      work(item)
    } catch (error) {
      thrown.push(error)
    }
  }
  if (thrown.length > 0) throw thrown[0]
}

/** Takes each step, also when one of them throws. @throws as {@link eachOf} does */
export const takeSteps = (...steps: readonly (() => unknown)[]): void => eachOf(steps, (step) => step())
