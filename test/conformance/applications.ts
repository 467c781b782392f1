import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import express, { type Express } from 'express'
import fastify, { type FastifyInstance } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import type { FetchHandler } from '#src/index.ts'
import { countBytes, type Stage } from './stage.ts'

/**
 * The same routes in every framework, each written as its users would:
 *
 * | Route | Answers |
 * |---|---|
 * | `/hello` | at once |
 * | `/slow` | when the test lets it |
 * | `/stream`, `/broken` | two chunks, or one and a failure |
 * | `/watch`, `/marked`, `/endless` | until told to end |
 * | `/upload` | counts bytes |
 * | `/throws`, `/rejects` | fail |
 *
 * Everything else is a 404 of the framework's own.
 */

const SSE = 'text/event-stream'

export function listenerApplication(stage: Stage): RequestListener {
  const text = (response: ServerResponse, body: string, status = 200): void => {
    response.writeHead(status, { 'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(body) }).end(body)
  }
  const send = (response: ServerResponse, chunks: AsyncGenerator<string>, type = 'text/plain'): Promise<void> => {
    response.writeHead(200, { 'Content-Type': type })
    return pipeline(chunks, response).catch(() => undefined)
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    switch (request.url) {
      case '/hello':
        return text(response, 'hello\n')
      case '/slow':
        return text(response, await stage.slowly())
      case '/stream':
        return send(response, stage.streamed())
      case '/broken':
        return send(response, stage.broken())
      case '/watch':
        return send(response, stage.watched(request), SSE)
      case '/endless':
        return send(response, stage.watched(request))
      case '/marked':
        return send(response, stage.marked(request))
      case '/upload':
        return text(response, `${await countBytes(request)}\n`)
      case '/rejects':
        return stage.rejecting()
      default:
        return text(response, 'not found\n', 404)
    }
  }
  // Both ways to fail: what a listener throws, it throws at node; what its promise rejects with,
  // nobody looks at.
  return (request, response) => (request.url === '/throws' ? stage.failing() : answer(request, response))
}

export function fetchApplication(stage: Stage): FetchHandler {
  const stream = (chunks: AsyncGenerator<string>, type = 'text/plain'): Response =>
    new Response(Readable.toWeb(Readable.from(chunks).map((chunk: string) => Buffer.from(chunk))) as ReadableStream, {
      headers: { 'Content-Type': type },
    })
  return async (request, env) => {
    const incoming = env.incoming as IncomingMessage
    switch (new URL(request.url).pathname) {
      case '/hello':
        return new Response('hello\n')
      case '/slow':
        return new Response(await stage.slowly())
      case '/stream':
        return stream(stage.streamed())
      case '/broken':
        return stream(stage.broken())
      case '/watch':
        return stream(stage.watched(incoming), SSE)
      case '/endless':
        return stream(stage.watched(incoming))
      case '/marked':
        return stream(stage.marked(incoming))
      case '/upload':
        return new Response(`${await countBytes(request.body as unknown as AsyncIterable<Uint8Array>)}\n`)
      case '/throws':
        return stage.failing()
      case '/rejects':
        return stage.rejecting()
      default:
        return new Response('not found\n', { status: 404 })
    }
  }
}

export function honoApplication(stage: Stage): Hono<{ Bindings: { incoming: IncomingMessage } }> {
  const app = new Hono<{ Bindings: { incoming: IncomingMessage } }>()
  const handle = fetchApplication(stage)
  app.get('/hello', (context) => context.text('hello\n'))
  app.get('/slow', async (context) => context.text(await stage.slowly()))
  for (const path of ['/stream', '/broken', '/watch', '/endless', '/marked']) {
    app.get(path, (context) =>
      handle(
        context.req.raw,
        { incoming: context.env.incoming, outgoing: undefined },
        { waitUntil: () => {}, passThroughOnException: () => {}, props: {} },
      ),
    )
  }
  app.post('/upload', async (context) => context.text(`${(await context.req.arrayBuffer()).byteLength}\n`))
  app.get('/throws', () => stage.failing())
  app.get('/rejects', () => stage.rejecting())
  // Hono's own would print the errors that these tests make.
  app.onError((error) => {
    throw error
  })
  return app
}

export function expressApplication(stage: Stage): Express {
  const app = express()
  const send = (response: express.Response, chunks: AsyncGenerator<string>, type = 'text/plain'): Promise<void> => {
    response.type(type)
    return pipeline(chunks, response)
  }
  app.get('/hello', (_, response) => void response.type('text/plain').send('hello\n'))
  app.get('/slow', async (_, response) => void response.type('text/plain').send(await stage.slowly()))
  app.get('/stream', (_, response) => send(response, stage.streamed()))
  app.get('/broken', (_, response) => send(response, stage.broken()))
  app.get('/watch', (request, response) => send(response, stage.watched(request), SSE))
  app.get('/endless', (request, response) => send(response, stage.watched(request)))
  app.get('/marked', (request, response) => send(response, stage.marked(request)))
  app.post('/upload', async (request, response) => void response.type('text/plain').send(`${await countBytes(request)}\n`))
  app.get('/throws', () => stage.failing())
  app.get('/rejects', () => stage.rejecting())
  return app
}

export function fastifyApplication(stage: Stage): FastifyInstance {
  const app = fastify({ bodyLimit: 2 ** 26 })
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  const plain = 'text/plain'
  app.get('/hello', (_, reply) => reply.type(plain).send('hello\n'))
  app.get('/slow', async (_, reply) => reply.type(plain).send(await stage.slowly()))
  app.get('/stream', (_, reply) => reply.type(plain).send(Readable.from(stage.streamed())))
  app.get('/broken', (_, reply) => reply.type(plain).send(Readable.from(stage.broken())))
  app.get('/watch', ({ raw }, reply) => reply.type(SSE).send(Readable.from(stage.watched(raw))))
  app.get('/endless', ({ raw }, reply) => reply.type(plain).send(Readable.from(stage.watched(raw))))
  app.get('/marked', ({ raw }, reply) => reply.type(plain).send(Readable.from(stage.marked(raw))))
  app.post('/upload', async ({ body }, reply) => reply.type(plain).send(`${await countBytes(body as Readable)}\n`))
  app.get('/throws', () => stage.failing())
  app.get('/rejects', () => stage.rejecting())
  return app
}

export function koaApplication(stage: Stage): Koa {
  const app = new Koa()
  app.silent = true
  const send = (context: Koa.Context, chunks: AsyncGenerator<string>, type = 'text/plain'): void => {
    context.type = type
    context.body = Readable.from(chunks)
  }
  app.use(async (context) => {
    switch (context.path) {
      case '/hello':
        context.body = 'hello\n'
        return
      case '/slow':
        context.body = await stage.slowly()
        return
      case '/stream':
        return send(context, stage.streamed())
      case '/broken':
        return send(context, stage.broken())
      case '/watch':
        return send(context, stage.watched(context.req), SSE)
      case '/endless':
        return send(context, stage.watched(context.req))
      case '/marked':
        return send(context, stage.marked(context.req))
      case '/upload':
        context.body = `${await countBytes(context.req)}\n`
        return
      case '/throws':
        return stage.failing()
      case '/rejects':
        await stage.rejecting()
    }
  })
  return app
}
