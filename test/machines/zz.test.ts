import { expect, test } from 'vitest'
import { composed } from '../support/fake-effects.ts'
import * as walk from '../support/machine-walk.ts'
test('x', () => {
  const m = composed({postStartHooks: ['p', 'q'], muxSignals: ['a']})
  for (const [k, r] of walk.phaseRegions(m)) console.log(k, JSON.stringify(walk.regionRow(r)))
  console.log([...walk.raisesOf(m)].join(' '))
  console.log([...walk.listensTo(m)].join(' '))
  for (const [n, mm] of walk.machinesOf(m)) console.log(n, walk.namesUsedBy(mm))
})
