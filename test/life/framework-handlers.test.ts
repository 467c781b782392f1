// What handlers of the usual frameworks are given is enough for shutdownSignalOf() and markWatch().
// Fails when: one of them is not understood any more (the web Request of @hono/node-server keeps
// node's in a place of its own), two forms of one request give different signals, what is no
// request is taken for one, or the plugin of Fastify does not log as the app does.
import { once } from 'node:events'
import { createServer as createNodeServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import fastify, { type RouteHandlerMethod } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import quiesce from '#src/frameworks/fastify.ts'
import { attachLifecycle, createServer, markWatch, shutdownSignalOf } from '#src/index.ts'
import type { Lifecycle } from '#src/lifecycle/lifecycle.ts'

const OPTIONS = { platform: 'unknown', deadline: '30s', logger: false } as const

type Ask = typeof shutdownSignalOf
type Seen = (given: object) => void

/** Each calls `seen` with every form in which its handlers have the request. */
const LISTENERS: Readonly<Record<string, (seen: Seen) => RequestListener | Promise<RequestListener>>> = {
  'node:http': (seen) => (request, response) => {
    seen(request)
    response.end()
  },
  Hono: (seen) => {
    const app = new Hono()
    app.get('/', (context) => {
      for (const given of [context, context.req, context.req.raw]) seen(given)
      return context.text('')
    })
    return getRequestListener(app.fetch) as RequestListener
  },
  Express: (seen) =>
    express().get('/', (request, response) => {
      seen(request)
      response.end()
    }),
  Fastify: async (seen) => {
    const app = fastify()
    app.get('/', (request) => {
      seen(request)
      seen(request.raw)
      return ''
    })
    await app.ready()
    return app.routing
  },
  Koa: (seen) =>
    new Koa()
      .use((context) => {
        for (const given of [context, context.req]) seen(given)
        context.body = ''
      })
      .callback() as RequestListener,
}

describe.each(Object.keys(LISTENERS))('%s', (framework) => {
  test.each([
    ['shutdownSignalOf', shutdownSignalOf],
    ['markWatch', markWatch],
  ] as const)('its handlers can call %s with what they have', async (_, ask: Ask) => {
    const signals = new Set<AbortSignal>()
    let forms = 0
    const listener = await LISTENERS[framework]?.((given) => {
      forms++
      signals.add(ask(given))
    })
    const server = createNodeServer(listener)
    const life = attachLifecycle(server, OPTIONS)
    onTestFinished(async () => void (await life.stop()))
    server.listen(0, '127.0.0.1')
    await Promise.all([life.start(), once(server, 'listening')])
    await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text()
    expect(forms).toBeGreaterThan(0)
    expect(signals.size).toBe(1)
  })
})

test('a created server gives its fetch handler a Request that is enough', async () => {
  const signals: AbortSignal[] = []
  const life = createServer(
    (request) => {
      signals.push(shutdownSignalOf(request))
      return new Response('')
    },
    { ...OPTIONS, port: 0, host: '127.0.0.1' },
  )
  onTestFinished(async () => void (await life.stop()))
  await life.start()
  await (await fetch(life.addresses[0]?.url ?? '')).text()
  expect(signals).toHaveLength(1)
})

describe('Fastify', () => {
  /** An app with the plugin, which listens; a query of a lazy kind runs once for each `then`. */
  async function appWith(handler: RouteHandlerMethod): Promise<string> {
    const app = fastify()
    await app.register(quiesce, { ...OPTIONS, signals: [], exit: 'natural' })
    app.get('/', handler)
    onTestFinished(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  }

  test('a handler may return the reply that it has sent a stream with', async () => {
    const crashes: unknown[] = []
    const onCrash = (error: unknown): void => void crashes.push(error)
    process.on('uncaughtException', onCrash)
    onTestFinished(() => void process.off('uncaughtException', onCrash))
    const address = await appWith((_, reply) => reply.send(Readable.from(['some ', 'text'])))
    expect(await (await fetch(address)).text()).toBe('some text')
    await (await fetch(address)).text()
    expect(crashes).toEqual([])
  })

  test('what a handler returns is waited for once: a query that begins then begins once', async () => {
    let begun = 0
    const query: PromiseLike<string> = {
      // biome-ignore lint/suspicious/noThenProperty: queries of knex and Prisma are of this kind
      then: (resolve, reject) => {
        begun += 1
        return Promise.resolve('one row').then(resolve, reject)
      },
    }
    const address = await appWith(() => query as Promise<string>)
    expect(await (await fetch(address)).text()).toBe('one row')
    expect(begun).toBe(1)
  })

  test('an app is called so where its server is expected', async () => {
    const app = fastify()
    onTestFinished(() => app.close())
    expect(() => attachLifecycle(app as never)).toThrow(
      /^server: got a Fastify app, allowed: .*app\.server, or register quiesce\/fastify\)$/,
    )
  })

  test.each([
    ['its logger, when it has one', { logger: true }, true],
    ['nothing, when its logger is off', {}, false],
    ['nothing, when its logger is silent', { logger: { level: 'silent' } }, false],
  ])('the plugin logs by %s', async (_, options, logs) => {
    const app = fastify(options)
    onTestFinished(() => app.close())
    await app.register(quiesce)
    expect((app.life as unknown as Lifecycle).options.logger).toBe(logs ? app.log : undefined)
  })

  test('a logger that is given is taken', async () => {
    const app = fastify({ logger: true })
    onTestFinished(() => app.close())
    await app.register(quiesce, { logger: false })
    expect((app.life as unknown as Lifecycle).options.logger).toBe(false)
  })
})

test.each([[undefined], [null], ['/watch'], [{}], [new Request('http://localhost/')]])('%s is no request of ours', (given) => {
  for (const ask of [shutdownSignalOf, markWatch]) {
    expect(() => ask(given as object)).toThrow(
      expect.objectContaining({ code: 'ERR_UNKNOWN_REFERENCE', message: expect.stringMatching(/^request: got .*, allowed: /) as string }),
    )
  }
})
