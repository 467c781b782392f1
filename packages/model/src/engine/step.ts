import { type AnyStateMachine, type AnyTransitionDefinition, type EventObject, StateMachine } from 'xstate'
import { ModelError } from '../errors.ts'
import { canonical } from './canonical.ts'
import type { Command } from './commands.ts'
import { doneEvent, failedEvent } from './internals.ts'
import { Interner } from './interner.ts'
import { MachineSteps } from './machine-steps.ts'
import { PairMap } from './pair-map.ts'
import { remembered } from './remembered.ts'
import type { Effect, LocalState, Logic, ModelEvent, Timer } from './state.ts'
import { WatchedMachine } from './watch.ts'

/** One macrostep of one actor. */
export interface Step {
  /** Where the actor stands after it. */
  readonly local: LocalState
  readonly commands: readonly Command[]
  readonly transitions: readonly AnyTransitionDefinition[]
}

/**
 * Macrosteps, each looked up by (local state, event). A whole system has far fewer of them than it
 * has edges, and xstate has to compute far fewer still (see `machine-steps.ts`), so exploring is
 * mostly looking up.
 */
export class Steps {
  readonly logics = new Interner<Logic>()
  readonly locals = new Interner<LocalState>()
  readonly events = new Interner<ModelEvent>()
  readonly timers = new Interner<Timer>()
  readonly effects = new Interner<Effect>()
  /** Every step taken so far with the state and event it was taken from; initial ones have none. */
  readonly taken: { readonly from?: LocalState; readonly event?: ModelEvent; readonly step: Step }[] = []
  readonly #next = new PairMap<Step>()
  readonly #initial = new Map<string, Step>()
  readonly #ends = new Map<string, ModelEvent>()
  readonly #machines = new Map<Logic, MachineSteps>()
  readonly #logicIds = new Map<unknown, number>()
  readonly #recheckEvery: number

  /**
   * One in `recheckEvery` of the steps that xstate was not asked for is computed by it all the
   * same, and compared; 0 for none.
   */
  constructor(recheckEvery: number) {
    this.#recheckEvery = recheckEvery
  }

  /** How many steps xstate has computed. */
  get computed(): number {
    return [...this.#machines.values()].reduce((sum, { computed }) => sum + computed, 0)
  }

  /** The first step of the root machine. */
  root(machine: AnyStateMachine, input: unknown): Step {
    return this.#start(this.#logic(machine, machine.id, true), input)
  }

  /** The first step of a child. `name` is what its parent calls what it does. */
  initial(logic: unknown, name: string, input: unknown): Step {
    return this.#start(this.#logic(logic, name, false), input)
  }

  /** The step that `local` answers `event` with. */
  next(local: LocalState, event: ModelEvent): Step {
    let step = this.#next.get(local.index, event.index)
    if (step === undefined) {
      step = this.#machine(local.logic).next(local, event)
      this.#next.set(local.index, event.index, step)
      this.taken.push({ from: local, event, step })
      if (this.#recheckEvery > 0 && this.taken.length % this.#recheckEvery === 0) this.#recheck(local, event, step)
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
    return this.event(doneEvent(id, output), where)
  }

  failed(id: string, error: unknown, where: string): ModelEvent {
    return this.event(failedEvent(id, error), where)
  }

  #start(logic: Logic, input: unknown): Step {
    return remembered(this.#initial, `${logic.index} ${canonical(input, `${logic.name}: input`)}`, () => {
      if (!logic.machine) return { local: this.#opaque(logic, input), commands: [], transitions: [] }
      const step = this.#machine(logic).initial(input)
      this.taken.push({ step })
      return step
    })
  }

  #recheck(local: LocalState, event: ModelEvent, step: Step): void {
    const computed = this.#machine(local.logic).recompute(local, event)
    if (textOf(computed) === textOf(step)) return
    throw new ModelError('ERR_MODEL_INEXACT', `${local.logic.name}: ${event.type} was not answered as xstate answers it`, {
      machine: local.logic.name,
      event: event.type,
      value: local.standing?.value,
    })
  }

  #opaque(logic: Logic, input: unknown): LocalState {
    const text = `${logic.index} ${canonical(input, `${logic.name}: input`)}`
    return this.locals.intern(text, (index) => ({ index, logic, status: 'active', input }))
  }

  #logic(logic: unknown, name: string, isRoot: boolean): Logic {
    const id = remembered(this.#logicIds, logic, () => this.#logicIds.size)
    if (!(logic instanceof StateMachine)) return this.logics.intern(`${id} ${name}`, (index) => ({ index, name }))
    return this.logics.intern(`${id} ${isRoot}`, (index) => {
      const watched = new WatchedMachine(logic as AnyStateMachine)
      const made: Logic = { index, name: logic.id, machine: watched.machine }
      this.#machines.set(made, new MachineSteps(this, made, watched, isRoot))
      return made
    })
  }

  #machine(logic: Logic): MachineSteps {
    const machine = this.#machines.get(logic)
    if (!machine) throw new Error(`${logic.name} takes no steps`)
    return machine
  }
}

/** What two equal steps have in common. */
const textOf = ({ local, commands, transitions }: Step): string => {
  const done = commands.map((command) => (command.kind === 'start' ? `${command.id} ${textOf(command.step)}` : command))
  return canonical([local.index, done, transitions.map(({ source, eventType }) => `${source.id} ${eventType}`)], 'step')
}
