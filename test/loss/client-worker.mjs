// @ts-check
// Plays rounds of the loss ledger, one at a time, for scripts/loss.mjs: the clients of a round have
// an event loop of their own, and the replica that stays, one for each protocol, serves all of them.
import { Replica } from './replicas.mjs'
import { runRound } from './round.mjs'

/** @typedef {import('./protocols.mjs').Protocol} Protocol */

/** @type {Map<Protocol, Promise<Replica>>} */
const seconds = new Map()
/** @param {Protocol} protocol */
function secondOf(protocol) {
  const second = seconds.get(protocol) ?? Replica.startSecond(protocol)
  seconds.set(protocol, second)
  return second
}

process.on('message', async (/** @type {Omit<Parameters<typeof runRound>[0], 'second'>} */ options) => {
  const second = await secondOf(options.cells[0].protocol)
  const round = await runRound({ ...options, second, serving: () => process.send?.({}) })
  process.send?.(round)
})
process.on('disconnect', async () => {
  for (const second of seconds.values()) await (await second).dispose()
  process.exit()
})
process.send?.({})
