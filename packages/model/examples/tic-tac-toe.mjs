// A game that most collections of state machines have. What is known of it from outside: with games that stop when they are won there are
// 5478 positions. `quiesce-model examples/tic-tac-toe.mjs` finds the same number, and that every game ends.
import { always, endReachable } from '@quiesce/model'
import { assign, setup } from 'xstate'

const LINES = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 3, 6],
  [1, 4, 7],
  [2, 5, 8],
  [0, 4, 8],
  [2, 4, 6],
]
const winnerOf = (board) =>
  LINES.map(([a, b, c]) => (board[a] === board[b] && board[b] === board[c] ? board[a] : '.')).find((mark) => mark !== '.')

export default setup({
  guards: {
    isFree: ({ context: { board }, event: { at } }) => board[at] === '.',
    isWon: ({ context: { board } }) => winnerOf(board) !== undefined,
    isFull: ({ context: { board } }) => !board.includes('.'),
  },
  actions: {
    mark: assign(({ context: { board, turn }, event: { at } }) => ({
      board: board.slice(0, at) + turn + board.slice(at + 1),
      turn: turn === 'x' ? 'o' : 'x',
    })),
  },
}).createMachine({
  id: 'tic-tac-toe',
  context: { board: '.........', turn: 'x' },
  initial: 'playing',
  states: {
    playing: {
      always: [
        { guard: 'isWon', target: 'won' },
        { guard: 'isFull', target: 'drawn' },
      ],
      on: { play: { guard: 'isFree', actions: 'mark' } },
    },
    won: { type: 'final' },
    drawn: { type: 'final' },
  },
})

export const events = Array.from({ length: 9 }, (_, at) => ({ type: 'play', at }))

export const properties = [
  endReachable('end/possible', 'every game can still end'),
  always('winner/one', 'a game that is drawn has no winner', (root) => {
    const winner = winnerOf(root.context.board)
    return !root.matches('drawn') || winner === undefined || `${winner} has three in a row`
  }),
]
