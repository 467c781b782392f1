// The edges E1 to E32 of upstream's shutdown (RunWithContext of pkg/server/genericapiserver.go, and what it calls), each with
// its place here, written by hand from upstream's text and then held against the state nodes of the machines.
// Fails when: a machine loses or gains such an edge, an edge is not classified, or it points to a divergence that
// docs/divergences.md does not describe.
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { AnyStateMachine, AnyStateNode } from 'xstate'
import type { Mode } from '#src/machines/wiring.ts'
import { composed } from '../support/fake-effects.ts'
import { nodesOf, phaseRegions, regionRow } from '../support/machine-walk.ts'

const BOTH: readonly Mode[] = ['refuse', 'retry-after']

/** What an edge is here. Each kind is checked in its own way. */
type Place =
  /** `phase` leaves its waiting on these signals, all of them. `modes`: there is no such phase in others. `only`: others have an entry of their own. */
  | {
      readonly is: 'begins'
      readonly on: readonly string[]
      readonly phase: string
      readonly modes?: readonly Mode[]
      readonly only?: Mode
    }
  /** The end of the work of `phase`, whatever its outcome, fires the signal. */
  | { readonly is: 'fires'; readonly phase: string; readonly signal: string }
  /** `on` ends what `phase` has running, in this mode. */
  | { readonly is: 'aborts'; readonly on: string; readonly phase: string; readonly modes: readonly Mode[] }
  /** The machine that works for `phase` calls this effect in this state. */
  | { readonly is: 'effect'; readonly phase: string; readonly state: string; readonly effect: string }
  /** The machine that works for `phase` leaves this state after this delay. */
  | { readonly is: 'delay'; readonly phase: string; readonly state: string; readonly delay: string }
  /** Filters read that the signal has fired, synchronously, for every request; no machine takes part. */
  | { readonly is: 'predicate'; readonly of: string; readonly modes?: readonly Mode[] }
  /** Belongs to a part that does not exist yet. */
  | { readonly is: 'later'; readonly why: string }

interface Edge {
  readonly says: string
  readonly places: readonly [Place, ...Place[]]
  /** Where it differs from upstream's on purpose. */
  readonly differs?: readonly string[]
}

