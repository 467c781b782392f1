// OpenTelemetry's SDK
// packages: @opentelemetry/sdk-node
// set: crash-reporters
// stop: GET /crash
// exit: 1
import { createServer } from 'node:http'
import { NodeSDK, tracing } from '@opentelemetry/sdk-node'

const spans = new tracing.InMemorySpanExporter()
const sdk = new NodeSDK({ spanProcessors: [new tracing.SimpleSpanProcessor(spans)] })
sdk.start()

const { attachLifecycle } = await import('quiesce')
const server = createServer((request, response) => {
  if (request.url !== '/crash') return setTimeout(() => response.end('done'), 1000)
  response.end()
  setImmediate(() => {
    throw new Error('crashed on purpose')
  })
}).listen(0, '127.0.0.1', () => console.log(`PORT ${server.address().port}`))
const life = attachLifecycle(server, { deadline: '8s' })
let isDestroyed = false
life.addDestroy('pool', () => {
  isDestroyed = true
})
process.on('exit', () => {
  if (!isDestroyed) process.exitCode = 8
  sdk.shutdown()
})
await life.run()
