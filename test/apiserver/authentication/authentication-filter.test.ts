// Fails when: a request comes to its handler although it is not known who has sent it, an
// authenticator that fails in any way lets one in or holds it for ever, the answer is another one
// than upstream's, or credentials are left in the request, in the log or in what is audited.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ApiServer } from '#apiserver/api-server.ts'
import type { ApiServerConfig, Authenticator } from '#apiserver/index.ts'
import { completeConfig, createApiServer, userOf } from '#apiserver/index.ts'
import { type ServedApi, serveApi } from '../../support/api-server.ts'
import { row } from '../../support/row.ts'
import { Sink } from '../audit/sink.ts'

function fileOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-tokens-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'tokens.csv')
  writeFileSync(path, text)
  return path
}

const TOKENS = 'ann-token,ann,7,"dev,ops"\nbob-token,bob,\n'

interface Served extends ServedApi {
  readonly server: ApiServer
  /** Of `/whoami`, with this header. */
  whoAmI(authorization?: string, init?: RequestInit): Promise<{ readonly status: number; readonly body: unknown }>
}

async function served(config: ApiServerConfig): Promise<Served> {
  let made: ApiServer | undefined
  const api = await serveApi({
    config,
    setUp: (server) => {
      made = server
      server.handle('/whoami', (request, response) =>
        response.end(JSON.stringify({ user: userOf(request), headers: request.headers, raw: request.rawHeaders })),
      )
      server.handleUpgrade('/upgrade', (_request, socket) =>
        socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
      )
    },
  })
  return {
    ...api,
    server: made as ApiServer,
    whoAmI: async (authorization, init = {}) => {
      const answer = await api.ask('/whoami', {
        ...init,
        headers: { ...init.headers, ...(authorization && { Authorization: authorization }) },
      })
      return { status: answer.status, body: await answer.json() }
    },
  }
}

const thenable = (then: () => void) => Object.fromEntries([['then', then]])

function fail(thrown: unknown): never {
  throw thrown
}

const UNAUTHORIZED = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'Unauthorized',
  reason: 'Unauthorized',
  code: 401,
}

