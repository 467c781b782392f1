// Watches of every kind as programs, ended by SIGTERM; their clients are those that applications
// have: the WebSocket and the EventSource of undici, node's own requests, socket.io's and tRPC's.
// Fails when: a WebSocket is closed with another code than 1001, in another way, or never; a stream
// is reset or has no end; what a handler says goodbye with does not arrive; a refused handshake has
// no answer; or the end waits for what it need not wait for.
import { get, type IncomingMessage } from 'node:http'
import { EventSource } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { chat } from '../recipes/clients.ts'
import { socketIo, subscription } from '../recipes/library-clients.mjs'
import { startProgram, type TestProcess } from '../support/process.ts'

const CLOSED = { code: 1001, reason: 'the server is shutting down', wasClean: true }

async function serving(program: string, env: Readonly<Record<string, string>> = {}): Promise<{ program: TestProcess; url: string }> {
  const started = startProgram(`../recipes/programs/${program}.mjs`, {}, { env })
  const beginning = 'Serving on '
  for (;;) {
    const line = started.log.find(({ msg }) => msg.startsWith(beginning))
    if (line) return { program: started, url: line.msg.slice(beginning.length) }
    if (started.child.exitCode !== null) throw new Error(`it ended without serving:\n${started.stderr}`)
    await started.next()
  }
}

/** How a process ended, and how long that took, in milliseconds. */
async function end(program: TestProcess): Promise<{ readonly code: number | null; readonly tookMs: number }> {
  const at = performance.now()
  program.signal('SIGTERM')
  const ended = await program.ended()
  return { code: ended.code, tookMs: ended.at - at }
}

/** A response as it comes, and how it ended. */
async function stream(url: string) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => get(url, resolve).once('error', reject))
  let text = ''
  let first: () => void = () => undefined
  const begun = new Promise<void>((resolve) => {
    first = resolve
  })
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    first()
  })
  const ended = new Promise<string>((resolve) => {
    response.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    response.once('end', () => resolve(response.complete ? 'whole' : 'in part'))
  })
  return { begun, ended, text: () => text }
}

describe('Hono on a created server', () => {
  test('a handler says goodbye first', async () => {
    const { program, url } = await serving('hono')
    const { messages, closed } = await chat(`${url}/chat?goodbye=1`)
    const ended = end(program)
    expect(await closed).toEqual(CLOSED)
    expect(messages).toEqual(['first', 'goodbye'])
    expect((await ended).code).toBe(0)
  })

  const upgrade = (url: string, protocol: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const headers = {
        Connection: 'Upgrade',
        Upgrade: protocol,
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      }
      get(url, { headers, agent: false }, (response) => resolve(response.resume().statusCode)).once('error', reject)
    })

  test.each([
    ['that has another answer', '/closed', 'websocket', 403],
    ['that fails', '/fails', 'websocket', 500],
    ['that is not there', '/nowhere', 'websocket', 404],
    ['for another protocol', '/chat', 'h2c', 400],
  ])('answers a request to upgrade %s', async (_, path, protocol, status) => {
    const { program, url } = await serving('hono')
    expect(await upgrade(`${url}${path}`, protocol)).toBe(status)
    // It serves on.
    expect(await (await fetch(url)).text()).toBe('hello')
    expect((await end(program)).code).toBe(0)
    expect(program.log.filter(({ msg }) => msg === 'thrown on purpose')).toHaveLength(path === '/fails' ? 1 : 0)
  })
})

describe('socket.io', () => {
  test.each([['websocket'], ['polling']] as const)(
    'over %s: its client hears that the transport has closed, and comes back',
    async (transport) => {
      const { program, url } = await serving('socket-io')
      const { first, disconnected, comesBack, leave } = socketIo(url, transport)
      onTestFinished(leave)
      await first
      if (transport === 'polling') await program.said('polls')
      const { code, tookMs } = await end(program)
      expect(await disconnected).toBe('transport close')
      await comesBack
      expect(code).toBe(0)
      // A poll waits for 25 s.
      expect(tookMs).toBeLessThan(10_000)
    },
  )
})

describe('an event stream', () => {
  test('ends whole, after the goodbye of its handler', async () => {
    const { program, url } = await serving('node')
    const events = await stream(`${url}/events`)
    await events.begun
    const ended = end(program)
    expect(await events.ended).toBe('whole')
    expect(events.text()).toMatch(/event: last\ndata: bye\n\n$/)
    expect((await ended).code).toBe(0)
  })

  test('is an end to an EventSource, which gets the goodbye and connects anew', async () => {
    const { program, url } = await serving('node')
    const source = new EventSource(`${url}/events`)
    onTestFinished(() => source.close())
    const last = new Promise<string>((resolve) => source.addEventListener('last', (event) => resolve(String((event as MessageEvent).data))))
    const errors = new Promise<number>((resolve) => source.addEventListener('error', () => resolve(source.readyState)))
    await new Promise((resolve) => source.addEventListener('message', resolve))
    const ended = end(program)
    expect(await last).toBe('bye')
    expect(await errors).toBe(EventSource.CONNECTING)
    expect((await ended).code).toBe(0)
  })

  test('of tRPC ends by its signal: its client has had the last value, and connects anew', async () => {
    const { program, url } = await serving('trpc')
    const { values, begun, completed, leave } = subscription(url)
    onTestFinished(leave)
    await begun
    const ended = end(program)
    await completed
    expect(values).toEqual(['first', 'last'])
    expect((await ended).code).toBe(0)
  })
})

test('a chunked watch and a long poll end whole', async () => {
  const { program, url } = await serving('node')
  const chunks = await stream(`${url}/chunks`)
  await chunks.begun
  const poll = fetch(`${url}/poll`)
  await program.said('polls')
  const ended = end(program)
  expect(await chunks.ended).toBe('whole')
  expect(chunks.text()).toBe('{"type":"ADDED"}\n{"type":"BOOKMARK"}\n')
  expect((await poll).status).toBe(204)
  expect((await ended).code).toBe(0)
})
