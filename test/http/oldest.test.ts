import fc from 'fast-check'
import { expect, test } from 'vitest'
import { oldest } from '#src/http/traffic/oldest.ts'

test('are those that a sort would put first, in its order, ties in the order they came', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), fc.nat(8), (times, max) => {
      const items = times.map((at, index) => ({ at, index }))
      expect(oldest(items, max, ({ at }) => at)).toEqual(items.toSorted((a, b) => a.at - b.at).slice(0, max))
    }),
  )
})
