import type { Straggler } from '../base/events.ts'
import type { ProtocolCount } from '../base/protocol.ts'
import type { LifeView, phaseOfHook } from './view.ts'

/** What is going on in a life at one moment: plain data that survives JSON, to be shown. */
export interface Gauges extends TrafficGauges {
  /** The names of what blocks, at most {@link NAMES_MAX} of each, oldest first. */
  readonly blocking: TrafficGauges['blocking'] & {
    /** Hooks and destroy functions that run, as `pre-shutdown hook "leave"`. */
    readonly hooks: readonly Straggler[]
  }
}

/** The counters of the traffic. */
export interface TrafficGauges {
  readonly requests: number
  /**
   * The event streams among the requests that nothing has declared; recordings of earlier versions
   * do not have that.
   */
  readonly eventStreams?: number
  readonly watches: number
  readonly holds: number
  /** Handlers that outlived their responses. */
  readonly handlers: number
  /**
   * Each open connection once: `notified` that it closes, else `active` with a request on it, else
   * `idle`. And all of them by what they speak; recordings of earlier versions do not have that.
   */
  readonly connections: {
    readonly active: number
    readonly idle: number
    readonly notified: number
    readonly byProtocol?: readonly ProtocolCount[]
    /**
     * The connections among those that are idle, or notified and idle, that the end waits for;
     * recordings of earlier versions do not have that. Absent: none.
     */
    readonly blocking?: number
  }
  /** Requests refused so far, by kind of refusal. */
  readonly rejected: Readonly<Record<string, number>>
  /** Oldest first. */
  readonly blocking: {
    /**
     * The requests that are counted, and connections whose first request or handshake is half sent
     * and is waited for.
     */
    readonly requests: readonly Straggler[]
    readonly watches: readonly Straggler[]
    readonly holds: readonly Straggler[]
    readonly handlers: readonly Straggler[]
    /**
     * Idle connections that are still open although idle ones are being closed; before that they
     * hold nothing up.
     */
    readonly connections: readonly Straggler[]
  }
}

/** Names read of each kind; the counts are of all. */
export const NAMES_MAX = 50

/** The number of all that an end may wait for. */
export const inFlightOf = ({
  requests,
  watches,
  holds,
  handlers,
  connections: { active, idle, notified },
}: Omit<TrafficGauges, 'blocking'>): number => requests + watches + holds + handlers + active + idle + notified

/** What the traffic counts, with the hooks that run. */
export function gaugesOf({ blocking, ...counts }: TrafficGauges, { hooks }: LifeView, now: number): Gauges {
  const running = [...hooks.values()].filter(({ endedAt }) => endedAt === undefined)
  const named = running.slice(0, NAMES_MAX).map((hook) => ({ name: hookName(hook), ageMs: now - hook.startedAt }))
  return { ...counts, blocking: { ...blocking, hooks: named } }
}

export const hookName = ({ kind, name }: Parameters<typeof phaseOfHook>[0]): string => `${kind} hook "${name}"`
