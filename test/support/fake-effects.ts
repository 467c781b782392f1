import {
  type AnyStateMachine,
  createActor,
  type EventObject,
  fromCallback,
  fromPromise,
  type InspectionEvent,
  type NonReducibleUnknown,
  StateMachine,
} from 'xstate'
import type { Clock } from '#src/base/clock.ts'
import { errorRecord, type LifecycleEvent, type LifecycleFact } from '#src/base/events.ts'
import { RESERVES_DEFAULT_MS, type StopProfile, type StopProfiles } from '#src/base/stop-profile.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { type Composition, composeLifecycle, type LifecycleMachine } from '#src/machines/lifecycle.ts'
import type { HookPlan } from '#src/machines/phases/hook.ts'
import type { MuxAnswer } from '#src/machines/phases/mux-signal.ts'
import type { MachineFact } from '#src/machines/phases/phase.ts'
import { type HookOrder, type PlannedHook, predecessors } from '#src/machines/phases/pre-shutdown-hooks.ts'
import type { LifecycleInEvent, LifecycleInput } from '#src/machines/vocabulary.ts'
import { stopProfile } from '#src/options/budget.ts'
import { Recorder } from '#src/report/recorder.ts'

/**
 * Machines with scripted effects on a virtual clock. Every named actor that is not a machine is
 * replaced by a fake which does what the script says under its name and notes what happened to it.
 * Fakes do not heed their abort signal: one that is left answers all the same, and that answer must
 * change nothing.
 */
export type Answer =
  | { readonly kind: 'resolve'; readonly afterMs: number; readonly output?: unknown }
  | { readonly kind: 'reject'; readonly afterMs: number; readonly error: unknown }
  | { readonly kind: 'never' }

/** Without a time an answer takes no time at all: a promise that is settled already. */
export const resolves = (afterMs = 0, output?: unknown): Answer => ({ kind: 'resolve', afterMs, output })
export const rejects = (message: string, afterMs = 0): Answer => ({ kind: 'reject', afterMs, error: new Error(message) })
export const never: Answer = { kind: 'never' }

/**
 * Answers by effect name; hooks and user phases by `KIND:NAME`, all of them by `runHook`. What is
 * not named resolves at once.
 */
export type Script = Readonly<Record<string, Answer>>

/** What effects answer with whose machine looks at it. */
const OUTPUTS: Readonly<Record<string, unknown>> = {
  drainWatches: { after: 0 },
  terminateWatches: { lost: 0 },
  destroyConnections: { lost: 0 },
}

export interface Call {
  readonly effect: string
  readonly at: number
  readonly input: unknown
  /** When its machine left it before it had answered. */
  leftAt?: number
}

export class FakeEffects {
  readonly calls: Call[] = []
  readonly #clock: Clock
  readonly #script: Record<string, Answer>
  readonly #record: (fact: LifecycleFact) => void

  constructor(clock: Clock, script: Script, record: (fact: LifecycleFact) => void = () => {}) {
    this.#clock = clock
    this.#script = { ...script }
    this.#record = record
  }

  /** The machine with a fake for everything it names, in its phase machines too. */
  provide<M extends AnyStateMachine>(machine: M, record: (fact: MachineFact) => void): M {
    const actors = Object.entries(machine.implementations.actors as Record<string, unknown>).map(([name, logic]) => [
      name,
      logic instanceof StateMachine ? this.provide(logic as AnyStateMachine, record) : this.#fake(name),
    ])
    return machine.provide({
      actors: Object.fromEntries(actors),
      actions: { record: (_: unknown, fact: MachineFact) => record(fact) },
    } as never) as M
  }

  /** Names of the effects that were called, in order. */
  get called(): string[] {
    return this.calls.map(({ effect }) => effect)
  }

  /** Names of the effects that were left before they had answered. */
  get left(): string[] {
    return this.calls.filter(({ leftAt }) => leftAt !== undefined).map(({ effect }) => effect)
  }

