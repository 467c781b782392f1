import { createActor, type EventObject, fromCallback, fromPromise } from 'xstate'
import { VirtualClock } from '../base/virtual-clock.ts'
import { composeLifecycle, type LifePlan } from '../machines/lifecycle.ts'
import { muxCompleteMachine } from '../machines/phases/mux-complete.ts'
import { muxSignalMachine } from '../machines/phases/mux-signal.ts'
import type { MachineFact } from '../machines/phases/phase.ts'
import { requestDrainMachine } from '../machines/phases/request-drain.ts'
import { watchDrainMachine } from '../machines/phases/watch-drain.ts'

/**
 * One life from start to end, walked by the real machine on virtual time, for a sequence diagram:
 * everything answers at once, but requests and watches take their time to end, so that it shows
 * what is waited for.
 */
export type WalkStep =
  | { readonly at: number; readonly type: 'notified'; readonly event: string }
  | { readonly at: number; readonly type: 'fact'; readonly fact: MachineFact }

/** How long the server serves before it is stopped. */
const SERVES_MS = 60_000
/**
 * How long the last request and the last watch live on, as shares of the deadline: well before they
 * would be cut.
 */
const REQUESTS_SHARE = 0.06
const WATCHES_SHARE = 0.02

export async function walk(plan: LifePlan): Promise<readonly WalkStep[]> {
  const clock = new VirtualClock()
  const steps: WalkStep[] = []
  const { deadlineMs } = plan.input.profiles.default
  const after = (share: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, share * deadlineMs))
  const drainRequests = fromPromise<void>(() => after(REQUESTS_SHARE))
  const drainWatches = fromPromise<{ readonly after: number }, { readonly graceMs: number }>(async () => {
    await after(WATCHES_SHARE)
    return { after: 0 }
  })
  const awaitMuxSignal = fromCallback<EventObject, { readonly name: string }>(({ sendBack }) => sendBack({ type: 'complete' }))
  const machine = composeLifecycle(plan).provide({
    actions: { record: (_, fact) => void steps.push({ at: clock.now(), type: 'fact', fact }) },
    actors: {
      muxComplete: muxCompleteMachine.provide({ actors: { muxSignal: muxSignalMachine.provide({ actors: { awaitMuxSignal } }) } }),
      requestDrain: requestDrainMachine.provide({ actors: { drainRequests } }),
      watchDrain: watchDrainMachine.provide({ actors: { drainWatches } }),
    },
  })
  const actor = createActor(machine, { clock, input: plan.input })
  const send = async (event: Parameters<typeof actor.send>[0], text: string = event.type) => {
    steps.push({ at: clock.now(), type: 'notified', event: text })
    actor.send(event)
    await clock.advance(0)
  }
  actor.start()
  await send({ type: 'start' })
  await send({ type: 'readyz.passed' })
  await clock.advance(SERVES_MS)
  await send({ type: 'process.signalled', signal: 'SIGTERM', interactive: false }, 'SIGTERM')
  while (actor.getSnapshot().status === 'active' && (await clock.runToNext())) {
    // Until nothing is left to wait for.
  }
  return steps
}
