// How a client of HTTP/2 asks. Fails when: the work of our own loop counts as a pause of a client;
// one long pause makes a quick client slow; or a client that had two things under way at a time
// counts as one that asks in turn.
import { expect, test } from 'vitest'
import { ClientPace } from '#src/http/h2/pace.ts'

function paced() {
  let idleMs = 0
  const pace = new ClientPace(() => idleMs)
  return {
    pace,
    /** One request and its answer, after a pause in which the loop waited for so long. */
    ask(pauseMs: number) {
      idleMs += pauseMs
      pace.asked(true)
      pace.answered()
    },
  }
}

test('nothing is known of a client that has not come back', () => {
  const { pace, ask } = paced()
  expect(pace).toMatchObject({ isInTurn: true, isQuick: false })
  ask(1)
  expect(pace.isQuick).toBe(false)
})

test('one that comes back at once is quick, whatever our loop did meanwhile', () => {
  const { pace, ask } = paced()
  ask(0)
  ask(0)
  expect(pace.isQuick).toBe(true)
})

test.each([
  [14, true],
  [15, false],
  [16, false],
])('one that pauses for %i ms is quick: %s', (pauseMs, isQuick) => {
  const { pace, ask } = paced()
  for (let count = 0; count < 20; count++) ask(pauseMs)
  expect(pace.isQuick).toBe(isQuick)
})

test('one long pause does not make it slow, and several do', () => {
  const { pace, ask } = paced()
  for (let count = 0; count < 5; count++) ask(1)
  ask(60_000)
  expect(pace.isQuick).toBe(true)
  ask(60_000)
  ask(60_000)
  expect(pace.isQuick).toBe(false)
})

test('one that had two things under way does not ask in turn, for good', () => {
  const { pace, ask } = paced()
  ask(1)
  ask(1)
  pace.asked(false)
  expect(pace).toMatchObject({ isInTurn: false, isQuick: false })
  ask(1)
  expect(pace).toMatchObject({ isInTurn: false, isQuick: false })
})
