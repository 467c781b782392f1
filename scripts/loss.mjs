// @ts-check
// `npm run test:loss`: forty clients through 20 terminations per mode; `-- 5` for five. Every run prints its ledger, and the first line the
// seed: `SEED=123 npm run test:loss` sends the same again.
const [runs = '20'] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(runs)) throw new Error(`runs: got ${runs}, allowed: a whole number above 0`)
process.env['LOSS_RUNS'] = runs
process.argv.splice(2, 1, 'test/loss')
await import('./test.mjs')
