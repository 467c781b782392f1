import type { OlderConnections } from './wire.ts'

/** What several servers may have, as if it were one's; undefined of none. */
export function olderOf(all: readonly OlderConnections[]): OlderConnections | undefined {
  const [first] = all
  if (all.length <= 1) return first
  return {
    // What is found is said once for each server that has some.
    gone: async (signal, found) => void (await Promise.all(all.map((one) => one.gone(signal, found)))),
    destroy: async () => (await Promise.all(all.map((one) => one.destroy()))).reduce((sum, lost) => sum + lost, 0),
    release: () => {
      for (const one of all) one.release()
    },
  }
}
