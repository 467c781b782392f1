// Children that are alike end in one order: fewer states, and whatever happens in any order still
// does under other names.
// Fails when: a property that is violated without the option holds with it, or states that differ by
// more than names are left out.

import { describe, expect, test } from 'vitest'
import { fromPromise, setup } from 'xstate'
import { alongEdges, check, type ExploreOptions, endReachable, explore, ModelError, rejects, resolves } from '../src/index.ts'

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
    ['an id that no child has', [['a', 'bb']], 'ERR_MODEL_UNKNOWN', 'alike: no child has the id "bb" (did you mean "b"?)'],
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
})
