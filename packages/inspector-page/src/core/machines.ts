import { regionLines, stateLine } from './states.ts'
import type { ActorSnapshot, View } from './view.ts'
import type { WorkStatus } from './words.ts'

/** The actors of a life as a tree, in the order they began. */
export interface MachineNode {
  readonly id: string
  readonly name: string
  readonly kind: 'machine' | 'effect'
  /** `cut off`: it was active when the life ended. */
  readonly status: ActorSnapshot['status'] | 'cut off'
  /** The status; of a machine that is done, by the state that it is done in. */
  readonly workStatus: WorkStatus
  /** One line. */
  readonly state: string
  readonly regions: readonly (readonly [region: string, state: string])[]
  readonly context: unknown
  readonly children: readonly MachineNode[]
}

const REGIONS_LISTED_FROM = 2
const WORK_STATUS_OF = { active: 'working', done: 'ok', error: 'failed', stopped: 'skipped', 'cut off': 'skipped' } as const
/** Final states that are not a good end. */
const ENDS: Readonly<Record<string, WorkStatus>> = { failed: 'failed', cut: 'cut', lost: 'cut', terminated: 'cut' }

export function machineTree({ actors, life: { exitCode } }: View): readonly MachineNode[] {
  const children = new Map<string | undefined, ActorSnapshot[]>()
  for (const actor of actors.values()) {
    // One whose parent is not known stands by itself.
    const parent = actor.parent !== undefined && actors.has(actor.parent) ? actor.parent : undefined
    children.set(parent, [...(children.get(parent) ?? []), actor])
  }
  const nodeOf = (actor: ActorSnapshot): MachineNode => {
    const regions = regionLines(actor.value)
    const status = actor.status === 'active' && exitCode !== undefined ? 'cut off' : actor.status
    const state = stateLine(actor.value)
    return {
      id: actor.id,
      name: nameOf(actor),
      kind: actor.value === undefined ? 'effect' : 'machine',
      status,
      workStatus: (status === 'done' ? ENDS[state] : undefined) ?? WORK_STATUS_OF[status],
      state,
      regions: regions.length >= REGIONS_LISTED_FROM ? regions : [],
      context: actor.context,
      children: (children.get(actor.id) ?? []).map(nodeOf),
    }
  }
  return (children.get(undefined) ?? []).map(nodeOf)
}

/**
 * How an actor is called: by its id within its parent; the root, whose id is generated, by its
 * machine.
 */
export const nameOf = ({
  name,
  machine,
  parent,
}: {
  readonly name: string
  readonly machine?: string | undefined
  readonly parent?: string | undefined
}): string => (parent === undefined && machine !== undefined ? machine : name)