  /** What completes a mux-complete signal, now or when it is waited for. */
  answerMux(name: string, answer: MuxAnswer): void {
    this.#muxAnswers.set(name, answer)
    this.#awaitedMux.get(name)?.(answer)
  }

  readonly #muxAnswers = new Map<string, MuxAnswer>()
  readonly #awaitedMux = new Map<string, (answer: MuxAnswer) => void>()

  #fake(name: string) {
    if (name === 'awaitMuxSignal')
      return fromCallback<EventObject, { readonly name: string }>(({ input, sendBack }) => {
        const answer = this.#muxAnswers.get(input.name)
        if (answer) queueMicrotask(() => sendBack(answer))
        else this.#awaitedMux.set(input.name, sendBack)
        return () => void this.#awaitedMux.delete(input.name)
      })
    return fromPromise<unknown, NonReducibleUnknown>(({ input, signal }) => this.#perform(name, input, signal))
  }

  async #perform(name: string, input: unknown, signal: AbortSignal): Promise<unknown> {
    const effect = isHook(input) ? `${input.kind}:${input.name}` : name
    const call: Call = { effect, at: this.#clock.now(), input }
    this.calls.push(call)
    signal.addEventListener('abort', () => {
      call.leftAt = this.#clock.now()
    })
    const answer = this.#script[effect] ?? this.#script[name] ?? resolves()
    if (answer.kind === 'never') return new Promise(() => {})
    if (answer.afterMs > 0) await new Promise<void>((resolve) => void this.#clock.setTimeout(resolve, answer.afterMs))
    if (call.leftAt !== undefined) this.#late(effect, answer, call.leftAt)
    if (answer.kind === 'reject') throw answer.error
    return answer.output ?? OUTPUTS[name]
  }

  #late(what: string, answer: Exclude<Answer, { kind: 'never' }>, leftAt: number): void {
    const lateMs = this.#clock.now() - leftAt
    if (answer.kind === 'resolve') this.#record({ type: 'late', what, answer: 'resolved', lateMs })
    else this.#record({ type: 'late', what, answer: 'rejected', lateMs, error: errorRecord(answer.error) })
  }
}

function isHook(input: unknown): input is HookPlan {
  return typeof input === 'object' && input !== null && 'kind' in input && 'name' in input
}

// --- one phase machine ---------------------------------------------------------------------------

/** A phase machine that has just been started, with scripted effects. */
export async function phaseScene<M extends AnyStateMachine>(machine: M, script: Script = {}, input?: unknown) {
  const clock = new VirtualClock()
  const recorder = new Recorder(clock)
  const facts: LifecycleEvent[] = []
  recorder.addSink((event) => facts.push(event))
  const effects = new FakeEffects(clock, script, recorder.record)
  const actor = createActor(effects.provide(machine as AnyStateMachine, recorder.record), { clock, input })
  const ended: number[] = []
  const errors: unknown[] = []
  actor.subscribe({ complete: () => ended.push(clock.now()), error: (error) => errors.push(error) })
  actor.start()
  await clock.advance(0)
  return {
    clock,
    effects,
    facts,
    actor,
    send: async (event: { type: string } & Record<string, unknown>) => {
      actor.send(event)
      await clock.advance(0)
    },
    cut: async () => {
      actor.send({ type: 'cut' })
      await clock.advance(0)
    },
    /** Defects: errors of the machine itself. */
    errors,
    get state(): unknown {
      if (errors.length > 0) throw errors[0]
      return actor.getSnapshot().value
    },
    get output(): unknown {
      if (errors.length > 0) throw errors[0]
      return actor.getSnapshot().output
    },
    get endedAt(): number | undefined {
      return ended[0]
    },
  }
}

// --- a whole life --------------------------------------------------------------------------------

const plan = (delayMs: number, deadlineMs: number): StopProfile =>
  stopProfile({ delayMs, lastCallMs: 0, deadlineMs, watchGraceMs: Math.min(8_000, deadlineMs / 3), reserves: RESERVES_DEFAULT_MS })