describe('a server with a file of tokens', () => {
  test('knows users by theirs, and leaves nothing of it to handlers', async () => {
    const { whoAmI } = await served({ tokenAuthFile: fileOf(TOKENS) })
    const { status, body } = await whoAmI('Bearer ann-token', { headers: { 'X-Remote-User': 'root', 'X-Remote-Extra-A': 'b' } })
    expect(status).toBe(200)
    expect(body).toMatchObject({ user: { name: 'ann', uid: '7', groups: ['dev', 'ops', 'system:authenticated'], extra: {} } })
    expect(JSON.stringify(body)).not.toMatch(/ann-token|remote|root/i)
    expect((await whoAmI('Bearer bob-token')).body).toMatchObject({ user: { name: 'bob', groups: ['system:authenticated'] } })
  })

  test('refuses what it does not know, in the form that is wanted', async () => {
    const { whoAmI, ask } = await served({ tokenAuthFile: fileOf(TOKENS) })
    for (const authorization of [undefined, 'Bearer wrong', 'Basic eDp5', 'Bearer ann-token,bob-token'])
      expect(await whoAmI(authorization)).toEqual({ status: 401, body: UNAUTHORIZED })
    const answer = await ask('/whoami', { headers: { Accept: 'application/yaml' } })
    expect(Object.fromEntries(answer.headers)).toMatchObject({ 'content-type': 'application/yaml', 'cache-control': 'no-cache, private' })
    expect(answer.headers.has('www-authenticate')).toBe(false)
    expect(await answer.text()).toContain('reason: Unauthorized\n')
    // Also where nothing is served.
    expect((await ask('/nothing')).status).toBe(401)
  })

  test('counts what it has looked at', async () => {
    const { whoAmI, counted } = await served({ tokenAuthFile: fileOf(TOKENS) })
    for (const authorization of ['Bearer ann-token', 'Bearer wrong', undefined]) await whoAmI(authorization)
    expect(counted).toEqual(['authenticated: success ann', 'authenticated: error', 'authenticated: failure'])
  })

  test('lets probes in without credentials, and none with wrong ones', async () => {
    const { ask } = await served({ tokenAuthFile: fileOf(TOKENS) })
    const statuses = async (path: string, headers = {}) => (await ask(path, { headers })).status
    expect(await Promise.all(['/healthz', '/livez', '/readyz'].map((path) => statuses(path)))).toEqual([200, 200, 200])
    expect(await statuses('/livez/ping')).toBe(401)
    expect(await statuses('/metrics')).toBe(401)
    expect(await statuses('/readyz', { Authorization: 'Bearer wrong' })).toBe(401)
  })

  test('refuses two credentials, head and all', async () => {
    // Also where other credentials would do.
    const ANN = { user: { name: 'ann', groups: [], extra: {} } }
    const { connect } = await served({ tokenAuthFile: fileOf(TOKENS), authenticators: [{ authenticate: () => ANN }] })
    for (const other of ['Authorization: Bearer ann-token', 'authorization: Basic x', 'AUTHORIZATION:']) {
      const client = await connect()
      client.send(`GET /whoami HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ann-token\r\n${other}\r\n\r\n`)
      expect((await client.response()).status).toBe(401)
    }
  })

  test('refuses credentials that are too long, or no text', async () => {
    const { connect } = await served({ tokenAuthFile: fileOf(TOKENS), anonymousAuth: true })
    const statusWith = async (value: string | Buffer) => {
      const client = await connect()
      client.send(
        Buffer.concat([Buffer.from('GET /whoami HTTP/1.1\r\nHost: x\r\nAuthorization: '), Buffer.from(value), Buffer.from('\r\n\r\n')]),
      )
      return (await client.response()).status
    }
    expect(await statusWith(`Bearer ${'x'.repeat(12_000)}`)).toBe(401)
    expect(await statusWith(`Bearer ${'x'.repeat(20_000)}`)).toBe(431)
    expect(await statusWith('Bearer ann-token\0')).toBe(400)
    expect(await statusWith(Buffer.from([...Buffer.from('Bearer ann-token'), 0xff]))).toBe(401)
    expect(await statusWith('Bearer ann-token ')).toBe(200)
  })

  test('refuses upgrades that it does not know', async () => {
    const { connect } = await served({ tokenAuthFile: fileOf(TOKENS) })
    const answers = [{}, { Authorization: 'Bearer wrong' }, { Authorization: 'Bearer ann-token' }].map(async (headers) => {
      const client = await connect()
      return (await client.ask('GET', '/upgrade', { headers: { Connection: 'Upgrade', Upgrade: 'x', ...headers } })).status
    })
    expect(await Promise.all(answers)).toEqual([401, 401, 101])
  })

  test('lets in WebSockets of browsers, whose token is a protocol', async () => {
    const { connect } = await served({ tokenAuthFile: fileOf(TOKENS) })
    const statusWith = async (token: string) => {
      const protocol = `chat, base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
      const headers = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Protocol': protocol }
      return (await (await connect()).ask('GET', '/upgrade', { headers })).status
    }
    expect([await statusWith('ann-token'), await statusWith('wrong')]).toEqual([101, 401])
  })

  test('that cannot be used does not start', async () => {
    const config = { port: 0, logger: false, platform: 'unknown', lastCall: 0, shutdownDelay: 0 } as const
    const start = (path: string) =>
      createApiServer(completeConfig({ ...config, tokenAuthFile: path }))
        .prepare()
        .life.start()
    await expect(start('/nowhere/tokens.csv')).rejects.toMatchObject({
      code: 'ERR_START',
      cause: { code: 'ERR_OPTION_INVALID', message: expect.stringContaining('/nowhere/tokens.csv') },
    })
    await expect(start(fileOf('only-a-token'))).rejects.toMatchObject({ cause: { message: expect.stringContaining('record 1') } })
  })
})

describe('requests without credentials', () => {
  test('are let in where that is said', async () => {
    const { whoAmI } = await served({ tokenAuthFile: fileOf(TOKENS), anonymousAuth: true })
    expect((await whoAmI()).body).toMatchObject({ user: { name: 'system:anonymous', groups: ['system:unauthenticated'] } })
    expect((await whoAmI('Bearer wrong')).status).toBe(401)
  })

  test('are let in nowhere, or to some paths', async () => {
    const nowhere = await served({ anonymousAuth: false })
    expect((await nowhere.ask('/healthz')).status).toBe(401)
    const some = await served({ anonymousAuth: { paths: ['/whoami'] } })
    expect([(await some.whoAmI()).status, (await some.ask('/healthz')).status]).toEqual([200, 401])
  })
})

describe('an authenticator of the user', () => {
  const by = (authenticate: unknown): ApiServerConfig => ({
    authenticators: [{ authenticate } as Authenticator],
    anonymousAuth: true,
    authenticationTimeout: '50ms',
  })
  const ANN = { user: { name: 'ann', groups: [], extra: {} } }

  test.each<[string, unknown]>([
    ['at once', () => ANN],
    ['after a while', async () => ANN],
  ])('knows %s', async (_, authenticate) => {
    const { whoAmI } = await served(by(authenticate))
    expect((await whoAmI()).body).toMatchObject({ user: { name: 'ann' } })
  })

  test.each<[string, unknown]>([
    [
      'throws',
      () => {
        throw new Error('the store is away')
      },
    ],
    ['throws what is no error', () => fail(undefined)],
    ['rejects', () => Promise.reject(new Error('the store is away'))],
    ['rejects with nothing', () => Promise.reject()],
    ['never answers', () => new Promise(() => {})],
    ['returns a thenable that never answers', () => thenable(() => {})],
    ['returns a thenable that throws', () => thenable(() => fail('x'))],
    ['returns no user', () => ({ user: { name: 'ann' } })],
    ['returns null', () => null],
    ['returns true', async () => true],
  ])('that %s lets nothing in', async (_, authenticate) => {
    const { whoAmI } = await served(by(authenticate))
    expect(await whoAmI()).toEqual({ status: 401, body: UNAUTHORIZED })
  })

  test('is told when its answer is not awaited any more, and answers nothing then', async () => {
    const aborted: unknown[] = []
    let late = (_: unknown): void => {}
    const { whoAmI } = await served(
      by((_: unknown, { signal }: { signal: AbortSignal }) => {
        signal.addEventListener('abort', () => aborted.push((signal.reason as Error).message))
        return new Promise((resolve) => {
          late = resolve
        })
      }),
    )
    expect((await whoAmI()).status).toBe(401)
    late(ANN)
    expect(aborted).toEqual(['authentication timed out after 50ms'])
  })

  test('whose failures are many is said in one line, without what was sent', async () => {
    const { whoAmI, lines } = await served({ tokenAuthFile: fileOf(TOKENS) })
    await Promise.all(Array.from({ length: 5 }, () => whoAmI('Bearer my-secret')))
    const failures = lines.filter(({ message }) => message === 'Unable to authenticate the request')
    expect(failures).toMatchObject([{ level: 'error', fields: { err: { message: expect.stringContaining('invalid bearer token') } } }])
    expect(JSON.stringify(lines)).not.toContain('my-secret')
  })

  test('may say whom credentials are for', async () => {
    const forThese = (...audiences: readonly string[]) => served({ ...by(() => ({ ...ANN, audiences })), apiAudiences: ['me', 'us'] })
    expect((await (await forThese('us', 'them')).whoAmI()).status).toBe(200)
    expect((await (await forThese()).whoAmI()).status).toBe(200)
    expect((await (await forThese('them')).whoAmI()).status).toBe(401)
  })
})

describe('the own client', () => {
  row('SS-07', 'has no identity where nothing is asked', async () => {
    const { server } = await served({})
    const answer = (await (await server.loopback.fetch('/whoami')).json()) as object
    expect(answer).not.toHaveProperty('user')
    expect(JSON.stringify(answer)).not.toMatch(/bearer/i)
  })

  row('SS-08', 'is system:apiserver, of the masters', async () => {
    const { server, whoAmI } = await served({ tokenAuthFile: fileOf(TOKENS) })
    const answer = await (await server.loopback.fetch('/whoami')).json()
    expect(answer).toMatchObject({ user: { name: 'system:apiserver', groups: ['system:authenticated', 'system:masters'] } })
    expect(JSON.stringify(answer)).not.toMatch(/bearer|x-quiesce/i)
    // A token is that of one server.
    const other = await served({ anonymousAuth: true })
    let given = ''
    const spy = await served({})
    spy.server.handle('/spy', (request, response) => {
      given = String(request.headers.authorization)
      response.end()
    })
    await other.server.loopback.fetch('/whoami')
    await spy.server.loopback.fetch('/spy', { headers: { Authorization: 'Bearer x' } })
    expect(given).toBe('Bearer x')
    expect((await whoAmI('Bearer system:apiserver')).status).toBe(401)
  })
})

describe('what is audited', () => {
  test('is the user, and a request that was refused in one event', async () => {
    const sink = new Sink()
    const { whoAmI, life } = await served({ tokenAuthFile: fileOf(TOKENS), audit: sink, auditPolicy: { rules: [{ level: 'Metadata' }] } })
    await whoAmI('Bearer ann-token')
    await whoAmI('Bearer wrong')
    // What is sent to a client that takes it in no form is not recorded.
    await whoAmI('Bearer wrong', { headers: { Accept: 'APPLICATION/JSON' } })
    await life.stop()
    const events = sink.calls.flat()
    expect(events.map(({ stage, user, responseStatus }) => [stage, user.username, responseStatus?.code, responseStatus?.message])).toEqual([
      ['RequestReceived', 'ann', undefined, undefined],
      ['ResponseComplete', 'ann', 200, undefined],
      ['ResponseStarted', undefined, 401, 'Unauthorized'],
      ['ResponseStarted', undefined, 401, 'Authentication failed, attempted: bearer'],
    ])
    expect(events[0]?.user).toEqual({ username: 'ann', uid: '7', groups: ['dev', 'ops', 'system:authenticated'] })
    expect(JSON.stringify(events)).not.toMatch(/ann-token|wrong/)
  })
})

describe('over HTTP/2', () => {
  test('a user who says to be none that is known is told to come anew', async () => {
    const user = { name: 'guest', groups: ['system:unauthenticated'], extra: {} }
    const { connectH2 } = await served({ http2: true, authenticators: [{ authenticate: () => ({ user }) }] })
    const client = await connectH2()
    expect((await client.get('/whoami')).status).toBe(200)
    await expect.poll(() => client.goaways.length).toBe(1)
  })

  test('clients that are not known are told to come anew, and credentials are taken out', async () => {
    const config = { http2: true, tokenAuthFile: fileOf(TOKENS) }
    const { connectH2 } = await served(config)
    const known = await connectH2()
    const answer = await known.get('/whoami', { authorization: 'Bearer ann-token' })
    expect([answer.status, answer.body]).toEqual([200, expect.not.stringContaining('ann-token')])
    expect(known.goaways).toHaveLength(0)
    for (const path of ['/whoami', '/healthz']) {
      const client = await connectH2()
      expect((await client.get(path)).status).toBe(path === '/whoami' ? 401 : 200)
      await expect.poll(() => client.goaways.length).toBe(1)
    }
  })
})
