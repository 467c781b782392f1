// A server of node:https, with `HTTP2` one of node:http2 that speaks both, and with `H2C` one of
// node:http2 without TLS.
import { readFileSync } from 'node:fs'
import { createServer as createH2cServer, createSecureServer } from 'node:http2'
import { createServer } from 'node:https'
import { attachLifecycle } from '../../../dist/index.js'
import { answer } from './answer.mjs'
import { options } from './options.mjs'

const file = (name) => readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url))
const pair = { cert: file('cert.pem'), key: file('key.pem') }
const { HTTP2, H2C } = process.env
const server = H2C
  ? createH2cServer(answer)
  : HTTP2
    ? createSecureServer({ ...pair, allowHTTP1: true }, answer)
    : createServer(pair, answer)
server.listen(0, '127.0.0.1')
await attachLifecycle(server, { health: true, ...options }).run()
