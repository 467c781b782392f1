const LOOKS = 3

/**
 * The least that something costs, of up to three looks: a machine that is busy elsewhere, or a
 * collection of garbage, may fall into any of them, and what costs too much costs it each time.
 *
 * @param enough no further look is taken when one costs less
 */
export async function leastOf(enough: number, cost: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let look = 0; look < LOOKS && least >= enough; look++) least = Math.min(least, await cost())
  return least
}

/** Processor time of this process in milliseconds. */
export async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
