// Fails when: the machine has an edge that the wiring table has not, or lacks one; a machine uses a
// name that is not provided; a table that could not run is composed; or a region has no way to its
// end.
import { describe, expect, test } from 'vitest'
import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { provideEffects } from '#src/actors/effects.ts'
import { effectiveWiring } from '#src/machines/lifecycle.ts'
import { CUT_SIGNALS, cutsFrom, OWN_SIGNALS, UPSTREAM_SIGNALS } from '#src/machines/signals.ts'
import { defineWiring, type Mode, type PhaseRow, WIRING, type Wiring } from '#src/machines/wiring.ts'
import { composed, FakeLife, servingLife } from '../support/fake-effects.ts'
import { listensTo, machinesOf, namesUsedBy, nodesOf, phaseRegions, type RegionRow, raisesOf, regionRow } from '../support/machine-walk.ts'

const MODES: readonly Mode[] = ['refuse', 'retry-after']
const postStartHooks = ['informers', 'cache']
const machines = Object.fromEntries(MODES.map((mode) => [mode, composed({ mode, postStartHooks })])) as Record<Mode, AnyStateMachine>

/** These watch as long as the life lasts. */
const ENDLESS = ['budget', 'crash', 'second-signal', 'stop']
/** Nothing leads out of it, and nothing runs in it. */
const isEnd = (node: AnyStateNode | undefined): boolean =>
  node?.type === 'atomic' && node.invoke.length === 0 && node.transitions.size === 0

/** A row in the words of what can be read off a region. */
const asRegion = (row: PhaseRow, mode: Mode): RegionRow => ({
  lane: row.lane,
  after: row.after,
  ...(row.unless && { unless: row.unless }),
  ...(row.work && row.workKind !== 'regions' && { work: row.work }),
  cuts: row.cut ? cutsFrom(row.cut) : [],
  until: row.until ? [row.until[mode]] : [],
  abandonedAt: row.abandonedAt ? [row.abandonedAt] : [],
  hears: Object.keys(row.hears ?? {}),
  fires: [row.fires],
})

describe.each(MODES)('the machine of mode %s', (mode) => {
  const machine = machines[mode]
  const rows = effectiveWiring({ mode })
  const regions = phaseRegions(machine)

  test('has the transitions and the raised signals of the wiring table, and no others', () => {
    const read = Object.fromEntries([...regions].map(([phase, region]) => [phase, regionRow(region)]))
    expect(read).toEqual(Object.fromEntries(Object.entries(rows).map(([phase, row]) => [phase, asRegion(row, mode)])))
  })

  test('joins several signals, of which each may be the last', () => {
    for (const [phase, region] of regions) {
      const { transitions } = region.states['waiting'] as AnyStateNode
      const after = rows[phase]?.after ?? []
      for (const signal of after) {
        const guards = transitions.get(signal)?.map(({ guard }) => (guard as { type: string } | undefined)?.type)
        expect([phase, signal, guards]).toEqual([phase, signal, after.length > 1 ? ['isLast', undefined] : [undefined]])
      }
    }
  })

  test('tells the work that can end itself of its cut, and leaves any other', () => {
    for (const [phase, region] of regions) {
      for (const signal of regionRow(region).cuts) {
        const [transition, ...others] = region.states['working']?.transitions.get(signal) ?? []
        const seen = [others.length, transition?.target?.[0]?.key ?? transition?.actions.map((action) => (action as { type: string }).type)]
        expect([phase, ...seen]).toEqual([phase, 0, rows[phase]?.workKind === 'machine' ? ['xstate.sendTo'] : 'fired'])
      }
    }
  })

  test('knows every phase by its meta', () => {
    expect([...regions.keys()]).toEqual(Object.keys(rows))
    for (const [phase, region] of regions) expect(region.meta).toEqual({ phase, row: rows[phase] })
  })

  test('raises what it listens to, except what the outside says', () => {
    const outside = [
      'start',
      'start.refused',
      'stop.requested',
      'stop.now',
      'process.signalled',
      'process.crashed',
      'listener.died',
      'readyz.passed',
      'mux-signal.failed',
      'work.left',
    ]
    const changes = ['pre-shutdown-hooks.changed', 'destroy-functions.changed', 'budget.changed']
    const raised = raisesOf(machine)
    expect([...listensTo(machine)].filter((event) => !raised.has(event)).sort()).toEqual([...outside, ...changes].sort())
  })

  test('raises every built-in signal', () => {
    const raised = raisesOf(machine)
    expect(Object.keys({ ...UPSTREAM_SIGNALS, ...OWN_SIGNALS, ...CUT_SIGNALS }).filter((signal) => !raised.has(signal))).toEqual([])
  })

  test('leads from every state of a region to its end', () => {
    for (const region of Object.values((machine.root.states['running'] as AnyStateNode).states)) {
      if (ENDLESS.includes(region.key)) continue
      const targets = (node: AnyStateNode) => [...node.transitions.values()].flat().flatMap(({ target }) => target ?? [])
      const reaches = (node: AnyStateNode, seen = new Set<AnyStateNode>()): boolean => {
        if (isEnd(node) && node.parent === region) return true
        if (seen.has(node)) return false
        seen.add(node)
        // From inside: by a transition of one's own or of a parent, or by going on to where a
        // compound state begins.
        const next = [...targets(node), ...(node.parent && node.parent !== region ? [node.parent] : [])]
        return next.some((state) => reaches(state, seen))
      }
      const stuck = Object.values(region.states).filter((state) => !reaches(state))
      expect([region.key, stuck.map(({ key }) => key)]).toEqual([region.key, []])
    }
  })

  test('has only states to begin with that exist', () => {
    for (const [name, part] of machinesOf(machine)) {
      for (const node of nodesOf(part.root)) {
        if (node.type !== 'compound') continue
        expect(Object.keys(node.states), `${name}: ${node.id}`).toContain((node.config as { initial?: string }).initial)
      }
    }
  })

  test('ends with every region at an end', async () => {
    let last: Readonly<Record<string, unknown>> = {}
    const life = new FakeLife({
      mode,
      postStartHooks,
      inspect: (event) => {
        if (event.type !== '@xstate.microstep') return
        const { value } = event.snapshot as { value?: { running?: typeof last } }
        last = value?.running ?? last
      },
    })
    await life.start()
    await life.stop()
    await life.toEnd()
    expect(life.facts.filter(({ type }) => type === 'forced')).toEqual([])
    const { states } = machine.root.states['running'] as AnyStateNode
    expect(Object.keys(last).sort()).toEqual(Object.keys(states).sort())
    const unended = Object.entries(last).filter(([region, state]) => !isEnd(states[region]?.states[String(state)]))
    expect(unended.map(([region]) => region).sort()).toEqual(ENDLESS)
  })
})

