import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { Journal } from '#src/inspector/journal.ts'
import { PageServer } from '#src/inspector/server/page-server.ts'

/** Far more than the buffers of a socket hold. */
const WRITTEN_MAX = 64 * 1024 * 1024
/** The longest text that an entry keeps. */
const ENTRY = 4_000

const KINDS: readonly [string, string][] = [
  ['a stream', 'GET /inspector/events HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  [
    'a socket of the official protocol',
    'GET /inspector/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  ],
]

/** A journal that keeps little, and an inspector of it. */
async function inspected(): Promise<{ journal: Journal; page: PageServer; port: number }> {
  const journal = new Journal(() => 0, { lengthMax: 8 * ENTRY })
  journal.open({ kind: 'opening', format: 1, source: 'life', wallAtStart: new Date(0).toISOString() } as Parameters<Journal['open']>[0])
  const page = new PageServer(
    {
      journal,
      session: () => ({ mode: 'live', at: 0, canStop: false, canDrill: false }),
      report: () => undefined,
      composition: () => {
        throw new Error('nobody asks for the chart')
      },
      definitionOf: () => undefined,
      actions: {},
    },
    undefined,
  )
  page.server.listen(0, '127.0.0.1')
  await once(page.server, 'listening')
  onTestFinished(() => {
    page.destroyConnections()
    page.server.close()
  })
  return { journal, page, port: (page.server.address() as AddressInfo).port }
}

/** Sends a request and waits for the beginning of its answer; then it reads no more. */
async function readerThatStops(port: number, request: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.write(request)
  await once(socket, 'readable')
  return socket
}

test.each(KINDS)('%s that is too slow for what is kept is cut off, instead of going on with a gap', async (_, request) => {
  const { journal, page, port } = await inspected()
  const accepted = once(page.server, 'connection') as Promise<[Socket]>
  await readerThatStops(port, request)
  const [connection] = await accepted
  let written = 0
  for (; !connection.destroyed && written < WRITTEN_MAX; written += ENTRY) {
    journal.write({ kind: 'sent', from: 'x:0', to: 'x:1', event: { type: 'x'.repeat(ENTRY) } })
    await nextTurn()
  }
  expect(connection.destroyed).toBe(true)
  expect(written).toBeGreaterThan(8 * ENTRY)
})
