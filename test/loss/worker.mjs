// @ts-check
// Plays rounds of the loss ledger, one at a time, for scripts/loss.mjs: the clients of a round have
// an event loop of their own, and the replica that stays serves all of them.
import { Replica } from './replicas.mjs'
import { runRound } from './round.mjs'

const second = await Replica.start({ server: 'server.close()', seed: 0, delay: 0, mode: 'refuse', busy: false })

process.on('message', async (/** @type {Omit<Parameters<typeof runRound>[0], 'second'>} */ options) => {
  const round = await runRound({ ...options, second, serving: () => process.send?.({}) })
  process.send?.(round)
})
process.on('disconnect', async () => {
  await second.dispose()
  process.exit()
})
process.send?.({})
