import type { View } from './view.ts'
import type { WorkStatus } from './words.ts'

/** State values of xstate: a name, or an object of regions, nested. */

/** How the phase stands that an active state belongs to; undefined for what is no phase. */
export function statusOfPhase({ phases, life: { signals } }: Pick<View, 'phases' | 'life'>, id: string): WorkStatus | undefined {
  const phase = phaseOf(phases, id)
  if (!phase) return undefined
  const { workStatus, fires } = phase
  // A phase without work of its own says nothing but its signal.
  return workStatus === 'waiting'
    ? (fires.map((signal) => signals.get(signal)?.outcome).find((outcome) => outcome) ?? workStatus)
    : workStatus
}

/**
 * Where the phases stand whose signals have fired: a machine that has ended has no other states
 * than its end.
 */
export const settledStates = ({ phases, life: { signals } }: Pick<View, 'phases' | 'life'>, machine: string): string[] =>
  [...phases.values()]
    .filter(({ fires }) => fires.some((signal) => signals.has(signal)))
    .map(({ name }) => `${machine}.running.${name}.fired`)

/** The phases that work, the one that has begun last first. */
export const workingPhases = ({ phases }: Pick<View, 'phases'>): string[] =>
  [...phases.values()]
    .filter(({ workStatus }) => workStatus === 'working')
    .sort((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0))
    .map(({ name }) => name)

const phaseOf = (phases: View['phases'], id: string) =>
  id
    .split('.')
    .map((part) => phases.get(part))
    .find((phase) => phase !== undefined)

/**
 * Ids of the innermost active states, as the machine's state nodes have them:
 * `lifecycle.running.notify-clients.working`.
 */
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

/** An id of a state node without its machine: `running.notify-clients.working`. */
export const withoutMachine = (id: string): string => id.slice(id.indexOf('.') + 1)
