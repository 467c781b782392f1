/** State values of xstate: a name, or an object of regions, nested. */

/** Ids of the innermost active states, as the machine's state nodes have them: `lifecycle.running.tell.working`. */
export function activeStates(machine: string, value: unknown): string[] {
  if (typeof value === 'string') return [`${machine}.${value}`]
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value)
  return inner.length === 0 ? [machine] : inner.flatMap(([key, child]) => activeBelow(`${machine}.${key}`, child))
}

function activeBelow(id: string, value: unknown): string[] {
  const below = activeStates(id, value)
  return below.length === 0 ? [id] : below
}

const REGIONS_SPELLED_OUT = 3

/** One line: `draining`, `running › 31 regions`. */
export function stateLine(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  const regions = Object.entries(value)
  const [only] = regions
  if (regions.length === 1 && only) {
    const below = stateLine(only[1])
    return below === '' ? only[0] : `${only[0]} › ${below}`
  }
  if (regions.length > REGIONS_SPELLED_OUT) return `${regions.length} regions`
  return regions.map(([key, child]) => `${key}: ${stateLine(child)}`).join(', ')
}

/** The regions of a machine with many of them, one line each. */
export function regionLines(value: unknown): readonly (readonly [region: string, state: string])[] {
  if (typeof value !== 'object' || value === null) return []
  const entries = Object.entries(value)
  const [only] = entries
  if (entries.length === 1 && only) return regionLines(only[1])
  return entries.map(([key, child]) => [key, stateLine(child)] as const)
}

/** An id of a state node without its machine: `running.tell.working`. */
export const withoutMachine = (id: string): string => id.slice(id.indexOf('.') + 1)
