// Children that are alike end in one order: fewer states, and whatever happens in any order still
// does under other names.
// Fails when: a property that is violated without the option holds with it, states that differ by
// more than names are left out, or what cannot be ordered is taken.

import { describe, expect, test } from 'vitest'
import { createMachine, fromCallback, fromPromise, setup } from 'xstate'
import { alongEdges, check, type ExploreOptions, endReachable, explore, ModelError, promela, rejects, resolves } from '../src/index.ts'

const IDS = ['a', 'b', 'c']
const work = fromPromise(() => Promise.resolve())
const worker = (id: string) => ({
  initial: 'busy',
  states: {
    busy: { invoke: { id, src: 'work' as const, onDone: 'done', onError: 'failed' } },
    done: { type: 'final' as const },
    failed: { type: 'final' as const },
  },
})
const team = setup({ actors: { work } }).createMachine({
  id: 'team',
  type: 'parallel',
  states: Object.fromEntries(IDS.map((id) => [id, worker(id)])),
})
const children = { work: { outcomes: [resolves(), rejects()] } }
const countOf = (options: ExploreOptions) => explore(team, { children, ...options }).graph.stateCount

/** In the eyes of one of them: it fails when others have, and others still run. */
const failsAmongOthers = alongEdges('one-fails', 'none fails after another, while a third one is busy', (before, after) => {
  const values = (root: typeof before) => Object.values(root.value as Record<string, string>)
  const failed = (root: typeof before) => values(root).filter((value) => value === 'failed').length
  return !(failed(before) === 1 && failed(after) === 2 && values(after).includes('busy'))
})

describe('children that are alike', () => {
  test('end in their order', () => {
    // Each is busy, done or failed; in one order the first so many have ended.
    expect(countOf({})).toBe(3 ** 3)
    expect(countOf({ alike: [IDS] })).toBe(1 + 2 + 4 + 8)
    expect(countOf({ alike: [['c', 'a']] })).toBe((1 + 2 + 4) * 3)
    expect(countOf({ alike: [] })).toBe(3 ** 3)
  })

  test('do what they do in any order', () => {
    for (const alike of [[], [IDS], [['b', 'c', 'a']]]) {
      const [wrong, end] = check(explore(team, { children, alike }), [failsAmongOthers, endReachable('end', 'it ends')])
      expect(wrong).toMatchObject({ holds: false })
      expect(end).toMatchObject({ holds: true })
    }
  })

  test.each([
    ['no list', 'a', 'ERR_MODEL_OPTION', 'alike: got "a", allowed: a list of lists of ids'],
    ['a list of ids', ['a'], 'ERR_MODEL_OPTION', 'alike: got ["a"], allowed: a list of lists of ids'],
    ['an id that no child has', [['a', 'bb']], 'ERR_MODEL_UNKNOWN', 'alike: no child of the root has the id "bb" (did you mean "b"?)'],
    ['an id twice', [['a', 'b', 'a']], 'ERR_MODEL_OPTION', 'alike: "a" is named twice, allowed: each id in one list, once'],
    [
      'an id in two lists',
      [
        ['a', 'b'],
        ['c', 'b'],
      ],
      'ERR_MODEL_OPTION',
      'alike: "b" is named twice',
    ],
  ])('are refused: %s', (_, alike, code, message) => {
    let thrown: unknown
    try {
      explore(team, { children, alike } as object)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(ModelError)
    expect(thrown).toMatchObject({ code, message: expect.stringContaining(message) })
  })

  /** A group of machines with those states, as the root or as a child of it. */
  function groupOf(states: object, isNested: boolean) {
    const member = createMachine({ id: 'member', initial: 'busy', states: { busy: {}, ...states, done: { type: 'final' } } })
    const group = setup({ actors: { member } }).createMachine({
      id: 'group',
      type: 'parallel',
      states: Object.fromEntries(
        IDS.map((id) => [id, { initial: 'on', states: { on: { invoke: { id, src: 'member', onDone: 'off' } }, off: {} } }]),
      ),
    })
    return isNested ? setup({ actors: { group } }).createMachine({ id: 'root', invoke: { id: 'group', src: 'group' } }) : group
  }

  test.each([
    ['below the root', false, IDS],
    ['deeper', true, IDS.map((id) => `group/${id}`)],
  ])('may be machines that end with the first thing that happens in them, %s', (_, isNested, paths) => {
    const ends = groupOf({ busy: { after: { 10: 'done', 20: 'done' } } }, isNested)
    expect(explore(ends).graph.stateCount).toBe(2 ** 3)
    const { graph } = explore(ends, { alike: [paths] })
    expect(graph.stateCount).toBe(1 + 3)
    expect([...graph.edgesOf(0)].map(({ choice }) => choice.path.text)).toEqual([paths[0], paths[0]])
    const goesOn = groupOf({ busy: { after: { 10: 'last' } }, last: { after: { 10: 'done' } } }, isNested)
    expect(() => explore(goesOn, { alike: [paths] })).toThrow(
      `alike: "${paths[0]}" goes on after "${paths[0]} after 10.member.busy", allowed: children that end with the first thing that happens in them`,
    )
  })

  test('are refused by a path that no child has, unless nothing has started what is above it', () => {
    const busy = groupOf({ busy: { after: { 10: 'done' } } }, true)
    expect(() => explore(busy, { alike: [['group/a', 'group/bb']] })).toThrow(
      'alike: no child has the path "group/bb" (did you mean "group/b"?)',
    )
    expect(() => explore(busy, { alike: [['groups/a']] })).toThrow('alike: no child has the path "groups/a" (did you mean "group/a"?)')
    // With a slip like that there are more states than with the option.
    expect(() => explore(busy, { alike: [['groups/a', 'groups/b']], statesMax: 4 })).toThrow('alike: no child has the path "groups/a"')
    // What has run has no such child.
    expect(() => explore(team, { children, alike: [['a/x', 'a/y']] })).toThrow('alike: no child has the path "a/x"')
    expect(() => explore(busy, { alike: [['group/a/x']] })).toThrow('alike: no child has the path "group/a/x"')
    const never = setup({ actors: { work } }).createMachine({
      id: 'never',
      initial: 'idle',
      states: { idle: {}, on: { invoke: { id: 'group', src: 'work' } } },
    })
    expect(explore(never, { alike: [['group/a']] }).graph.stateCount).toBe(1)
  })

  test('go on sending while they wait', () => {
    const feed = fromCallback<{ type: 'news' }>(() => {})
    const machine = setup({ actors: { feed } }).createMachine({
      id: 'feeds',
      type: 'parallel',
      states: { a: { invoke: { id: 'a', src: 'feed' } }, b: { invoke: { id: 'b', src: 'feed' } } },
      on: { news: { actions: () => {} } },
    })
    const sent = explore(machine, { children: { feed: { sends: [{ type: 'news' }] } }, alike: [['a', 'b']] })
    expect([...sent.graph.edgesOf(0)].map(({ choice }) => choice.label)).toEqual(['a sends news', 'b sends news'])
  })

  test('are refused by promela(), because spin explores every order', () => {
    expect(() => promela(explore(team, { children, alike: [IDS] }))).toThrow(
      'promela: `alike` leaves out orders that spin would take; explore without it',
    )
  })
})
