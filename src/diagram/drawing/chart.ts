/**
 * What there is to draw of a machine, as plain data: it can be sent to a page, which draws it by
 * itself.
 */
export interface Chart {
  readonly root: ChartState
  readonly edges: readonly ChartEdge[]
}

export interface ChartState {
  /** The id as `machine.getStateNodeById` takes it. */
  readonly id: string
  readonly key: string
  /** The key as its user wrote it; of a phase, the phase's name. */
  readonly title: string
  readonly kind: 'atomic' | 'compound' | 'parallel' | 'final'
  readonly isInitial: boolean
  /** Names of what runs while the machine is in this state. */
  readonly work: readonly string[]
  /** Events that this state raises for others, in order. */
  readonly raises: readonly string[]
  readonly meta: Readonly<Record<string, unknown>>
  readonly states: readonly ChartState[]
}

export interface ChartEdge {
  /** `<from>|<event>|<to>`; there is one edge for each. */
  readonly id: string
  readonly from: string
  readonly to: string
  /** The event's type; empty for a transition that waits for none. */
  readonly event: string
  /**
   * `signal`: the one state raises the event, the other has a transition on it. `internal`: acts
   * without leaving the state.
   */
  readonly kind: 'transition' | 'internal' | 'signal'
  /** Name of the condition. */
  readonly guard?: string
}

/** A state and everything inside it. */
export const statesOf = (state: ChartState): ChartState[] => [state, ...state.states.flatMap(statesOf)]

/**
 * A state key or event as its user wrote it: it is encoded where it has characters that xstate
 * reads.
 */
export const decoded = (key: string): string =>
  key.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
