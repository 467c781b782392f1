// Fails when: a user's own life cannot be checked in two lines, is checked without its hooks and
// phases, or a mistake of theirs is not shown.
import { describe, expect, test } from 'vitest'
import { createServer, type Life, type ServerOptions } from '#src/index.ts'
import {
  assertHolds,
  type CheckLifeOptions,
  checkLife,
  happening,
  inOrder,
  mayBeVacuous,
  type Property,
  planOf,
  printTrace,
} from '#src/testing/index.ts'

const nothing = (): void => {}

function makeServer(flushAfter: string, options: ServerOptions = {}): Life {
  const server = createServer(() => new Response('hello'), { platform: 'kubernetes', ...options })
  server.addPhase('flush-queue', nothing, { after: [flushAfter], timeout: '2s' })
  server.addPreShutdownHook('leave', nothing, { timeout: '1s' })
  server.addDestroy('pool', nothing)
  return server
}

const flushIsLast = inOrder(
  'queue/last',
  'the queue is flushed when no request can add to it',
  happening,
  ['RequestsDrained'],
  'flush-queue starts',
)

describe('a life of the user’s', () => {
  test('holds', () => {
    assertHolds(checkLife(makeServer('RequestsDrained'), { outside: ['stop'], properties: [flushIsLast] }))
  })

  test('does not: the trace leads to what is wrong', () => {
    const verdicts = checkLife(makeServer('NotAcceptingNewRequest'), { outside: ['stop'], properties: [flushIsLast] })
    const violated = verdicts.filter(({ holds }) => !holds)
    expect(violated.map(({ id }) => id)).toEqual(['queue/last'])
    expect(printTrace(violated[0]?.trace as never)).toContain('=> flush-queue starts is said before RequestsDrained')
    expect(() => assertHolds(verdicts)).toThrow(
      expect.objectContaining({
        code: 'ERR_MODEL_VIOLATED',
        message: expect.stringMatching(/^queue\/last does not hold: the queue is flushed.*0 start\n.*=> flush-queue starts/s) as string,
      }),
    )
  })

  test('is explored with what is registered, and in the other mode on request', () => {
    const server = makeServer('RequestsDrained', { whileDraining: 'retry-after' })
    server.addPostStartHook('warm', nothing)
    server.addMuxCompleteSignal('apis', new Promise(nothing))
    expect(planOf(server)).toMatchObject({
      mode: 'retry-after',
      postStartHooks: [{ name: 'warm' }],
      muxSignals: ['apis'],
      userPhases: [{ name: 'flush-queue', after: ['RequestsDrained'], before: ['destroy'], timeoutMs: 2_000 }],
      input: { preShutdownHooks: [{ name: 'leave', timeoutMs: 1_000 }], destroyFunctions: [{ name: 'pool' }] },
    })
    expect(planOf(server, 'refuse').mode).toBe('refuse')
  })

  describe('with a property about nothing', () => {
    const server = createServer(() => new Response('hello'), { platform: 'kubernetes' })
    server.addPhase('flush-queue', nothing, { after: ['RequestsDrained'] })
    server.addDestroy('pool', nothing)
    const verdictOf = (property: Property) =>
      checkLife(server, { outside: ['stop'], properties: [property] }).find(({ id }) => id === property.id)
    const order = (earlier: string, later: string) => inOrder('queue/last', 'the queue is flushed last', happening, [earlier], later)

    test.each([
      ['a phase', 'RequestsDrained', 'flush-queu starts', '"flush-queu starts" (did you mean "flush-queue starts"?)'],
      ['a signal', 'RequestsDraind', 'flush-queue starts', '"RequestsDraind" (did you mean "RequestsDrained"?)'],
      ['a hook', 'destroy pol ends', 'flush-queue starts', '"destroy pol ends" (did you mean "destroy pool ends"?)'],
    ])('%s that there is not is refused', (_, earlier, later, message) => {
      expect(() => verdictOf(order(earlier, later))).toThrow(
        expect.objectContaining({
          code: 'ERR_MODEL_UNKNOWN',
          message: expect.stringContaining(`queue/last: no action says ${message}`) as string,
        }),
      )
    })

    test('what no run comes to is vacuous, and does not hold unless that is meant', () => {
      // Without a start nothing serves.
      const serving = order('RequestsDrained', 'Serving')
      const vacuous = 'no run says "Serving"; no event starts the life, because `outside` has no "start"'
      expect(verdictOf(serving)).toMatchObject({ holds: false, vacuous })
      expect(verdictOf(mayBeVacuous(serving))).toMatchObject({ holds: true, vacuous })
    })
  })

  test.each([
    [{ outsid: ['stop'] }, 'outsid: unknown option (did you mean "outside"?)'],
    [{ outside: ['stpo'] }, 'outside: got ["stpo"], allowed: a list, '],
    [{ mode: 'retry' }, 'mode: got "retry", allowed: refuse, retry-after'],
    [{ properties: () => [] }, 'properties: got '],
    [{ statesMax: 0 }, 'statesMax: got 0'],
    [{ timed: 1 }, 'timed: got 1, allowed: true or false'],
  ])('options that say nothing are refused: %j', (options, message) => {
    expect(() => checkLife(makeServer('RequestsDrained'), options as CheckLifeOptions)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', message: expect.stringContaining(message) as string }),
    )
  })

  test.each([
    ['no life', {} as Life, 'ERR_OPTION_INVALID', 'life: got {}, allowed: what createServer(), attachLifecycle() or createLife() returned'],
    ['a phase that follows nothing', makeServer('AllIsQuiet'), 'ERR_UNKNOWN_REFERENCE', 'after names "AllIsQuiet"'],
  ])('%s is refused', (_, life, code, message) => {
    expect(() => checkLife(life)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) as string }))
  })
})
