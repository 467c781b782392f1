import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { Agent, createServer as createSecureServer, get } from 'node:https'
import { type AddressInfo, Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'
import { rig } from './rig.ts'

const FINISH = channel('http.server.response.finish')

describe('the end of a response', () => {
  test('costs no listener, once node has been heard to publish it', async () => {
    const listeners: number[] = []
    const made = await rig((_request, response) => {
      listeners.push(response.listenerCount('close'))
      response.end('ok')
    })
    const client = await made.connect()
    for (let request = 0; request < 3; request++) {
      await client.ask('GET', '/')
      await expect.poll(() => made.traffic.counts().requests).toBe(0)
    }
    expect(listeners).toEqual([1, 0, 0])
  })

  test('is seen on a connection that was there before the server was taken over', async () => {
    const made = await rig((_request, response) => void response.end('ok'), { takenOver: false })
    const client = await made.connect()
    await client.ask('GET', '/')
    const gate = made.traffic.takeOver(made.server)
    onTestFinished(() => gate[Symbol.dispose]())
    await client.ask('GET', '/')
    await expect.poll(() => made.traffic.counts()).toMatchObject({ requests: 0, connections: { open: 1, idle: 1 } })
  })

  test('is seen when other code hands a request to the server, and closes its response', async () => {
    const { server, traffic } = await rig((_request, response) => void response.end('ok'))
    const socket = new Socket()
    onTestFinished(() => void socket.destroy())
    const request = new IncomingMessage(socket)
    const response = new ServerResponse(request)
    server.emit('request', request, response)
    expect(traffic.counts().requests).toBe(1)
    response.emit('close')
    expect(traffic.counts().requests).toBe(0)
  })

  test('is seen when a handler makes requests of its own on its connection, as batches do', async () => {
    const made = await rig(({ url, socket }, response) => {
      if (url === '/batch') {
        const request = Object.assign(new IncomingMessage(socket), { method: 'GET', url: '/part' })
        const part = new ServerResponse(request)
        part.assignSocket(new PassThrough().resume() as unknown as Socket)
        made.server.emit('request', request, part)
        made.server.emit('request', new IncomingMessage(socket), new PassThrough().resume())
      }
      response.end('ok')
    })
    const client = await made.connect()
    await client.ask('GET', '/')
    await client.ask('GET', '/batch')
    await expect.poll(() => made.traffic.counts()).toMatchObject({ requests: 0, connections: { open: 1, idle: 1 } })
  })

  test('is that of its handler when a server in front hands over a request whose client has left', async () => {
    const urls: (string | undefined)[] = []
    const made = await rig(({ url }, response) => {
      urls.push(url)
      response.end('ok')
    })
    const front = createServer((request, response) => {
      if (request.url === '/now') made.server.emit('request', request, response)
      else request.socket.once('close', () => setImmediate(() => made.server.emit('request', request, response)))
    })
    await once(front.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void front.close())
    const { port } = front.address() as AddressInfo
    const unknown = await RawClient.open({ port })
    const known = await RawClient.open({ port })
    await known.ask('GET', '/now')
    for (const client of [known, unknown]) {
      client.send('GET /late HTTP/1.1\r\nHost: a\r\n\r\n')
      client.end()
    }
    await expect.poll(() => urls).toEqual(['/now', '/late', '/late'])
    await expect.poll(() => made.traffic.counts()).toMatchObject({ requests: 0, connections: { open: 0 } })
  })

  test.each(['before its turn', 'in the step in which its turn comes'])(
    'is seen when it is destroyed while it waits behind another, %s; what waits behind it ends with the connection',
    async (when) => {
      const responses: ServerResponse[] = []
      const made = await rig((request, response) => void (request.url === '/' ? response.end('ok') : responses.push(response)))
      await (await made.connect()).ask('GET', '/')
      const client = await made.connect()
      for (const path of ['/first', '/destroyed', '/behind']) client.request('GET', path)
      await expect.poll(() => responses.length).toBe(3)
      const [first, destroyed, behind] = responses as [ServerResponse, ServerResponse, ServerResponse]
      if (when === 'before its turn') destroyed.destroy()
      else first.prependListener('finish', () => destroyed.destroy())
      behind.end('never sent')
      first.end('first')
      expect((await client.response()).body).toBe('first')
      await client.closed()
      await expect.poll(() => made.traffic.counts()).toMatchObject({ requests: 0, connections: { open: 1, idle: 1 } })
    },
  )

  test('is seen over TLS', async () => {
    const listeners: number[] = []
    const tls = (name: string): Buffer => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url))
    const server = createSecureServer({ cert: tls('cert'), key: tls('key') }, (_request, response) => {
      listeners.push(response.listenerCount('close'))
      response.end('ok')
    })
    const { traffic } = await rig(undefined, { takenOver: false })
    const gate = traffic.takeOver(server)
    const agent = new Agent({ keepAlive: true, ca: tls('cert') })
    onTestFinished(() => {
      gate[Symbol.dispose]()
      agent.destroy()
      server.close()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    for (let request = 0; request < 2; request++) {
      const [response] = (await once(get({ host: '127.0.0.1', port, agent }), 'response')) as [IncomingMessage]
      expect(await text(response)).toBe('ok')
      await expect.poll(() => traffic.counts()).toMatchObject({ requests: 0, connections: { open: 1, idle: 1 } })
    }
    expect(listeners.at(-1)).toBe(0)
  })

  test('is that of its connection when it breaks off', async () => {
    const made = await rig(({ url }, response) => void (url === '/' && response.end('ok')))
    const client = await made.connect()
    await client.ask('GET', '/')
    client.send('GET /never HTTP/1.1\r\nHost: a\r\n\r\n')
    await expect.poll(() => made.traffic.counts().requests).toBe(1)
    client.abort()
    await expect.poll(() => made.traffic.counts()).toMatchObject({ requests: 0, connections: { open: 0 } })
  })
})

test('nothing stays subscribed when the servers have been given back and the last connection has closed', async () => {
  await expect.poll(() => FINISH.hasSubscribers).toBe(false)
  const made = await rig((_request, response) => void response.end('ok'), { takenOver: false })
  const gates = [made.traffic.takeOver(made.server), made.traffic.takeOver(createServer())]
  const client = await made.connect()
  await client.ask('GET', '/')
  for (const gate of [...gates, ...gates]) gate[Symbol.dispose]()
  await made.settle()
  expect(FINISH.hasSubscribers).toBe(true)
  client.abort()
  await expect.poll(() => FINISH.hasSubscribers).toBe(false)
})

test('nothing stays subscribed when a life that has made its servers itself has ended', async () => {
  await expect.poll(() => FINISH.hasSubscribers).toBe(false)
  const t = newLife({ options: { admin: { port: 0, host: '127.0.0.1' } } })
  await t.life.start()
  await t.get('/')
  expect(FINISH.hasSubscribers).toBe(true)
  await t.end()
  await expect.poll(() => FINISH.hasSubscribers).toBe(false)
})
