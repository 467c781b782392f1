// A game that most collections of state machines have: here with the states, events and rules of
// xstate's own example,
// https://github.com/statelyai/xstate/blob/main/examples/tic-tac-toe-react/src/ticTacToeMachine.ts
// What is known of it from outside: with games that stop when they are won there are 5478 positions.
// `quiesce-model examples/tic-tac-toe.mjs` finds as many states, and that who is said to win has
// three in a row.
import { always } from '@quiesce/model'
import { assign, setup } from 'xstate'

const LINES = ['012', '345', '678', '036', '147', '258', '048', '246'].map((line) => [...line].map(Number))
const hasLine = (board, player) => LINES.some((line) => line.every((field) => board[field] === player))
const NEW_GAME = { board: Array(9).fill(null), moves: 0, player: 'x', winner: undefined }
const other = (player) => (player === 'x' ? 'o' : 'x')

export default setup({
  guards: {
    isValidMove: ({ context: { board }, event: { value } }) => board[value] === null,
    checkWin: ({ context: { board } }) => hasLine(board, 'x') || hasLine(board, 'o'),
    checkDraw: ({ context: { moves } }) => moves === 9,
  },
  actions: {
    updateBoard: assign(({ context: { board, moves, player }, event: { value } }) => ({
      board: board.with(value, player),
      moves: moves + 1,
      player: other(player),
    })),
    setWinner: assign({ winner: ({ context: { player } }) => other(player) }),
    resetGame: assign(NEW_GAME),
  },
}).createMachine({
  id: 'tic-tac-toe',
  context: NEW_GAME,
  initial: 'playing',
  states: {
    playing: {
      always: [
        { guard: 'checkWin', target: 'gameOver.winner' },
        { guard: 'checkDraw', target: 'gameOver.draw' },
      ],
      on: { PLAY: { guard: 'isValidMove', actions: 'updateBoard' } },
    },
    gameOver: {
      initial: 'winner',
      states: {
        winner: { tags: 'winner', entry: 'setWinner' },
        draw: { tags: 'draw' },
      },
      on: { RESET: { target: 'playing', actions: 'resetGame' } },
    },
  },
})

export const events = [{ type: 'RESET' }, ...NEW_GAME.board.map((_, value) => ({ type: 'PLAY', value }))]

export const properties = [
  always('winner/line', 'the winner has three in a row, and the other has not', (root) => {
    const { board, winner } = root.context
    if (!root.matches({ gameOver: 'winner' })) return true
    return (hasLine(board, winner) && !hasLine(board, other(winner))) || `the winner is said to be ${winner}`
  }),
  always('draw/none', 'a game that is drawn has no winner, and no three in a row', (root) => {
    const { board, winner } = root.context
    if (!root.matches({ gameOver: 'draw' })) return true
    return (winner === undefined && !hasLine(board, 'x') && !hasLine(board, 'o')) || `${winner} has won`
  }),
]
