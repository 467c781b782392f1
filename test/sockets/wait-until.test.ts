import type { IncomingMessage, RequestListener } from 'node:http'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer, type Handler } from '#src/create-server.ts'
import { serve } from '#src/frameworks/hono.ts'
import { waitUntil } from '#src/http/wait-until.ts'
import type { Life } from '#src/lifecycle/life.ts'
import { hasSettled, Latch, rig } from './rig.ts'

/** Work that goes on after its response, and holds that come too late. */

const answering =
  (then: (request: IncomingMessage) => void): RequestListener =>
  (request, response) => {
    response.end('accepted')
    then(request)
  }

describe('waitUntil', () => {
  test('has the request drain wait for work whose response has left', async () => {
    const work = new Latch()
    const { traffic, connect } = await rig(answering((request) => waitUntil(request, work.promise)))
    const client = await connect()
    client.request('POST', '/orders', { headers: { 'Content-Length': '0' } })
    expect((await client.response()).status).toBe(200)
    await expect.poll(() => traffic.counts()).toMatchObject({ requests: 0, holds: 1 })
    traffic.stopAccepting()
    const drained = traffic.drains.requests()
    expect(await hasSettled(drained)).toBe(false)
    expect(traffic.drains.requestStragglers()).toMatchObject([{ name: 'waitUntil POST /orders' }])
    work.resolve()
    await drained
  })

  test('waits once for work that begins when it is waited for', async () => {
    let begun = 0
    const query: PromiseLike<void> = {
      // biome-ignore lint/suspicious/noThenProperty: queries of knex and Prisma are of this kind
      then: (resolve, reject) => {
        begun += 1
        return Promise.resolve().then(resolve, reject)
      },
    }
    const { traffic, connect } = await rig(answering((request) => waitUntil(request, query)))
    const client = await connect()
    client.request('GET', '/')
    expect((await client.response()).status).toBe(200)
    await expect.poll(() => traffic.counts()).toMatchObject({ requests: 0, holds: 0 })
    expect(begun).toBe(1)
  })

  test('takes work of a request that is answered while the drain is under way', async () => {
    const answer = new Latch()
    const work = new Latch()
    const { traffic, connect } = await rig(async (request, response) => {
      await answer.promise
      response.end('ok')
      waitUntil(request, work.promise)
    })
    const client = await connect()
    client.request('GET', '/slow')
    await expect.poll(() => traffic.counts().requests).toBe(1)
    traffic.stopAccepting()
    const drained = traffic.drains.requests()
    answer.resolve()
    expect((await client.response()).status).toBe(200)
    expect(await hasSettled(drained)).toBe(false)
    work.resolve()
    await drained
  })

  test('names work that comes when the drain is over', async () => {
    let late: IncomingMessage | undefined
    const { traffic, connect, facts } = await rig(
      answering((request) => {
        late = request
      }),
    )
    const client = await connect()
    client.request('GET', '/late')
    await client.response()
    traffic.stopAccepting()
    await traffic.drains.requests()
    waitUntil(late as IncomingMessage, Promise.resolve())
    expect(facts).toEqual([{ type: 'warning', message: 'waitUntil GET /late is not waited for: the drain is over' }])
    expect(traffic.counts().rejected.hold).toBe(1)
  })

  test('reports what fails, and goes on', async () => {
    const { traffic, connect, facts } = await rig(answering((request) => waitUntil(request, Promise.reject(new Error('no e-mail')))))
    const client = await connect()
    client.request('GET', '/')
    await client.response()
    await expect.poll(() => facts).toMatchObject([{ type: 'error', where: 'waitUntil', error: { message: 'no e-mail' } }])
    expect(traffic.counts().holds).toBe(0)
  })

  test.each<[string, unknown]>([
    ['a function', () => Promise.resolve()],
    ['nothing', undefined],
  ])('refuses %s for a promise', async (_, given) => {
    const thrown: unknown[] = []
    const { connect } = await rig(
      answering((request) => {
        try {
          waitUntil(request, given as Promise<void>)
        } catch (error) {
          thrown.push(error)
        }
      }),
    )
    const client = await connect()
    client.request('GET', '/')
    await client.response()
    expect(thrown).toMatchObject([{ code: 'ERR_OPTION_INVALID', message: expect.stringContaining('work of waitUntil(): got') }])
  })

  test('refuses the request of another server', () => {
    expect(() => waitUntil({}, Promise.resolve())).toThrow(expect.objectContaining({ code: 'ERR_UNKNOWN_REFERENCE' }))
  })
})

describe('an app that uses the context of edge platforms', () => {
  interface Context {
    waitUntil(promise: Promise<unknown>): void
  }
  const options = { port: 0, host: '127.0.0.1', logger: false as const }
  const hono = (work: Promise<void>) =>
    new Hono().get('/', (c) => {
      c.executionCtx.waitUntil(work)
      return c.text('done')
    })
  const fetch = (work: Promise<void>) => (_request: Request, _env: unknown, context: Context) => {
    context.waitUntil(work)
    return new Response('done')
  }
  test.each<[string, (work: Promise<void>) => Life]>([
    ['serve of quiesce/hono', (work) => serve(hono(work), options)],
    ['createServer of an app', (work) => createServer(hono(work), options)],
    ['createServer of a module with fetch', (work) => createServer({ fetch: fetch(work) }, options)],
    ['createServer of a fetch function', (work) => createServer(fetch(work) as Handler, options)],
  ])('is waited for by %s', async (_, make) => {
    const work = new Latch()
    const life = make(work.promise)
    onTestFinished(() => void life.stop({ now: true }))
    await life.start()
    const [{ url = '' } = {}] = life.addresses
    expect(await (await globalThis.fetch(url)).text()).toBe('done')
    const ended = life.stop()
    expect(await hasSettled(ended)).toBe(false)
    expect(life.counts()).toMatchObject({ holds: 1 })
    work.resolve()
    expect(await ended).toMatchObject({ exitCode: 0, errors: [] })
  })
})

describe('a hold that comes when the drain has begun', () => {
  test('is counted, and named in a warning, also when its promise is left alone', async () => {
    const { traffic, facts } = await rig(undefined)
    traffic.stopAccepting()
    void traffic.drains.requests()
    void traffic.holds.run('message 7', () => undefined)
    expect(() => traffic.holds.take('message 8')).toThrow(expect.objectContaining({ code: 'ERR_NOT_ACCEPTING' }))
    await expect.poll(() => traffic.counts().rejected.hold).toBe(2)
    expect(facts).toEqual([
      { type: 'warning', message: 'hold "message 7" was refused and its work not begun: the server is draining' },
      { type: 'warning', message: 'hold "message 8" was refused and its work not begun: the server is draining' },
    ])
  })

  test('is only counted when there are many', async () => {
    const { traffic, facts } = await rig(undefined)
    traffic.stopAccepting()
    void traffic.drains.requests()
    for (let message = 0; message < 1000; message++) void traffic.holds.run(`message ${message}`, () => undefined)
    await expect.poll(() => traffic.counts().rejected.hold).toBe(1000)
    expect(facts).toHaveLength(21)
    expect(facts.at(-1)).toEqual({ type: 'warning', message: 'further refused holds are counted and not named' })
  })
})
