import {
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyTransitionDefinition,
  type EventObject,
  type ExecutableActionObject,
  StateMachine,
} from 'xstate'
import { canonical } from './canonical.ts'
import { Interner } from './interner.ts'
import { remembered } from './remembered.ts'
import { type Harvest, StandIn, UNNAMED } from './scope.ts'
import type { Address, Effect, LocalState, Logic, ModelEvent, Timer } from './state.ts'
import { unsupported } from './unsupported.ts'

/** What an actor does in answer to one event, in the order in which xstate does it. */
export type Command =
  | { readonly kind: 'effect'; readonly effect: Effect }
  | { readonly kind: 'start'; readonly id: string; readonly step: Step }
  | { readonly kind: 'stop'; readonly id: string }
  | { readonly kind: 'send'; readonly to: Address; readonly event: ModelEvent }
  | { readonly kind: 'schedule'; readonly timer: Timer }
  | { readonly kind: 'cancel'; readonly name: string }

/** One macrostep of one actor. */
export interface Step {
  /** Where the actor stands after it. */
  readonly local: LocalState
  readonly commands: readonly Command[]
  readonly transitions: readonly AnyTransitionDefinition[]
}

/**
 * Macrosteps, each computed once by xstate itself and remembered by (local state, event). A whole system has far fewer of them
 * than it has states, so exploring is mostly looking up.
 */
export class Steps {
  readonly logics = new Interner<Logic>()
  readonly locals = new Interner<LocalState>()
  readonly events = new Interner<ModelEvent>()
  readonly timers = new Interner<Timer>()
  readonly effects = new Interner<Effect>()
  /** Every step taken so far with the state and event it was taken from; initial ones have none. */
  readonly taken: { readonly from?: LocalState; readonly event?: ModelEvent; readonly step: Step }[] = []
  readonly #next = new Map<number, Step>()
  readonly #ends = new Map<string, ModelEvent>()
  readonly #standIns = new Map<Logic, StandIn>()
  readonly #logicIds = new Map<unknown, number>()

  /** The first step of the root machine. */
  root(machine: AnyStateMachine, input: unknown): Step {
    return this.#initial(this.#logic(machine, machine.id, true), input)
  }

  /** The step that `local` answers `event` with. */
  next(local: LocalState, event: ModelEvent): Step {
    const key = local.index * EVENTS_MAX + event.index
    let step = this.#next.get(key)
    if (step === undefined) {
      step = this.#transition(local, event)
      this.#next.set(key, step)
      this.taken.push({ from: local, event, step })
    }
    return step
  }

  event(object: EventObject, where: string): ModelEvent {
    return this.events.intern(canonical(object, `${where}: event ${object.type}`), (index) => ({ index, type: object.type, object }))
  }

  /** What the parent hears when a child has ended. */
  endOf({ index, status, output, error, logic }: LocalState, id: string): ModelEvent {
    const key = `${index} ${id}`
    let event = this.#ends.get(key)
    if (event === undefined) {
      event = status === 'error' ? this.failed(id, error, logic.name) : this.done(id, output, logic.name)
      this.#ends.set(key, event)
    }
    return event
  }

  done(id: string, output: unknown, where: string): ModelEvent {
    return this.event({ type: `xstate.done.actor.${id}`, output, actorId: id } as EventObject, where)
  }

  failed(id: string, error: unknown, where: string): ModelEvent {
    return this.event({ type: `xstate.error.actor.${id}`, error, actorId: id } as EventObject, where)
  }

  #initial(logic: Logic, input: unknown): Step {
    const { machine } = logic
    if (!machine) return { local: this.#opaque(logic, input), commands: [], transitions: [] }
    const harvest: Harvest = { actions: [], transitions: [] }
    const result: AnyMachineSnapshot = this.#standIn(logic).collect(harvest, (scope) => machine.getInitialSnapshot(scope, input as never))
    const local = this.#local(logic, result)
    // An actor that could not be initialised ends at once; nothing that it asked for is done.
    if (result.status === 'error') return this.#note({ local, commands: [], transitions: [] })
    return this.#note({ local, commands: this.#commands(logic, undefined, result, harvest), transitions: harvest.transitions })
  }

