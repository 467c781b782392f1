import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Deadlines } from '#apiserver/chain/deadlines.ts'
import { requestDeadline } from '#apiserver/chain/request-deadline.ts'
import { type ApiExchange, type ApiHandler, apiExchangeOf } from '#apiserver/index.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import { row } from '../support/row.ts'

const TIMED_OUT =
  '{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}\n'
const INTERNAL_ERROR = 2
/** Time enough for a request to come to its handler, also on a busy machine. */
const BRIEF = '400ms'

/** What handlers have seen, one line each. */
type Seen = string[]

const exchangeOf = (request: object): ApiExchange => apiExchangeOf(request) as ApiExchange

/** Settles when the context of the request is over, with the code of the reason. */
const over = (request: object): Promise<string> => {
  const { signal } = exchangeOf(request)
  const code = (): string => (signal.reason as { readonly code: string }).code
  return signal.aborted ? Promise.resolve(code()) : new Promise((resolve) => signal.addEventListener('abort', () => resolve(code())))
}

/** Writes, and says what became of it. */
const write = (response: Parameters<ApiHandler>[1]): Promise<string> =>
  new Promise((resolve) =>
    response.write('too late', (error) => resolve((error as { code?: string } | null | undefined)?.code ?? 'written')),
  )

function serve(config: object = {}): Promise<{ served: ServedApi; seen: Seen }> {
  const seen: Seen = []
  /** Waits until its time is over, and then goes on as if it were not. */
  const stubborn: ApiHandler = async (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://host')
    const { deadlineAt = Number.NaN, receivedAt } = exchangeOf(request)
    response.setHeader('Content-Encoding', 'x-none')
    if (searchParams.has('head')) response.writeHead(200)
    if (searchParams.has('flush')) response.write('first')
    const why = await over(request)
    response.setHeader('X-Late', '1')
    response.removeHeader('Audit-ID')
    seen.push(`${why} after ${Math.round(deadlineAt - receivedAt)} ms; ${await write(response)}`)
    response.end('done')
    if (searchParams.has('fails')) throw new Error('late mistake')
  }
  const setUp: NonNullable<Parameters<typeof serveApi>[0]['setUp']> = (server) => {
    server.handle('/stubborn', stubborn)
    server.handle('/later', (request, response) => {
      void over(request).then(() => response.end('done'))
    })
    server.handle('/deadline', (request, response) => {
      const { deadlineAt = Number.NaN, receivedAt } = exchangeOf(request)
      response.end(String(Math.round(deadlineAt - receivedAt)))
    })
    server.handle('/apis/g/v1/things', (request, response) => {
      response.end(String(exchangeOf(request).deadlineAt))
    })
    server.handle('/fails', (request, response) => {
      void over(request).then((why) => seen.push(why))
      void response
      throw new Error('a mistake')
    })
    server.handle('/listens', (request, response) => {
      void over(request).then((why) => {
        seen.push(why)
      })
      response.flushHeaders()
    })
  }
  return serveApi({ config: { requestTimeout: '60s', ...config }, setUp }).then((served) => ({ served, seen }))
}

describe('the deadline of a request', () => {
  row(
    ['RD-01', 'RD-02', 'RD-03', 'RD-04', 'RD-06', 'TO-19'],
    'is what the client asks for, at most the longest; a watch has none',
    async () => {
      const { served } = await serve()
      const deadline = async (query: string): Promise<string> => (await served.ask(`/deadline${query}`)).text()
      expect(
        await Promise.all(['?timeout=15s', '?timeout=0s', '?timeout=', '?timeout=61s', '?timeout=-1s', '', '?timeout=1.5m'].map(deadline)),
      ).toEqual(['15000', '60000', '60000', '60000', '60000', '60000', '60000'])
      expect(await (await served.ask('/apis/g/v1/things?watch=1&timeout=10s')).text()).toBe('undefined')
      expect(await (await served.ask('/apis/g/v1/things?watch=1&timeout=foo')).text()).toBe('undefined')
    },
  )

  row('RD-05', 'that cannot be read is refused in words of Go, before any handler', async () => {
    const { served, seen } = await serve()
    for (const path of ['/fails', '/nothing', '/readyz']) {
      const answer = await served.ask(`${path}?timeout=foo`)
      expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
        400,
        'application/json',
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"invalid timeout specified in the request URL - time: invalid duration \\"foo\\"","reason":"BadRequest","code":400}\n',
      ])
    }
    expect(seen).toEqual([])
  })

  row('RD-07', 'counts from the arrival, whatever the time is at the filter', async () => {
    const clock = new VirtualClock()
    const passed: ApiExchange[] = []
    const exchange = { receivedAt: clock.now() - 59_999, request: { url: '/?timeout=1m' }, isLongRunning: false } as unknown as ApiExchange
    const { admit } = requestDeadline.make({
      deadlines: new Deadlines(clock, (one) => passed.push(one)),
      requestTimeoutMs: 3_600_000,
      auditing: undefined,
      config: { minRequestTimeoutMs: 0 },
      random: () => 0,
    })
    expect([admit(exchange), passed]).toEqual([true, []])
    await clock.advance(1)
    expect([exchange.deadlineAt, passed]).toEqual([clock.now(), [exchange]])
  })

  row('RD-09', 'ends the context when the handler fails', async () => {
    const { served, seen } = await serve()
    expect((await served.ask('/fails')).status).toBe(500)
    await expect.poll(() => seen).toEqual(['ERR_ABORTED'])
  })

  row(['RD-10', 'TO-14'], 'ends the context when it has passed, and when the client has left before', async () => {
    const { served, seen } = await serve()
    expect((await served.ask('/stubborn?timeout=50ms')).status).toBe(504)
    await expect.poll(() => seen).toEqual(['ERR_HANDLER_TIMEOUT after 50 ms; ERR_HANDLER_TIMEOUT'])
    const client = new AbortController()
    // Its head is there when the handler listens.
    await served.ask('/listens?timeout=1h', { signal: client.signal })
    client.abort()
    await expect.poll(() => seen.slice(1)).toEqual(['ERR_ABORTED'])
  })
})

