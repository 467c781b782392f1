// The edges of upstream's shutdown and ours, held against the state nodes of the machines. Fails
// when: a machine loses or gains an edge, one of upstream's has no place here, or an edge points to
// a divergence that docs/divergences.md does not describe.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { cutsFrom } from '#src/machines/signals.ts'
import type { Mode } from '#src/machines/wiring.ts'
import { EDGES, HOOKS_ARE_LEFT, HOOKS_ARE_NOTIFIED, type LifeEdge } from '#src/model/life/edges.ts'
import { composed } from '../support/fake-effects.ts'
import { nodesOf, phaseRegions, type RegionRow, regionRow } from '../support/machine-walk.ts'

const BOTH: readonly Mode[] = ['refuse', 'retry-after']
const MUX = ['apis', 'crds']

/** What else upstream's edges are here. Each kind is checked in its own way. */
type Place =
  /** `on` ends what `phase` has running, in this mode. */
  | { readonly is: 'aborts'; readonly on: string; readonly phase: string; readonly mode: Mode }
  /** The machine that works for `phase` calls this effect in this state. */
  | { readonly is: 'effect'; readonly phase: string; readonly state: string; readonly effect: string }
  /** The machine that works for `phase` leaves this state after this delay. */
  | { readonly is: 'delay'; readonly phase: string; readonly state: string; readonly delay: string }
  /**
   * Filters read that the signal has fired, synchronously, for every request; no machine takes
   * part.
   */
  | { readonly is: 'predicate'; readonly of: string; readonly modes?: readonly Mode[] }

/** What the lines of `EDGES` leave open: delays, effects, and what is read for every request. */
const PLACES: readonly (readonly [id: `E${number}`, says: string, ...Place[]])[] = [
  ['E2', 'after exactly the delay', { is: 'delay', phase: 'shutdown-delay', state: 'delaying', delay: 'shutdownDelay' }],
  ['E6', 'refuses from here on', { is: 'effect', phase: 'request-drain', state: 'draining', effect: 'drainRequests' }],
  ['E8', 'the wait for watches begins', { is: 'effect', phase: 'watch-drain', state: 'draining', effect: 'drainWatches' }],
  // Without a grace the same effect is told so and answers at once; the guard of `grace` keeps the
  // timer away (E10).
  ['E9', 'the grace is used up', { is: 'delay', phase: 'watch-drain', state: 'draining', delay: 'grace' }],
  [
    'E14',
    'stop the HTTP server: the contexts of all post-start hooks are cancelled',
    { is: 'aborts', on: HOOKS_ARE_NOTIFIED.refuse, phase: 'post-start-hooks', mode: 'refuse' },
    { is: 'aborts', on: HOOKS_ARE_NOTIFIED['retry-after'], phase: 'post-start-hooks', mode: 'retry-after' },
  ],
  // Upstream's Shutdown closes the listener and waits for the connections in one call; here these
  // are two phases, and the limit bounds the second.
  [
    'E15',
    'the graceful Shutdown of the HTTP server, with its limit',
    { is: 'effect', phase: 'close-connections', state: 'lingering', effect: 'lingerConnections' },
    { is: 'delay', phase: 'close-connections', state: 'lingering', delay: 'connectionTimeout' },
  ],
  [
    'E16',
    'Shutdown closes the listener, the accept loop returns',
    { is: 'effect', phase: 'close-listener', state: 'accepting', effect: 'acceptThenClose' },
    { is: 'effect', phase: 'close-listener-after-drain', state: 'accepting', effect: 'acceptThenClose' },
  ],
  ['E20', 'the audit backend is shut down', { is: 'effect', phase: 'audit-shutdown', state: 'working', effect: 'auditShutdown' }],
  ['E23', 'Run leaves by any path: Destroy', { is: 'effect', phase: 'destroy', state: 'running', effect: 'hook' }],
  ['E26', 'ShutdownInitiated: /readyz fails', { is: 'predicate', of: 'ShutdownInitiated' }],
  [
    'E27',
    'NotAcceptingNewRequest: new non-exempt requests get 429 (V4)',
    { is: 'predicate', of: 'NotAcceptingNewRequest', modes: ['retry-after'] },
  ],
  ['E28', 'the wait for requests has begun: new ones get 503', { is: 'predicate', of: 'NotAcceptingNewRequest' }],
  ['E30', 'the wait for watches has begun: new ones get 503', { is: 'predicate', of: 'NotAcceptingNewRequest' }],
  // It closes with the admin listener, because what hangs in a drain is what one looks at (V29).
  ['E31', 'stop: the debug socket is closed', { is: 'effect', phase: 'admin-listener', state: 'working', effect: 'closeAdmin' }],
  ['E32', 'READY=1 to systemd', { is: 'effect', phase: 'announce', state: 'working', effect: 'announce' }],
]

