// @ts-check
// `npm run test:lives`: ten thousand random lives beside the model checker, `-- 50000` for more, and
// every state that the checker knows of our lifecycle on live actors. A failure prints how to live
// that life again.
const [runs = '10000'] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(runs)) throw new Error(`runs: got ${runs}, allowed: a whole number above 0`)
process.env['LIFE_RUNS'] = runs
process.env['EVERY_STATE'] = '1'
process.argv.splice(2, 1, 'test/random', 'test/model/conformance')
await import('./test.mjs')
