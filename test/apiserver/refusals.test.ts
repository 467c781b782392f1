import { describe, expect } from 'vitest'
import { type ApiExchange, type ApiHandler, type ApiServerConfig, apiExchangeOf } from '#apiserver/index.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import type { RawClient } from '../support/raw-client.ts'
import { row } from '../support/row.ts'

const SHUTTING_DOWN = 'The apiserver is shutting down, please try again later.\n'
const STATUS =
  '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"apiserver is shutting down","reason":"ServiceUnavailable","code":503}\n\n'

interface Draining {
  readonly served: ServedApi
  /** Which handlers were called. */
  readonly called: readonly string[]
  /** Has the drain begin, which goes on until the test is over. */
  drain(): Promise<void>
}

async function serve(config: ApiServerConfig): Promise<Draining> {
  const called: string[] = []
  const counted: ApiHandler = (request, response) => {
    const { view } = apiExchangeOf(request) as ApiExchange
    called.push(`${request.url} counted as ${view.countedAs}`)
    response.end('handled')
  }
  const served = await serveApi({
    config: { ...config, deadline: '10m', hstsDirectives: ['max-age=1'] },
    setUp: (server) => {
      server.handlePrefix('/api/', counted)
      server.handle('/readyzanything', counted)
      server.handle('/metrics/slis/mine', counted)
    },
  })
  return {
    served,
    called,
    drain: async () => {
      served.life.hold('the test')
      void served.life.stop()
      await expect.poll(() => served.life.signal('NotAcceptingNewRequest').aborted).toBe(true)
    },
  }
}

/** Half of a first request is on its way on each, when the drain begins. */
const halves = (served: ServedApi, paths: readonly string[]): Promise<readonly RawClient[]> =>
  Promise.all(
    paths.map(async (path) => {
      const client = await served.connect()
      client.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n`)
      return client
    }),
  )

describe('requests that come while the server drains', () => {
  row(['FR-01', 'FR-08', 'FW-01'], 'before that are served and counted', async () => {
    for (const whileDraining of ['retry-after', 'refuse'] as const) {
      const { served, called } = await serve({ whileDraining })
      const answer = await served.ask('/api/v1/namespaces', { headers: { 'User-Agent': 'foo' } })
      expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('connection')]).toEqual([200, null, 'keep-alive'])
      expect(called).toEqual(['/api/v1/namespaces counted as request'])
      await expect.poll(() => served.life.counts().requests).toBe(0)
    }
  })

  row(
    ['FR-02', 'FR-07', 'FR-10', 'FR-11', 'FR-12', 'FR-13'],
    'in the mode retry-after are sent away with an id and a line, before all other filters; an agent is no pass (V4)',
    async () => {
      const { served, called, drain } = await serve({ whileDraining: 'retry-after' })
      await drain()
      const agents = ['foo', 'kube-apiserver/', 'kube-apiserver-foo/1']
      const asked = [
        ...agents.map((agent) => ['/api/v1/namespaces', agent]),
        ['/readyzanything', 'foo'],
        ['/api/v1/readyz', 'foo'],
      ] as const
      for (const [path, agent] of asked) {
        const client = await served.connect()
        const { status, headers, body } = await client.ask('GET', path as string, {
          headers: { 'User-Agent': agent as string, 'Audit-ID': 'of mine' },
        })
        expect([status, body.toString()]).toEqual([429, SHUTTING_DOWN])
        const { date, ...others } = headers as Record<string, string>
        expect(others).toEqual({
          'audit-id': 'of mine',
          connection: 'close',
          'content-length': String(SHUTTING_DOWN.length),
          'content-type': 'text/plain; charset=utf-8',
          'retry-after': '5',
          'x-content-type-options': 'nosniff',
        })
        expect(await client.closed()).toBe('ended')
      }
      expect(called).toEqual([])
      const lines = () => served.lines.filter(({ message, fields }) => message === 'HTTP' && fields['resp'] === 429)
      await expect.poll(() => lines().length).toBe(asked.length)
    },
  )

  row(
    ['FR-03', 'FR-04', 'FR-05', 'FR-06', 'FR-09', 'FW-04'],
    'about health and metrics are served in either mode, and not counted any more',
    async () => {
      for (const whileDraining of ['retry-after', 'refuse'] as const) {
        const { served, called, drain } = await serve({ whileDraining })
        const paths = [
          '/metrics?foo=bar',
          '/livez?verbose',
          '/readyz?verbose',
          '/healthz?verbose',
          '/readyz/shutdown',
          '/metrics/slis/mine',
        ]
        expect((await served.ask('/metrics/slis/mine')).status).toBe(200)
        const clients = await halves(served, paths)
        await expect.poll(() => served.life.counts().connections.open).toBeGreaterThanOrEqual(paths.length)
        await drain()
        for (const [at, path] of paths.entries()) {
          const client = clients[at] as RawClient
          client.send('\r\n')
          const { status, headers } = await client.response()
          expect([path, status, headers['retry-after']]).toEqual([path, path.startsWith('/readyz') ? 500 : 200, undefined])
        }
        expect(called).toEqual(['/metrics/slis/mine counted as request', '/metrics/slis/mine counted as nothing'])
      }
    },
  )

  row('FW-02', 'in the mode refuse are answered 503 on connections that there are, behind the headers of the filters', async () => {
    const { served, called, drain } = await serve({ whileDraining: 'refuse', lastCall: 0 })
    const clients = await halves(served, Array(2).fill('/api/v1/namespaces'))
    await expect.poll(() => served.life.counts().connections.open).toBe(2)
    await drain()
    for (const [at, client] of clients.entries()) {
      client.send(at === 0 ? 'Audit-ID: of mine\r\n\r\n' : 'Audit-ID: of mine\r\nUser-Agent: kube-apiserver/\r\n\r\n')
      const { status, headers, body } = await client.response()
      expect([status, body.toString()]).toEqual([503, STATUS])
      const { date, ...others } = headers as Record<string, string>
      expect(others).toEqual({
        'audit-id': 'of mine',
        'cache-control': 'no-cache, private',
        connection: 'close',
        'content-length': String(STATUS.length),
        'content-type': 'application/json',
        'retry-after': '1',
        'strict-transport-security': 'max-age=1',
        'x-content-type-options': 'nosniff',
      })
    }
    expect(called).toEqual([])
  })
})
