// The same meal with one rule more: the fork of the lower number first. Then one of them can always go on.
import { always } from '@quiesce/model'
import { tableOf } from './philosophers.mjs'

export default tableOf([
  { first: 0, second: 1 },
  { first: 1, second: 2 },
  { first: 0, second: 2 },
])

export const properties = [
  always('forks/two', 'neighbours never eat at the same time', (root) => {
    const eating = root.children.filter((seat) => seat.matches('eating'))
    return eating.length <= 1 || `${eating.map(({ id }) => id).join(' and ')} eat`
  }),
]
