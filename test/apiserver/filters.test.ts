import { describe, expect, test } from 'vitest'
import { cors } from '#apiserver/chain/cors.ts'
import { warningHeader } from '#apiserver/chain/warnings.ts'
import { type ApiExchange, type ApiHandler, apiExchangeOf, completeConfig, type UserFilter, warn } from '#apiserver/index.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import { row } from '../support/row.ts'

const ORIGIN = 'https://good.example'
const CORS_HEADERS = {
  'access-control-allow-origin': ORIGIN,
  'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'access-control-allow-headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'Date',
}

const found = (answer: Response): Record<string, string> =>
  Object.fromEntries([...answer.headers].filter(([name]) => name.startsWith('access-control')))

test('a path that names a verb, and nothing that it is about, is refused before all else', async () => {
  const { ask } = await serveApi({ config: { hstsDirectives: ['max-age=1'] } })
  for (const path of ['/api/v1/watch', '/api/v1/proxy/', '/apis/apps/v1/watch?a=<b>']) {
    const answer = await ask(path)
    const target = path.replace('<b>', '%3Cb%3E')
    expect([answer.status, await answer.text()]).toEqual([
      500,
      `Internal Server Error: "${target}": failed to create RequestInfo: unable to determine kind and namespace from url, ${target}\n`,
    ])
    const { headers } = answer
    expect(
      ['content-type', 'x-content-type-options', 'cache-control', 'strict-transport-security'].map((name) => headers.get(name)),
    ).toEqual(['text/plain; charset=utf-8', 'nosniff', null, null])
    expect(headers.get('audit-id')).toMatch(/^[\da-f-]{36}$/)
  }
})

