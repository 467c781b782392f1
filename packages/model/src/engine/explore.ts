import type { AnyStateMachine } from 'xstate'
import { ModelError } from '../errors.ts'
import { assertFields } from '../options.ts'
import { canonical, forgetTexts } from './canonical.ts'
import { type Choice, Choices } from './choice.ts'
import { Delivery, type DeliveryListener } from './delivery.ts'
import { ENVIRONMENT, type Environment, isDescribed } from './environment.ts'
import { assertEventsHeard, assertMachine, assertNamesKnown, assertOptions, type Limits } from './given.ts'
import { Graph } from './graph.ts'
import { watchingChance } from './purely.ts'
import { type ActorState, ActorStates, type LocalState } from './state.ts'
import { Steps } from './step.ts'
import type { MachineEvent } from './typed.ts'

export interface ExploreOptions<
  M extends AnyStateMachine = AnyStateMachine,
  E extends readonly MachineEvent<M>[] = readonly MachineEvent<M>[],
> extends Environment<M, E>,
    Limits {}

const PROGRESS_EVERY = 2_048

/** A system of actors as a function from states to states; {@link explore} walks all of it. */
export class Model {
  readonly machine: AnyStateMachine
  readonly environment: Environment
  readonly steps: Steps
  readonly choices: Choices
  readonly #states = new ActorStates()

  constructor(machine: AnyStateMachine, environment: Environment, recheckEvery: number) {
    assertFields(environment, ENVIRONMENT, 'environment')
    this.steps = new Steps(recheckEvery, (source, id) => isDescribed(environment, source, id))
    this.machine = machine
    this.environment = environment
    this.choices = new Choices(this.steps, environment)
  }

  /** The system as it is when the root has been started. */
  start(listener?: DeliveryListener): Delivery {
    return Delivery.start(this.steps, this.#states, this.steps.root(this.machine, this.environment.input), listener)
  }

  /** The system when a choice of that state has happened and everything has come to rest. */
  take(state: ActorState, choice: Choice, listener?: DeliveryListener): Delivery {
    const delivery = Delivery.at(this.steps, this.#states, state, listener)
    const actor = delivery.find(choice.path)
    if (choice.kind === 'event') delivery.deliver(actor, choice.event)
    else if (choice.timer) delivery.fire(actor, choice.timer)
    else if (choice.kind === 'outcome') delivery.end(actor, choice.event)
    else delivery.report(actor, choice.event)
    return delivery
  }
}

/** What exploring found: the graph, and the model that it is the graph of. */
export interface Exploration<M extends AnyStateMachine = AnyStateMachine> {
  readonly model: Model
  readonly graph: Graph
  /**
   * What may be said, beyond what is said in some run, where that is known: a property may name
   * it.
   */
  readonly sayable?: readonly string[]
  /** A type alone, never set: it tells properties what the machine has. */
  readonly of?: M | undefined
}

/**
 * Every state that a composed machine can reach, with everything that can happen in each, under
 * xstate's own delivery.
 *
 * The system is the root machine and whatever it invokes or spawns. Machines are explored; every
 * other child is opaque and ends as `children` says, or never. Timers are due at any time and in
 * any order: what holds here holds for all durations.
 *
 * @throws ModelError ERR_MODEL_OPTION for arguments that cannot be used; ERR_MODEL_UNKNOWN for an
 * event that the root never hears, and for a child that there is not; ERR_MODEL_UNSUPPORTED for
 * what cannot be treated exactly, with its name; ERR_MODEL_MUTATED, ERR_MODEL_IMPURE and
 * ERR_MODEL_INEXACT for steps that change what they are given, or depend on more than that;
 * ERR_MODEL_LIMIT when there are more than `statesMax` states, with the context key that has the
 * most values.
 */
export function explore<M extends AnyStateMachine, const E extends readonly MachineEvent<M>[] = readonly MachineEvent<M>[]>(
  machine: M,
  options: ExploreOptions<M, E> = {},
): Exploration<M> {
  assertMachine(machine)
  assertOptions(options)
  forgetTexts()
  return watchingChance(() => walk(machine, options as Environment & Limits)) as Exploration<M>
}

function walk(
  machine: AnyStateMachine,
  { statesMax = 1_000_000, recheckEvery = 64, onProgress, ...environment }: Environment & Limits,
): Exploration {
  const model = new Model(machine, environment, recheckEvery)
  assertEventsHeard(environment, machine, model.steps)
  const graph = new Graph((index) => model.choices.all.at(index))
  /**
   * The states in the graph by the number of the tree; trees that are only part of a state have
   * none.
   */
  const numbers: (number | undefined)[] = []
  const start = model.start()
  graph.initialEffects = start.effects
  const initial = start.freeze()
  numbers[initial.index] = graph.addState(initial, -1)
  for (let from = 0; from < graph.stateCount; from++) {
    graph.beginEdges()
    if (from % PROGRESS_EVERY === 0) onProgress?.(graph.stateCount, from)
    const state = graph.states[from] as ActorState
    for (const choice of model.choices.at(state)) {
      const delivery = model.take(state, choice)
      const next = delivery.freeze()
      model.choices.assertEnded(choice, next)
      let to = numbers[next.index]
      if (to === undefined) {
        if (graph.stateCount >= statesMax) {
          assertNamesKnown(environment, machine, model.steps)
          model.choices.assertAlikeKnown(machine)
          throw tooLarge(statesMax, model.steps.locals.all, graph.states.at(-1) as ActorState)
        }
        to = graph.addState(next, graph.edgeCount)
        numbers[next.index] = to
      }
      graph.addEdge(to, choice, delivery.effects)
    }
  }
  assertNamesKnown(environment, machine, model.steps)
  model.choices.assertAlikeKnown(machine)
  return { model, graph }
}

/** A machine that has as many timers at once mostly sets them without end. */
const TIMERS_MANY = 8

/**
 * Which context key took the most new values among the local states that were found last, or whose
 * timers grow in number.
 */
function tooLarge(statesMax: number, locals: readonly LocalState[], last: ActorState): ModelError {
  const values = new Map<string, Set<string>>()
  for (const { logic, configuration } of locals.slice(locals.length >>> 1)) {
    for (const [key, value] of Object.entries(configuration?.context ?? {})) {
      const name = `${logic.name}: ${key}`
      values.set(name, (values.get(name) ?? new Set()).add(canonical(value, name)))
    }
  }
  const [fastest] = [...values].sort(([, a], [, b]) => b.size - a.size)
  const keyHint =
    fastest && fastest[1].size > 1 ? `; the context key with the most values is "${fastest[0]}" with ${fastest[1].size} values` : ''
  const { name, count } = mostTimers(last)
  const hint = count < TIMERS_MANY ? keyHint : `; ${name} has ${count} timers pending at once: give them an id and cancel the one before`
  return new ModelError('ERR_MODEL_LIMIT', `there are more than ${statesMax} states (statesMax)${hint}`, {
    statesMax,
    ...(fastest && { key: fastest[0], values: fastest[1].size }),
  })
}

const mostTimers = ({ local, timers, children }: ActorState): { readonly name: string; readonly count: number } =>
  children
    .map(mostTimers)
    .reduce((most, other) => (other.count > most.count ? other : most), { name: local.logic.name, count: timers.length })
