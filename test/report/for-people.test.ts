// For whom standard output is written. Fails when: a program in a pipe or in a CI gets lines for
// people, a person at a terminal does not, or a terminal gets what it cannot show.
import { describe, expect, test } from 'vitest'
import { canRedraw, isForPeople, takesColor } from '#src/platforms/terminal.ts'

const TERMINAL = { isTTY: true }
const PIPE = {}

describe('standard output is for people', () => {
  test.each([
    ['a terminal', TERMINAL, {}, true],
    ['a terminal that cannot redraw', TERMINAL, { TERM: 'dumb' }, true],
    ['a terminal of a CI', TERMINAL, { CI: 'true' }, false],
    ['a terminal of a CI with a name', TERMINAL, { CI: 'woodpecker' }, false],
    ['a terminal, and no CI', TERMINAL, { CI: 'false' }, true],
    ['a terminal, and an empty CI', TERMINAL, { CI: '' }, true],
    ['a pipe', PIPE, {}, false],
  ])('on %s', (_, stdout, env, expected) => {
    expect(isForPeople('auto', { stdout, env })).toBe(expected)
    expect(isForPeople(true, { stdout, env })).toBe(true)
    expect(isForPeople(false, { stdout, env })).toBe(false)
  })
})

test.each([
  ['a terminal', TERMINAL, {}, { redraws: true, color: true }],
  ['a terminal with NO_COLOR', TERMINAL, { NO_COLOR: '1' }, { redraws: true, color: false }],
  ['a terminal with an empty NO_COLOR', TERMINAL, { NO_COLOR: '' }, { redraws: true, color: true }],
  ['a dumb terminal', TERMINAL, { TERM: 'dumb' }, { redraws: false, color: false }],
  ['a pipe', PIPE, {}, { redraws: false, color: false }],
])('%s can show what it can', (_, stdout, env, can) => {
  expect({ redraws: canRedraw({ stdout, env }), color: takesColor(stdout, env) }).toEqual(can)
})