const EDGES: Readonly<Record<`E${number}`, Edge>> = {
  E1: {
    says: 'stop → ShutdownInitiated',
    places: [
      { is: 'begins', on: ['StopRequested'], phase: 'shutdown-initiated' },
      { is: 'fires', phase: 'shutdown-initiated', signal: 'ShutdownInitiated' },
    ],
  },
  E2: {
    says: 'ShutdownInitiated → AfterShutdownDelayDuration, after exactly the delay',
    places: [
      { is: 'begins', on: ['ShutdownInitiated'], phase: 'shutdown-delay' },
      { is: 'delay', phase: 'shutdown-delay', state: 'delaying', delay: 'shutdownDelay' },
      { is: 'fires', phase: 'shutdown-delay', signal: 'AfterShutdownDelayDuration' },
    ],
  },
  E3: { says: 'stop → the pre-shutdown hooks start', places: [{ is: 'begins', on: ['StopRequested'], phase: 'pre-shutdown-hooks' }] },
  E4: {
    says: 'the hooks are over, by success, error or panic → PreShutdownHooksStopped',
    places: [{ is: 'fires', phase: 'pre-shutdown-hooks', signal: 'PreShutdownHooksStopped' }],
    differs: ['V1', 'V2', 'V13'],
  },
  E5: {
    says: 'AfterShutdownDelayDuration and PreShutdownHooksStopped → NotAcceptingNewRequest',
    places: [
      { is: 'begins', on: ['AfterShutdownDelayDuration', 'PreShutdownHooksStopped'], phase: 'not-accepting' },
      { is: 'fires', phase: 'not-accepting', signal: 'NotAcceptingNewRequest' },
    ],
  },
  E6: {
    says: 'NotAcceptingNewRequest → the wait for requests begins, and refuses from here on',
    places: [
      { is: 'begins', on: ['NotAcceptingNewRequest', 'LastCallComplete'], phase: 'request-drain', only: 'refuse' },
      { is: 'begins', on: ['NotAcceptingNewRequest'], phase: 'request-drain', only: 'retry-after' },
      { is: 'effect', phase: 'request-drain', state: 'draining', effect: 'drainRequests' },
    ],
    differs: ['V22'],
  },
  E7: {
    says: 'that wait returns → requests drained, without a limit of its own',
    places: [{ is: 'fires', phase: 'request-drain', signal: 'RequestsDrained' }],
    differs: ['V5', 'V8'],
  },
  E8: {
    says: 'NotAcceptingNewRequest → the wait for watches begins',
    places: [
      { is: 'begins', on: ['NotAcceptingNewRequest'], phase: 'watch-drain' },
      { is: 'effect', phase: 'watch-drain', state: 'draining', effect: 'drainWatches' },
    ],
  },
  E9: {
    says: 'that wait returns, or the grace is used up → watches drained',
    places: [
      { is: 'delay', phase: 'watch-drain', state: 'draining', delay: 'grace' },
      { is: 'fires', phase: 'watch-drain', signal: 'WatchesDrained' },
    ],
  },
  // Without a grace the same effect is told so and answers at once; the guard of `grace` keeps the timer away.
  E10: {
    says: 'NotAcceptingNewRequest → watches drained at once, without a grace',
    places: [
      { is: 'effect', phase: 'watch-drain', state: 'draining', effect: 'drainWatches' },
      { is: 'fires', phase: 'watch-drain', signal: 'WatchesDrained' },
    ],
  },
  E11: {
    says: 'requests drained and watches drained → InFlightRequestsDrained',
    places: [
      { is: 'begins', on: ['RequestsDrained', 'WatchesDrained'], phase: 'in-flight-drained' },
      { is: 'fires', phase: 'in-flight-drained', signal: 'InFlightRequestsDrained' },
    ],
  },
  E12: {
    says: 'NotAcceptingNewRequest → stop the HTTP server (plain)',
    places: [{ is: 'begins', on: ['NotAcceptingNewRequest'], phase: 'close-listener', modes: ['refuse'] }],
  },
  E13: {
    says: 'InFlightRequestsDrained → stop the HTTP server (retry-after)',
    places: [{ is: 'begins', on: ['InFlightRequestsDrained'], phase: 'close-listener-after-drain', modes: ['retry-after'] }],
  },
  E14: {
    says: 'stop the HTTP server → the contexts of all post-start hooks are cancelled',
    places: [
      { is: 'aborts', on: 'NotAcceptingNewRequest', phase: 'post-start-hooks', modes: ['refuse'] },
      { is: 'aborts', on: 'InFlightRequestsDrained', phase: 'post-start-hooks', modes: ['retry-after'] },
    ],
  },
  // Upstream's Shutdown closes the listener and waits for the connections in one call; here these are two phases, and the limit bounds the second.
  E15: {
    says: 'internal stop → graceful Shutdown of the HTTP server begins, with its limit',
    places: [
      { is: 'begins', on: ['LastCallComplete', 'InFlightRequestsDrained'], phase: 'close-connections' },
      { is: 'effect', phase: 'close-connections', state: 'lingering', effect: 'lingerConnections' },
      { is: 'delay', phase: 'close-connections', state: 'lingering', delay: 'connectionTimeout' },
    ],
    differs: ['V3', 'V6'],
  },
  E16: {
    says: 'Shutdown closes the listener → the accept loop returns',
    places: [
      { is: 'effect', phase: 'close-listener', state: 'accepting', effect: 'acceptThenClose' },
      { is: 'effect', phase: 'close-listener-after-drain', state: 'accepting', effect: 'acceptThenClose' },
    ],
  },
  E17: {
    says: 'the accept loop has returned → HTTPServerStoppedListening',
    places: [
      { is: 'fires', phase: 'close-listener', signal: 'HTTPServerStoppedListening' },
      { is: 'fires', phase: 'close-listener-after-drain', signal: 'HTTPServerStoppedListening' },
    ],
  },
  E18: {
    says: 'Shutdown returns → stopped',
    places: [{ is: 'fires', phase: 'close-connections', signal: 'ConnectionsClosed' }],
    differs: ['V3'],
  },
  E19: {
    says: 'InFlightRequestsDrained → the stop channel of the audit backend closes',
    places: [{ is: 'begins', on: ['InFlightRequestsDrained'], phase: 'audit-shutdown' }],
  },
  E20: {
    says: 'hooks without error and InFlightRequestsDrained → the audit backend is shut down',
    places: [
      { is: 'begins', on: ['InFlightRequestsDrained'], phase: 'audit-shutdown' },
      { is: 'effect', phase: 'audit-shutdown', state: 'working', effect: 'auditShutdown' },
    ],
    differs: ['V1'],
  },
  E21: {
    says: 'audit Shutdown returned → wait for the listener, then for stopped',
    places: [{ is: 'begins', on: ['ConnectionsClosed', 'HandlersDone', 'AuditStopped'], phase: 'destroy' }],
    differs: ['V8'],
  },
  E22: {
    says: 'both waits done → Run returns',
    places: [
      { is: 'begins', on: ['ReportWritten'], phase: 'end' },
      { is: 'fires', phase: 'end', signal: 'Ended' },
    ],
  },
  E23: {
    says: 'Run leaves by any path → Destroy',
    places: [
      { is: 'begins', on: ['ConnectionsClosed', 'HandlersDone', 'AuditStopped'], phase: 'destroy' },
      { is: 'effect', phase: 'destroy', state: 'running', effect: 'hook' },
    ],
    differs: ['V12'],
  },
  E24: {
    says: 'all registered mux-complete channels closed → MuxAndDiscoveryComplete, unless stop came first',
    places: [
      { is: 'begins', on: ['Start', 'mux.apis', 'mux.crds'], phase: 'mux-complete' },
      { is: 'fires', phase: 'mux-complete', signal: 'MuxAndDiscoveryComplete' },
    ],
  },
  E25: {
    says: 'the first passing /readyz → HasBeenReady',
    places: [
      { is: 'begins', on: ['readyz.passed'], phase: 'has-been-ready' },
      { is: 'fires', phase: 'has-been-ready', signal: 'HasBeenReady' },
    ],
  },
  E26: { says: 'ShutdownInitiated → /readyz fails', places: [{ is: 'predicate', of: 'ShutdownInitiated' }] },
  E27: {
    says: 'NotAcceptingNewRequest → new non-exempt requests get 429 (retry-after)',
    places: [{ is: 'predicate', of: 'NotAcceptingNewRequest', modes: ['retry-after'] }],
    differs: ['V4'],
  },
  E28: { says: 'the wait for requests has begun → new ones get 503', places: [{ is: 'predicate', of: 'NotAcceptingNewRequest' }] },
  E29: {
    says: 'NotAcceptingNewRequest → every tracked watch is told to return',
    places: [{ is: 'effect', phase: 'watch-drain', state: 'draining', effect: 'drainWatches' }],
    differs: ['V3'],
  },
  E30: { says: 'the wait for watches has begun → new ones get 503', places: [{ is: 'predicate', of: 'NotAcceptingNewRequest' }] },
  E31: { says: 'stop → the debug socket is closed', places: [{ is: 'later', why: 'there is no debug socket yet (rows DS)' }] },
  E32: {
    says: 'accepting and all post-start hooks launched → READY=1 to systemd',
    places: [
      { is: 'begins', on: ['Serving'], phase: 'post-start-launch' },
      { is: 'begins', on: ['PostStartHooksLaunched'], phase: 'announce' },
      { is: 'effect', phase: 'announce', state: 'working', effect: 'announce' },
    ],
  },
}