describe('a request whose time is over', () => {
  row(
    ['TO-02', 'TO-03', 'TO-06', 'TO-07', 'TO-08', 'TO-09'],
    'is answered 504 over HTTP/1.1 and its handler writes in vain; what it does to headers is ignored',
    async () => {
      const { served, seen } = await serve({ requestTimeout: BRIEF })
      for (const method of ['GET', 'PATCH', 'HEAD']) {
        const client = await served.connect()
        const { status, headers, body } = await client.ask(method, '/stubborn', {
          headers: { 'Audit-ID': 'of mine' },
          ...(method === 'PATCH' && { body: 'x' }),
        })
        expect([status, body.toString()]).toEqual([504, method === 'HEAD' ? '' : TIMED_OUT])
        const { date, ...others } = headers as Record<string, string>
        expect(others).toEqual({
          'audit-id': 'of mine',
          'cache-control': 'no-cache, private',
          'content-length': '152',
          'content-type': 'text/plain; charset=utf-8',
          connection: 'keep-alive',
          'keep-alive': expect.any(String),
        })
        // The connection is as good as new.
        expect((await client.ask('GET', '/deadline')).status).toBe(200)
      }
      await expect.poll(() => seen).toHaveLength(3)
      expect(new Set(seen)).toEqual(new Set(['ERR_HANDLER_TIMEOUT after 400 ms; ERR_HANDLER_TIMEOUT']))
      const path = '/stubborn'
      expect(served.counted.filter((line) => line.startsWith('terminated'))).toEqual(Array(3).fill(`terminated 504 ${path}`))
      await expect
        .poll(() => served.counted.filter((line) => line.startsWith('ended')))
        .toEqual(Array(3).fill(`ended after timeout: ok ${path}`))
      expect(served.lines.filter(({ message }) => message === 'Post-timeout activity').map(({ fields }) => fields)).toEqual(
        ['GET', 'PATCH', 'HEAD'].map((method) => ({ method, URI: path, auditID: 'of mine', status: 'ok' })),
      )
    },
  )

  row(['TO-09', 'TO-12', 'TO-16', 'TO-17', 'TO-18'], 'costs its stream over HTTP/2, or is answered 504 on it', async () => {
    const { served, seen } = await serve({ requestTimeout: BRIEF, http2: true })
    const client = await served.connectH2()
    const answer = await client.get('/stubborn?fails', { 'audit-id': 'of mine' })
    expect(answer).toMatchObject({ status: 504, body: TIMED_OUT, code: 0 })
    expect(answer.headers).toMatchObject({ 'audit-id': 'of mine', 'content-type': 'text/plain; charset=utf-8' })
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(await client.get('/stubborn?flush')).toMatchObject({ status: 200, body: 'first', code: INTERNAL_ERROR })
    expect(await client.get('/stubborn?head')).toMatchObject({ status: 200, body: '', code: INTERNAL_ERROR })
    await expect.poll(() => seen).toHaveLength(3)
    expect(await client.get('/deadline')).toMatchObject({ status: 200 })
    expect(client.goaways).toEqual([])
    await expect
      .poll(() => served.counted.filter((line) => line.startsWith('ended')))
      .toEqual(['ended after timeout: panic /stubborn', 'ended after timeout: ok /stubborn', 'ended after timeout: ok /stubborn'])
  })

  row(['TO-11', 'TO-13'], 'has its connection closed over HTTP/1.1 when it has written: before a byte, or in the middle', async () => {
    const { served } = await serve({ requestTimeout: BRIEF })
    const received = async (path: string): Promise<string> => {
      const client = await served.connect()
      client.request('GET', path)
      await client.closed()
      return client.received
    }
    expect(await received('/stubborn?head')).toBe('')
    expect(await received('/stubborn?flush')).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n5\r\nfirst\r\n$/)
  })

  row(['TO-01', 'FW-07'], 'is waited for as what it is: its response no longer, its handler until it has ended', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const served = await serveApi({
      config: { requestTimeout: '60s' },
      setUp: (server) => {
        server.handle('/held', () => released)
        server.handle('/slow', async (_request, response) => {
          await sleep(20)
          response.end('in time')
        })
      },
    })
    expect(await (await served.ask('/slow?timeout=10s')).text()).toBe('in time')
    expect((await served.ask('/held?timeout=100ms')).status).toBe(504)
    expect(served.life.counts().requests).toBe(0)
    const drained: string[] = []
    served.life.events$.subscribe((event) => {
      if (event.type === 'signal') drained.push(event.name)
    })
    const stopped = served.life.stop()
    await expect.poll(() => drained).toContain('InFlightRequestsDrained')
    expect(drained).not.toContain('HandlersDone')
    release()
    expect((await stopped).exitCode).toBe(0)
    expect(served.counted).toEqual(['terminated 504 /held', 'ended after timeout: ok /held'])
  })

  test('may end by itself what it was told to end: no error, and no end of the process', async () => {
    const { served } = await serve({ requestTimeout: '50ms' })
    expect((await served.ask('/later')).status).toBe(504)
    await expect.poll(() => served.counted).toEqual(['terminated 504 /later', 'ended after timeout: ok /later'])
    expect((await served.life.stop()).errors).toEqual([])
  })
})
