// Fails when: a request is served that was not allowed, whatever the authorizer does; a refusal has
// another status, header or text than upstream's; or an authorizer is not asked for what comes.
import type { Duplex } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { AuditEvent } from '#apiserver/audit/event.ts'
import { type ApiServer, type Authorizer, allowedPaths } from '#apiserver/index.ts'
import { RecordingAuthorizer } from '#apiserver/testing/index.ts'
import { type ServedApi, serveApi } from '../../support/api-server.ts'
import { row } from '../../support/row.ts'
import { Sink } from '../audit/sink.ts'
import { NAMED } from './users.ts'

const EVE = { 'X-User': 'eve' }

interface Scene {
  readonly served: ServedApi
  /** Paths that have come to a handler. */
  readonly handled: readonly string[]
  readonly sink: Sink
  /** A GET of eve's, in short. */
  readonly get: (path: string) => Promise<readonly [number, string]>
}

async function serve(authorizer: Authorizer, config: object = {}): Promise<Scene> {
  const handled: string[] = []
  const sink = new Sink()
  const setUp = (server: ApiServer): void => {
    server.handlePrefix('/', (request, response) => {
      handled.push(request.url as string)
      response.end('served')
    })
    server.handleUpgrade('/upgrade', (request, socket: Duplex) => {
      handled.push(request.url as string)
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    })
  }
  const recorded = { audit: sink, auditPolicy: { rules: [{ level: 'Metadata' }] } }
  const served = await serveApi({ config: { ...recorded, authorizer, filters: [NAMED], ...config } as object, setUp })
  return {
    served,
    handled,
    sink,
    get: async (path) => {
      const answer = await served.ask(path, { headers: EVE })
      return [answer.status, await answer.text()]
    },
  }
}

const annotations = async (sink: Sink, event: number): Promise<AuditEvent['annotations']> => {
  await expect.poll(() => sink.calls.flat().length).toBeGreaterThan(event)
  return sink.calls.flat()[event]?.annotations
}

describe('a request that is not allowed', () => {
  test.each([
    ['/echo?message=x', {}, 'forbidden: User "eve" cannot get path "/echo"', {}],
    [
      '/apis/widgets.example/v1/namespaces/default/widgets',
      {},
      'widgets.widgets.example is forbidden: User "eve" cannot list resource "widgets" in API group "widgets.example" in the namespace "default"',
      { group: 'widgets.example', kind: 'widgets' },
    ],
    [
      '/apis/widgets.example/v1/namespaces/default/widgets/a/status',
      { method: 'PUT' },
      'widgets.widgets.example "a" is forbidden: User "eve" cannot update resource "widgets/status" in API group "widgets.example" in the namespace "default"',
      { name: 'a', group: 'widgets.example', kind: 'widgets' },
    ],
    [
      '/api/v1/nodes',
      {},
      'nodes is forbidden: User "eve" cannot list resource "nodes" in API group "" at the cluster scope',
      { kind: 'nodes' },
    ],
    ['/a%3Cb%3E%22%C3%BC%07', {}, 'forbidden: User "eve" cannot get path "/a&lt;b&gt;\\"ü\\a"', {}],
  ])("is answered 403 in upstream's words: %s", async (path, init, message, details) => {
    const { served, handled } = await serve(new RecordingAuthorizer('no-opinion'))
    const answer = await served.ask(path, { ...init, headers: EVE })
    expect([answer.status, answer.headers.get('x-content-type-options'), answer.headers.get('content-type')]).toEqual([
      403,
      'nosniff',
      'application/json',
    ])
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: 'Forbidden', details, code: 403 }
    expect(await answer.text()).toBe(`${JSON.stringify(status).replace(/[<>&]/g, (it) => `\\u00${it.charCodeAt(0).toString(16)}`)}\n`)
    expect(handled).toEqual([])
  })

  test.each(['deny', 'no-opinion'] as const)('is told the reason, and so is audit: %s', async (decision) => {
    const { sink, get } = await serve(new RecordingAuthorizer({ decision, reason: 'closed <today>' }))
    expect(await get('/echo')).toEqual([403, expect.stringContaining('cannot get path \\"/echo\\": closed \\u003ctoday\\u003e"')])
    expect(await annotations(sink, 1)).toEqual({
      'authorization.k8s.io/decision': 'forbid',
      'authorization.k8s.io/reason': 'closed <today>',
    })
  })

  test('without a user has an empty name', async () => {
    const { served } = await serve(new RecordingAuthorizer('deny'))
    expect(await (await served.ask('/echo')).text()).toContain('User \\"\\" cannot get path')
  })

  test('over HTTP/2 is refused likewise', async () => {
    const { served, handled } = await serve(new RecordingAuthorizer('deny'), { http2: true })
    const client = await served.connectH2()
    const { status, body } = await client.get('/echo')
    expect([status, body.toString()]).toEqual([403, expect.stringContaining('cannot get path')])
    expect(handled).toEqual([])
  })
})

