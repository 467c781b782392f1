// What is in flight, told, refused and ended, after every step of random interleavings, against a
// model of a few lines: on the real gates and wires, with clients byte by byte. Fails when: a
// request is counted twice, too long or not at all; a connection is told, or called told, when it
// is not; one stays open that should close, or closes with something on it; or a fate is wrong.
//
// A failure prints its actions, shrunk; SEED repeats it.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seed } from '../support/seed.ts'
import type { Action } from './model.ts'
import { KINDS, type Kind, World } from './world.ts'

const RUNS = Number(process.env['ACCOUNTING_RUNS'] ?? 60)

const on = fc.nat({ max: 3 })
const of = (weight: number, arbitrary: fc.Arbitrary<Action>) => ({ weight, arbitrary })

const actionsOf = (kind: Kind): fc.Arbitrary<Action[]> =>
  fc.array(
    fc.oneof(
      of(3, fc.constant({ do: 'open' })),
      of(6, fc.record({ do: fc.constant('arrive'), on, as: fc.constantFrom('request', 'watch') })),
      of(6, fc.record({ do: fc.constant('answer'), on, which: on })),
      // What half of a frame is, is node's own business; test/conformance has it.
      ...(kind === 'HTTP/2' ? [] : [of(2, fc.record({ do: fc.constantFrom('half', 'rest'), on }))]),
      of(2, fc.record({ do: fc.constant('leave'), on, how: fc.constantFrom('end', 'reset') })),
      of(3, fc.constant({ do: 'next' })),
      of(1, fc.constant({ do: 'advance' })),
      ...(kind === 'upgraded' ? [of(6, fc.record({ do: fc.constantFrom('upgrade', 'reply'), on }))] : []),
    ),
    { size: 'max', minLength: 5, maxLength: 40 },
  )

/** What random runs have found once, and find too seldom. */
const FOUND: Readonly<Record<Kind, readonly (readonly Action[])[]>> = {
  'HTTP/1.1': [],
  'HTTP/2': [
    // Told by its last answer, and gone: node had stopped reading, and did not hear of it.
    [
      { do: 'next' },
      { do: 'next' },
      { do: 'open' },
      { do: 'arrive', on: 0, as: 'request' },
      { do: 'answer', on: 0, which: 0 },
      { do: 'leave', on: 0, how: 'end' },
    ],
  ],
  upgraded: [],
}

test.each(KINDS)(`${RUNS} interleavings on connections of %s`, { timeout: 0 }, async (kind) => {
  // A busy machine may be slow; once it has failed, shorter sequences are looked for quickly.
  let patienceMs = 5_000
  const holds = fc.asyncProperty(actionsOf(kind), async (actions) => {
    try {
      await new World(kind, patienceMs).run(actions)
    } catch (error) {
      patienceMs = 300
      throw error
    }
  })
  const examples = FOUND[kind].map((actions): [Action[]] => [[...actions]])
  const result = await fc.check(holds, { seed, numRuns: RUNS, examples })
  if (result.failed) expect.fail(`SEED=${seed}: ${String(result.errorInstance)}\n${JSON.stringify(result.counterexample?.[0])}`)
})
