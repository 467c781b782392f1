import {
  type ActorLogic,
  type AnyActor,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
  type Snapshot,
  StateMachine,
} from 'xstate'
import { A_TRACE, checkGiven, EXPLORED, ModelError } from '../errors.ts'
import { assertFields } from '../options.ts'
import { canonical } from './canonical.ts'
import type { Choice } from './choice.ts'
import { ENVIRONMENT, type Environment, isDescribed } from './environment.ts'
import type { Exploration } from './explore.ts'
import { type Enqueueing, isCustom, isEnqueueing, isError, isSpawning, kindOf, nameOfInline, parentOf, STOP } from './internals.ts'
import { ManualTimers, type PendingTimer } from './manual-timers.ts'
import { replaceActions, replaceInlineSources } from './own-nodes.ts'
import type { ActorState, Timer } from './state.ts'
import type { Trace } from './trace.ts'

/**
 * A machine made ready to be replayed: puppets in place of the opaque children, in its child
 * machines too, and custom actions that are only noted, also where they are written without a name.
 * Made once for any number of replays.
 */
export class Stage {
  readonly machine: AnyStateMachine
  /** What the current replay has said, by name and with what it carried, in order. */
  said: string[] = []

  readonly #environment: Environment

  /** @param environment a reducer of which it says what it does is a puppet, too */
  constructor(machine: AnyStateMachine, environment: Environment = {}) {
    assertFields(environment, ENVIRONMENT, 'environment')
    this.#environment = environment
    this.machine = this.#onStrings(machine)
  }

