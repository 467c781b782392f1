// counts(): what is in flight and how many connections are open. Fails when: something under way is
// not counted, is counted after its end or twice, a stream is counted as what it will not be
// drained as, or what is returned is more than plain data.
import { expect, test } from 'vitest'
import { deferred } from '#src/base/deferred.ts'
import { markRequest, markWatch, shutdownSignalOf } from '#src/index.ts'
import { newLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'

const NOTHING = {
  requests: 0,
  eventStreams: 0,
  watches: 0,
  holds: 0,
  connections: { open: 0, notified: 0, idle: 0, byProtocol: [] },
  rejected: { 'retry-after': 0, 'not-accepting': 0, watch: 0, late: 0, hold: 0 },
}

test('counts requests, watches, holds and connections, each from its beginning to its end', async () => {
  const slow = deferred<void>()
  const t = newLife({
    options: { longRunning: ({ url }) => url === '/watch' },
    listener: ({ url }, response) => {
      if (url === '/slow') void slow.promise.then(() => response.end('done'))
      else if (url === '/watch') response.write('begun')
      else response.end('hello')
    },
  })
  expect(t.life.counts()).toEqual(NOTHING)
  await t.life.start()
  const clients = await Promise.all(['/slow', '/watch', '/'].map(async (path) => [path, await RawClient.open({ port: t.port })] as const))
  for (const [path, client] of clients) client.request('GET', path)
  const idle = clients[2]?.[1] as RawClient
  expect(await idle.response()).toMatchObject({ body: 'hello' })
  const hold = t.life.hold('job')
  while (t.life.counts().requests + t.life.counts().watches < 2) await new Promise(setImmediate)
  const counts = t.life.counts()
  const byProtocol = [{ protocol: 'HTTP/1.1', tls: 'none', open: 3 }]
  expect(counts).toEqual({ ...NOTHING, requests: 1, watches: 1, holds: 1, connections: { open: 3, notified: 0, idle: 1, byProtocol } })
  expect(structuredClone(counts)).toEqual(counts)

  hold[Symbol.dispose]()
  slow.resolve()
  for (const [, client] of clients) client.abort()
  while (t.life.counts().connections.open > 0) await new Promise(setImmediate)
  expect(t.life.counts()).toEqual(NOTHING)
  expect(counts.requests).toBe(1)
})

test('says of the requests which are event streams that no drain of watches will end', async () => {
  const says = { '/deaf': undefined, '/listens': shutdownSignalOf, '/watch': markWatch, '/answer': markRequest } as const
  const t = newLife({
    listener: (request, response) => {
      says[request.url as keyof typeof says]?.(request)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: begun\n\n')
    },
  })
  await t.life.start()
  const clients = await Promise.all(
    Object.keys(says).map(async (path) => {
      const client = await RawClient.open({ port: t.port })
      client.request('GET', path)
      return client
    }),
  )
  for (const client of clients) while (!client.received.includes('begun')) await new Promise(setImmediate)
  // While it serves, as they will be drained: the streams whose handlers ask or say so are watches.
  expect(t.life.counts()).toMatchObject({ requests: 2, eventStreams: 1, watches: 2 })
  expect(t.life.status.gauges().blocking.requests).toMatchObject([{ name: 'GET /deaf', streaming: true }, { name: 'GET /answer' }])
  for (const client of clients) client.abort()
  while (t.life.counts().connections.open > 0) await new Promise(setImmediate)
  expect(t.life.counts()).toEqual(NOTHING)
})