const machines = Object.fromEntries(
  BOTH.map((mode) => [mode, composed({ mode, muxSignals: ['apis', 'crds'], postStartHooks: ['cache'] })]),
) as Record<Mode, AnyStateMachine>
const region = (mode: Mode, phase: string): AnyStateNode | undefined => phaseRegions(machines[mode]).get(phase)
const regionInSomeMode = (phase: string): AnyStateNode => {
  const found = BOTH.map((mode) => region(mode, phase)).find((node) => node !== undefined)
  if (!found) throw new Error(`no mode has a phase ${phase}`)
  return found
}

/** The state nodes that do the work of a phase: of its machine, or its region's own `working`. */
function workNodes(phase: string): AnyStateNode[] {
  const working = regionInSomeMode(phase).states['working'] as AnyStateNode
  const logic = machines.refuse.implementations.actors[String(working.invoke[0]?.src)] as Partial<AnyStateMachine>
  return logic.root ? nodesOf(logic.root) : [working]
}
const stateOf = (phase: string, state: string): AnyStateNode | undefined => workNodes(phase).find((node) => node.key === state)

function check(place: Place): void {
  switch (place.is) {
    case 'begins':
      for (const mode of place.only ? [place.only] : BOTH) {
        const found = region(mode, place.phase)
        expect([mode, found && regionRow(found).after]).toEqual([mode, (place.modes ?? BOTH).includes(mode) ? place.on : undefined])
      }
      break
    case 'fires': {
      const found = regionInSomeMode(place.phase)
      expect(regionRow(found).fires).toEqual([place.signal])
      // The end of the work, good or bad, leads there and nowhere else.
      const { working } = found.states
      const ends = [...(working?.transitions ?? [])].filter(
        ([event]) => event.startsWith('xstate.done.') || event.startsWith('xstate.error.'),
      )
      expect(
        ends
          .flatMap(([, transitions]) => transitions.flatMap(({ target }) => target?.map(({ key }) => key)))
          .every((key) => key === 'fired'),
      ).toBe(true)
      break
    }
    case 'aborts':
      for (const mode of place.modes) expect(regionRow(region(mode, place.phase) as AnyStateNode).until).toEqual([place.on])
      break
    case 'effect':
      expect(stateOf(place.phase, place.state)?.invoke.map(({ src }) => src)).toEqual([place.effect])
      break
    case 'delay':
      expect(stateOf(place.phase, place.state)?.after.map(({ delay }) => delay)).toEqual([place.delay])
      break
    case 'predicate':
      for (const mode of place.modes ?? BOTH) {
        expect([...phaseRegions(machines[mode]).values()].flatMap((node) => regionRow(node).fires)).toContain(place.of)
      }
      break
    case 'later':
      expect(place.why).not.toBe('')
  }
}

