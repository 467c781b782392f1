import type { AnyMachineSnapshot, AnyStateMachine, AnyTransitionDefinition, EventObject } from 'xstate'
import type { Look } from './looks.ts'
import { allNodes, type Frame, staysInRegion, transitionsOf } from './regions.ts'

type Context = Readonly<Record<string, unknown>>

/** What a step looked at, and what it wrote. */
export interface Watched {
  readonly looks: readonly Look[]
  /** The whole configuration was left; what the regions were in no longer matters. */
  readonly left: boolean
  /** Keys of the context that were assigned, or all of it. */
  readonly written: ReadonlySet<string> | 'all'
  /** After the step. */
  readonly context: Context
  /** Events that were raised and, in a divided step, not answered yet. */
  readonly raised: readonly EventObject[]
}

/**
 * A machine that notes what xstate looks at while it computes a step: the events that transitions are selected for, and the keys of
 * the context that conditions, actions and inputs read. It is a copy of the machine it is made for, and behaves like it.
 */
export class WatchedMachine {
  readonly machine: AnyStateMachine
  #looks: Look[] = []
  readonly #asked = new Set<string>()
  readonly #written = new Set<string>()
  #frame: Frame | undefined
  #left = false
  #isDivided = false
  #isAnswered = false
  #isAside = false
  #raised: EventObject[] = []
  /** What the machine is shown as its context, and what is behind it. */
  #shown: Context = {}
  #behind: Context = {}
  /** xstate copies the context when it assigns to it; that is no look at it. */
  #isCopying = false

  constructor(machine: AnyStateMachine) {
    this.machine = machine.provide({}) as AnyStateMachine
    // A machine that goes round for ever ends in an error here; live it would hang.
    this.machine.options.maxIterations = Math.min(machine.options.maxIterations ?? MICROSTEPS_MAX, MICROSTEPS_MAX)
    this.#watchSelection()
    this.#watchAssigns()
  }

  /** Begins a step, and gives what is to stand for the context in it. A divided step ends when the first event is answered. */
  begin(frame: Frame, context: Context, isDivided: boolean): Context {
    this.#isDivided = isDivided
    this.#isAnswered = false
    this.#raised = []
    this.#looks = []
    this.#asked.clear()
    this.#written.clear()
    this.#frame = frame
    this.#left = false
    return this.#show(context)
  }

  /** Computes something else, also in the middle of a step: a machine may be a child of its own kind. */
  aside<T>(compute: () => T): T {
    this.#isAside = true
    try {
      return compute()
    } finally {
      this.#isAside = false
    }
  }

