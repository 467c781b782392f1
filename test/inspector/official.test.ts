import { once } from 'node:events'
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { newLife } from '../support/life.ts'
import { ask } from './client.ts'

async function inspected() {
  const made = newLife({ options: { inspector: true } })
  await made.life.start()
  const url = made.log.find(({ message }) => message.startsWith('Inspector on '))?.fields['url'] as string
  return { made, url, socket: `${url.replace('http', 'ws')}ws` }
}

/** The package's own receiving end, and what it has received. */
function receive(server: string): StatelyInspectionEvent[] {
  const received: StatelyInspectionEvent[] = []
  createWebSocketReceiver({ server }).subscribe((event) => void received.push(event))
  return received
}

describe('the official inspector', () => {
  test('gets a whole shutdown in its own words, to the last message', async () => {
    const { made, socket } = await inspected()
    const received = receive(socket)
    await expect.poll(() => received.length, { timeout: 20_000 }).toBeGreaterThan(0)
    const [root] = received
    expect(root).toMatchObject({
      type: '@xstate.actor',
      name: expect.any(String),
      snapshot: { status: 'active', value: { running: { stop: 'living' } } },
    })
    expect(root?.sessionId).toBe(root?.rootId)
    const { definition } = root as { definition: string }
    expect(JSON.parse(definition)).toMatchObject({ id: 'lifecycle', states: { running: { type: 'parallel' } } })
    await made.end()
    // The life waits for it, so nothing is still on its way.
    const ofRoot = received.filter(({ sessionId }) => sessionId === root?.sessionId)
    expect(ofRoot.findLast(({ type }) => type === '@xstate.snapshot')).toMatchObject({ snapshot: { status: 'done', value: 'ended' } })
    const drain = received.find((event) => event.type === '@xstate.actor' && event.name === 'request-drain')
    expect(drain).toMatchObject({ parentId: root?.sessionId, snapshot: { status: 'active' } })
    expect(received.findLast((event) => event.type === '@xstate.snapshot' && event.sessionId === drain?.sessionId)).toMatchObject({
      snapshot: { status: 'done', value: 'drained' },
    })
    expect(received).toContainEqual(
      expect.objectContaining({ type: '@xstate.event', sessionId: root?.sessionId, sourceId: drain?.sessionId }),
    )
    for (const event of received) {
      expect(event).toMatchObject({
        _version: expect.any(String),
        id: null,
        rootId: root?.sessionId,
        createdAt: expect.stringMatching(/^\d{13}$/),
      })
      // Nobody is spoken of before it was introduced.
      const introduced = received.findIndex(({ type, sessionId }) => type === '@xstate.actor' && sessionId === event.sessionId)
      expect(received.indexOf(event)).toBeGreaterThanOrEqual(introduced)
      expect(introduced).toBeGreaterThanOrEqual(0)
    }
  })

  test('may come and go, and may leave without a word', async () => {
    const { made, socket } = await inspected()
    for (let index = 0; index < 3; index++) {
      const client = new WebSocket(socket)
      await new Promise((resolve) => client.once('message', resolve))
      client.terminate()
    }
    const silent = new WebSocket(socket)
    await new Promise((resolve) => silent.once('open', resolve))
    silent.pause()
    expect(await made.end()).toMatchObject({ exitCode: 0 })
    silent.terminate()
  })

  test('counts among the streams that are there at a time, until it leaves', async () => {
    const { socket } = await inspected()
    const open = async (): Promise<WebSocket> => {
      const client = new WebSocket(socket)
      onTestFinished(() => client.terminate())
      await once(client, 'open')
      return client
    }
    const clients: WebSocket[] = []
    for (let index = 0; index < 16; index++) clients.push(await open())
    await expect(open()).rejects.toThrow('Unexpected server response: 503')
    clients[0]?.terminate()
    await vi.waitFor(open, { timeout: 20_000 })
  })

  test('cuts off whoever talks at length, and nobody else', async () => {
    const { made, socket } = await inspected()
    const received = receive(socket)
    const talker = new WebSocket(socket)
    talker.on('error', () => {})
    await once(talker, 'open')
    talker.send('x'.repeat(1024 * 1024))
    const [code] = (await once(talker, 'close')) as [number]
    expect(code).toBe(1009)
    expect(await made.end()).toMatchObject({ exitCode: 0 })
    await expect.poll(() => received.at(-1), { timeout: 20_000 }).toMatchObject({ type: '@xstate.snapshot', snapshot: { status: 'done' } })
  })

  test('is not for the sockets of other sites', async () => {
    const { socket } = await inspected()
    const refusal = (address: string, options: object): Promise<Error> =>
      new Promise((resolve) => new WebSocket(address, options).once('error', resolve))
    expect(await refusal(socket, { origin: 'https://evil.example' })).toMatchObject({ message: 'Unexpected server response: 403' })
    expect(await refusal(socket, { headers: { Host: 'evil.example' } })).toMatchObject({ message: 'Unexpected server response: 421' })
    expect(await refusal(socket.replace(/ws$/, 'elsewhere'), {})).toMatchObject({ message: 'Unexpected server response: 404' })
  })

  test('has a page that hands the messages on to the hosted one, and allows that and no other frame', async () => {
    const { url } = await inspected()
    const page = await ask(`${url}official`)
    expect(page.headers['content-security-policy']).toMatch(/script-src 'self'.*frame-src https:\/\/stately\.ai$/)
    expect(page.body).toContain('<script src="official.js">')
    expect(await ask(`${url}official.js`)).toMatchObject({ status: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' } })
    expect((await ask(`${url}ws`)).status).toBe(426)
  })
})
