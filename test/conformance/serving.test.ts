import { describe, expect, test } from 'vitest'
import { connectTo } from '../support/raw-client.ts'
import { attachedSubjects, createdSubjects, fired, subjects } from './subjects.ts'

/** With a life around it, an application serves as it does without one. */
describe.each(subjects)('$name', ({ serve }) => {
  test('answers a request, and the next ones on the same connection', async () => {
    const { port, life } = await serve()
    const client = await connectTo(port)
    for (let count = 0; count < 3; count++) {
      const response = await client.ask('GET', '/hello')
      expect(response).toMatchObject({ status: 200, body: 'hello\n', framing: 'length' })
      expect(response.headers['connection']).not.toBe('close')
    }
    expect(await life.stop()).toMatchObject({ exitCode: 0, errors: [] })
  })

  test('answers requests that were sent without waiting, in their order', async () => {
    const { port, stage } = await serve()
    const client = await connectTo(port)
    client.request('GET', '/slow')
    client.request('GET', '/hello')
    await stage.slow.reached
    stage.slow.open()
    expect(await client.response()).toMatchObject({ status: 200, body: 'done\n' })
    expect(await client.response()).toMatchObject({ status: 200, body: 'hello\n' })
  })

  test('answers HEAD with the head alone, and the connection goes on', async () => {
    const { port } = await serve()
    const client = await connectTo(port)
    expect(await client.ask('HEAD', '/hello')).toMatchObject({ status: 200, framing: 'none' })
    expect(await client.ask('GET', '/hello')).toMatchObject({ status: 200, body: 'hello\n' })
  })

  test("leaves what it does not know to the application's 404", async () => {
    const { port } = await serve({ health: true })
    const client = await connectTo(port)
    expect(await client.ask('GET', '/nowhere')).toMatchObject({ status: 404 })
    expect(await client.ask('GET', '/readyzanything')).toMatchObject({ status: 404 })
  })

  test.each(['/throws', '/rejects'])('answers 500 when a handler fails: %s', async (path) => {
    const { port, life, stage } = await serve()
    const client = await connectTo(port)
    expect(await client.ask('GET', path)).toMatchObject({ status: 500 })
    const next = client.state === 'open' ? client : await connectTo(port)
    expect(await next.ask('GET', '/hello')).toMatchObject({ status: 200 })
    expect(stage.begun[path]).toBe(1)
    expect(await life.stop()).toMatchObject({ exitCode: 0, requests: { after: 0 } })
  })

  test('sends a stream chunk by chunk', async () => {
    const { port, stage } = await serve()
    const client = await connectTo(port)
    client.request('GET', '/stream')
    await client.until('the first chunk', () => client.received.includes('one\n'))
    expect(client.received).not.toContain('two\n')
    stage.stream.open()
    expect(await client.response()).toMatchObject({ status: 200, body: 'one\ntwo\n', framing: 'chunked' })
  })

  test('never passes the beginning of a broken stream for the whole', async () => {
    const { port, stage } = await serve()
    const client = await connectTo(port)
    client.request('GET', '/broken')
    await client.until('the first chunk', () => client.received.includes('one\n'))
    stage.stream.open()
    await expect(client.response()).rejects.toThrow('without a complete response')
  })

  test('takes a large body', async () => {
    const { port } = await serve()
    const client = await connectTo(port)
    const body = Buffer.alloc(8 * 2 ** 20, 'x')
    const headers = { 'Content-Type': 'application/octet-stream' }
    expect(await client.ask('POST', '/upload', { headers, body })).toMatchObject({ status: 200, body: `${body.length}\n` })
  })

  test('says "100 Continue" to a client that waits for it, before the handler answers', async () => {
    const { port } = await serve()
    const client = await connectTo(port)
    const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': '5', Expect: '100-continue' }
    client.request('POST', '/upload', { headers })
    expect(await client.response()).toMatchObject({ status: 100 })
    client.send('12345')
    expect(await client.response()).toMatchObject({ status: 200, body: '5\n' })
  })

  test('forgets a request whose client has left in the middle of the answer', async () => {
    const { port, life, stage } = await serve()
    const client = await connectTo(port)
    client.request('GET', '/stream')
    await client.until('the first chunk', () => client.received.includes('one\n'))
    client.abort()
    const stopped = life.stop()
    // The handler still waits. What ends the drain is that nobody is owed an answer.
    await fired(life, 'InFlightRequestsDrained')
    stage.stream.open()
    expect(await stopped).toMatchObject({ exitCode: 0, requests: { after: 0, cut: [] }, connections: { forced: 0 } })
  })

  test('answers health in front of the application', async () => {
    const { port, stage } = await serve({ health: true })
    const client = await connectTo(port)
    for (const path of ['/healthz', '/livez', '/readyz']) {
      expect(await client.ask('GET', path)).toMatchObject({ status: 200, body: 'ok' })
    }
    expect(await client.ask('GET', '/readyz/ping')).toMatchObject({ status: 200 })
    expect(stage.begun).toEqual({})
  })
})

describe.each(attachedSubjects)('$name', ({ serve }) => {
  test('leaves upgrades to the listener of the server', async () => {
    const { port } = await serve()
    const client = await connectTo(port)
    client.request('GET', '/echo', { headers: { Connection: 'Upgrade', Upgrade: 'echo' } })
    expect(await client.response()).toMatchObject({ status: 101 })
    client.send('back and forth')
    await client.until('the echo', () => client.received === 'back and forth')
  })
})

describe.each(createdSubjects)('$name', ({ serve }) => {
  test('takes a request to upgrade for an ordinary one, as node does where nobody upgrades', async () => {
    const { port } = await serve()
    const client = await connectTo(port)
    const headers = { Connection: 'Upgrade', Upgrade: 'echo' }
    expect(await client.ask('GET', '/hello', { headers })).toMatchObject({ status: 200, body: 'hello\n' })
  })
})
