// Logs one line of 1 MiB and ends as `run()` does: flush for a bounded time, then exit. Says on
// stderr how it went. Arguments: how to flush (`bounded` or `sync`), and for how many milliseconds.
import { writeSync } from 'node:fs'
import { stdoutDestination } from '../../build/src/log/log-destination.js'

const [how, ms] = process.argv.slice(2)
const destination = stdoutDestination()
destination.write(`${'x'.repeat(1024 * 1024 - 1)}\n`)
const begun = performance.now()
const lost = how === 'sync' ? destination.flushSync(Number(ms)) : await destination.flushBounded(Number(ms))
writeSync(2, `${JSON.stringify({ lost, ms: performance.now() - begun })}\n`)
process.exit(7)