const machines = Object.fromEntries(BOTH.map((mode) => [mode, composed({ mode, muxSignals: MUX, postStartHooks: ['cache'] })])) as Record<
  Mode,
  AnyStateMachine
>
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
    case 'aborts':
      expect(regionRow(region(place.mode, place.phase) as AnyStateNode).until).toEqual([place.on])
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
  }
}

/** A phase of `EDGES` in the words of what can be read off a region. */
const asRegion = ({ phase, lane, after, given, does, hears = {}, cut, fires }: LifeEdge, mode: Mode): RegionRow => ({
  lane: lane ?? 'stop',
  after,
  ...(given !== undefined && { unless: given }),
  ...(does !== undefined && phase !== 'post-start-hooks' && { work: does }),
  cuts: cut === undefined ? [] : cutsFrom(cut),
  until: phase === 'post-start-hooks' ? [HOOKS_ARE_NOTIFIED[mode]] : [],
  abandonedAt: phase === 'post-start-hooks' ? [HOOKS_ARE_LEFT] : [],
  hears: Object.keys(hears),
  fires: [fires],
})

describe('the edges that are stated apart from the wiring table', () => {
  test.each(BOTH)('are those of the machine, and it has no others (%s)', (mode) => {
    const stated = EDGES.filter((edge) => edge.mode === undefined || edge.mode === mode)
    const read = [...phaseRegions(machines[mode])].map(([phase, node]) => [phase, regionRow(node)])
    expect(Object.fromEntries(read)).toEqual(Object.fromEntries(stated.map((edge) => [edge.phase, asRegion(edge, mode)])))
  })

  test('are all of upstream’s, here or there', () => {
    const numbers = [...EDGES.flatMap(({ ids }) => ids), ...PLACES.map(([id]) => id)].filter((id) => id.startsWith('E'))
    expect([...new Set(numbers)].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)))).toEqual(
      Array.from({ length: 32 }, (_, i) => `E${i + 1}`),
    )
  })

  test.each(PLACES.map(([id, says, ...places]) => [`${id}: ${says}`, places] as const))('%s', (_, places) => {
    for (const place of places) check(place)
  })

  test('name only divergences and decisions that are described', () => {
    const divergences = readFileSync(new URL('../../docs/divergences.md', import.meta.url), 'utf8')
    const decisions = readdirSync(new URL('../../docs/decisions', import.meta.url))
    const named = (pattern: RegExp) => EDGES.flatMap(({ from }) => [...from.matchAll(pattern)].map(([, number]) => String(number)))
    expect(named(/\bV(\d+)\b/g).length).toBeGreaterThan(5)
    expect(named(/\bV(\d+)\b/g).filter((number) => !divergences.includes(`### V${number} `))).toEqual([])
    const isDescribed = (number: string) => decisions.some((file) => file.startsWith(`${number.padStart(4, '0')}-`))
    expect(named(/\bdecision (\d+)\b/g).filter((number) => !isDescribed(number))).toEqual([])
  })

  // "Nothing connects readiness, MuxAndDiscoveryComplete or the post-start hooks to the shutdown
  // sequence."
  test('connect nothing of readiness, mux or post-start hooks to the shutdown', () => {
    const waited = EDGES.filter(({ lane }) => lane !== 'start').flatMap(({ after }) => after)
    for (const signal of ['HasBeenReady', 'MuxAndDiscoveryComplete', 'PostStartHooksDone', 'Announced'])
      expect(waited).not.toContain(signal)
  })
})
