import { type AnyStateNode, matchesState, type StateValue, type StateValueMap } from 'xstate'
import type { ContextState } from './context-table.ts'
import type { Region, RegionFrame } from './regions.ts'
import { assertState } from './vocabulary.ts'

/**
 * The active states of a machine with its context and children: all that its next step can depend
 * on.
 */
export class MachineConfiguration {
  readonly frame: RegionFrame
  readonly regions: readonly Region[]
  readonly contextState: ContextState
  /** Ids of its children, in alphabetical order. */
  readonly children: readonly string[]

  constructor(frame: RegionFrame, regions: readonly Region[], context: ContextState, children: readonly string[]) {
    this.frame = frame
    this.regions = regions
    this.contextState = context
    this.children = children
  }

  /** The active states as xstate writes them. */
  get value(): StateValue {
    const { parallel, roots, trunk } = this.frame
    if (!parallel) return (this.regions[0] as Region).value
    const regions: StateValueMap = {}
    for (const [i, { key }] of roots.entries()) regions[key] = (this.regions[i] as Region).value
    let value: StateValue = regions
    for (const node of trunk.nodes.slice(1).reverse()) value = { [node.key]: value }
    return value
  }

  get context(): Readonly<Record<string, unknown>> {
    return this.contextState.object
  }

  /** The active states, in document order. */
  get nodes(): readonly AnyStateNode[] {
    return [...this.frame.trunk.nodes, ...this.regions.flatMap(({ nodes }) => nodes)]
  }

  matches(value: StateValue): boolean {
    const { trunk, roots } = this.frame
    assertState((trunk.nodes[0] ?? (roots[0] as AnyStateNode)).machine, value)
    return matchesState(value, this.value)
  }
}
