import { createActor, fromPromise } from 'xstate'
import { VirtualClock } from '../base/virtual-clock.ts'
import { composeLifecycle, effectiveWiring, type LifePlan } from '../machines/lifecycle.ts'
import type { MachineFact } from '../machines/phases/phase.ts'
import { requestDrainMachine } from '../machines/phases/request-drain.ts'
import { watchDrainMachine } from '../machines/phases/watch-drain.ts'
import type { muxEvent } from '../machines/region.ts'

/**
 * One life from start to end, walked by the real machine on virtual time, for a sequence diagram:
 * everything answers at once, but requests and watches take their time to end, so that it shows
 * what is waited for.
 */
export type WalkStep =
  | { readonly at: number; readonly type: 'told'; readonly event: string }
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
  const machine = composeLifecycle(plan).provide({
    actions: { record: (_, fact) => void steps.push({ at: clock.now(), type: 'fact', fact }) },
    actors: {
      requestDrain: requestDrainMachine.provide({ actors: { drainRequests } }),
      watchDrain: watchDrainMachine.provide({ actors: { drainWatches } }),
    },
  })
  const actor = createActor(machine, { clock, input: plan.input })
  const tell = async (event: Parameters<typeof actor.send>[0], text: string = event.type) => {
    steps.push({ at: clock.now(), type: 'told', event: text })
    actor.send(event)
    await clock.advance(0)
  }
  actor.start()
  await tell({ type: 'start' })
  for (const event of new Set(Object.values(effectiveWiring(plan)).flatMap(({ after }) => after.filter(isMux)))) await tell({ type: event })
  await tell({ type: 'readyz.passed' })
  await clock.advance(SERVES_MS)
  await tell({ type: 'process.signalled', signal: 'SIGTERM', interactive: false }, 'SIGTERM')
  while (actor.getSnapshot().status === 'active' && (await clock.runToNext())) {
    // Until nothing is left to wait for.
  }
  return steps
}

const isMux = (signal: string): signal is ReturnType<typeof muxEvent> => signal.startsWith('mux.')
