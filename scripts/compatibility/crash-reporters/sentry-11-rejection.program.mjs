// Sentry 11, a rejection
// packages: @sentry/node
// set: crash-reporters
// stop: GET /crash
// exit: 1
// note: The event has to arrive at a collector, the pool has to be destroyed, and the exit code is quiesce's.
import { createServer } from 'node:http'
import * as Sentry from '@sentry/node'

let events = ''
const collector = createServer((request, response) => {
  request.on('data', (bytes) => {
    events += bytes
  })
  request.on('end', () => response.end('{}'))
})
await new Promise((resolve) => collector.listen(0, '127.0.0.1', resolve))
collector.unref()
Sentry.init({ dsn: `http://public@127.0.0.1:${collector.address().port}/1` })

const { attachLifecycle } = await import('quiesce')
const server = createServer((request, response) => {
  if (request.url !== '/crash') return setTimeout(() => response.end('done'), 1000)
  response.end()
  Promise.reject(new Error('crashed on purpose'))
}).listen(0, '127.0.0.1', () => console.log(`PORT ${server.address().port}`))
const life = attachLifecycle(server, { deadline: '8s' })
let isDestroyed = false
life.addDestroy('pool', () => {
  isDestroyed = true
})
process.on('exit', () => {
  if (!isDestroyed) process.exitCode = 8
  if (!events.includes('crashed on purpose')) process.exitCode = 9
})
await life.run()
