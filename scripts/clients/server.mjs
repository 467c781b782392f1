// @ts-check
// What the clients of scripts/clients.mjs ask, on dist/, in a process of its own that a real SIGTERM ends. Prints its port. Argument:
// { "who", "protocol", "delay" } as JSON.
import { createServer } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { selfSigned } from '../../build/src/tls/self-signed.js'
import { attachLifecycle } from '../../dist/index.js'

const { who, protocol, delay } = JSON.parse(process.argv[2] ?? '')
/** Of an answer. */
const WORK_MS = 5
/** From the close to when bare node is ended by force: its clients have had the time that a platform gives. */
const FORCE_MS = 3000

/** @param {import('node:http').IncomingMessage | import('node:http2').Http2ServerRequest} request @param {{ end(text: string): unknown }} response */
function listener(request, response) {
  request.resume()
  setTimeout(() => response.end('ok'), WORK_MS)
}

const pair = protocol === 'HTTP/1.1' ? undefined : selfSigned(['localhost'], Date.now())
const kept = { keepAliveTimeout: 75_000 }
const server = !pair
  ? createServer(kept, listener)
  : protocol === 'HTTPS'
    ? createHttpsServer({ ...kept, ...pair }, listener)
    : createSecureServer({ ...pair, allowHTTP1: true }, listener)
const address = () => /** @type {import('node:net').AddressInfo} */ (server.address())
server.listen(0, '127.0.0.1', () => console.log(address().port))

if (who === 'quiesce') {
  await attachLifecycle(server, { shutdownDelay: delay, deadline: '10s', logger: false }).run()
} else {
  process.once('SIGTERM', () =>
    setTimeout(() => {
      server.close(() => process.exit())
      setTimeout(() => process.exit(), FORCE_MS).unref()
    }, delay),
  )
}
