import type { AnyStateMachine, EventObject } from 'xstate'
import { ModelError } from '../errors.ts'
import { canonical } from './canonical.ts'
import { InstrumentedMachine } from './instrumented-machine.ts'
import { doneEvent, failedEvent, INIT, isForeignMachine, kindOf, type LogicKind } from './internals.ts'
import { Interner } from './interner.ts'
import { MachineSteps } from './machine-steps.ts'
import { remembered } from './memo.ts'
import { PairMap } from './pair-map.ts'
import { stepInWords, type Where } from './purely.ts'
import { type Reducer, ReducerSteps } from './reducer-steps.ts'
import type { Effect, LocalState, Logic, ModelEvent, Timer } from './state.ts'
import type { Step, StepTable } from './step-table.ts'
import { unsupported } from './unsupported.ts'
import { invokedBy, machinesBelow } from './vocabulary.ts'

/**
 * Macrosteps, each looked up by (local state, event). A whole system has far fewer of them than it
 * has edges, and xstate has to compute far fewer still (see `machine-steps.ts`), so exploring is
 * mostly looking up.
 */
export class Steps implements StepTable {
  readonly logics = new Interner<Logic>()
  readonly locals = new Interner<LocalState>()
  readonly events = new Interner<ModelEvent>()
  readonly timers = new Interner<Timer>()
  readonly effects = new Interner<Effect>()
  /** Every step taken so far with the state and event it was taken from; initial ones have none. */
  readonly taken: { readonly from?: LocalState; readonly event?: ModelEvent; readonly step: Step }[] = []
  readonly childIds = new Set<string>()
  readonly #next = new PairMap<Step>()
  readonly #initial = new Map<string, Step>()
  readonly #ends = new Map<string, ModelEvent>()
  readonly #steppers = new Map<Logic, Stepper>()
  readonly #logicIds = new Map<unknown, number>()
  readonly #recheckEvery: number
  /** How many actors are being started, each by the one before. */
  #starting = 0
  readonly #isDescribed: (name: string, id: string) => boolean

  /**
   * @param recheckEvery what xstate computes is computed twice and compared, and so are the first
   * {@link RECHECKED_FIRST} steps and one in so many of the others; 0 for none
   * @param isDescribed whether the user says what a child of this source or id does
   */
  constructor(recheckEvery: number, isDescribed: (name: string, id: string) => boolean) {
    this.#recheckEvery = recheckEvery
    this.#isDescribed = isDescribed
  }

