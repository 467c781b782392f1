// Fails when: an invariant does not hold for a life of either mode, or a seeded bug goes unnoticed.
// Lives with more in them: larger-lives.test.ts.
import { describe, expect, test } from 'vitest'
import { WIRING } from '#src/machines/wiring.ts'
import { violated } from './violated.ts'

const rows = (changed: Partial<Record<keyof typeof WIRING, object>>) =>
  Object.fromEntries(Object.entries(WIRING).map(([phase, row]) => [phase, { ...row, ...changed[phase as keyof typeof WIRING] }])) as never

describe.each(['refuse', 'retry-after'] as const)('%s mode', (mode) => {
  test('every invariant holds when any effect may answer, fail or never answer at any time', () => {
    expect(violated({ mode })).toEqual({})
  })
})

test('also of a life with mux-complete signals', () => {
  expect(violated({ mode: 'refuse', muxSignals: ['apis', 'crds'], outside: ['stop'] })).toEqual({})
})

describe('a wiring with a seeded bug', () => {
  test('a join that does not wait for the watches', () => {
    const found = violated({ mode: 'refuse', wiring: rows({ 'in-flight-drained': { after: ['RequestsDrained'] } }), outside: ['stop'] })
    // The end of the life takes the watch drain with it, without a word.
    expect(Object.keys(found)).toEqual(
      expect.arrayContaining(['order/InFlightRequestsDrained', 'signals/complete', 'brackets/phases', 'brackets/every-phase']),
    )
    expect(found['order/InFlightRequestsDrained']).toMatch(/=> InFlightRequestsDrained is said before WatchesDrained\n$/)
  })

  test('a listener that closes during the drain in retry-after mode', () => {
    const found = violated({
      mode: 'retry-after',
      wiring: rows({ 'close-listener-after-drain': { after: ['NotAcceptingNewRequest'] } }),
      outside: ['stop'],
    })
    expect(Object.keys(found)).toContain('order/HTTPServerStoppedListening')
  })
})