  #note(step: Step): Step {
    this.taken.push({ step })
    return step
  }

  #transition(local: LocalState, event: ModelEvent): Step {
    const { logic, snapshot } = local
    const { machine } = logic
    if (!machine || !snapshot) throw new Error(`${logic.name} takes no steps`)
    if (isDeaf(snapshot, event.type)) return { local, commands: [], transitions: [] }
    const harvest: Harvest = { actions: [], transitions: [] }
    const { transitions } = harvest
    try {
      const after: AnyMachineSnapshot = this.#standIn(logic).collect(harvest, (scope) =>
        machine.transition(snapshot, event.object as never, scope),
      )
      return { local: this.#local(logic, after), commands: this.#commands(logic, snapshot, after, harvest), transitions }
    } catch (thrown) {
      if ((thrown as { code?: unknown }).code === 'ERR_MODEL_UNSUPPORTED') throw thrown
      // What was said before the throw has been said; everything else of the step is lost.
      const commands = harvest.actions.flatMap((action) => (action.type.startsWith('xstate.') ? [] : this.#effect(action)))
      return { local: this.#local(logic, { ...snapshot, status: 'error', error: thrown } as AnyMachineSnapshot), commands, transitions }
    }
  }

  /**
   * The actions of a macrostep as commands. A running actor performs custom actions while it computes the step and everything else
   * after it; one that starts performs all of it in order, after starting its children.
   */
  #commands(logic: Logic, before: AnyMachineSnapshot | undefined, after: AnyMachineSnapshot, { actions }: Harvest): Command[] {
    // Entry actions may speak to a child that is made after them.
    const starts = new Map<unknown, Command>()
    for (const { type, params } of actions) {
      if (type !== 'xstate.spawnChild') continue
      const spawn = params as unknown as SpawnParams
      starts.set(spawn.actorRef, this.#start(logic, spawn))
    }
    const early: Command[] = []
    const late: Command[] = []
    for (const action of actions) {
      const commands = this.#command(logic, before, starts, action)
      if (commands[0]?.kind === 'effect' && before !== undefined && action.type !== 'xstate.emit') early.push(...commands)
      else late.push(...commands)
    }
    const isStart = (command: Command): boolean => command.kind === 'start' && [...starts.values()].includes(command)
    // A child stopped in the step that made it never starts.
    const kept = late.filter((command) => command.kind !== 'start' || isStart(command))
    if (before !== undefined) return [...early, ...kept]
    const first = Object.values(after.children).flatMap((child) => starts.get(child) ?? [])
    const isActive = (command: Command): boolean => command.kind === 'start' && command.step.local.status === 'active'
    const children = first.filter(isActive)
    return [...children, ...kept.filter((command) => !children.includes(command))]
  }

  #command(logic: Logic, before: AnyMachineSnapshot | undefined, starts: Map<unknown, Command>, action: ExecutableActionObject): Command[] {
    const { type } = action
    if (!type.startsWith('xstate.') || type === 'xstate.emit') return this.#effect(action)
    switch (type) {
      case 'xstate.log':
        return []
      case 'xstate.spawnChild': {
        const start = starts.get((action.params as unknown as SpawnParams).actorRef)
        return start ? [start] : []
      }
      case 'xstate.stopChild': {
        const ref = action.params as unknown as AnyActorRef | undefined
        if (ref === undefined || starts.delete(ref)) return []
        return before?.children[ref.id] === ref ? [{ kind: 'stop', id: ref.id }] : []
      }
      case 'xstate.cancel': {
        const { sendId } = action.params as unknown as { sendId: string }
        return [{ kind: 'cancel', name: sendId }]
      }
      case 'xstate.raise':
      case 'xstate.sendTo':
        return this.#send(logic, starts, action.params as unknown as SendParams, type === 'xstate.raise')
      default:
        throw unsupported(
          logic.name,
          `the action ${type}`,
          'supported are assign, raise, sendTo, cancel, spawnChild, stopChild, emit, log and custom actions',
        )
    }
  }

  #effect({ type, params }: ExecutableActionObject): Command[] {
    const name = type === 'xstate.emit' ? 'emit' : type
    const said = type === 'xstate.emit' ? (params as unknown as { event: unknown }).event : params
    const effect = this.effects.intern(`${name} ${canonical(said, `action ${name}: params`)}`, (index) => ({
      index,
      type: name,
      params: said,
    }))
    return [{ kind: 'effect', effect }]
  }

  #start(parent: Logic, { actorRef, src, input }: SpawnParams): Command {
    const where = `${parent.name}: child ${actorRef?.id ?? String(src)}`
    if (!actorRef) throw unsupported(where, `an actor "${String(src)}" without implementation`, 'provide it')
    const { id, logic, _syncSnapshot } = actorRef
    if (id.startsWith(UNNAMED)) throw unsupported(where, 'a child without an id', 'give it one; generated ids differ from run to run')
    if (_syncSnapshot) throw unsupported(where, 'onSnapshot', 'send the parent an event instead')
    return { kind: 'start', id, step: this.#initial(this.#logic(logic, typeof src === 'string' ? src : id, false), input) }
  }

  #send(logic: Logic, starts: ReadonlyMap<unknown, Command>, { to, event: object, id, delay }: SendParams, raised: boolean): Command[] {
    if (raised && delay === undefined) return []
    const event = this.event(object, logic.name)
    const address = raised ? SELF : this.#address(logic, starts, to, object.type)
    if (delay === undefined) return [{ kind: 'send', to: address, event }]
    const key = `${id} ${event.index} ${address.kind} ${address.kind === 'child' ? `${address.id} ${address.newborn}` : ''} ${delay}`
    const timer = this.timers.intern(key, (index) => ({ index, ...(id !== undefined && { name: id }), event, to: address, delayMs: delay }))
    return [{ kind: 'schedule', timer }]
  }

  #address(logic: Logic, starts: ReadonlyMap<unknown, Command>, to: AnyActorRef | undefined, event: string): Address {
    const { self, parent } = this.#standIn(logic)
    if (to === self) return SELF
    if (to !== undefined && to === parent) return PARENT
    // Children are made by xstate with the stand-in as their parent, so this is one of this machine's.
    if (to !== undefined && (to as { _parent?: unknown })._parent === self)
      return { kind: 'child', id: to.id, ...(starts.has(to) && { newborn: true }) }
    throw unsupported(logic.name, `sending ${event} to an actor that is neither a child, the parent nor itself`, 'send it along the tree')
  }

  #local(logic: Logic, snapshot: AnyMachineSnapshot): LocalState {
    const { value, context, status, output, error, historyValue, children } = snapshot
    if (status === 'stopped') throw new Error('a stop is never taken as a step')
    const history = Object.entries(historyValue).map(([id, nodes]) => `${id}=${nodes.map((node) => node.id)}`)
    const text = `${logic.index} ${canonical(value, logic.name)} ${canonical(context, `${logic.name}: context`)} ${status} ${canonical(output, `${logic.name}: output`)} ${
      error === undefined ? '' : canonical(error, `${logic.name}: error`)
    } ${history.sort()} ${Object.keys(children).sort()}`
    return this.locals.intern(text, (index) => ({ index, logic, status, snapshot, output, error }))
  }

  #opaque(logic: Logic, input: unknown): LocalState {
    return this.locals.intern(`${logic.index} ${canonical(input, `${logic.name}: input`)}`, (index) => ({
      index,
      logic,
      status: 'active',
      input,
    }))
  }

  #logic(logic: unknown, name: string, isRoot: boolean): Logic {
    const id = remembered(this.#logicIds, logic, () => this.#logicIds.size)
    if (logic instanceof StateMachine) {
      const machine = logic as AnyStateMachine
      return this.logics.intern(`${id} ${isRoot}`, (index) => ({ index, name: machine.id, machine }))
    }
    return this.logics.intern(`${id} ${name}`, (index) => ({ index, name }))
  }

  #standIn(logic: Logic): StandIn {
    let standIn = this.#standIns.get(logic)
    if (!standIn) {
      standIn = new StandIn(logic.machine as AnyStateMachine, logic === this.logics.at(0))
      this.#standIns.set(logic, standIn)
    }
    return standIn
  }
}

/** Whether nothing in the machine can react: a third of all steps, and much cheaper to see than to compute. */
function isDeaf({ _nodes: nodes }: AnyMachineSnapshot, type: string): boolean {
  // An error that nobody handles ends the machine.
  if (type.startsWith('xstate.error.')) return false
  return nodes.every(
    ({ always, transitions }) => !always && !transitions.has(type) && ![...transitions.keys()].some((key) => key.endsWith('*')),
  )
}

/** Local states and events are numbered; a pair of them is one number below 2^53. */
const EVENTS_MAX = 2 ** 24

const SELF: Address = { kind: 'self' }
const PARENT: Address = { kind: 'parent' }

interface SpawnParams {
  readonly actorRef: (AnyActorRef & { readonly logic: unknown; readonly _syncSnapshot?: boolean }) | undefined
  readonly src: unknown
  readonly input?: unknown
}

interface SendParams {
  readonly to?: AnyActorRef
  readonly event: EventObject
  readonly id?: string
  readonly delay?: number
}
