import { type Actor, createActor } from 'xstate'
import { giveWorld, type World } from '../actors/world.ts'
import type { StopReason } from '../base/events.ts'
import type { StopProfile } from '../base/stop-profile.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import type { LifecycleMachine } from '../machines/lifecycle.ts'
import { muxSignalsWaiting } from '../machines/phases/mux-complete.ts'
import { type SecondSignalState, secondSignalOf } from '../machines/stop.ts'
import type { LifecycleInEvent, LifecycleInput } from '../machines/vocabulary.ts'
import type { Wiring } from '../machines/wiring.ts'
import type { Recorder } from '../report/recorder.ts'
import type { ComposedMachine } from './machine-for.ts'

/** The machine of one life, which there is once the life has begun: it gets events, and is read. */
export class RootActor {
  readonly #recorder: Recorder
  #actor: Actor<LifecycleMachine> | undefined
  #wiring: Wiring = {}

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  /** Makes the actor, which the caller starts. */
  create({ machine, wiring }: ComposedMachine, input: LifecycleInput, world: World): Actor<LifecycleMachine> {
    const actor = createActor(machine, { clock: world.host.clock, input })
    giveWorld(actor.system, world)
    this.#wiring = wiring
    this.#actor = actor
    return actor
  }

  get hasBegun(): boolean {
    return this.#actor !== undefined
  }

  /** The rows of the life. */
  get wiring(): Wiring {
    return this.#wiring
  }

  get exitCode(): ExitCode {
    return this.#actor?.getSnapshot().context.exitCode ?? 0
  }

  /** The profile of the stop under way. */
  get stopProfile(): StopProfile | undefined {
    return this.#actor?.getSnapshot().context.stop?.profile
  }

  /** What the next OS signal does; undefined where there is no machine to tell. */
  get secondSignal(): SecondSignalState | undefined {
    return secondSignalOf(this.#actor)
  }

  /** Mux-complete signals that are not there yet. */
  pendingMux(): readonly string[] {
    return muxSignalsWaiting(this.#actor)
  }

  /**
   * Tells the machine what the outside wants or has seen. Before the life begins and after its end
   * there is no machine to tell.
   */
  send(event: LifecycleInEvent): void {
    const actor = this.#actor
    const { status, context } = actor?.getSnapshot() ?? {}
    if (!actor || !context || status !== 'active') return
    if (event.type === 'process.crashed') this.#recorder.crashed(context.profiles.crash)
    actor.send(event)
  }

  requestStop(reason: StopReason): void {
    this.send({ type: 'stop.requested', reason })
  }
}
