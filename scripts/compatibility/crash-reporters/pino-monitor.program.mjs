// a logger in uncaughtExceptionMonitor and in a listener
// packages: pino
// set: crash-reporters
// stop: GET /crash
// exit: 1
import { createServer } from 'node:http'
import { pino } from 'pino'

let lines = ''
const logger = pino({}, { write: (line) => (lines += line) })
process.on('uncaughtExceptionMonitor', (error) => logger.fatal(error))
process.on('uncaughtException', (error) => logger.error(error))

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
  if (lines.split('crashed on purpose').length < 3) process.exitCode = 9
})
await life.run()