  /** To be told after each microstep. */
  microstep(transitions: readonly AnyTransitionDefinition[]): void {
    if (this.#isAside) return
    if (this.#frame?.parallel && transitions.length > 0 && !this.#left && this.#looks.at(-1)?.kind !== 'final')
      this.#looks.push({ kind: 'final' })
  }

  look(look: Look): void {
    const key = JSON.stringify(look)
    if (this.#asked.has(key)) return
    this.#asked.add(key)
    this.#looks.push(look)
  }

  /** Ends a step that led to this snapshot. */
  end({ context, status }: AnyMachineSnapshot): Watched {
    if (status !== 'active') {
      this.look({ kind: 'exits' })
      this.look({ kind: 'children' })
    }
    this.#frame = undefined
    const isShown = context === this.#shown
    return {
      looks: this.#looks,
      left: this.#left,
      written: isShown ? new Set(this.#written) : 'all',
      context: isShown ? this.#behind : context,
      raised: this.#raised,
    }
  }

  #watchSelection(): void {
    const select = this.machine.getTransitionData.bind(this.machine)
    const hasWildcards = allNodes(this.machine.root).some(({ transitions }) => [...transitions.keys()].some((key) => key.endsWith('*')))
    this.machine.getTransitionData = (snapshot, event) => {
      if (this.#isAside) return select(snapshot, event)
      if (this.#isDivided && this.#isAnswered) {
        this.#raised.push(event)
        return []
      }
      this.#isAnswered = true
      // Once everything has been left, what follows is the same wherever the regions stood.
      if (!this.#left) this.look({ kind: 'hears', type: event.type })
      // Most raised events are heard by nobody, and it takes xstate a walk through all regions to find out.
      const isHeard = hasWildcards || snapshot._nodes.some(({ transitions }) => transitions.has(event.type))
      const transitions = isHeard ? select(snapshot, event) : []
      const frame = this.#frame
      if (frame && !this.#left && transitions.some((transition) => !staysInRegion(transition, frame))) {
        // Of several transitions some may be dropped because they are in each other's way.
        this.look({ kind: transitions.length === 1 ? 'exits' : 'all' })
        this.#left = true
      }
      return transitions
    }
  }

  #watchAssigns(): void {
    const watch = (action: unknown): unknown => (isAssign(action) ? this.#watchAssign(action) : action)
    const actions = this.machine.implementations.actions as Record<string, unknown>
    for (const [name, action] of Object.entries(actions)) actions[name] = watch(action)
    for (const node of allNodes(this.machine.root))
      for (const holder of [node, ...transitionsOf(node), node.initial]) {
        for (const key of ['entry', 'exit', 'actions']) {
          const list: unknown = Reflect.get(holder, key)
          if (Array.isArray(list)) Reflect.set(holder, key, list.map(watch))
        }
      }
  }

  #watchAssign(action: Assign): Assign {
    const resolve: Assign['resolve'] = (scope, snapshot, args, params, self) => {
      if (snapshot.context !== this.#shown) return action.resolve(scope, snapshot, args, params, self)
      const assignment: Assigner = (assignArgs, assignParams) => {
        const update = evaluate(action.assignment, assignArgs, assignParams)
        if (update !== this.#shown) for (const key of Object.keys(update ?? {})) this.#written.add(key)
        this.#isCopying = true
        return update
      }
      try {
        const [next, ...rest] = action.resolve(scope, snapshot, args, params, { assignment })
        return [{ ...next, context: this.#show(next.context as Context) }, ...rest] as const
      } finally {
        this.#isCopying = false
      }
    }
    return Object.assign(() => {}, action, { resolve })
  }

  #show(behind: Context): Context {
    const reads = (key: string | symbol): void => {
      if (typeof key === 'string' && !this.#isCopying && !this.#written.has(key)) this.look({ kind: 'key', key })
    }
    this.#behind = behind
    this.#shown = new Proxy(behind, {
      get: (target, key) => {
        reads(key)
        return Reflect.get(target, key)
      },
      has: (target, key) => {
        reads(key)
        return Reflect.has(target, key)
      },
      getOwnPropertyDescriptor: (target, key) => {
        reads(key)
        return Reflect.getOwnPropertyDescriptor(target, key)
      },
      ownKeys: (target) => {
        if (!this.#isCopying) this.look({ kind: 'context' })
        return Reflect.ownKeys(target)
      },
    })
    return this.#shown
  }
}

/** More of them in one step are taken for an endless loop. */
const MICROSTEPS_MAX = 10_000

type Assigner = (args: unknown, params: unknown) => Context | undefined

interface Assign {
  readonly type: 'xstate.assign'
  readonly assignment: Assigner | Readonly<Record<string, unknown>>
  readonly resolve: (
    scope: unknown,
    snapshot: AnyMachineSnapshot,
    args: unknown,
    params: unknown,
    action: Pick<Assign, 'assignment'>,
  ) => readonly [AnyMachineSnapshot, ...unknown[]]
}

const isAssign = (action: unknown): action is Assign =>
  (action as { readonly type?: unknown } | undefined)?.type === 'xstate.assign' && typeof action === 'function'

/** One function for all keys, or one function or value for each. */
function evaluate(assignment: Assign['assignment'], args: unknown, params: unknown): Context | undefined {
  if (typeof assignment === 'function') return (assignment as Assigner)(args, params)
  return Object.fromEntries(
    Object.entries(assignment).map(([key, value]) => [key, typeof value === 'function' ? (value as Assigner)(args, params) : value]),
  )
}
