// Fails when: a life that waits for its owner's listen(), or whose destroy functions come in
// another order, is checked for what it does not promise, or a machine that does otherwise passes.
import { createServer as createNodeServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { attachLifecycle, createServer, type Life } from '#src/index.ts'
import { assertHolds, check, checkLife, exploreLifecycle, invariantsOf, planOf } from '#src/testing/index.ts'

const nothing = (): void => {}

test('a life holds with a server whose owner has still to call listen(), for which no bound is kept', () => {
  const { mode, awaitsListen, ...rest } = planOf(attachLifecycle(createNodeServer(), { logger: false }))
  expect(awaitsListen).toBe(true)
  const plan = { ...rest, mode, awaitsListen: true }
  const exploration = exploreLifecycle(plan, { outside: ['start', 'stop'] })
  assertHolds(check(exploration, invariantsOf(plan)))
  const violated = check(exploration, invariantsOf({ ...rest, mode })).filter(({ holds }) => !holds)
  expect(violated.map(({ id }) => id)).toContain('start/bounded')
})

describe('whose destroy functions come after others', () => {
  const ordered = (destroyOrder: 'registration' | 'reverse', after?: readonly string[]): Life => {
    const server = createServer({ listener: nothing }, { destroyOrder, logger: false })
    server.addDestroy('pool', nothing, { after })
    server.addDestroy('queue', nothing)
    server.addDestroy('metrics', nothing)
    return server
  }

  test.each(['registration', 'reverse'] as const)('holds in %s, and when the program says now', (order) => {
    assertHolds(checkLife(ordered(order, ['queue']), { outside: ['start', 'stop', 'stop-now'] }))
  })

  test.each([
    ['heeds no after', ordered('registration'), ordered('registration', ['queue'])],
    ['does not reverse', ordered('registration'), ordered('reverse')],
  ])('does not, of a machine that %s', (_, made, meant) => {
    const verdicts = check(exploreLifecycle(planOf(made), { outside: ['start', 'stop'] }), invariantsOf(planOf(meant)))
    expect(verdicts.filter(({ holds }) => !holds).map(({ id }) => id)).toEqual(['brackets/destroy'])
  })
})