  #onStrings(machine: AnyStateMachine): AnyStateMachine {
    const { actors, actions } = machine.implementations
    const own = machine.provide({
      actors: Object.fromEntries(
        Object.entries(actors as Record<string, unknown>).map(([name, logic]) => [name, this.#logicFor(name, logic)]),
      ),
      actions: Object.fromEntries(
        Object.entries(actions as Record<string, unknown>).map(([name, action]) => [name, this.#actionFor(action, name)]),
      ),
    } as never) as AnyStateMachine
    replaceActions(own, (action) => this.#actionFor(action))
    replaceInlineSources(own, (id, logic) => this.#logicFor(id, logic))
    return own
  }

  /** What stands where an action is written, or its name. */
  #actionFor(action: unknown, name = nameOfInline(action)): unknown {
    if (isCustom(action)) return (_: unknown, params: unknown) => void this.said.push(saidText(name, params))
    if (isSpawning(action) && typeof action.src !== 'string')
      return Object.assign(() => {}, action, { src: this.#logicFor(String(action.id), action.src) })
    if (!isEnqueueing(action)) return action
    const resolve: Enqueueing['resolve'] = (...args) => {
      const [next, more, enqueued] = action.resolve(...args)
      return [next, more, enqueued.map((one) => this.#actionFor(one))] as const
    }
    return Object.assign(() => {}, action, { resolve })
  }

  #logicFor(name: string, logic: unknown): unknown {
    if (logic instanceof StateMachine) return this.#onStrings(logic as AnyStateMachine)
    return kindOf(logic) === 'transition' && !isDescribed(this.#environment, name, name) ? logic : puppet
  }
}

/**
 * A live system that does what a trace says: real actors on a {@link Stage}, whose timers are due
 * by hand. It shows that a counter-example is one, and, followed to every state, that the explorer
 * treats xstate as it is.
 */
export class Replay {
  readonly root: AnyActor
  /** What was said since the start, in order. */
  readonly said: readonly string[]
  readonly #timers = new ManualTimers()
  /** The error of the root, when it ended in one. */
  error: unknown

  constructor(stage: Stage, input?: unknown) {
    this.said = stage.said = []
    this.root = createActor(stage.machine, { clock: this.#timers as never, input: input as never })
    this.#timers.attach(this.root.system)
    this.root.subscribe({
      error: (error) => {
        this.error = error
      },
    })
    this.root.start()
  }

  /** @throws ModelError ERR_MODEL_REPLAY when the live system does not offer the choice */
  take(choice: Choice): void {
    const { kind, path, event, timer } = choice
    const actor = this.#find(path.text)
    if (kind === 'event') actor.send(event.object)
    else if (timer) this.#fire(actor, timer, choice)
    else actor.send({ type: PUPPET, does: kind, with: event.object } as EventObject)
  }

  /**
   * What the live system is in, as the text that {@link describe} gives of the state it should be
   * in.
   */
  describe(): string {
    return describeLive(this.root, '', this.#timers)
  }

  #fire(actor: AnyActorRef, wanted: Timer, choice: Choice): void {
    const timer = this.#timers.pending().find((other) => other.source === actor && liveTimerText(other) === timerText(wanted))
    if (!timer) throw new ModelError('ERR_MODEL_REPLAY', `the live system has no timer for: ${choice.label}`)
    timer.fire()
  }

  #find(path: string): AnyActorRef {
    let actor: AnyActorRef = this.root
    for (const id of path === '' ? [] : path.split('/')) {
      const child = (actor.getSnapshot() as AnyMachineSnapshot).children[id]
      if (!child) throw new ModelError('ERR_MODEL_REPLAY', `the live system has no actor ${path}`)
      actor = child as AnyActorRef
    }
    return actor
  }
}

/**
 * Follows a trace on live actors, to its end.
 * @throws ModelError ERR_MODEL_REPLAY when they do something else
 */
export function replayed(exploration: Exploration, trace: Pick<Trace, 'edges'>): Replay {
  const call = 'replayed(exploration, trace)'
  checkGiven(call, 'exploration', exploration, EXPLORED, 'graph', 'model')
  checkGiven(call, 'trace', trace, A_TRACE, 'edges')
  const { model, graph } = exploration
  const { edges } = trace
  const replay = new Replay(new Stage(model.machine, model.environment), model.environment.input)
  for (const edge of edges) replay.take(graph.choice(edge))
  return replay
}

/** One text for the same thing said by the model and by a live system. */
export const saidText = (name: string, params: unknown): string => `${name} ${canonical(params, name)}`

const PUPPET = 'puppet.does'

interface PuppetEvent extends EventObject {
  readonly does: Choice['kind']
  readonly with: EventObject & { readonly output?: unknown; readonly error?: unknown }
}

type PuppetSnapshot = Snapshot<unknown> & { readonly input: unknown }

/** An opaque child that does what it is told, at once. */
const puppet: ActorLogic<PuppetSnapshot, EventObject, unknown> = {
  getInitialSnapshot: (_, input) => ({ status: 'active', output: undefined, error: undefined, input }),
  transition(snapshot, event, { self }) {
    if (event.type === STOP) return { ...snapshot, status: 'stopped', output: undefined, error: undefined }
    if (event.type !== PUPPET) return snapshot
    const { does, with: object } = event as PuppetEvent
    if (does === 'message') {
      parentOf(self)?.send(object)
      return snapshot
    }
    if (isError(object.type)) return { ...snapshot, status: 'error', output: undefined, error: object.error }
    return { ...snapshot, status: 'done', output: object.output, error: undefined }
  },
  getPersistedSnapshot: (snapshot) => snapshot,
}

/** A state as text: one line for each actor, its value, context and pending timers. */
export function describe({ local, timers, children, id }: ActorState, parent = ''): string {
  const path = parent ? `${parent}/${id}` : id
  const configuration =
    local.logic.kind === 'transition' && local.logic.isExplored ? { value: undefined, context: local.reduced } : local.configuration
  const lines = [line(path, configuration, local.status, timers.map(timerText))]
  return [...lines, ...children.map((child) => describe(child, path))].join('\n')
}

function describeLive(actor: AnyActorRef, path: string, timers: ManualTimers): string {
  const snapshot = actor.getSnapshot() as AnyMachineSnapshot
  const own = timers.pending().filter(({ source }) => source === actor)
  const lines = [line(path, snapshot, snapshot.status, own.map(liveTimerText))]
  // What xstate leaves running below an actor that threw is not followed.
  if (snapshot.status !== 'active') return lines.join('\n')
  // A spawned child stays among the children after its end; only those that run are compared.
  const running = Object.entries(snapshot.children ?? {}).filter(([, child]) => (child as AnyActorRef).getSnapshot().status === 'active')
  return [
    ...lines,
    ...running
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, child]) => describeLive(child as AnyActorRef, path ? `${path}/${id}` : id, timers)),
  ].join('\n')
}

const line = (
  path: string,
  snapshot: Partial<Pick<AnyMachineSnapshot, 'value' | 'context'>> | undefined,
  status: string,
  timers: readonly string[],
): string =>
  [
    path || 'root',
    status,
    snapshot && 'context' in snapshot ? `${canonical(snapshot.value, 'value')} ${canonical(snapshot.context, 'context')}` : 'opaque',
    ...[...timers].sort(),
  ].join(' ')

const timerText = ({ event, delayMs, to }: Timer): string => textOfTimer(event.object, delayMs, to.kind === 'child' ? to.id : to.kind)

function liveTimerText({ source, target, event, delayMs }: PendingTimer): string {
  const children = (source.getSnapshot() as AnyMachineSnapshot).children
  const isRunning = children[target.id] === target && (target.getSnapshot() as AnyMachineSnapshot).status === 'active'
  return textOfTimer(event, delayMs, target === source ? 'self' : target === parentOf(source) ? 'parent' : isRunning ? target.id : 'gone')
}

const textOfTimer = (event: EventObject, delayMs: number, to: string): string =>
  `[${canonical(event, 'event')} to ${to} after ${delayMs} ms]`

/** Where a live system differs from the explored one. */
export interface Mismatch {
  /** What was done, in order. */
  readonly labels: readonly string[]
  readonly explored: string
  readonly live: string
}

export interface ConformanceOptions {
  /**
   * `state`: the shortest way to every state. `edge`: also every single step from each of them.
   * Default `state`.
   */
  readonly every?: 'state' | 'edge'
  /**
   * Replays every so many-th way only, for systems with many states. Default 1: all ways.
   */
  readonly sample?: number
}

/**
 * Follows the graph on live actors, and compares what they are in, their timers and what they said.
 * The guard against every change of xstate that the explorer would not notice.
 */
export function mismatches(exploration: Exploration, options: ConformanceOptions = {}): Mismatch[] {
  checkGiven('mismatches(exploration, options?)', 'exploration', exploration, EXPLORED, 'graph', 'model')
  assertFields(options, { every: true, sample: true } satisfies Record<keyof ConformanceOptions, true>, 'options')
  const { every = 'state', sample = 1 } = options
  const { graph, model } = exploration
  const stage = new Stage(model.machine, model.environment)
  const ways = graph.states.flatMap((_, state) => {
    const way = graph.pathTo(state)
    return every === 'state' ? [way] : [way, ...[...graph.edgesOf(state)].map(({ index }) => [...way, index])]
  })
  return ways.filter((_, i) => i % sample === 0).flatMap((way) => mismatch(exploration, stage, way))
}

function mismatch({ model, graph }: Exploration, stage: Stage, way: readonly number[]): Mismatch[] {
  const replay = new Replay(stage, model.environment.input)
  for (const edge of way) replay.take(graph.choice(edge))
  const last = way.at(-1)
  const state = graph.states[last === undefined ? 0 : graph.to(last)] as ActorState
  const effects = [graph.initialEffects, ...way.map((edge) => graph.effects(edge))].flat().filter(({ type }) => type !== 'emit')
  const explored = [describe(state), ...effects.map(({ type, params }) => saidText(type, params))].join('\n')
  const live = [replay.describe(), ...replay.said].join('\n')
  return explored === live ? [] : [{ labels: way.map((edge) => graph.choice(edge).label), explored, live }]
}
