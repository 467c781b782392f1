import type { Consequence, LifecycleEvent } from '../base/events.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import { answersMs } from '../options/budget.ts'
import type { ResolvedOptions } from '../options/options.ts'
import type { UnseenWork } from '../process/work-left.ts'
import type { LifecycleStatus } from './lifecycle-status.ts'
import type { Registrations } from './registrations.ts'
import type { RootActor } from './root-actor.ts'
import type { SignalLatches } from './signal-latches.ts'
import type { StartOutcome } from './start-outcome.ts'

export interface ConsequencesContext {
  readonly options: Pick<ResolvedOptions, 'requestDrainTimeoutMs'>
  readonly registrations: Registrations
  readonly traffic: Traffic
  readonly status: LifecycleStatus
  readonly root: RootActor
  readonly startOutcome: StartOutcome
  readonly signals: SignalLatches
  readonly unseenWork: UnseenWork
}

/** What an event leads to outside the machine, in the step in which it happens. */
export class Consequences {
  readonly #context: ConsequencesContext

  constructor(context: ConsequencesContext) {
    this.#context = context
  }

  /** A sink of events, and the first: all of this is so before anything else hears of the event. */
  readonly observe = (event: LifecycleEvent): void => {
    const { signals, startOutcome, registrations, unseenWork } = this.#context
    switch (event.type) {
      case 'signal':
        if (event.does) this.#do[event.does]()
        if (event.name === 'Serving' || event.name === 'PostStartHooksDone') unseenWork.servingBegins()
        signals.fire(event.name)
        break
      case 'phase.started':
        if (event.phase === 'destroy') registrations.destroyFunctions.close()
        break
      case 'phase.ended':
        if (event.outcome === 'failed') startOutcome.failed(event.error)
        break
    }
  }

  /** The consequences by the name that the wiring has for them. */
  readonly #do: Readonly<Record<Consequence, () => void>> = {
    closePostStartHooks: () => this.#context.registrations.postStartHooks.close(),
    resolveStart: () => this.#context.startOutcome.begins(),
    closePreShutdownHooks: () => this.#context.registrations.preShutdownHooks.close(),
    countFates: () => this.#context.traffic.initiateShutdown(),
    stopAccepting: () => {
      const { options, status, root, traffic } = this.#context
      const leftMs = status.leftUntil('requests')
      const lastCallMs = root.stopProfile?.lastCallMs ?? 0
      traffic.stopAccepting(lastCallMs, answersMs(leftMs, lastCallMs, options.requestDrainTimeoutMs), leftMs)
    },
  }
}
