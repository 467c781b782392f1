// The random lives fail when: a live life is ever in a state, or takes a step, that the model
// checker does not know, loses an accepted request, outlives its deadline, or ends with another
// exit code than what happened deserves.
//
// Tried with faults that were planted, found and taken out again:
//   in-flight.ts, count() counts nothing, so that no drain waits: "unanswered", the 20th life
//   client-notification.ts tells on the earlier of two pipelined responses: "unanswered", the 95th
//   connections.ts takes a half-sent request for an idle connection: "half a request is waited
//     for", the 9th
//   lifecycle.ts composes the machine without the user's phases: "every state and step is one of
//     the checker", the 1st
//
// A failure prints how to live that life again. `npm run test:lives` lives more of them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seed } from '../support/seed.ts'
import { type Sequence, sequence } from './commands.ts'
import { Driver } from './driver.ts'
import { wrongs } from './invariants.ts'

/** One file each, so that each has a core of its own. */
const PARTS = 4
const RUNS = Number(process.env['LIFE_RUNS'] ?? 200)
/** Of a failure, as it was printed: only that life is lived again. */
const path = process.env['LIFE_PATH']

async function live({ setting, commands }: Sequence): Promise<void> {
  const driver = new Driver(setting)
  await driver.run({ commands })
  const wrong = wrongs(driver)
  if (wrong !== '') throw new Error(wrong)
}

/** The lives of one part, which has a seed of its own. */
export function randomLives(part: 1 | 2 | 3 | 4): void {
  const runs = Math.ceil(RUNS / PARTS)
  test(`${runs} random lives`, { timeout: 0 }, async () => {
    const result = await fc.check(fc.asyncProperty(sequence, live), {
      seed: (seed + part) | 0,
      numRuns: runs,
      ...(path !== undefined && { path, endOnFailure: true }),
    })
    if (!result.failed) return
    const again = `SEED=${seed} LIFE_PATH=${result.counterexamplePath} npx vitest run test/random/lives-${part}`
    expect.fail(`${String(result.errorInstance)}\n\n${await fc.asyncDefaultReportMessage(result)}\n\nThe same life again: ${again}`)
  })
}