describe('headers of the filters', () => {
  const serve = (config: object = {}): Promise<ServedApi> =>
    serveApi({
      config,
      setUp: (server) => {
        server.handle('/id', (request, response) => response.end((apiExchangeOf(request) as ApiExchange).auditId))
        server.handle('/own', (_request, response) => {
          response.setHeader('Cache-Control', 'max-age=60')
          response.end()
        })
        server.handle('/received', (request, response) => {
          const { receivedAt, view } = apiExchangeOf(request) as ApiExchange
          response.end(String(receivedAt === view.arrivedAt))
        })
      },
    })

  row(['HD-01', 'HD-02', 'HD-06'], 'Cache-Control unless there is one; the time of arrival is one for all', async () => {
    const { ask } = await serve()
    expect((await ask('/id')).headers.get('cache-control')).toBe('no-cache, private')
    expect((await ask('/own')).headers.get('cache-control')).toBe('max-age=60')
    expect(await (await ask('/received')).text()).toBe('true')
  })

  row(['HD-03', 'HD-04', 'HD-05'], 'Audit-ID, as it is given or a new one, in the exchange and in the answer', async () => {
    const { ask } = await serve()
    const long = 'x'.repeat(5000)
    for (const given of ['given', long]) {
      const answer = await ask('/id', { headers: { 'Audit-ID': given } })
      expect([answer.headers.get('audit-id'), await answer.text()]).toEqual([given, given])
    }
    const answer = await ask('/id')
    expect(await answer.text()).toBe(answer.headers.get('audit-id'))
    expect(answer.headers.get('audit-id')).toMatch(/^[\da-f-]{36}$/)
  })

  test('Audit-ID, the first of several, and its bytes as they are', async () => {
    const { connect } = await serve()
    const idOf = async (...given: readonly string[]): Promise<string> => {
      const client = await connect()
      const lines = given.map((id) => `Audit-ID: ${id}\r\n`).join('')
      client.send(Buffer.from(`GET /id HTTP/1.1\r\nHost: x\r\n${lines}\r\n`))
      return (await client.response()).headers['audit-id'] ?? ''
    }
    expect(await idOf('one', 'two')).toBe('one')
    expect(await idOf('one, two')).toBe('one, two')
    expect(await idOf('', 'two')).toMatch(/^[\da-f-]{36}$/)
    expect(Buffer.from(await idOf('ü'), 'latin1').toString()).toBe('ü')
  })

  test('Audit-ID over HTTP/2, as it is, also with a comma, and the first of several', async () => {
    const { connectH2 } = await serve({ http2: true })
    const client = await connectH2()
    const cases: readonly (readonly [given: string | string[], expected: string])[] = [
      ['a, b', 'a, b'],
      [['one', 'two'], 'one'],
      [['a, b', 'two'], 'a, b'],
    ]
    for (const [given, expected] of cases) {
      const { status, headers, body } = await client.get('/id', { 'audit-id': given })
      expect([status, headers['audit-id'], body]).toEqual([200, expected, expected])
    }
  })

  test('for the first of several origins', async () => {
    const { connect } = await serve({ corsAllowedOrigins: ['^https://good\\.example$'] })
    const allowedOf = async (...origins: readonly string[]): Promise<string | undefined> => {
      const client = await connect()
      client.send(`GET /id HTTP/1.1\r\nHost: x\r\n${origins.map((origin) => `Origin: ${origin}\r\n`).join('')}\r\n`)
      return (await client.response()).headers['access-control-allow-origin']
    }
    expect(await allowedOf('https://good.example', 'https://bad.example')).toBe('https://good.example')
    expect(await allowedOf('https://bad.example', 'https://good.example')).toBeUndefined()
  })

  row(['HD-07', 'HD-08', 'HD-10'], 'none about origins without expressions, without an origin, and for others', async () => {
    const { ask } = await serve()
    expect(found(await ask('/id', { headers: { Origin: ORIGIN } }))).toEqual({})
    const allowing = await serve({ corsAllowedOrigins: ['^https://good\\.example$'] })
    expect(found(await allowing.ask('/id'))).toEqual({})
    const other = await allowing.ask('/id', { headers: { Origin: 'https://bad.example' } })
    expect([other.status, found(other)]).toEqual([200, {}])
    const asked = await allowing.ask('/id', { method: 'OPTIONS', headers: { Origin: 'https://bad.example' } })
    expect([asked.status, found(asked)]).toEqual([200, {}])
  })

  row(
    ['HD-09', 'HD-11', 'HD-14', 'HD-15'],
    'five for an origin that an expression matches; what a browser asks first ends here',
    async () => {
      const { ask } = await serve({ corsAllowedOrigins: ['//other\\.example(:|$)', '^https://good\\.example$'] })
      const answer = await ask('/id', { headers: { Origin: ORIGIN } })
      expect([answer.status, found(answer)]).toEqual([200, CORS_HEADERS])
      const asked = await ask('/nothing', { method: 'OPTIONS', headers: { Origin: ORIGIN, 'Access-Control-Request-Method': 'PUT' } })
      expect([asked.status, await asked.text(), found(asked)]).toEqual([204, '', CORS_HEADERS])
      expect([asked.headers.get('content-length'), asked.headers.get('content-type'), asked.headers.get('cache-control')]).toEqual([
        null,
        null,
        'no-cache, private',
      ])
    },
  )

  row(['HD-12', 'HD-13'], 'an expression matches anywhere in an origin', () => {
    const matches = (expression: string, origin: string): boolean => {
      const set: string[] = []
      const exchange = {
        request: { headers: { origin }, method: 'GET' },
        response: { setHeader: (name: string) => set.push(name) },
      } as unknown as ApiExchange
      expect(cors.make({ config: { corsAllowedOrigins: [expression] } })?.admit(exchange)).toBe(true)
      return set.length === 5
    }
    expect(matches('example.com', 'http://example.com.hacker.org')).toBe(true)
    expect(matches('//example.com(:|$)', 'http://example.com.hacker.org')).toBe(false)
    expect(matches('(?i)^HTTP://GOOD$', 'http://good')).toBe(true)
  })

  row(['OP-12', 'OP-13', 'OP-14'], 'expressions are looked at when the config is completed', () => {
    const said = (...corsAllowedOrigins: string[]): string => {
      try {
        completeConfig({ corsAllowedOrigins })
        return ''
      } catch (error) {
        return (error as Error).message
      }
    }
    for (const good of ['^http://foo.com$', '^http://foo.com', '//foo.com$', '://foo.com(:|$)', '(^foo.com$)']) expect(said(good)).toBe('')
    expect(said()).toBe('')
    expect(said('^http://foo.com$', '')).toMatch(/^corsAllowedOrigins\[1\]: got "", allowed: .* \(empty value in --cors-allowed-origins\)$/)
    for (const bad of ['^foo.com', '//foo.com', 'foo.com$', 'foo.com(:|$)'])
      expect(said(bad)).toMatch(
        /^corsAllowedOrigins\[0\]: got ".*", allowed: .* \(--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start\/end of host in the origin header\)$/,
      )
    expect(said('^(foo.com$')).toMatch(
      /^corsAllowedOrigins\[0\]: got .* \(--cors-allowed-origins has an invalid regular expression: Invalid regular/,
    )
  })
})

describe('warnings', () => {
  const serve = (handler: ApiHandler, config: object = {}): Promise<ServedApi> =>
    serveApi({ config, setUp: (server) => server.handle('/warn', handler) })

  test('are sent in the order in which they were given, each text once, as bytes of UTF-8', async () => {
    const { ask } = await serve((request, response) => {
      warn(request, '', 'this endpoint is deprecated')
      warn(request, 'agent', 'with "quotes" and ünïcode')
      warn(request, 'another', 'this endpoint is deprecated')
      warn(request, '', '')
      warn(request, 'two words', 'left out')
      warn(request, '', 'left\nout')
      response.end('{}')
      warn(request, '', 'too late')
    })
    expect((await ask('/warn')).headers.get('warning')).toBe(
      '299 - "this endpoint is deprecated", 299 agent "with \\"quotes\\" and Ã¼nÃ¯code"',
    )
  })

  test('are cut, all of them, once they are too long', async () => {
    const texts = Array.from({ length: 20 }, (_, at) => String.fromCharCode(97 + at).repeat(300))
    const { ask } = await serve((request, response) => {
      const upTo = Number(new URL(request.url ?? '/', 'http://host').searchParams.get('n'))
      for (const text of texts.slice(0, upTo)) warn(request, '', text)
      response.end()
    })
    const warnings = async (count: number): Promise<string[]> =>
      ((await ask(`/warn?n=${count}`)).headers.get('warning') ?? '').split(', ').map((text) => text.slice(7, -1))
    // 13 of them have 3900 characters.
    expect(await warnings(13)).toEqual(texts.slice(0, 13))
    expect(await warnings(14)).toEqual(texts.slice(0, 14).map((text) => text.slice(0, 256)))
    // 16 cut ones have 4096: what comes then is left out.
    expect(await warnings(20)).toEqual(texts.slice(0, 16).map((text) => text.slice(0, 256)))
  })

  test('have no place for what is no text of a header', () => {
    expect(warningHeader(7, '', 'a\\b')).toBe('007 - "a\\\\b"')
    expect(warningHeader(299, '', '\ud800')).toBeUndefined()
    expect(warningHeader(299, 'a"b', 'text')).toBeUndefined()
  })

  row('TO-15', 'before, at and after the end of its time disturb no handler', async () => {
    const seen: string[] = []
    const { connectH2 } = await serve(
      async (request, response) => {
        warn(request, '', 'before')
        const { signal } = apiExchangeOf(request) as ApiExchange
        await new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            warn(request, '', 'at')
            setImmediate(resolve)
          }),
        )
        warn(request, '', 'after')
        response.end()
        seen.push('over')
      },
      { requestTimeout: '50ms', http2: true },
    )
    const client = await connectH2()
    expect(await client.get('/warn')).toMatchObject({ status: 504, code: 0 })
    await expect.poll(() => seen).toEqual(['over'])
  })
})

