// Fails when: exchanges do not stand in the order in which they were added, whichever of them have
// left meanwhile, or one that has left still refers to others.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ExchangeList } from '#src/http/traffic/exchange-list.ts'

interface Item {
  readonly name: number
  older: Item | undefined
  newer: Item | undefined
}

/** Adds one more, or takes out one of those that are there, by its place. */
const step = fc.oneof(fc.constant('add' as const), fc.nat(7))

test('is what an array would be, after every addition and removal', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const list = new ExchangeList<Item>()
      const expected: Item[] = []
      for (const [name, what] of steps.entries()) {
        if (what === 'add') {
          const item: Item = { name, older: undefined, newer: undefined }
          expect(list.has(item)).toBe(false)
          list.add(item)
          expected.push(item)
        } else if (expected.length > 0) {
          const [item] = expected.splice(what % expected.length, 1) as [Item]
          list.remove(item)
          expect(list.has(item)).toBe(false)
          expect([item.older, item.newer]).toEqual([undefined, undefined])
          list.remove(item)
        }
        expect([...list].map((item) => item.name)).toEqual(expected.map((item) => item.name))
        expect(list.oldest).toBe(expected[0])
        expect(list.newest).toBe(expected.at(-1))
        for (const item of expected) expect(list.has(item)).toBe(true)
      }
    }),
  )
})