  /** How many steps xstate has computed. */
  get computed(): number {
    return [...this.#steppers.values()].reduce((sum, { computed }) => sum + computed, 0)
  }

  /** What the root does. */
  rootLogic(machine: AnyStateMachine): Logic {
    return this.#logic(machine, machine.id, true)
  }

  /** The first step of the root machine. */
  root(machine: AnyStateMachine, input: unknown): Step {
    return this.#start(this.rootLogic(machine), input)
  }

  /** The first step of a child. `name` is what its parent calls what it does. */
  initial(logic: unknown, name: string, id: string, input: unknown): Step {
    return this.#start(this.#logic(logic, name, false, this.#isDescribed(name, id)), input)
  }

  /** The step that `local` answers `event` with. */
  next(local: LocalState, event: ModelEvent): Step {
    let step = this.#next.get(local.index, event.index)
    if (step === undefined) {
      const stepper = this.#stepper(local.logic)
      const { computed } = stepper
      step = stepper.next(local, event)
      this.#next.set(local.index, event.index, step)
      this.taken.push({ from: local, event, step })
      // What xstate was asked for is asked for again: an answer that changes would be remembered.
      if (this.#recheckEvery > 0 && (stepper.computed > computed || this.#isDue(this.taken.length)))
        this.#recheck({ machine: local.logic.name, value: standsAt(local), event: event.type }, step, stepper.recompute(local, event))
    }
    return step
  }

  /** Checks that no context was changed in place by what has read it. */
  assertUnchanged(by: string): void {
    for (const stepper of this.#steppers.values()) stepper.assertUnchanged(by)
  }

  #isDue(number: number): boolean {
    return number <= RECHECKED_FIRST || number % this.#recheckEvery === 0
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
      if (!logic.isExplored) return { local: this.#opaque(logic, input), commands: [], transitions: [] }
      if (++this.#starting > NESTED_MAX)
        throw new ModelError(
          'ERR_MODEL_LIMIT',
          `${logic.name}: its start starts it again, ${NESTED_MAX} times one in another. Give one of the starts a condition`,
          {
            machine: logic.name,
          },
        )
      const step = this.#stepper(logic).initial(input)
      this.#starting--
      this.taken.push({ step })
      if (this.#recheckEvery > 0) this.#recheck({ machine: logic.name, event: INIT }, step, this.#stepper(logic).initial(input))
      return step
    })
  }

  #recheck(where: Where, step: Step, again: Step): void {
    // What is thrown may say how a step was divided.
    const haveBothFailed = again.local.status === 'error' && step.local.status === 'error'
    if (haveBothFailed || textOf(again) === textOf(step)) return
    const message =
      `${stepInWords(where)}: this step was computed twice, with two results. So it depends on more than the state and the event, most likely on a variable outside ` +
      "the machine, or on chance or a clock that a module of node's gives by name (`import { randomUUID } from 'node:crypto'`). " +
      'Pass that value as input, in an event, or in a context. If the machine uses nothing of that kind, this is a defect of ' +
      'this package: please report it'
    throw new ModelError('ERR_MODEL_INEXACT', message, { ...where })
  }

  #opaque(logic: Logic, input: unknown): LocalState {
    const text = `${logic.index} ${canonical(input, `${logic.name}: input`)}`
    return this.locals.intern(text, (index) => ({ index, logic, status: 'active', input }))
  }

  #logic(logic: unknown, name: string, isRoot: boolean, isDescribed = false): Logic {
    const id = remembered(this.#logicIds, logic, () => this.#logicIds.size)
    const kind = kindOf(logic)
    if (kind !== 'machine') return this.#notMachine(`${id} ${name} ${isDescribed}`, { kind, name, logic, isDescribed })
    return this.logics.intern(`${id} ${isRoot}`, (index) => {
      const watched = new InstrumentedMachine(logic as AnyStateMachine)
      for (const childId of machinesBelow(watched.machine).flatMap(invokedBy)) this.childIds.add(childId)
      const made: Logic = {
        index,
        name: watched.machine.id,
        kind,
        machine: watched.machine,
        isExplored: true,
        contextKeys: watched.contextKeys,
        childIds: this.childIds,
      }
      this.#steppers.set(made, new MachineSteps(this, made, watched, isRoot))
      return made
    })
  }

  #notMachine(key: string, { kind, name, logic, isDescribed }: NotMachine): Logic {
    if (kind === 'logic of its own' && !isDescribed && !isForeignMachine(logic))
      throw unsupported(name, 'hand-made actor logic, whose behaviour is unknown,', 'describe in `children` what it may do')
    if (isForeignMachine(logic))
      throw unsupported(
        name,
        'a machine made by another copy of xstate',
        'install one xstate for both; `npm ls xstate` shows which package has which version',
      )
    return this.logics.intern(key, (index) => {
      const isExplored = kind === 'transition' && !isDescribed
      const made: Logic = { index, name, kind, isExplored, childIds: this.childIds }
      if (isExplored) this.#steppers.set(made, new ReducerSteps(this, made, logic as Reducer))
      return made
    })
  }

  #stepper(logic: Logic): Stepper {
    const stepper = this.#steppers.get(logic)
    if (!stepper) throw new Error(`${logic.name} takes no steps`)
    return stepper
  }
}

interface NotMachine {
  readonly kind: Exclude<LogicKind, 'machine'>
  readonly name: string
  readonly logic: unknown
  readonly isDescribed: boolean
}

/** Actors that may be started each by the start of another. */
const NESTED_MAX = 100

/** The number of first steps that are all computed twice: that is no more than a moment. */
const RECHECKED_FIRST = 1_000

/** What computes the steps of an actor that is explored. */
interface Stepper {
  /** How many steps were computed, and not put together from what is known. */
  readonly computed: number
  initial(input: unknown): Step
  next(local: LocalState, event: ModelEvent): Step
  recompute(local: LocalState, event: ModelEvent): Step
  assertUnchanged(by: string): void
}

const standsAt = ({ configuration, reduced }: LocalState): unknown => (configuration ? configuration.value : reduced)

/** What two equal steps have in common. */
const textOf = ({ local, commands, transitions }: Step): string => {
  const done = commands.map((command) => (command.kind === 'start' ? `${command.id} ${textOf(command.step)}` : command))
  return canonical([local.index, done, transitions.map(({ source, eventType }) => `${source.id} ${eventType}`)], 'step')
}
