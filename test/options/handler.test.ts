import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer, type Handler } from '#src/create-server.ts'
import { serve } from '#src/frameworks/hono.ts'
import { testServer } from '#src/testing/test-life.ts'
import { RawClient } from '../support/raw-client.ts'

const silent = { port: 0, host: '127.0.0.1', logger: false } as const
const create = (handler: unknown) => createServer(handler as Handler, silent)

/** The first answer of a server with this handler, and what it recorded of it. */
async function answerOf(handler: unknown) {
  const server = create(handler)
  onTestFinished(() => void server.stop())
  await server.start()
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
    get(server.addresses[0]?.url as string, { agent: false }, resolve).on('error', reject),
  )
  const body = await text(response)
  const { errors } = await server.stop()
  return { status: response.statusCode, body, errors: errors.map(({ where, error }) => ({ where, ...error })) }
}

describe('a handler of the wrong kind', () => {
  test.each<[string, unknown]>([
    ['an Express app', express()],
    ['a function that listens', Object.assign(() => {}, { listen() {} })],
    ['a class', class App {}],
    ['nothing', undefined],
    ['an object', {}],
  ])('is refused at once: %s', (_, handler) => {
    expect(() => create(handler)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', message: expect.stringMatching(/^handler: got .*\{ listener: app \}$/) }),
    )
  })

  test.each([
    ['handler.port: got 3104, allowed: none here; options go second: createServer(app, { port })', { port: 3104 }],
    ['handler.hostname: got "::", allowed: none here; options go second: createServer(app, { host })', { hostname: '::' }],
  ])('is refused with what belongs to the options: %s', (message, address) => {
    const given = { fetch: () => new Response(), ...address }
    expect(() => create(given)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', message }))
    expect(() => serve(given)).toThrow(expect.objectContaining({ message: message.replace('createServer', 'serve') }))
  })

  test.each<[string, unknown]>([
    ['answers nothing', () => undefined],
    ['answers nothing later', () => Promise.resolve()],
    ['answers text', () => 'hello'],
    ['is a request listener', (_: unknown, response: { end(text: string): void }) => response.end('hello')],
    ['is a late request listener', async (_: unknown, response: { writeHead(status: number): void }) => response.writeHead(200)],
    ['is one that hears its request', (request: { on(event: string): void }) => request.on('end')],
    ['is one that drops the body', (request: { resume(): void }) => request.resume()],
    ['is one that pipes the body', (request: { pipe(to: unknown): void }, response: unknown) => request.pipe(response)],
    [
      'is one that reads the body',
      async (request: AsyncIterable<unknown>) => {
        for await (const _chunk of request);
      },
    ],
  ])('is told of at the request that shows it: it %s', async (_, handler) => {
    const { status, errors } = await answerOf(handler)
    expect(status).toBe(500)
    expect(errors).toEqual([
      expect.objectContaining({
        where: 'handler GET /',
        code: 'ERR_OPTION_INVALID',
        message: expect.stringContaining('{ listener: app }'),
      }),
    ])
  })

  test('is no error of a handler’s own', async () => {
    const { errors } = await answerOf(() => {
      throw new TypeError('x is not a function')
    })
    expect(errors).toEqual([expect.objectContaining({ message: 'x is not a function' })])
  })
})

test.each<[string, unknown]>([
  ['a fetch function', () => new Response('hello')],
  ['a late one', async () => new Response('hello')],
  ['an object with fetch', { fetch: () => new Response('hello') }],
  ['a listener', { listener: express().get('/', (_, response) => void response.send('hello')) }],
])('%s is served', async (_, handler) => {
  expect(await answerOf(handler)).toEqual({ status: 200, body: 'hello', errors: [] })
})

test('a fetch handler that fails after its cut is late, and one that fails before is answered for', async () => {
  const answers = new Map<string, (error: Error) => void>()
  const handler = (request: Request) => new Promise<Response>((_, reject) => answers.set(new URL(request.url).pathname, reject))
  await using t = await testServer(handler, { deadline: '10s', shutdownDelay: 0, logger: false })
  const [early, late] = [(await t.connect()).request('/early'), (await t.connect()).request('/late')]
  late.response.catch(() => {})
  await t.clock.advance(0)
  answers.get('/early')?.(new Error('broken'))
  await t.clock.advance(0)
  expect(await early.response).toMatchObject({ status: 500, body: 'Internal Server Error\n' })
  t.life.signal('HandlersDone').addEventListener('abort', () => answers.get('/late')?.(new Error('too late')))
  const { errors, lateAnswers } = await t.stop()
  expect(lateAnswers).toMatchObject([{ what: 'handler GET /late', answer: 'rejected', error: { message: 'too late' } }])
  expect(errors.map(({ where, error }) => [where, error.message])).toEqual([
    ['handler GET /early', 'broken'],
    ['handler GET /late', 'too late'],
  ])
})

test('a request with a Host that is none is its client’s mistake', async () => {
  const server = create(() => new Response('hello'))
  onTestFinished(() => void server.stop())
  await server.start()
  const client = await RawClient.open({ port: server.addresses[0]?.port as number })
  onTestFinished(() => client.abort())
  expect(await client.ask('GET', '/', { headers: { Host: 'a b' } })).toMatchObject({
    status: 400,
    body: '400 Bad Request: malformed Host header\n',
  })
  expect(await client.closed()).toBe('ended')
  expect((await server.stop()).errors).toEqual([])
})