describe('the log of requests', () => {
  const serve = (config: object = {}): Promise<ServedApi> =>
    serveApi({
      config,
      setUp: (server) => {
        server.handle('/plain', (_request, response) => response.end('plain'))
        server.handle('/forbidden', (_request, response) => {
          response.statusCode = 403
          response.end()
        })
      },
    })
  const lines = ({ lines: all }: ServedApi): readonly object[] =>
    all.filter(({ message }) => message === 'HTTP').map(({ fields }) => fields)

  row('HD-18', 'has one line for each, with its status', async () => {
    const served = await serve()
    await served.ask('/plain?q=1', { headers: { 'Audit-ID': 'of mine', 'User-Agent': 'tests/1' } })
    await served.ask('/forbidden', { method: 'POST', headers: { 'Content-Type': 'text/x' }, body: 'x' })
    await served.ask('/apis/g/v1/things')
    await served.ask('/plain?timeout=foo')
    await expect
      .poll(() => lines(served))
      .toEqual([
        {
          verb: 'GET',
          URI: '/plain?q=1',
          latency: expect.stringMatching(/^[\d.]+(?:ms|µs)$/),
          userAgent: 'tests/1',
          contentType: '',
          'audit-ID': 'of mine',
          srcIP: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
          resp: 200,
        },
        expect.objectContaining({ verb: 'POST', URI: '/forbidden', contentType: 'text/x', resp: 403 }),
        expect.objectContaining({ verb: 'LIST', URI: '/apis/g/v1/things', resp: 404 }),
        expect.objectContaining({ verb: 'GET', URI: '/plain?timeout=foo', resp: 400 }),
      ])
    expect(served.lines.find(({ message }) => message === 'HTTP')?.level).toBe('debug')
  })

  row('HD-16', 'is written once: a second filter of its name is refused', async () => {
    const filter = { name: 'http-log', admit: () => true }
    await expect(serve({ filters: [filter] })).rejects.toThrow(expect.objectContaining({ code: 'ERR_DUPLICATE' }))
  })
})

