import type { AnyMachineSnapshot, AnyStateMachine, AnyTransitionDefinition, EventObject } from 'xstate'
import { ContextKeys } from './context-keys.ts'
import type { Assigned } from './context-table.ts'
import { type Dependency, textOfDependency } from './dependencies.ts'
import { type Assign, type Assigner, type Collect, type Context, type Enqueueing, isAssign, isEnqueueing, optionsOf } from './internals.ts'
import { replaceActions } from './own-nodes.ts'
import { type RegionFrame, readsState, staysInRegion } from './regions.ts'

/** What a step read, and what it wrote. */
export interface Watched {
  readonly dependencies: readonly Dependency[]
  /** The whole configuration was left; what the regions were in no longer matters. */
  readonly left: boolean
  /** What was done to the context, in order. */
  readonly assigned: readonly Assigned[]
  /** The context after the step. */
  readonly context: Context
  /** Events that were raised and, in a divided step, not answered yet. */
  readonly raised: readonly EventObject[]
}

/**
 * A machine that notes what xstate reads while it computes a step: the events that transitions
 * are selected for, and the keys of the context that conditions, actions and inputs read. It is a
 * copy of the machine it is made for, and behaves like it.
 *
 * Reads made only by `assign()` are no dependencies: assignments are kept, and done again to any
 * other context. A later read by anything else makes them dependencies.
 */
export class InstrumentedMachine {
  readonly machine: AnyStateMachine
  readonly contextKeys = new ContextKeys()
  /** More microsteps in one step are taken for an endless loop. */
  readonly maxIterations: number
  #microsteps = 0
  #dependencies: Dependency[] = []
  readonly #asked = new Set<string>()
  readonly #written = new Set<string>()
  readonly #assigned: Assigned[] = []
  /** What assignments have read since anything else has read the context. */
  readonly #readToAssign: Dependency[] = []
  #frame: RegionFrame | undefined
  #left = false
  #isDivided = false
  #isAnswered = false
  #isAside = false
  #raised: EventObject[] = []
  /** What the machine is shown as its context, and what is behind it. */
  #shown: Context = {}
  #behind: Context = {}
  /**
   * The reader of the context at the moment: while it assigns, xstate also copies the context,
   * which is no dependency.
   */
  #reader: 'machine' | 'assignment' | 'copy' = 'machine'

  constructor(machine: AnyStateMachine) {
    this.machine = machine.provide({}) as AnyStateMachine
    // A machine that goes round for ever ends in an error here; live it would hang. Before 5.31
    // xstate has no such options, and microsteps are counted here.
    const options = optionsOf(this.machine)
    this.maxIterations = Math.min(options?.maxIterations ?? MICROSTEPS_MAX, MICROSTEPS_MAX)
    if (options) options.maxIterations = this.maxIterations
    this.#watchSelection()
    this.#watchActions()
  }

  /**
   * Begins a step, and gives what is to stand for the context in it. A divided step ends when the
   * first event is answered.
   */
  begin(frame: RegionFrame, context: Context, isDivided: boolean): Context {
    this.#isDivided = isDivided
    this.#isAnswered = false
    this.#microsteps = 0
    this.#raised = []
    this.#dependencies = []
    this.#asked.clear()
    this.#written.clear()
    this.#assigned.length = 0
    this.#readToAssign.length = 0
    this.#frame = frame
    this.#left = false
    return this.#show(context)
  }

  /**
   * Computes something else, also in the middle of a step: a machine may be a child of its own
   * kind.
   */
  aside<T>(compute: () => T): T {
    this.#isAside = true
    try {
      return compute()
    } finally {
      this.#isAside = false
    }
  }