describe('upstream’s edges', () => {
  test('are all classified', () => {
    expect(Object.keys(EDGES)).toEqual(Array.from({ length: 32 }, (_, i) => `E${i + 1}`))
  })

  test.each(Object.entries(EDGES).map(([id, edge]) => [`${id}: ${edge.says}`, edge] as const))('%s', (_, { places }) => {
    for (const place of places) check(place)
  })

  test('differ only by divergences that are described', () => {
    const url = new URL('../../docs/divergences.md', import.meta.url)
    expect(existsSync(url)).toBe(true)
    const described = readFileSync(url, 'utf8')
    const missing = Object.values(EDGES).flatMap(({ differs = [] }) => differs.filter((number) => !described.includes(`### ${number} `)))
    expect(missing).toEqual([])
  })

  // Upstream's RunWithContext connects nothing of readiness, MuxAndDiscoveryComplete or post-start hooks to the shutdown.
  test.each(BOTH)('connect nothing of readiness, mux or post-start hooks to the shutdown (%s)', (mode) => {
    const rows = [...phaseRegions(machines[mode]).values()].map((node) => regionRow(node))
    const waited = new Set(rows.filter(({ lane }) => lane === 'stop').flatMap(({ after }) => after))
    for (const signal of ['HasBeenReady', 'MuxAndDiscoveryComplete', 'PostStartHooksDone', 'Announced'])
      expect(waited).not.toContain(signal)
  })
})