describe('limits of requests in flight', () => {
  interface Held {
    readonly served: ServedApi
    /** Asks for what hangs until it is released; the statuses of the answers. */
    hang(count: number, method: string, path?: string): Promise<readonly number[]>
    ask(
      method: string,
      path?: string,
      headers?: Record<string, string>,
    ): Promise<{ status: number; text: string; retryAfter: string | null }>
    release(): void
  }

  const MASTER: UserFilter = {
    name: 'who',
    before: 'flow-control',
    admit: (exchange) => {
      const { group } = exchange.request.headers
      if (typeof group === 'string') exchange.user = { name: 'u', uid: '', groups: [group], extra: {} }
      return true
    },
  }

  async function serve(config: object): Promise<Held> {
    let hanging: (() => void)[] = []
    const hangs: ApiHandler = (_request, response) => void hanging.push(() => response.end('done'))
    const served = await serveApi({
      config: { ...config, filters: [MASTER] },
      setUp: (server) => {
        server.handle('/hang', hangs)
        server.handle('/apis/g/v1/watch/things', hangs)
        server.handle('/quick', (_request, response) => response.end('quick'))
      },
    })
    return {
      served,
      hang: (count, method, path = '/hang') =>
        Promise.all(Array.from({ length: count }, () => served.ask(path, { method }).then(({ status }) => status))),
      ask: async (method, path = '/quick', headers = {}) => {
        const answer = await served.ask(path, { method, headers })
        return { status: answer.status, text: await answer.text(), retryAfter: answer.headers.get('retry-after') }
      },
      release: () => {
        for (const end of hanging) end()
        hanging = []
      },
    }
  }

  row(['MI-01', 'MI-02', 'MI-03', 'MI-04', 'MI-05', 'MI-10'], 'hold for those that read; watches are not among them', async () => {
    const held = await serve({ maxRequestsInFlight: 3, maxMutatingRequestsInFlight: 1 })
    const watches = held.hang(3, 'GET', '/apis/g/v1/watch/things')
    await expect.poll(() => held.served.life.counts().watches).toBe(3)
    expect((await held.ask('GET')).status).toBe(200)
    const waiting = held.hang(3, 'GET')
    await expect.poll(() => held.served.life.counts().requests).toBe(3)
    for (let at = 0; at < 3; at++)
      expect(await held.ask('GET')).toEqual({ status: 429, text: 'Too many requests, please try again later.\n', retryAfter: '1' })
    const another = held.hang(1, 'GET', '/apis/g/v1/watch/things')
    await expect.poll(() => held.served.life.counts().watches).toBe(4)
    expect((await held.ask('POST')).status).toBe(200)
    held.release()
    expect(await Promise.all([waiting, watches, another])).toEqual([[200, 200, 200], [200, 200, 200], [200]])
    expect((await held.ask('GET')).status).toBe(200)
    expect(new Set(held.served.counted)).toEqual(new Set(['terminated 429 /quick']))
    // Readiness is no exception, as upstream; monitoring sees the most of a second.
    const metrics = await (await held.served.ask('/metrics')).text()
    expect(metrics).toMatch(/^apiserver_current_inflight_requests\{request_kind="readOnly"\} [0-3]$/m)
  })

  row(['MI-06', 'MI-07', 'MI-08', 'MI-09'], 'hold for those that may change something; masters pass', async () => {
    const held = await serve({ maxRequestsInFlight: 3, maxMutatingRequestsInFlight: 3 })
    const waiting = held.hang(3, 'POST')
    await expect.poll(() => held.served.life.counts().requests).toBe(3)
    expect((await held.ask('POST')).status).toBe(429)
    expect((await held.ask('HEAD')).status).toBe(429)
    expect((await held.ask('GET')).status).toBe(200)
    expect((await held.ask('POST', '/quick', { group: 'system:masters' })).status).toBe(200)
    expect((await held.ask('POST', '/quick', { group: 'others' })).status).toBe(429)
    held.release()
    await waiting
    expect((await held.ask('POST')).status).toBe(200)
  })

  row('MI-11', 'are not there when both are 0', async () => {
    const held = await serve({ maxRequestsInFlight: 0, maxMutatingRequestsInFlight: 0 })
    const waiting = held.hang(3, 'POST')
    await expect.poll(() => held.served.life.counts().requests).toBe(3)
    expect((await held.ask('POST')).status).toBe(200)
    held.release()
    await waiting
  })

  test('hold for a handler that goes on after its time, until it has ended', async () => {
    let end = (): void => {}
    const served = await serveApi({
      config: { maxRequestsInFlight: 1 },
      setUp: (server) => {
        server.handle('/stubborn', () => new Promise<void>((resolve) => (end = resolve)))
        server.handle('/quick', (_request, response) => response.end('quick'))
      },
    })
    expect((await served.ask('/stubborn?timeout=100ms')).status).toBe(504)
    expect((await served.ask('/quick')).status).toBe(429)
    end()
    await expect.poll(async () => (await served.ask('/quick')).status).toBe(200)
  })
})