test('a request that is allowed is served, and audit says why', async () => {
  const authorizer = new RecordingAuthorizer({ decision: 'allow', reason: 'open', error: new Error('on the way') })
  const { sink, get } = await serve(authorizer)
  expect(await get('/echo')).toEqual([200, 'served'])
  expect(await annotations(sink, 1)).toEqual({ 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': 'open' })
  authorizer.answer = 'allow'
  await get('/echo')
  expect(await annotations(sink, 3)).toEqual({ 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' })
})

test('an authorizer is asked for what the request says, by whom', async () => {
  const authorizer = new RecordingAuthorizer()
  const { served } = await serve(authorizer)
  await served.ask('/apis/apps/v1/namespaces/blue/things/t1/scale', { method: 'PATCH', headers: { ...EVE, 'X-Group': 'a,b' } })
  await served.ask('/apis/apps/v1/things?labelSelector=app+in+(x),!old&fieldSelector=spec.node%3Dn1')
  expect(authorizer.asked).toEqual([
    {
      user: { name: 'eve', groups: ['a', 'b'], extra: {} },
      verb: 'patch',
      isResourceRequest: true,
      path: '/apis/apps/v1/namespaces/blue/things/t1/scale',
      apiGroup: 'apps',
      apiVersion: 'v1',
      namespace: 'blue',
      resource: 'things',
      subresource: 'scale',
      name: 't1',
    },
    expect.objectContaining({
      user: undefined,
      verb: 'list',
      resource: 'things',
      fieldSelector: [{ key: 'spec.node', operator: 'In', values: ['n1'] }],
      labelSelector: [
        { key: 'app', operator: 'In', values: ['x'] },
        { key: 'old', operator: 'DoesNotExist', values: [] },
      ],
    }),
  ])
})

describe('an authorizer that fails lets nothing pass', () => {
  const ANSWER = [500, 'Internal Server Error: "/echo?a=%3Cb%3E": the authorizer failed; the log of the server says why\n']
  const wrong = (answer: unknown, shown: string): readonly [string, () => unknown, string] => [
    `returns ${shown}`,
    () => answer,
    `the authorizer returned ${shown}, allowed: { decision: 'allow' | 'deny' | 'no-opinion', reason?, error? }`,
  ]
  test.each<readonly [string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('a mistake')
      },
      'a mistake',
    ],
    ['throws no error', () => Promise.reject('text'), '"text"'],
    ['rejects', () => Promise.reject(new Error('later')), 'later'],
    ['tells of an error', () => ({ decision: 'no-opinion', error: new Error('notified') }), 'notified'],
    ['denies with an error', () => Promise.resolve({ decision: 'deny', error: new Error('notified') }), 'notified'],
    wrong(undefined, 'undefined'),
    wrong(true, 'true'),
    wrong('allow', '"allow"'),
    wrong({ decision: 'Allow' }, '{"decision":"Allow"}'),
    wrong({ decision: 'allow', reason: 1 }, '{"decision":"allow","reason":1}'),
    wrong(Promise.resolve(['allow']), '["allow"]'),
  ])('%s', async (_what, authorize, why) => {
    const { served, handled, sink, get } = await serve({ authorize: authorize as Authorizer['authorize'] })
    const [status, body] = await get('/echo?a=<b>')
    expect([status, body]).toEqual(ANSWER)
    expect(served.lines.filter(({ message }) => message === 'Unable to authorize the request')).toEqual([
      expect.objectContaining({ level: 'error', fields: expect.objectContaining({ err: { message: why } }) }),
    ])
    expect(handled).toEqual([])
    expect(await annotations(sink, 1)).toEqual({ 'authorization.k8s.io/reason': 'internal error' })
    expect(served.life.counts().requests).toBe(0)
  })

  test('hangs: its request is answered 504 at its deadline, and a later yes is none', async () => {
    const authorizer = new RecordingAuthorizer()
    const { served, handled, sink } = await serve(authorizer)
    authorizer.hold()
    const answer = await served.ask('/echo?timeout=100ms')
    expect(answer.status).toBe(504)
    authorizer.release()
    expect((await served.ask('/after')).status).toBe(200)
    expect(handled).toEqual(['/after'])
    expect(await annotations(sink, 1)).toBeUndefined()
    expect(served.counted).not.toContain('ended after timeout: ok /echo')
  })

  test('hangs on a watch: the client that leaves ends the question', async () => {
    const authorizer = new RecordingAuthorizer()
    const { served, handled } = await serve(authorizer)
    authorizer.hold()
    let signal: AbortSignal | undefined
    const authorize = authorizer.authorize.bind(authorizer)
    authorizer.authorize = (asked, context) => {
      signal = context.signal
      return authorize(asked, context)
    }
    const client = await served.connect()
    client.send('GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n')
    await expect.poll(() => authorizer.asked.length).toBe(1)
    client.socket.destroy()
    await expect.poll(() => signal?.aborted).toBe(true)
    await expect.poll(() => served.life.counts().watches).toBe(0)
    authorizer.release()
    expect((await served.ask('/after')).status).toBe(200)
    expect(handled).toEqual(['/after'])
  })

  test('hangs on a watch: a server that stops answers it, and ends', async () => {
    const authorizer = new RecordingAuthorizer()
    const { served, handled } = await serve(authorizer, { watchGrace: '10s' })
    authorizer.hold()
    const client = await served.connect()
    client.send('GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n')
    await expect.poll(() => authorizer.asked.length).toBe(1)
    const { exitCode } = await served.life.stop()
    expect([exitCode, handled]).toEqual([0, []])
    expect(client.received).toContain('503 Service Unavailable')
  })
})

describe('what lasts is asked about, too', () => {
  test('a watch', async () => {
    const authorizer = new RecordingAuthorizer('deny')
    const { get } = await serve(authorizer)
    expect(await get('/api/v1/pods?watch=1')).toEqual([403, expect.stringContaining('cannot watch resource \\"pods\\"')])
  })

  test('an upgrade, which never comes to its handler', async () => {
    const authorizer = new RecordingAuthorizer('deny')
    const { served, handled } = await serve(authorizer)
    const upgrade = { Connection: 'Upgrade', Upgrade: 'echo' }
    const client = await served.connect()
    const refused = await client.ask('GET', '/upgrade', { headers: upgrade })
    expect([refused.status, handled]).toEqual([403, []])
    expect(await client.closed()).toBe('ended')
    authorizer.answer = async () => ({ decision: 'allow' })
    const other = await served.connect()
    expect((await other.ask('GET', '/upgrade', { headers: upgrade })).status).toBe(101)
    expect(handled).toEqual(['/upgrade'])
  })

  test('an upgrade whose authorizer took its time is ended in its turn, as one whose handler has asked for no signal', async () => {
    const authorizer = new RecordingAuthorizer(async (_asked, { signal }) => {
      await Promise.resolve(signal)
      return { decision: 'allow' }
    })
    const { life, connect } = await serveApi({
      // Longer than this test may take.
      config: { authorizer, watchGrace: '60s' },
      setUp: (server) =>
        server.handleUpgrade('/upgrade', (_request, socket: Duplex) => {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
          socket.pipe(socket)
        }),
    })
    const client = await connect()
    expect((await client.ask('GET', '/upgrade', { headers: { Connection: 'Upgrade', Upgrade: 'echo' } })).status).toBe(101)
    expect((await life.stop()).exitCode).toBe(0)
  })
})

describe('of what is always allowed', () => {
  test('health needs no question, its checks do; a user of system:masters may do everything', async () => {
    const authorizer = new RecordingAuthorizer('deny')
    const { served } = await serve(authorizer)
    for (const path of ['/healthz', '/livez', '/readyz']) expect((await served.ask(path)).status).toBe(200)
    expect(authorizer.asked).toEqual([])
    expect((await served.ask('/readyz/ping')).status).toBe(403)
    const asMaster = { headers: { 'X-User': 'root', 'X-Group': 'others,system:masters' } }
    expect((await served.ask('/api/v1/nodes/n1', asMaster)).status).toBe(200)
    expect(authorizer.asked.length).toBe(1)
  })

  test('both are what the config says', async () => {
    const authorizer = new RecordingAuthorizer('deny')
    const config = { authorizationAlwaysAllowPaths: ['/docs/*'], authorizationAlwaysAllowGroups: ['ops'] }
    const { served } = await serve(authorizer, config)
    const asked = (path: string, group: string) => served.ask(path, { headers: { 'X-User': 'a', 'X-Group': group } })
    expect((await asked('/healthz', 'system:masters')).status).toBe(403)
    expect((await asked('/docs/x', '')).status).toBe(200)
    expect((await asked('/anything', 'ops')).status).toBe(200)
  })
})

describe('a target that can be read in two ways', () => {
  const statuses = async (targets: readonly string[]): Promise<readonly [Readonly<Record<string, number>>, readonly string[]]> => {
    const { served, handled } = await serve(allowedPaths('/public/*', '/exact'))
    const client = await served.connect()
    const found: Record<string, number> = {}
    for (const target of targets) found[target] = (await client.ask('GET', target)).status
    return [found, handled]
  }
  const all = (targets: readonly string[], status: number) => Object.fromEntries(targets.map((target) => [target, status]))

  test('has to be allowed in each', async () => {
    const targets = [
      '/public/../secret',
      '/public/%2e%2e/secret',
      '/public/..%2fsecret',
      '/public%2f..%2fsecret',
      '/public\\..\\secret',
      '/public/..%5csecret',
      '/public/%252e%252e/secret',
      '/public/x/../../api/v1/secrets',
      '//public/x',
      '/public%2fx',
      '/secret#/../public/x',
      '/%70ublic/.%2e/secret',
      // Some decode what they can, or take out control characters and spaces at the end.
      '/public/%ff%2f..%2f..%2fsecret',
      '/public/.%09./secret',
      '/exact%0a',
      '/exact%20',
    ]
    expect(await statuses(targets)).toEqual([all(targets, 403), []])
  })

  test('is served where it is', async () => {
    const targets = ['/public/x', '/public/x%20y', '/public/.a', '/public/a..b', '/public/x?to=../y', '/exact', '/ex%61ct', '/public/./x']
    expect(await statuses(targets)).toEqual([all(targets, 200), targets])
  })

  test('one that is plain is asked about once', async () => {
    const authorizer = new RecordingAuthorizer()
    const { served } = await serve(authorizer)
    await served.ask('/a/b.c/d?x=%2f..')
    expect(authorizer.asked.map(({ path }) => path)).toEqual(['/a/b.c/d'])
    const client = await served.connect()
    await client.ask('GET', '/a/..%2fb')
    expect(authorizer.asked.slice(1).map(({ path }) => path)).toEqual(['/a/../b', '/a/..%2fb', '/b'])
  })
})

row('DG-17', 'what the server serves by itself is asked about, too', async () => {
  const authorizer = new RecordingAuthorizer()
  const paths = ['/', '/version', '/apis', '/metrics', '/readyz/ping', '/nothing']
  const { ask } = await serveApi({ config: { authorizer } })
  for (const path of paths) expect([path, (await ask(path)).status]).toEqual([path, path === '/nothing' ? 404 : 200])
  authorizer.answer = 'deny'
  for (const path of paths) expect([path, (await ask(path)).status]).toEqual([path, 403])
  expect(authorizer.asked.map(({ path }) => path)).toEqual([...paths, ...paths])
})

test('without an authorizer everything is served, and nothing is annotated', async () => {
  const { sink, get } = await serve(undefined as unknown as Authorizer)
  expect(await get('/echo')).toEqual([200, 'served'])
  expect(await annotations(sink, 1)).toBeUndefined()
})
