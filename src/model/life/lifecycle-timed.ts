import { type ActorView, isDone, type Property, within } from '#model'
import { checkArguments } from '../../base/arguments.ts'
import { didYouMean } from '../../base/did-you-mean.ts'
import { optionError } from '../../base/errors.ts'
import type { CutsMs, Reserves, StopProfile } from '../../base/stop-profile.ts'
import { stateKey } from '../../machines/region.ts'
import { BUDGET_INSTANTS } from '../../machines/signals.ts'
import type { LifecycleContext } from '../../machines/vocabulary.ts'
import type { PhaseName } from '../../machines/wiring.ts'
import { isStopping, stopOf } from './life-views.ts'

/**
 * The phases whose time each reserve is; the first of them that a life has begins it. In the mode
 * retry-after the last call comes after the drain.
 */
const PHASES_OF: Readonly<Record<keyof Reserves, readonly PhaseName[]>> = {
  connections: ['close-listener-after-drain', 'close-connections'],
  audit: ['audit-shutdown'],
  destroy: ['destroy'],
  flush: ['report'],
}

/**
 * Effects that are one synchronous step of ours (`lifecycle/effects.ts`): what is done at a cut,
 * and the end by force. A test runs them.
 */
export const SYNCHRONOUS: readonly string[] = [
  'beginNotifying',
  'completeNotifying',
  'closeListenerNow',
  'closeAdmin',
  'cutRequests',
  'breakOffRequests',
  'terminateWatches',
  'destroyConnections',
  'nameHandlers',
  'startRest',
  'writeReportNow',
  'force',
]

/**
 * Effects that let the event loop poll, a bounded number of times, and wait for nothing else. The
 * same test runs them.
 */
export const POLLING: readonly string[] = ['acceptThenClose', 'closeIdleConnections']

/** Effects that answer before any time passes. */
export const PROMPT: readonly string[] = [...SYNCHRONOUS, ...POLLING]

/**
 * The time from StopRequested to the end never exceeds the deadline, though no effect may ever
 * answer and every timer takes its time to the last millisecond. The end is the end of the life, or
 * the synchronous step that ends it by force.
 * @param deadlineMs default: the deadline of the kind of stop that it was
 */
export function endsWithin(deadlineMs?: number): Property {
  checkArguments('endsWithin(deadlineMs?)', [deadlineMs, 'a number'])
  return within('timed/ends-within-deadline', `the end comes within ${deadlineMs === undefined ? 'the deadline' : `${deadlineMs} ms`}`, {
    from: isStopping,
    until: isOver,
    atMostMs: (root) => deadlineMs ?? profileOf(root).deadlineMs,
  })
}

/**
 * A late phase begins early enough to have its reserve before the budget cuts it, whatever came
 * before it took; unless the end is forced. Work may ignore its cut for ever, but our own steps
 * take no time.
 * @param reserveMs default: what the budget keeps for it, from the cut of those before it to its
 * own
 * @throws QuiesceError ERR_OPTION_INVALID for a phase that has no reserve
 */
export function reserveOf(phase: keyof Reserves, reserveMs?: number): Property {
  checkArguments('reserveOf(phase, reserveMs?)', [phase, 'a text'], [reserveMs, 'a number'])
  const phases = Object.keys(PHASES_OF)
  if (!phases.includes(phase)) throw optionError('phase', phase, `one of ${phases.join(', ')}${didYouMean(phase, phases)}`)
  return within(
    `timed/reserve-of-${phase}`,
    `${PHASES_OF[phase].at(-1)} has ${reserveMs === undefined ? 'its reserve' : `${reserveMs} ms`} before its cut`,
    {
      from: isStopping,
      until: (root) => isOver(root) || PHASES_OF[phase].some((one) => hasBegun(root, one)),
      atMostMs: (root) => {
        const { cutsMs } = profileOf(root)
        return reserveMs === undefined ? cutsMs[instantBefore(phase)] : cutsMs[phase] - reserveMs
      },
      prompt: PROMPT,
    },
  )
}

/** The properties about time, for the budget that a life has. */
export const timedProperties = (): Property[] => [
  endsWithin(),
  ...(Object.keys(PHASES_OF) as (keyof Reserves)[]).map((phase) => reserveOf(phase)),
]

const instantBefore = (phase: keyof Reserves): keyof CutsMs => BUDGET_INSTANTS[BUDGET_INSTANTS.indexOf(phase) - 1] as keyof CutsMs

const isOver = (root: ActorView): boolean => isDone(root) || root.matches('forcing')
const profileOf = (root: ActorView): StopProfile => (stopOf(root) as NonNullable<LifecycleContext['stop']>).profile

function hasBegun(root: ActorView, phase: PhaseName): boolean {
  const { running } = root.value as { readonly running?: Readonly<Record<string, unknown>> }
  const region = running?.[stateKey(phase)]
  const state = typeof region === 'string' ? region : Object.keys(region ?? {})[0]
  return state !== undefined && state !== 'waiting' && state !== 'unarmed'
}
