import { describe, expect, test } from 'vitest'
import { type ApiExchange, apiExchangeOf } from '#apiserver/api-exchange.ts'
import { ABORT_HANDLER, type ApiHandler } from '#apiserver/index.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import { row } from '../support/row.ts'

const PANIC = 'This request caused apiserver to panic. Look in the logs for details.\n'

/** What is written in the step in which a handler fails has not been sent yet. */
const panics: ApiHandler = async (request, response) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://host')
  response.setHeader('Content-Encoding', 'x-none')
  response.setHeader('Cache-Control', 'max-age=1')
  if (searchParams.has('head')) response.writeHead(200)
  if (searchParams.has('flush')) await new Promise((resolve) => response.write('half', resolve))
  if (searchParams.has('abort')) throw ABORT_HANDLER
  throw new Error('a mistake')
}

/** Filters before the count may have set any header: that of one of the user's is kept, too. */
row('TO-04', 'a handler that fails is answered with what a filter of the user has set before the count', async () => {
  const served = await serveApi({
    config: {
      hstsDirectives: ['max-age=1'],
      filters: [
        {
          name: 'mine',
          after: 'audit-init',
          admit: ({ response }) => {
            response.setHeader('X-Mine', 'kept')
            response.setHeader('Cache-Control', 'mine')
            return true
          },
        },
        {
          name: 'later',
          admit: ({ response }) => {
            response.setHeader('X-Later', 'not kept')
            return true
          },
        },
      ],
    },
    setUp: (server) => server.handle('/panic', panics),
  })
  const { headers } = await served.ask('/panic')
  expect(Object.fromEntries(headers)).toMatchObject({
    'x-mine': 'kept',
    'cache-control': 'mine',
    'strict-transport-security': 'max-age=1',
    'audit-id': expect.stringMatching(/^[\da-f-]{36}$/),
  })
  expect(headers.has('x-later')).toBe(false)
})

test('a filter that answers neither true nor false lets nothing in: 500, reported with what it has answered', async () => {
  const places = [{ after: 'audit-init' }, {}]
  const answers = [() => undefined, () => 1, async () => undefined, async () => 'yes', () => Promise.reject(new Error('not allowed'))]
  for (const place of places) {
    const reported: string[] = []
    for (const answer of answers) {
      let handled = 0
      const served = await serveApi({
        config: { filters: [{ name: 'mine', ...place, admit: answer as unknown as () => boolean }] },
        setUp: (server) => server.handle('/x', (_request, response) => void response.end(String(handled++))),
      })
      expect((await served.ask('/x')).status, String(answer)).toBe(500)
      expect(handled).toBe(0)
      reported.push(...(await served.life.stop()).errors.map(({ error }) => error.message))
    }
    const atOnce = 'true or false, at once: only those behind the counting may take time'
    const what = ['undefined', '1', ...(place.after ? Array<string>(3).fill('a promise') : ['undefined', '"yes"'])]
    const allowed = place.after ? atOnce : 'true or false, or a promise of it'
    expect(reported).toEqual([
      ...what.map((shown) => `filter "mine": returned ${shown}, allowed: ${allowed}`),
      ...(place.after ? [] : ['not allowed']),
    ])
  }
})

const serve = (http2 = false): Promise<ServedApi> =>
  serveApi({
    config: { http2 },
    setUp: (server) => {
      server.handle('/panic', panics)
      server.handle('/panic/at-once', () => {
        throw new Error('a mistake')
      })
      server.handle('/apis/g/v1/things', panics)
      server.handle('/fine', (_request, response) => response.end('fine'))
    },
  })

const lines = ({ lines: all }: ServedApi, message: string): readonly object[] =>
  all.filter((line) => line.message === message).map(({ fields }) => fields)

