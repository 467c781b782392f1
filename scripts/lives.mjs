// @ts-check
// `npm run test:lives`: ten thousand random lives beside the model checker, `-- 50000` for more, and
// every state that the checker knows of our lifecycle on live actors. A failure prints how to live
// that life again.
import { wholeNumber } from './usage.mjs'

const [runs = '10000'] = process.argv.slice(2)
process.env['LIFE_RUNS'] = String(wholeNumber('runs', runs, 1))
process.env['EVERY_STATE'] = '1'
process.argv.splice(2, 1, 'test/random', 'test/model/conformance')
await import('./test.mjs')
