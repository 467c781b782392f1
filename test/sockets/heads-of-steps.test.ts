// What steps set, in the heads of HTTP/2. Fails when: it is missing from a file, from a head that
// is a list, or from one that a handler sends by the stream of its response; when it takes the
// place of the handler's own; or when a header about the connection breaks a file off.
import { closeSync, openSync } from 'node:fs'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { H2Client } from '../support/h2-client.ts'
import { newAttachedLife } from '../support/life.ts'

const FILE = fileURLToPath(import.meta.url)

function opened(): number {
  const fd = openSync(FILE, 'r')
  onTestFinished(() => closeSync(fd))
  return fd
}

const HEADS: Record<string, (stream: ServerHttp2Stream) => void> = {
  'an object': (stream) => {
    stream.respond({ ':status': 200, 'X-Own': 'own' })
    stream.end()
  },
  'that of a file': (stream) => stream.respondWithFile(FILE, { 'X-Own': 'own', connection: 'keep-alive' }),
  'that of a file that is open': (stream) => stream.respondWithFD(opened(), { 'X-Own': 'own', connection: 'keep-alive' }),
}
// Which node takes from 24 on.
if (Number(process.versions.node.split('.')[0]) >= 24)
  HEADS['a list'] = (stream) => {
    stream.respond([':status', 200, 'X-Own', 'own'] as never)
    stream.end()
  }

describe.each(['stream', 'request'] as const)('of a listener of %s', (event) => {
  test.each(Object.entries(HEADS))('%s has what steps have set', async (_, respond) => {
    const server = createServer()
    if (event === 'stream') server.on('stream', respond)
    else server.on('request', (_request, { stream }) => respond(stream))
    const admit = ({ response }: { response?: { setHeader(name: string, value: string): unknown } | undefined }) => {
      response?.setHeader('x-step', 'step')
      response?.setHeader('x-own', 'step')
      return true
    }
    const t = newAttachedLife(server, { options: { lastCall: 0, steps: [{ name: 'headers', admit }] } })
    server.listen(0, '127.0.0.1')
    await t.life.start()
    const client = await H2Client.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    expect(await client.get('/')).toMatchObject({ status: 200, headers: { 'x-step': 'step', 'x-own': 'own' }, code: 0 })
  })
})
