// Fails when: a life asks other regions for a transition than xstate would hear something from, or
// in another order.
import { describe, expect, test } from 'vitest'
import { type AnyMachineSnapshot, createMachine, initialTransition, StateMachine, transition } from 'xstate'
import { askingConcerned } from '#src/machines/hearing.ts'
import type { Mode } from '#src/machines/wiring.ts'
import { composed, PROFILES } from '../support/fake-effects.ts'
import { generator } from '../support/random.mjs'
import { seed } from '../support/seed.ts'

const WALKS = 12
const STEPS_MAX = 60
const INPUT = { profiles: PROFILES, tell: 'at-once', connectionTimeoutMs: 1_000, preShutdownHooks: [], destroyFunctions: [] } as const
/** What events carry, all of it on each. */
const DATA = {
  reason: { kind: 'stop', reason: 'test' },
  error: { name: 'Error', message: 'test' },
  hooks: [],
  functions: [],
  profiles: PROFILES,
  phase: 'bind',
  hook: 'informers',
  signal: 'SIGTERM',
  origin: 'uncaughtException',
  interactive: false,
}

/** As xstate selects, without what is ours. */
const plain = (machine: object, snapshot: AnyMachineSnapshot, event: object): unknown[] =>
  StateMachine.prototype.getTransitionData.call(machine as never, snapshot as never, event as never)

describe('a life', () => {
  test.each<Mode>(['refuse', 'retry-after'])('takes the transitions that xstate would select, wherever it stands (%s)', (mode) => {
    const phases = [{ name: 'flush', after: ['InFlightRequestsDrained'], before: ['destroy'], timeoutMs: 1_000 }]
    const machine = composed({ mode, postStartHooks: ['informers', 'cache'], muxSignals: ['apis'], userPhases: phases })
    const types = [...machine.events, 'nothing']
    expect(types.length).toBeGreaterThan(50)
    const random = generator(seed)
    let selected = 0
    for (let walk = 0; walk < WALKS; walk++) {
      let [snapshot]: [AnyMachineSnapshot, unknown] = initialTransition(machine, INPUT)
      for (let step = 0; step < STEPS_MAX && snapshot.status === 'active'; step++) {
        const heard: object[] = []
        for (const type of types) {
          const event = { ...DATA, type, output: { outcome: random() < 0.9 ? 'ok' : 'failed' } }
          const taken = machine.getTransitionData(snapshot as never, event as never)
          const wanted = plain(machine, snapshot, event)
          if (taken.length !== wanted.length || taken.some((one, index) => one !== wanted[index])) expect.fail(`${type} at step ${step}`)
          selected += taken.length
          // What ends all at once would be all that most walks see.
          if (taken.length > 0 && !/^(StopNow|SecondSignal|SecondCrash|Forced|Ended)$/.test(type)) heard.push(event)
        }
        const event = heard[Math.floor(random() * heard.length)]
        if (!event) break
        ;[snapshot] = transition(machine, snapshot as never, event as never) as [AnyMachineSnapshot, unknown]
      }
    }
    expect(selected).toBeGreaterThan(1_000)
  })

  test('asks those that know the event only', () => {
    const machine = composed()
    const [snapshot] = initialTransition(machine, INPUT)
    const asked: string[] = []
    for (const [key, node] of Object.entries(machine.root.states['running']?.states ?? {})) {
      // xstate has it, and does not say so in its types.
      const region = node as unknown as { next: (...given: unknown[]) => unknown }
      const next = region.next.bind(region)
      region.next = (...given) => {
        asked.push(key)
        return next(...given)
      }
    }
    machine.getTransitionData(snapshot, { type: 'Bound' })
    expect(asked).toEqual([])
    plain(machine, snapshot, { type: 'Bound' })
    expect(asked.length).toBeGreaterThan(20)
  })
})

describe('a machine', () => {
  const config = {
    initial: 'all',
    states: {
      all: {
        type: 'parallel',
        states: {
          named: { on: { a: {}, 'x.y': { actions: 'act' } } },
          partly: { initial: 'in', states: { in: { on: { 'x.*': { actions: 'act' } } } } },
          any: { on: { '*': { actions: 'act' } } },
          other: { on: { b: '#end' } },
        },
        on: { a: { actions: 'act' }, c: { actions: 'act' } },
      },
      end: { id: 'end', on: { a: 'all' } },
    },
  } as const

  test.each(['a', 'b', 'c', 'x.y', 'x.z', 'nothing'])('with patterns, and after provide(), hears what it would have heard: %s', (type) => {
    const machine = askingConcerned(createMachine(config), 'all')
    for (const each of [machine, machine.provide({ actions: { act: () => {} } })]) {
      const [snapshot] = initialTransition(each)
      expect(each.getTransitionData(snapshot, { type })).toEqual(plain(each, snapshot, { type }))
      const [elsewhere] = transition(each, snapshot, { type: 'b' })
      expect(each.getTransitionData(elsewhere, { type })).toEqual(plain(each, elsewhere, { type }))
    }
  })
})
