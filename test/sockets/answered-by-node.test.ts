// Requests that no handler sees, because node answers them, or a listener for what node cannot
// read.
// Fails when: their connection, idle since, counts as one on which a handler speaks for itself.
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { newAttachedLife } from '../support/life.ts'
import { connectTo, type RawClient } from '../support/raw-client.ts'

describe('a connection that node answers by itself', () => {
  const ANSWERED: Readonly<Record<string, (server: Server, client: RawClient) => void>> = {
    'with 417': (_, client) => client.request('GET', '/', { headers: { Expect: 'miracle' } }),
    'by a listener for clientError that leaves it open': (server, client) => {
      server.on('clientError', (_error, socket) => void (socket as Socket).write('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'))
      client.send('nonsense\r\n\r\n')
    },
  }

  test.each(Object.entries(ANSWERED))('%s, is an idle one and no tunnel', async (_, ask) => {
    const server = createServer((_, response) => void response.end('ok'))
    server.listen(0, '127.0.0.1')
    const t = newAttachedLife(server, { clock: new VirtualClock() })
    await t.life.start()
    // Before the first answer was heard to be sent, nothing relies on hearing it.
    const first = await connectTo(t.port)
    await first.ask('GET', '/')
    first.end()
    const client = await connectTo(t.port)
    ask(server, client)
    await client.until('an answer', () => client.received.includes('\r\n\r\n'))
    const { connections } = await t.end()
    expect(connections).toMatchObject({ idleUnnotified: 1, forced: 0 })
    expect(connections.byProtocol?.map(({ protocol }) => protocol)).toEqual(['HTTP/1.1'])
  })
})
