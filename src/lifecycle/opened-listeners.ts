import type { BoundAddress } from '../actors/listen-target.ts'
import type { Listener } from '../actors/listener.ts'
import { errorRecord, type LifecycleEvent } from '../base/events.ts'
import type { MetricsEndpoint } from '../endpoints/metrics-endpoint.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import { openAdminListener } from '../listeners/admin-listener.ts'
import type { Recorder } from '../report/recorder.ts'
import type { LifeHealth } from './life-health.ts'
import type { LifecycleStatus } from './lifecycle-status.ts'
import type { LifecycleParts, Observer } from './parts.ts'
import type { OwnAnswer } from './traffic-of.ts'

export interface OpenedListenersContext {
  readonly parts: LifecycleParts
  readonly record: Recorder['record']
  readonly traffic: Traffic
  readonly health: LifeHealth
  readonly metrics: MetricsEndpoint
  readonly status: LifecycleStatus
  readonly ownAnswer: OwnAnswer
}

/** Every listener of a life: those of its server, and those that serve endpoints of ours. */
export class OpenedListeners {
  readonly #context: OpenedListenersContext
  readonly #addresses: BoundAddress[] = []
  #all: readonly Listener[]

  constructor(context: OpenedListenersContext) {
    this.#context = context
    this.#all = context.parts.adopted ?? []
  }

  /** The listeners; before {@link open}, those that the life was put around. */
  get all(): readonly Listener[] {
    return this.#all
  }

  /** Where the server listens. */
  get addresses(): readonly BoundAddress[] {
    return this.#addresses
  }

  /** Whether the owner of a server has still to call `listen()`. */
  get awaitsListen(): boolean {
    return this.#all.some((listener) => listener.awaitsListen)
  }

  /** A sink of events. */
  readonly observe = (event: LifecycleEvent): void => {
    if (event.type === 'listening' && !event.admin) this.#addresses.push({ url: event.url, address: event.address, port: event.port })
  }

  async open(observer: Observer | undefined): Promise<readonly Listener[]> {
    const { parts, traffic } = this.#context
    const own = await parts.openListeners(traffic)
    const admin = await this.#admin()
    this.#all = [...own, ...admin, ...(await this.#debugSocket()), ...((await observer?.open()) ?? [])]
    return this.#all
  }

  async #admin(): Promise<readonly Listener[]> {
    const { parts, traffic, health, metrics, ownAnswer } = this.#context
    const { admin: target } = parts.options
    if (!target) return []
    const { listener, answer } = await openAdminListener(parts.host, traffic, target, { health: health.answered, metrics })
    ownAnswer.listener = answer
    return [listener]
  }

  /** Nothing that is served depends on it. */
  async #debugSocket(): Promise<readonly Listener[]> {
    const { parts, traffic, health, status, ownAnswer, record } = this.#context
    const { options, host } = parts
    if (options.debugSocket === undefined) return []
    const sources = {
      health: health.answered,
      clock: host.clock,
      look: () => ({ report: status.report, gauges: status.gauges(), progress: status.progress() ?? null }),
      resources: () => host.process.getActiveResourcesInfo(),
    }
    try {
      const { openDebugSocket } = await import('../listeners/debug-socket.ts')
      const { listener, answer } = await openDebugSocket(host, traffic, options.debugSocket, sources)
      ownAnswer.listener ??= answer
      return [listener]
    } catch (error) {
      record({ type: 'error', where: 'debug socket', error: errorRecord(error) })
      return []
    }
  }
}
