// Eight hundred event streams on real sockets, and four hundred watches of mixed kinds over each
// protocol, ended by SIGTERM; judged by what their clients got. `npm run bench:watches` does it
// with more. Fails when: the last watches are told when hardly any of the grace is left, all of
// them are told at once, or none is.
import { expect, test } from 'vitest'
import { endsPer, runMixed } from './mixed.mjs'
import { peakPer100Ms, runCrowd } from './watch-crowd.mjs'

const COUNT = 800
/**
 * So many in so short a time are told faster than at the least rate. The last is told with half of
 * it left, and needs a tenth.
 */
const GRACE_MS = 4_000
const NEED_MS = GRACE_MS / 10

test(`of ${COUNT} watches that need a tenth of their grace, none is broken off, and they leave one after the other`, async () => {
  const run = await runCrowd({ count: COUNT, graceMs: GRACE_MS, needMs: NEED_MS })
  expect(run).toMatchObject({ whole: COUNT, brokenOff: 0, exitCode: 0 })
  expect(run.report).toMatchObject({
    exitCode: 0,
    requests: { before: 0, after: 0 },
    watches: { before: COUNT, after: 0, cut: [] },
    connections: { forced: 0 },
  })
  // At 400 per second; on a machine that does not let them run for a while several turns come
  // together.
  expect(peakPer100Ms(run.endedAt)).toBeLessThan(COUNT / 2)
})

test('of 400 watches of mixed kinds, all end in the way of their kind, and one after the other', async () => {
  const { ends, report } = await runMixed({ count: 400, graceMs: GRACE_MS })
  const counts: Record<string, number> = {}
  for (const { kind, how } of ends) counts[`${kind} ${how}`] = (counts[`${kind} ${how}`] ?? 0) + 1
  expect(counts).toEqual({ 'events whole': 100, 'chunks whole': 100, 'ws 1001': 100, 'frames 1001': 100 })
  expect(report).toMatchObject({
    exitCode: 0,
    watches: { before: 400, after: 0 },
    connections: { forced: 0, upgraded: { 'WebSocket closed 1001': 200 } },
  })
  // At 200 per second.
  expect(Math.max(...endsPer(ends))).toBeLessThan(200)
})

test('of 400 watches as streams of four connections of HTTP/2, all end whole, and one after the other', async () => {
  const { ends, report } = await runMixed({ count: 400, graceMs: GRACE_MS, protocol: 'HTTP/2' })
  const wholeOf = (kind: string) => ends.filter((end) => end.kind === kind && end.how === 'whole').length
  expect({ events: wholeOf('events'), chunks: wholeOf('chunks'), all: ends.length }).toEqual({ events: 200, chunks: 200, all: 400 })
  expect(report).toMatchObject({ exitCode: 0, watches: { before: 400, after: 0 }, connections: { notified: 4, forced: 0 } })
  // At 200 per second.
  expect(Math.max(...endsPer(ends))).toBeLessThan(200)
})
