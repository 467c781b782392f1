// Fails when: a bound in time is broken on some run and not found, or found where there is none.
import { describe, expect, test } from 'vitest'
import { fromPromise, raise, setup } from 'xstate'
import { isDone, within } from '../src/index.ts'
import { events, explored, labels, verdict } from './machines.ts'

const work = fromPromise(() => Promise.resolve())

const endsIn = (atMostMs: number, prompt: readonly string[] = []) =>
  within('x', 'ends in time', { from: (root) => !root.matches('idle'), until: isDone, atMostMs, prompt })

describe('a bound in time', () => {
  /**
   * Two delays, the second from whenever the work answers in the first: 100 ms and up to 100 ms and
   * 40 ms.
   */
  const chained = setup({ actors: { work } }).createMachine({
    id: 'chained',
    initial: 'idle',
    states: {
      idle: { on: { go: 'first' } },
      first: { invoke: { id: 'work', src: 'work', onDone: 'second', onError: 'second' }, after: { 100: 'second' } },
      second: { after: { 40: 'over' } },
      over: { type: 'final' },
    },
  })

  test('is exact: the longest run is allowed, a hundredth of a millisecond less is not', () => {
    const exploration = explored(chained, { events: events('go') })
    expect(verdict(exploration, endsIn(140)).holds).toBe(true)
    const late = verdict(exploration, endsIn(139.99))
    expect(late.trace?.finding).toBe('the system may still be in this state 140 ms after the clock started; 139.99 ms are allowed')
    expect(labels(late)).toEqual(['start', 'go', 'after 100.chained.first'])
  })

  test('begins with the system, where that begins in such a state', () => {
    const twice = setup({}).createMachine({
      id: 'twice',
      initial: 'slow',
      states: { slow: { after: { 5000: 'idle' } }, idle: { on: { go: 'quick' } }, quick: { after: { 1000: 'idle' } } },
    })
    const exploration = explored(twice, { events: events('go') })
    const bound = (atMostMs: number) =>
      within('x', 'loads in time', { from: (root) => !root.matches('idle'), until: (root) => root.matches('idle'), atMostMs })
    const late = verdict(exploration, bound(1000))
    expect([labels(late), late.trace?.finding]).toEqual([
      ['start'],
      'the system may still be in this state 5000 ms after the clock started; 1000 ms are allowed',
    ])
    expect(verdict(exploration, bound(5000)).holds).toBe(true)
    const whole = (atMostMs: number) => within('x', 'is over', { from: () => true, until: isDone, atMostMs })
    const ending = setup({}).createMachine({ initial: 'a', states: { a: { after: { 7: 'b' } }, b: { type: 'final' } } })
    expect([verdict(explored(ending), whole(7)).holds, verdict(explored(ending), whole(6)).holds]).toEqual([true, false])
  })

  test('counts on no answer, unless it is prompt', () => {
    const hanging = setup({ actors: { work } }).createMachine({
      id: 'hanging',
      initial: 'idle',
      states: {
        idle: { on: { go: 'busy' } },
        busy: { invoke: { id: 'work', src: 'work', onDone: 'over', onError: 'over' } },
        over: { type: 'final' },
      },
    })
    const exploration = explored(hanging, { events: events('go') })
    expect(verdict(exploration, endsIn(1e9)).trace?.finding).toMatch('the system may still be in this state any time after')
    expect(verdict(exploration, endsIn(0, ['work'])).holds).toBe(true)
  })

  test('lets timers be due in the order of their times only', () => {
    const racing = setup({}).createMachine({
      id: 'racing',
      initial: 'idle',
      states: {
        idle: { on: { go: 'both' } },
        both: {
          type: 'parallel',
          onDone: 'over',
          states: {
            short: { initial: 'wait', states: { wait: { after: { 10: 'done' } }, done: { type: 'final' } } },
            long: { initial: 'wait', states: { wait: { after: { 20: 'done' } }, done: { type: 'final' } } },
          },
        },
        over: { type: 'final' },
      },
    })
    const exploration = explored(racing, { events: events('go') })
    expect(verdict(exploration, endsIn(20)).holds).toBe(true)
    const neverAfterLong = within('x', 'short before long', {
      from: (root) => root.matches('both'),
      until: (root) => root.matches({ both: { short: 'done' } }) || isDone(root),
      atMostMs: 10,
    })
    expect(verdict(exploration, neverAfterLong).holds).toBe(true)
  })

  test('knows a timer that goes on from one that was set anew', () => {
    const again = (reenter: boolean) =>
      setup({}).createMachine({
        id: 'again',
        initial: 'idle',
        states: {
          idle: { on: { go: 'wait' } },
          wait: { on: { poke: { target: 'wait', reenter }, note: {} }, after: { 10: 'over' } },
          over: { type: 'final' },
        },
      })
    expect(verdict(explored(again(false), { events: events('go', 'poke', 'note') }), endsIn(10)).holds).toBe(true)
    const postponed = verdict(explored(again(true), { events: events('go', 'poke', 'note') }), endsIn(100))
    expect(postponed.holds).toBe(false)
    expect(labels(postponed).filter((label) => label === 'poke')).toHaveLength(10)
  })

  test('of what was pending before the clock started, nothing is known but that it is not overdue', () => {
    const older = setup({}).createMachine({
      id: 'older',
      initial: 'idle',
      entry: raise({ type: 'old' }, { delay: 50, id: 'old' }),
      states: { idle: { on: { go: 'wait', old: 'over' } }, wait: { on: { old: 'over' } }, over: { type: 'final' } },
    })
    const exploration = explored(older, { events: events('go') })
    expect(verdict(exploration, endsIn(50)).holds).toBe(true)
    expect(verdict(exploration, endsIn(49)).holds).toBe(false)
  })
})