describe('every stop phase', () => {
  test.each(MODES)('is waited for until the end, so that none outlives the budget (%s)', (mode) => {
    const rows = Object.entries(effectiveWiring({ mode }))
    const leadsToEnd = (signal: string): boolean =>
      signal === 'Ended' || rows.some(([, row]) => row.after.includes(signal) && leadsToEnd(row.fires))
    expect(rows.filter(([, { lane, fires }]) => lane === 'stop' && !leadsToEnd(fires))).toEqual([])
  })

  test.each(MODES)('waits for no signal that only a successful start fires (%s)', (mode) => {
    const rows = Object.values(effectiveWiring({ mode }))
    const stopSignals = new Set(['StopRequested', ...rows.filter(({ lane }) => lane === 'stop').map(({ fires }) => fires)])
    expect(rows.filter(({ lane, after }) => lane === 'stop' && !after.every((signal) => stopSignals.has(signal)))).toEqual([])
  })

  test('with work that may last has a cut', () => {
    expect(
      Object.entries(WIRING as Wiring).filter(([, { lane, work, cut }]) => lane === 'stop' && work !== undefined && cut === undefined),
    ).toEqual([])
  })
})

describe('every name that a machine uses', () => {
  const userPhases = [{ name: 'flush', after: ['NotAcceptingNewRequest'], before: ['destroy'], timeoutMs: 1 }]
  const machine = composed({ postStartHooks, muxSignals: ['apis'], userPhases })

  test.each(machinesOf(machine))('is known to it: %s', (_, part) => {
    const used = namesUsedBy(part)
    const known = part.implementations as unknown as Record<keyof typeof used, Record<string, unknown>>
    for (const kind of ['actors', 'actions', 'guards', 'delays'] as const) {
      expect(
        [...used[kind]].filter((name) => !Object.hasOwn(known[kind], name)),
        kind,
      ).toEqual([])
    }
  })

  test('and every actor it knows is used', () => {
    // They are spawned by name from an action, where no state node shows them.
    const spawned = new Set(['preShutdownHooks/hook', 'muxComplete/muxSignal'])
    const unused = machinesOf(machine).flatMap(([name, part]) =>
      Object.keys(part.implementations.actors as object).flatMap((actor) => {
        const path = `${name}/${actor}`.replace(/^lifecycle\//, '')
        return namesUsedBy(part).actors.has(actor) || spawned.has(path) ? [] : [path]
      }),
    )
    expect(unused).toEqual([])
  })

  test('is provided by the composition root: no placeholder is left', () => {
    const bare = new Map(machinesOf(machine))
    const placeholders: string[] = []
    for (const [name, part] of machinesOf(provideEffects(machine))) {
      const before = bare.get(name)?.implementations as { actors: Record<string, unknown>; actions: Record<string, unknown> }
      const after = part.implementations as typeof before
      for (const [actor, logic] of Object.entries(after.actors)) {
        const hasOwnActors = Object.keys((logic as Partial<AnyStateMachine>).implementations?.actors ?? { it: 'is one' }).length > 0
        if (hasOwnActors && before.actors[actor] === logic) placeholders.push(`${name}/${actor}`)
      }
      if ('record' in before.actions && before.actions['record'] === after.actions['record']) placeholders.push(`${name}: record`)
    }
    expect(placeholders).toEqual([])
  })
})

describe('a table that could not run is refused when it is composed', () => {
  const row = (over: Partial<PhaseRow>): PhaseRow => ({ lane: 'stop', after: ['StopRequested'], fires: 'Done', ...over })
  const composing = (wiring: Wiring) => () => composed({ wiring })

  test('a phase that waits for a signal that no phase fires', () => {
    expect(composing({ a: row({ after: ['Dnoe'] }) })).toThrow(
      expect.objectContaining({ code: 'ERR_UNKNOWN_REFERENCE', details: { phase: 'a', signal: 'Dnoe' } }),
    )
  })

  test.each([
    { unless: 'Servign' },
    { until: { refuse: 'Ended', 'retry-after': 'End' } },
    { abandonedAt: 'End' },
    { hears: { End: 'end' } },
  ])('the same in %o', (over) => {
    expect(composing({ a: row(over) })).toThrow(expect.objectContaining({ code: 'ERR_UNKNOWN_REFERENCE' }))
  })

  test('a phase that waits for a row of the other mode', () => {
    const wiring = { a: row({ when: 'retry-after', fires: 'A' }), b: row({ after: ['A'] }) }
    expect(composing(wiring)).toThrow(expect.objectContaining({ code: 'ERR_UNKNOWN_REFERENCE' }))
    expect(() => composed({ wiring, mode: 'retry-after' })).not.toThrow()
  })

  test('two phases that fire one signal', () => {
    expect(composing({ a: row({}), b: row({}) })).toThrow(
      expect.objectContaining({ code: 'ERR_DUPLICATE', details: { phase: 'b', fires: 'Done' } }),
    )
  })

  test.each(['Start', 'StopRequested', 'StartFailed', 'readyz.passed', 'Cut.hooks', 'Forced'])(
    'a phase that fires %s, which is the root’s',
    (fires) => {
      expect(composing({ a: row({ fires }) })).toThrow(expect.objectContaining({ code: 'ERR_DUPLICATE' }))
    },
  )

  test.each(['start', 'stop', 'second-signal', 'crash', 'budget', 'lifecycle'])('a phase called %s, which the root has already', (name) => {
    expect(composing({ [name]: row({}) })).toThrow(expect.objectContaining({ code: 'ERR_DUPLICATE' }))
  })

  test('phases that wait for each other, with the cycle', () => {
    const wiring = {
      a: row({ after: ['C'], fires: 'A' }),
      b: row({ after: ['A'], fires: 'B' }),
      c: row({ after: ['StopRequested', 'B'], fires: 'C' }),
    }
    expect(composing(wiring)).toThrow(expect.objectContaining({ code: 'ERR_CYCLE', message: expect.stringContaining('a -> c -> b -> a') }))
  })

  test('a phase that waits for nothing', () => {
    expect(composing({ a: row({ after: [] }) })).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
  })
})

describe('defineWiring', () => {
  test('refuses to compile what is misspelt', () => {
    const table = { a: { lane: 'stop', after: ['StopRequested'], fires: 'A' } } as const
    const spelt = defineWiring({ ...table, b: { lane: 'stop', after: ['A', 'StopRequested'], unless: 'A', fires: 'B' } })
    const misspelt = [
      // @ts-expect-error no row fires this
      () => defineWiring({ ...table, b: { lane: 'stop', after: ['Aa'], fires: 'B' } }),
      // @ts-expect-error nor this
      () => defineWiring({ ...table, b: { lane: 'stop', after: ['A'], unless: 'Aa', fires: 'B' } }),
      // @ts-expect-error nor, in one of the modes, this
      () => defineWiring({ ...table, b: { lane: 'stop', after: ['A'], until: { refuse: 'A', 'retry-after': 'Aa' }, fires: 'B' } }),
      // @ts-expect-error there is no such cut
      () => defineWiring({ ...table, b: { lane: 'stop', after: ['A'], cut: 'Cut.hoks', fires: 'B' } }),
      // @ts-expect-error there is no such lane
      () => defineWiring({ ...table, b: { lane: 'stpo', after: ['A'], fires: 'B' } }),
    ]
    // The compiler is the test (`npm run typecheck`); at run time the table is only passed through.
    expect([spelt.b.fires, misspelt.length]).toEqual(['B', 5])
  })
})

test('the table that is composed is the one that is exported', async () => {
  const life = await servingLife()
  await life.stop()
  await life.toEnd()
  const rows = Object.entries(WIRING as Wiring).filter(([, { when }]) => when !== 'retry-after')
  expect(new Set(Object.keys(life.outcomes))).toEqual(new Set(rows.map(([phase]) => phase)))
})
