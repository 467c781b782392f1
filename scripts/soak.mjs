// @ts-check
// `npm run test:soak`: ten thousand random lives beside the model checker; `-- 50000` for more. A failure prints how to live that life again.
const [runs = '10000'] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(runs)) throw new Error(`runs: got ${runs}, allowed: a whole number above 0`)
process.env['LIFE_RUNS'] = runs
process.argv.splice(2, 1, '--project=unit', 'test/differential')
await import('./test.mjs')
