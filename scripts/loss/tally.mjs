// @ts-check
import { nameOf } from '../../test/loss/cells.mjs'

/**
 * What all rounds of one cell come to. Where several cells share a termination, what belongs to it and not to its clients counts for the first of them alone.
 * @typedef {object} Tally
 * @property {string} who `quiesce`, or the name of the peer
 * @property {string} node
 * @property {import('../../test/loss/cells.mjs').Cell} cell
 * @property {number} rounds
 * @property {number} terminations
 * @property {number} spoiled rounds beside those, in which a client was late; they count for nothing else
 * @property {number} late rounds of those in which a client was late, too, as in all tries before
 * @property {number} clients
 * @property {number} lost
 * @property {number} losers clients that have lost something
 * @property {number} crossed of the lost
 * @property {number} broken
 * @property {number} neverAccepted of the lost
 * @property {number} refusedUntold of the lost
 * @property {number} rejected
 * @property {number} told
 * @property {number} closedIdle
 * @property {number} refused
 * @property {number} again
 * @property {number} givenUp
 * @property {number} misaudited answers that are not in the audit log as they should be
 * @property {number} lateMs the longest that a client was
 * @property {Record<string, number>} exits
 */

/** @typedef {keyof { [K in keyof Tally as Tally[K] extends number ? K : never]: unknown }} Count */

/** @type {readonly Exclude<Count, 'lateMs'>[]} */
const SUMS = [
  'spoiled',
  'late',
  'rounds',
  'terminations',
  'clients',
  'lost',
  'losers',
  'crossed',
  'broken',
  'neverAccepted',
  'refusedUntold',
  'rejected',
  'told',
  'closedIdle',
  'refused',
  'again',
  'givenUp',
  'misaudited',
]

/** @param {Pick<Tally, 'who' | 'node' | 'cell'>} what @returns {Tally} */
export const emptyTally = (what) => ({
  ...what,
  rounds: 0,
  terminations: 0,
  spoiled: 0,
  late: 0,
  clients: 0,
  lost: 0,
  losers: 0,
  crossed: 0,
  broken: 0,
  neverAccepted: 0,
  refusedUntold: 0,
  rejected: 0,
  told: 0,
  closedIdle: 0,
  refused: 0,
  again: 0,
  givenUp: 0,
  misaudited: 0,
  lateMs: 0,
  exits: {},
})

/**
 * @param {Tally} tally @param {import('../../test/loss/round.mjs').Part} part what of the round is its cell's
 * @param {import('../../test/loss/round.mjs').Round} round @param {number} lateMs
 */
export function addRound(tally, part, { exit, lagMs, misaudited, parts }, lateMs) {
  const { clients, ledger } = part
  const { lost, rejected, told, closedIdle, refused, again, givenUp } = ledger
  tally.rounds++
  if (part === parts[0]) {
    tally.terminations++
    if (lagMs > lateMs) tally.late++
    tally.misaudited += misaudited.length
  }
  tally.clients += clients
  tally.lost += lost.length
  tally.losers += new Set(lost.map(({ client }) => client)).size
  tally.crossed += ledger.crossed ?? 0
  tally.broken += ledger.broken ?? 0
  tally.neverAccepted += lost.filter(({ neverAccepted }) => neverAccepted).length
  tally.refusedUntold += lost.filter(({ kind }) => kind === 'refused untold').length
  tally.rejected += rejected
  tally.told += told
  tally.closedIdle += closedIdle
  tally.refused += refused
  tally.again += again
  tally.givenUp += givenUp
  tally.lateMs = Math.max(tally.lateMs, lagMs)
  const end = String(exit ?? 'killed')
  tally.exits[end] = (tally.exits[end] ?? 0) + 1
}

/** One for several. @param {readonly [Tally, ...Tally[]]} tallies @returns {Tally} */
export function sumOf([first, ...others]) {
  const sum = { ...first, exits: { ...first.exits } }
  for (const tally of others) {
    for (const count of SUMS) sum[count] += tally[count]
    sum.lateMs = Math.max(sum.lateMs, tally.lateMs)
    for (const [end, count] of Object.entries(tally.exits)) sum.exits[end] = (sum.exits[end] ?? 0) + count
  }
  return sum
}

/** Nothing lost, and ended as a server ends that lost nothing. @param {Tally} tally */
export const isClean = ({ exits, lost, misaudited, rounds }) => lost === 0 && misaudited === 0 && exits['0'] === rounds

/** @param {Tally} tally */
export function lineOf({ cell, who, ...tally }) {
  const {
    again,
    givenUp,
    clients,
    closedIdle,
    exits,
    lateMs,
    lost,
    misaudited,
    neverAccepted,
    refusedUntold,
    refused,
    rejected,
    rounds,
    spoiled,
    told,
  } = tally
  const of = lost === 0 ? '' : ` (${neverAccepted} never accepted, ${refusedUntold} refused untold)`
  const ends = Object.entries(exits).map(([exit, count]) => `${count} x exit ${exit}`)
  const counts = `${told} told, ${rejected} rejected, ${closedIdle} closed idle, ${refused} not connected, ${again} to be sent again, ${givenUp} given up${misaudited > 0 ? `, ${misaudited} NOT AUDITED RIGHTLY` : ''}; ${ends.join(', ')}; clients up to ${lateMs} ms late${spoiled > 0 ? `, ${spoiled} spoiled` : ''}`
  return `${who}: ${nameOf(cell)}: ${lost} lost of ${clients} clients in ${rounds} rounds${of}; ${counts}`
}
