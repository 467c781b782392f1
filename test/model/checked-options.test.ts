// Fails when: a function of the checker of lives takes options with a field that nothing reads, or
// a new one is added of which that is not known.
import { describe, expect, test } from 'vitest'
import * as checker from '#model'
import { createServer } from '#src/index.ts'
import * as model from '#src/model/index.ts'

const life = () => createServer(() => new Response(''), { logger: false })

/** Every function that takes names or options, called with one that there is not. */
const REFUSES: Readonly<Record<string, readonly [call: () => unknown, message: string]>> = {
  checkLife: [() => model.checkLife(life(), { outsdie: [] } as object), 'outsdie: unknown option (did you mean "outside"?)'],
  exploreLifecycle: [
    () => model.exploreLifecycle(model.planOf(life()), { statesmax: 1 } as object),
    'statesmax: unknown option (did you mean "statesMax"?)',
  ],
  planOf: [() => model.planOf(life(), 'refues' as 'refuse'), 'mode: got "refues", allowed: refuse, retry-after (did you mean "refuse"?)'],
  reserveOf: [() => model.reserveOf('destory' as 'destroy'), 'phase: got "destory"'],
}

/** What takes a plan, a number, an effect or a trace. */
const TAKES_NONE = ['edgesOf', 'endsWithin', 'factOf', 'happening', 'inWordsOfLife', 'invariantsOf', 'signalOf', 'timedProperties']

describe('a name that there is not', () => {
  test.each(Object.entries(REFUSES))('is refused by %s', (_, [call, message]) => {
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', message: expect.stringContaining(message) as string }))
  })

  test('is refused by every function that is not one of @quiesce/model', () => {
    const own = Object.entries(model).flatMap(([name, given]) => (typeof given === 'function' && !(name in checker) ? [name] : []))
    expect(own.sort()).toEqual([...Object.keys(REFUSES), ...TAKES_NONE].sort())
  })
})
