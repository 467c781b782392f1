// @ts-check
// A process with a long queue of log lines, for log.mjs. Arguments: the module, how many lines of
// how many bytes.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

const [source = '', lines, bytes] = process.argv.slice(2)
const { stdoutDestination } = await import(new URL(source, import.meta.url).href)
const destination = stdoutDestination()
const line = `${JSON.stringify({ level: 50, msg: 'x'.repeat(Number(bytes) - 24) })}\n`

const delays = monitorEventLoopDelay({ resolution: 1 })
const longestMs = () => delays.max / 1e6

delays.enable()
await sleep(500)
const idleMaxMs = longestMs()

for (let n = 0; n < Number(lines); n++) destination.write(line)
// What this took is no delay of the reader's.
await sleep(50)
delays.reset()
const begun = performance.now()
const cpu = process.cpuUsage()
process.send?.('waiting')
await destination.flushed()
const tookMs = performance.now() - begun
const { user, system } = process.cpuUsage(cpu)
// A delay is known when it is over.
await sleep(20)
process.send?.({ maxMs: longestMs(), idleMaxMs, tookMs, cpuMs: (user + system) / 1000 })
process.disconnect()
