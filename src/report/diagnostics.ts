import { type Channel, channel } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import type { LifecycleEvent, StopReason } from '../base/events.ts'
import type { RefusalKind } from '../base/wording.ts'

type EventMessages<Life> = {
  readonly [Type in LifecycleEvent['type'] as `quiesce:${Type}`]: {
    readonly life: Life
    readonly event: Extract<LifecycleEvent, { readonly type: Type }>
  }
}

/**
 * What is published on which channel of `node:diagnostics_channel`. Subscribers are called in the
 * same step and should return soon; one that throws disturbs nothing here, but its error becomes an
 * uncaught exception, as node does it.
 */
export interface DiagnosticsMessages<Life = object> extends EventMessages<Life> {
  /** The stop request, published once, by whatever asks for the end first. */
  readonly 'quiesce:stop-requested': { readonly life: Life; readonly reason: StopReason }
  /** The refusal of a request, published for each. */
  readonly 'quiesce:request-refused': { readonly request: IncomingMessage; readonly kind: RefusalKind }
}

const open = <Name extends keyof DiagnosticsMessages>(name: Name): Channel => channel(name)

const STOP_REQUESTED = open('quiesce:stop-requested')
const REQUEST_REFUSED = open('quiesce:request-refused')

/**
 * A sink that publishes every event of a life on `quiesce:` and its type. Without subscribers it
 * costs one look at a flag.
 */
export function publishEvents(life: object): (event: LifecycleEvent) => void {
  return (event) => {
    const ofType = channelOf(event.type)
    if (ofType.hasSubscribers) ofType.publish({ life, event })
    if (event.type !== 'signal' || event.name !== 'StopRequested' || !event.reason || !STOP_REQUESTED.hasSubscribers) return
    STOP_REQUESTED.publish({ life, reason: event.reason } satisfies DiagnosticsMessages['quiesce:stop-requested'])
  }
}

/**
 * The channels, kept here: node forgets a channel without references, and its subscribers with it.
 */
const channels = new Map<LifecycleEvent['type'], Channel>()

function channelOf(type: LifecycleEvent['type']): Channel {
  const known = channels.get(type) ?? open(`quiesce:${type}`)
  channels.set(type, known)
  return known
}

export function publishRefusal(request: IncomingMessage, kind: RefusalKind): void {
  if (REQUEST_REFUSED.hasSubscribers) {
    REQUEST_REFUSED.publish({ request, kind } satisfies DiagnosticsMessages['quiesce:request-refused'])
  }
}