/** Upstream-like: a delay of 5 s and a deadline of 25 s. */
export const PROFILES: StopProfiles = {
  default: plan(5_000, 25_000),
  interactive: plan(0, 2_000),
  crash: plan(0, 5_000),
  startFailed: plan(0, 25_000),
}

/** When the default profile cuts, in milliseconds since StopRequested. */
export const CUTS = PROFILES.default.cutsMs
export const DEADLINE = PROFILES.default.deadlineMs

export const HOOK_TIMEOUT_MS = 5_000

export interface LifePlan extends Partial<Omit<LifecycleInput, 'preShutdownHooks' | 'destroyFunctions'>> {
  readonly mode?: Composition['mode']
  readonly script?: Script
  readonly postStartHooks?: readonly string[]
  readonly preShutdownHooks?: readonly (string | (HookOrder & { readonly timeoutMs?: number }))[]
  readonly destroyFunctions?: readonly (
    | string
    | { readonly name: string; readonly after: readonly string[] }
    | { readonly name: string; readonly timeoutMs: number }
  )[]
  readonly userPhases?: Composition['userPhases']
  readonly muxSignals?: readonly string[]
  readonly wiring?: Composition['wiring']
  /** Wraps the virtual clock, for a world whose timers are late. */
  readonly clockOf?: (clock: VirtualClock) => Clock
  readonly inspect?: (event: InspectionEvent) => void
}

const hookPlan = (kind: HookPlan['kind'], name: string, timeoutMs = HOOK_TIMEOUT_MS): HookPlan => ({ kind, name, timeoutMs })

export function plannedHooks(hooks: readonly (string | (HookOrder & { readonly timeoutMs?: number }))[]): PlannedHook[] {
  const orders = hooks.map((hook) => (typeof hook === 'string' ? { name: hook } : hook))
  const after = predecessors(orders)
  return orders.map((order) => ({
    ...hookPlan('pre-shutdown', order.name, 'timeoutMs' in order ? order.timeoutMs : undefined),
    after: after.get(order.name) ?? [],
  }))
}

const composition = ({ mode = 'refuse', postStartHooks = [], muxSignals = [], userPhases = [], wiring }: LifePlan): Composition => ({
  mode,
  postStartHooks: postStartHooks.map((name) => hookPlan('post-start', name)),
  muxSignals,
  userPhases,
  ...(wiring && { wiring }),
})

export const composed = (plan: LifePlan = {}): LifecycleMachine => composeLifecycle(composition(plan))

/** A life that has not begun: `send({ type: 'start' })` begins it, or use {@link servingLife}. */
export class FakeLife {
  readonly clock = new VirtualClock()
  readonly facts: LifecycleEvent[] = []
  readonly effects: FakeEffects
  readonly actor
  /**
   * Defects: errors of the root machine itself. A test that does not expect one fails by `ended`.
   */
  readonly errors: unknown[] = []

  constructor(plan: LifePlan = {}) {
    const clock = plan.clockOf?.(this.clock) ?? this.clock
    const recorder = new Recorder(clock)
    recorder.addSink((event) => this.facts.push(event))
    this.effects = new FakeEffects(clock, plan.script ?? {}, recorder.record)
    this.actor = createActor(this.effects.provide(composed(plan), recorder.record), {
      clock,
      ...(plan.inspect && { inspect: plan.inspect }),
      input: {
        profiles: plan.profiles ?? PROFILES,
        notifyClients: plan.notifyClients ?? 'gradual',
        ...(plan.requestDrainTimeoutMs !== undefined && { requestDrainTimeoutMs: plan.requestDrainTimeoutMs }),
        connectionTimeoutMs: plan.connectionTimeoutMs ?? 60_000,
        ...(plan.destroyOrder && { destroyOrder: plan.destroyOrder }),
        preShutdownHooks: plannedHooks(plan.preShutdownHooks ?? []),
        destroyFunctions: (plan.destroyFunctions ?? []).map((fn) =>
          typeof fn === 'string'
            ? hookPlan('destroy', fn)
            : 'after' in fn
              ? { ...hookPlan('destroy', fn.name), after: fn.after }
              : hookPlan('destroy', fn.name, fn.timeoutMs),
        ),
      },
    })
    this.actor.subscribe({ error: (error) => this.errors.push(error) })
    this.actor.start()
  }

