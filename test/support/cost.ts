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

/**
 * Whether what is so many times as long costs more than is allowed, and more than twice its share
 * of what a part costs: a machine that is slow, or busy, is slow with both.
 */
export const hasGrown = ({ whole, part, times, allowed }: Readonly<Record<'whole' | 'part' | 'times' | 'allowed', number>>): boolean =>
  whole >= allowed && whole >= 2 * times * part