  /** Takes each microstep. */
  microstep(transitions: readonly AnyTransitionDefinition[]): void {
    if (this.#isAside) return
    // As xstate counts them, and then some, so that it says so where it does.
    if (++this.#microsteps > this.maxIterations + 1) throw new Error(`endless loop of more than ${this.maxIterations} microsteps`)
    if (this.#frame?.parallel && transitions.length > 0 && !this.#left && this.#dependencies.at(-1)?.kind !== 'final')
      this.#dependencies.push({ kind: 'final' })
  }

  dependsOn(dependency: Dependency): void {
    const key = textOfDependency(dependency)
    if (this.#asked.has(key)) return
    this.#asked.add(key)
    this.#dependencies.push(dependency)
  }

  /** Ends a step that led to this snapshot. */
  end({ context, status }: AnyMachineSnapshot): Watched {
    if (status !== 'active') {
      this.dependsOn({ kind: 'exits' })
      this.dependsOn({ kind: 'children' })
    }
    this.#frame = undefined
    const isShown = context === this.#shown
    return {
      dependencies: this.#dependencies,
      left: this.#left,
      assigned: isShown ? [...this.#assigned] : [() => context],
      context: isShown ? this.#behind : context,
      raised: this.#raised,
    }
  }

  #watchSelection(): void {
    const select = this.machine.getTransitionData.bind(this.machine)
    this.machine.getTransitionData = (snapshot, event) => {
      if (this.#isAside) return select(snapshot, event)
      if (this.#isDivided && this.#isAnswered) {
        this.#raised.push(event)
        return []
      }
      this.#isAnswered = true
      // Once everything has been left, what follows is the same wherever the regions stood.
      if (!this.#left) this.dependsOn({ kind: 'hears', type: event.type })
      const frame = this.#left ? undefined : this.#frame
      // An event concerns few regions, and it takes xstate a walk through all of them to find out.
      const concerned = frame?.parallel ? { ...snapshot, value: frame.heardPart(snapshot.value, event.type) } : snapshot
      const transitions = select(concerned as AnyMachineSnapshot, event)
      if (frame && transitions.some((transition) => !staysInRegion(transition, frame))) {
        // Of several transitions some may be dropped because they are in each other's way.
        this.dependsOn({ kind: transitions.length === 1 ? 'exits' : 'all' })
        this.#left = true
      }
      return transitions
    }
  }

  #watchActions(): void {
    const actions = this.machine.implementations.actions as Record<string, unknown>
    for (const [name, action] of Object.entries(actions)) actions[name] = this.#watchAction(action)
    replaceActions(this.machine, this.#watchAction)
  }

  readonly #watchAction = (action: unknown): unknown => {
    if (isAssign(action)) return this.#watchAssign(action)
    return isEnqueueing(action) ? this.#watchEnqueueing(action) : action
  }

  /** What it enqueues is only known when it runs, and so is which conditions it asks. */
  #watchEnqueueing(action: Enqueueing): Enqueueing {
    const resolve: Enqueueing['resolve'] = (scope, snapshot, args, params, self) => {
      const collect: Collect = ({ check, ...rest }, given) => self.collect({ ...rest, check: (guard) => this.#isMet(guard, check) }, given)
      const [next, more, enqueued] = action.resolve(scope, snapshot, args, params, { ...self, collect })
      return [next, more, enqueued.map(this.#watchAction)] as const
    }
    return Object.assign(() => {}, action, { resolve })
  }

  #isMet(guard: unknown, check: (guard: unknown) => boolean): boolean {
    if (!this.#isAside && readsState(guard)) this.dependsOn({ kind: 'all' })
    return check(guard)
  }

  #watchAssign(action: Assign): Assign {
    if (typeof action.assignment === 'object') for (const key of Object.keys(action.assignment)) this.contextKeys.known.add(key)
    const resolve: Assign['resolve'] = (scope, snapshot, args, params, self) => {
      if (snapshot.context !== this.#shown) return action.resolve(scope, snapshot, args, params, self)
      const assignment: Assigner = (assignArgs, assignParams) => {
        this.#reader = 'assignment'
        const update = evaluate(action.assignment, assignArgs, assignParams)
        this.#reader = 'copy'
        if (update !== this.#shown) for (const key of Object.keys(update ?? {})) this.#written.add(key)
        this.#assigned.push((context) => ({ ...context, ...evaluate(action.assignment, { ...assignArgs, context }, assignParams) }))
        return update
      }
      try {
        const [next, ...rest] = action.resolve(scope, snapshot, args, params, { assignment })
        return [{ ...next, context: this.#show(next.context as Context) }, ...rest] as const
      } finally {
        this.#reader = 'machine'
      }
    }
    return Object.assign(() => {}, action, { resolve })
  }

  #show(behind: Context): Context {
    const reads = (key: string | symbol): void => {
      if (typeof key === 'string') this.#readContext(this.#written.has(key) ? undefined : { kind: 'key', key })
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
        this.#readContext({ kind: 'context' })
        return Reflect.ownKeys(target)
      },
    })
    return this.#shown
  }

  /**
   * `dependency` is undefined for what the step itself has written, of which only what that was
   * made from counts.
   */
  #readContext(dependency: Dependency | undefined): void {
    if (this.#reader === 'machine') for (const earlier of this.#readToAssign.splice(0)) this.dependsOn(earlier)
    if (dependency === undefined || this.#reader === 'copy') return
    if (this.#reader === 'machine') this.dependsOn(dependency)
    else this.#readToAssign.push(dependency)
  }
}

const MICROSTEPS_MAX = 10_000

/** One function for all keys, or one function or value for each. */
function evaluate(assignment: Assign['assignment'], args: object, params: unknown): Context | undefined {
  if (typeof assignment === 'function') return (assignment as Assigner)(args, params)
  return Object.fromEntries(
    Object.entries(assignment).map(([key, value]) => [key, typeof value === 'function' ? (value as Assigner)(args, params) : value]),
  )
}