  /** Tells the machine something and lets everything that takes no time happen. */
  async send(event: LifecycleInEvent): Promise<void> {
    this.actor.send(event)
    await this.clock.advance(0)
  }

  /** A mux-complete signal answers. */
  async mux(name: string, answer: MuxAnswer = { type: 'complete' }): Promise<void> {
    this.effects.answerMux(name, answer)
    await this.clock.advance(0)
  }

  start(): Promise<void> {
    return this.send({ type: 'start' })
  }

  stop(): Promise<void> {
    return this.send({ type: 'stop.requested', reason: { kind: 'stop', reason: 'test' } })
  }

  signal(signal = 'SIGTERM', interactive = false): Promise<void> {
    return this.send({ type: 'process.signalled', signal, interactive })
  }

  crash(message = 'boom', origin: 'uncaughtException' | 'unhandledRejection' = 'uncaughtException'): Promise<void> {
    return this.send({ type: 'process.crashed', origin, error: { name: 'Error', message } })
  }

  listenerDied(): Promise<void> {
    return this.send({ type: 'listener.died', address: '127.0.0.1:8080', error: { name: 'Error', message: 'EMFILE' } })
  }

  /** Runs time on until the life has ended, also when late answers are still to come. */
  async toEnd(): Promise<this> {
    await this.clock.advance(0)
    while (this.actor.getSnapshot().status === 'active') if (!(await this.clock.runToNext())) break
    return this
  }

  get ended(): boolean {
    return this.actor.getSnapshot().status === 'done'
  }

  get exitCode(): number | undefined {
    return this.facts.flatMap((fact) => (fact.type === 'ended' ? [fact.exitCode] : []))[0]
  }

  /** When the life ended. */
  get endedAt(): number | undefined {
    return this.facts.find((fact) => fact.type === 'ended')?.at
  }

  /** Lifecycle signals in the order fired. */
  get signals(): string[] {
    return this.facts.flatMap((fact) => (fact.type === 'signal' ? [fact.name] : []))
  }

  signalFact(name: string): Extract<LifecycleEvent, { type: 'signal' }> | undefined {
    return this.facts.find((fact): fact is Extract<LifecycleEvent, { type: 'signal' }> => fact.type === 'signal' && fact.name === name)
  }

  /** When a signal fired. */
  at(name: string): number | undefined {
    return this.signalFact(name)?.at
  }

  phase(name: string): Extract<LifecycleEvent, { type: 'phase.ended' }> | undefined {
    return this.facts.find(
      (fact): fact is Extract<LifecycleEvent, { type: 'phase.ended' }> => fact.type === 'phase.ended' && fact.phase === name,
    )
  }

  /** Outcomes by phase, of those that have ended. */
  get outcomes(): Record<string, string> {
    return Object.fromEntries(this.facts.flatMap((fact) => (fact.type === 'phase.ended' ? [[fact.phase, fact.outcome]] : [])))
  }

  /** Phases that did not end as intended. */
  get amiss(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.outcomes).filter(([, outcome]) => outcome === 'cut' || outcome === 'failed'))
  }

  /** `started NAME`, `OUTCOME NAME` of hooks and destroy functions, in order. */
  hooks(kind?: HookPlan['kind']): string[] {
    return this.facts.flatMap((fact) => {
      if (fact.type !== 'hook.started' && fact.type !== 'hook.ended') return []
      if (kind !== undefined && fact.kind !== kind) return []
      return [`${fact.type === 'hook.started' ? 'started' : fact.outcome} ${fact.name}`]
    })
  }
}

/** A life that serves. */
export async function servingLife(plan: LifePlan = {}): Promise<FakeLife> {
  const life = new FakeLife(plan)
  await life.start()
  return life
}