describe('a handler that fails', () => {
  row(
    ['PN-04', 'TO-04'],
    'is answered 500 with what the filters have set, and nothing of its own; the log says which request',
    async () => {
      const served = await serve()
      for (const path of ['/panic', '/panic/at-once', '/apis/g/v1/things?watch=1']) {
        const answer = await served.ask(path, { headers: { 'Audit-ID': 'of mine' } })
        expect([answer.status, await answer.text()]).toEqual([500, PANIC])
        expect(Object.fromEntries(answer.headers)).toEqual({
          'audit-id': 'of mine',
          'cache-control': 'no-cache, private',
          'content-length': '70',
          'content-type': 'text/plain; charset=utf-8',
          'x-content-type-options': 'nosniff',
          connection: 'keep-alive',
          'keep-alive': expect.any(String),
          date: expect.any(String),
        })
      }
      expect(lines(served, "apiserver panic'd")).toEqual(
        ['/panic', '/panic/at-once', '/apis/g/v1/things?watch=1'].map((URI) => ({ method: 'GET', URI, auditID: 'of mine' })),
      )
      const errors = served.lines.filter(({ level, message }) => level === 'error' && message !== "apiserver panic'd")
      expect(JSON.stringify(errors)).toMatch(/a mistake.*panics\.test\.ts/)
      expect(served.counted).toEqual([])
    },
  )

  row(['PN-01', 'TO-05'], 'is broken off over HTTP/1.1 once it has sent something, and always when it wants to be', async () => {
    const served = await serve()
    const seen = async (path: string): Promise<string> => {
      const client = await served.connect()
      client.request('GET', path, { headers: { 'Audit-ID': 'of mine' } })
      await client.closed()
      return client.received.split('\r\n\r\n')[1] ?? 'nothing'
    }
    expect(await seen('/panic?head')).toBe('nothing')
    expect(await seen('/panic?flush')).toBe('4\r\nhalf\r\n')
    const errors = served.lines.length
    expect(await seen('/panic?abort')).toBe('nothing')
    expect(await seen('/panic?abort&flush')).toBe('4\r\nhalf\r\n')
    expect(lines(served, 'Timeout or abort while handling')).toEqual([{ method: 'GET', URI: '/panic?abort', auditID: 'of mine' }])
    expect(JSON.stringify(served.lines.slice(errors))).not.toContain('stack')
    expect(served.counted).toEqual(['aborted /panic', 'aborted /panic'])
    const report = await served.life.stop()
    expect(report.errors.map(({ error }) => error?.message)).toEqual(['a mistake', 'a mistake'])
  })

  row(['PN-02', 'PN-03', 'PN-05'], 'costs its stream over HTTP/2, and the connection serves on', async () => {
    const served = await serve(true)
    const client = await served.connectH2()
    const INTERNAL_ERROR = 2
    expect(await client.get('/panic?abort')).toMatchObject({ status: undefined, code: INTERNAL_ERROR })
    expect(await client.get('/panic?abort&flush')).toMatchObject({ body: 'half', code: INTERNAL_ERROR })
    expect(await client.get('/panic?flush')).toMatchObject({ body: 'half', code: INTERNAL_ERROR })
    expect(lines(served, 'Timeout or abort while handling')).toHaveLength(1)
    const answer = await client.get('/panic', { 'audit-id': 'of mine' })
    expect(answer).toMatchObject({ status: 500, body: PANIC, code: 0 })
    expect(answer.headers).toMatchObject({ 'audit-id': 'of mine', 'cache-control': 'no-cache, private' })
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(await client.get('/fine')).toMatchObject({ status: 200, body: 'fine' })
    expect(client.goaways).toEqual([])
  })

  test('by passing on why it has to end has not failed: its time is over, or its client has left', async () => {
    let heard = 0
    const served = await serveApi({
      setUp: (server) =>
        server.handle('/heeds', (request) => {
          const { signal } = apiExchangeOf(request) as ApiExchange
          heard++
          return new Promise((_, reject) => {
            const heed = (): void => reject(signal.reason as Error)
            // On a busy machine the time may be over before the handler is asked.
            if (signal.aborted) heed()
            else signal.addEventListener('abort', heed)
          })
        }),
    })
    expect((await served.ask('/heeds?timeout=100ms')).status).toBe(504)
    await expect.poll(() => served.counted).toEqual(['terminated 504 /heeds', 'ended after timeout: ok /heeds'])
    const leaving = await served.connect()
    leaving.request('GET', '/heeds')
    await expect.poll(() => heard).toBe(2)
    leaving.socket.destroy()
    await expect.poll(() => served.life.counts().requests).toBe(0)
    expect((await served.life.stop()).errors).toEqual([])
    expect(lines(served, "apiserver panic'd")).toEqual([])
  })

  row(['PN-06', 'FW-05'], 'is not waited for by the drain', async () => {
    const served = await serve()
    await served.ask('/panic')
    expect(served.life.counts().requests).toBe(0)
    const { exitCode, forced } = await served.life.stop()
    expect([exitCode, forced]).toEqual([0, null])
  })
})
