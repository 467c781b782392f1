// The machine of a store, in every order of what its engine says and its users want. Fails when: it
// can hang, is opened unasked or again for nothing, says another thing than its engine, is left
// open at its end, or comes back behind that.
import { expect, test } from 'vitest'
import { storeMachine } from '#apiserver/store/store-machine.ts'
import { assertHolds, check, explore, untaken } from '#model'
import { STORE } from '../../scripts/mutation/beside-checks.mjs'

const exploration = explore(storeMachine, STORE.options)

test('a store opens, says how it is and closes in order, whatever happens when', () => {
  assertHolds(check(exploration, STORE.properties))
})

test('it takes every way that it has', () => {
  expect(untaken(exploration)).toEqual([])
})
