// winston, whose exceptionHandlers do not end the process
// packages: winston
// set: crash-reporters
// stop: GET /crash
// exit: 1
import { createServer } from 'node:http'
import { Writable } from 'node:stream'
import winston from 'winston'

let lines = ''
const stream = new Writable({
  write(line, _, done) {
    lines += line
    done()
  },
})
const transport = () => new winston.transports.Stream({ stream })
winston.createLogger({ transports: [transport()], exceptionHandlers: [transport()], rejectionHandlers: [transport()], exitOnError: false })

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
  if (!lines.includes('crashed on purpose')) process.exitCode = 9
})
await life.run()
