// Clients that ask and do not read, at a server with one seat. Fails when: such a client keeps a
// seat although its handler has ended a short answer; keeps one, or a long answer in memory, for
// longer than its request may take; or one that reads loses its answer.
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ApiHandler } from '#apiserver/index.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import { FRAME, frame, RawH2Client } from '../support/h2-frames.ts'

/** More than the system's buffers take of it. */
const LONG = Buffer.alloc(32 * 1024 * 1024, 'x')

const HANDLERS: Record<string, ApiHandler> = {
  short: (_, response) => void response.end('short'),
  long: (_, response) => void response.end(LONG),
  writes: async (_, response) => {
    for (let piece = 0; piece < 20; piece++)
      if (!response.write(LONG)) await new Promise<void>((resolve) => response.once('drain', resolve))
    response.end()
  },
  // It answers nothing by itself: what its client does not read is the 504.
  nothing: () => undefined,
}

/** One that is answered, and reads nothing of it. */
interface Client {
  leave(): void
}

const CLIENTS: Record<string, (port: number, path: string) => Promise<Client>> = {
  'HTTP/1.1': async (port, path) => {
    const socket = connect(port, '127.0.0.1')
      .pause()
      .on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    return { leave: () => void socket.destroy() }
  },
  'HTTP/2': async (port, path) => {
    const client = await RawH2Client.open(port)
    client.send(frame(FRAME.settings, { payload: Buffer.from([0, 4, 0, 0, 0, 0]) }))
    client.request(1, { ':path': path })
    return { leave: () => client.end() }
  },
}

const serve = (protocol: string, requestTimeout: string): Promise<ServedApi> =>
  serveApi({
    config: { http2: protocol === 'HTTP/2', requestTimeout, maxRequestsInFlight: 1 },
    setUp: (server) => {
      for (const [name, handler] of Object.entries(HANDLERS)) server.handle(`/${name}`, handler)
      server.handle('/honest', (_, response) => void response.end('served'))
    },
  })

/** Whether an honest client is served. */
async function honest(protocol: string, served: ServedApi): Promise<number | undefined> {
  if (protocol === 'HTTP/1.1') return (await served.ask('/honest')).status
  const client = await served.connectH2()
  const { status } = await client.get('/honest')
  client.session.destroy()
  return status
}

describe.each(Object.entries(CLIENTS))('a client of %s that does not read', (protocol, ask) => {
  test('keeps no seat by a short answer, however long its request may take', async () => {
    const served = await serve(protocol, '1h')
    await ask(served.port, '/short')
    for (let n = 0; n < 3; n++) await expect.poll(() => honest(protocol, served)).toBe(200)
  })

  test.each(['long', 'writes', 'nothing'])('loses its seat, and its answer, with the time of its request: %s', async (name) => {
    const served = await serve(protocol, '300ms')
    await ask(served.port, `/${name}`)
    await expect.poll(() => served.life.counts().requests).toBe(1)
    await expect.poll(() => honest(protocol, served)).toBe(429)
    await expect.poll(() => honest(protocol, served)).toBe(200)
    await expect.poll(() => served.life.counts().requests).toBe(0)
  })
})

test('a handler that waits for a client that has left gives its seat back', async () => {
  const served = await serve('HTTP/1.1', '1h')
  const client = await CLIENTS['HTTP/1.1']?.(served.port, '/writes')
  await expect.poll(() => honest('HTTP/1.1', served)).toBe(429)
  client?.leave()
  await expect.poll(() => honest('HTTP/1.1', served)).toBe(200)
})
