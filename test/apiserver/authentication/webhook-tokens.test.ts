// Fails when: another server's answer is taken for another user than upstream takes it for; it is
// asked more often than that, or without an end; a token comes into a message; or a server behind a
// kube-apiserver does not know its clients as that does.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AuthenticationContext, AuthenticationResult } from '#apiserver/authentication/authenticator.ts'
import { CachedTokens } from '#apiserver/authentication/cached-tokens.ts'
import type { TokenReviewVersion } from '#apiserver/authentication/token-review.ts'
import { WebhookTokens } from '#apiserver/authentication/webhook-tokens.ts'
import { type ApiServerConfig, type AuthenticationWebhookOptions, completeConfig, type UserInfo, userOf } from '#apiserver/index.ts'
import type { RemoteAnswer } from '#apiserver/webhook/client.ts'
import { remoteOfCluster } from '#apiserver/webhook/in-cluster.ts'
import { VirtualClock } from '#src/testing/index.ts'
import { serveApi } from '../../support/api-server.ts'
import { clientOf, type PemPair, pairFor } from '../../support/certificates.ts'

const context = (): AuthenticationContext => ({ signal: new AbortController().signal, info: undefined as never })
const TOKEN = 'sv.to"ken'
const review = (status: unknown, version: string = 'v1'): string =>
  JSON.stringify({ kind: 'TokenReview', apiVersion: `authentication.k8s.io/${version}`, ...(status === undefined ? {} : { status }) })
const ANN = { username: 'ann', uid: 'u', groups: ['g'], extra: { k: ['v'] } }
const answer = (body: string | undefined, status = 200): RemoteAnswer => ({ status, retryAfter: undefined, body })
const failure = (status: number, message: string): RemoteAnswer =>
  answer(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason: 'BadRequest' }), status)

type Answer = RemoteAnswer | Error | ((signal: AbortSignal) => Promise<RemoteAnswer>)

interface Given {
  readonly version?: TokenReviewVersion
  readonly audiences?: readonly string[]
  readonly cacheTtlMs?: number
}

/** A webhook whose server answers as the test says. */
async function webhook(answered: (token: string) => Answer, { version = 'v1', audiences = [], cacheTtlMs = 120_000 }: Given = {}) {
  const clock = new VirtualClock()
  const posts: { at: number; body: string }[] = []
  const settings = { version, cacheTtlMs, timeoutMs: 30_000, initialBackoffMs: 500 }
  const tokens = new WebhookTokens(settings, audiences, {
    open: () => Promise.resolve(),
    post: async (body, signal) => {
      posts.push({ at: clock.now(), body })
      const given = answered((JSON.parse(body) as { spec: { token: string } }).spec.token)
      if (given instanceof Error) throw given
      return typeof given === 'function' ? given(signal) : given
    },
    close: () => {},
  })
  const cached = new CachedTokens(tokens, cacheTtlMs)
  await cached.open({ clock, random: () => 0, warn: () => {} })
  const ask = async (token = TOKEN, given = context()): Promise<AuthenticationResult> => cached.authenticateToken(token, given)
  return { clock, posts, ask }
}

const user = (fields: object = {}) => ({ name: 'ann', groups: ['system:authenticated'], extra: {}, ...fields })
const WHOLE = user({ uid: 'u', groups: ['g', 'system:authenticated'], extra: { k: ['v'] } })

describe('an answer', () => {
  // As the token webhook of k8s.io/apiserver 0.37.2 answered, but for users without a name.
  test.each<[string, RemoteAnswer, object | undefined | RegExp]>([
    ['a user', answer(review({ authenticated: true, user: ANN })), WHOLE],
    ['created', answer(review({ authenticated: true, user: ANN }), 201), WHOLE],
    ['a name alone', answer(review({ authenticated: true, user: { username: 'ann' } })), user()],
    ['null', answer(review({ authenticated: true, user: { username: 'ann', uid: null, groups: null, extra: null }, error: null })), user()],
    [
      'null in extra',
      answer(review({ authenticated: true, user: { username: 'ann', extra: { a: null, b: [] } } })),
      user({ extra: { a: [], b: [] } }),
    ],
    ['an error beside a user', answer(review({ authenticated: true, user: ANN, error: 'odd' })), WHOLE],
    ['no', answer(review({ authenticated: false })), undefined],
    ['no, with a user', answer(review({ authenticated: false, user: ANN })), undefined],
    ['no status', answer(review(undefined)), undefined],
    ['no kind', answer(JSON.stringify({ status: { authenticated: true, user: ANN } })), WHOLE],
    ['no, and why', answer(review({ error: `${TOKEN} has\nexpired` })), /^the webhook says of a token: <secret> has expired$/],
    ['no name', answer(review({ authenticated: true, user: {} })), /named no user/],
    ['no user', answer(review({ authenticated: true })), /named no user/],
    ['a name that is none', answer(review({ authenticated: true, user: { username: 5 } })), /username has the wrong type/],
    [
      'groups that are no list',
      answer(review({ authenticated: true, user: { username: 'ann', groups: 'g' } })),
      /groups has the wrong type/,
    ],
    [
      'extra that is no list',
      answer(review({ authenticated: true, user: { username: 'ann', extra: { a: 'b' } } })),
      /extra has the wrong type/,
    ],
    ['yes in words', answer(review({ authenticated: 'true', user: ANN })), /authenticated has the wrong type/],
    [
      'another version',
      answer(review({ authenticated: true, user: ANN }, 'v1beta1')),
      /allowed: a TokenReview of authentication.k8s.io\/v1/,
    ],
    ['another kind', answer('{"kind":"SubjectAccessReview","status":{"authenticated":true}}'), /allowed: a TokenReview/],
    ['a page', answer('<html>internal</html>'), /^the webhook answered 21 bytes that are not a JSON object/],
    ['too much', answer(undefined), /longer than/],
    ['a refusal', failure(400, `no schema for ${TOKEN}`), /^the webhook answered 400: no schema for <secret>$/],
  ])('is read: %s', async (_what, given, expected) => {
    const { ask } = await webhook(() => given)
    if (expected instanceof RegExp) await expect(ask()).rejects.toThrow(expected)
    else expect((await ask())?.user).toEqual(expected)
  })

  test.each<[string, readonly string[] | undefined, boolean, readonly string[] | undefined]>([
    ['for it', ['api'], true, ['api']],
    ['for it and others', ['x', 'b', 'api'], true, ['api', 'b']],
    ['for another', ['other'], true, undefined],
    ['of a server that does not know of audiences', undefined, true, ['api', 'b']],
    ['with an empty list', [], true, ['api', 'b']],
    ['for another, and wrong', ['other'], false, undefined],
  ])('is for whom it says: %s', async (_what, audiences, authenticated, meant) => {
    const given = answer(review({ authenticated, user: ANN, ...(audiences && { audiences }), ...(!authenticated && { error: 'x' }) }))
    const { ask, posts } = await webhook(() => given, { audiences: ['api', 'b'] })
    expect((await ask())?.audiences).toEqual(meant)
    expect(JSON.parse(posts[0]?.body as string)).toMatchObject({ spec: { token: TOKEN, audiences: ['api', 'b'] } })
  })
})

test.each<TokenReviewVersion>(['v1', 'v1beta1'])('what is posted is a review of %s', async (version) => {
  const { ask, posts } = await webhook(() => answer(review({ authenticated: true, user: ANN }, version)), { version })
  expect((await ask())?.user.name).toBe('ann')
  expect(posts.map(({ body }) => body)).toEqual([
    `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/${version}","metadata":{},"spec":{"token":"sv.to\\"ken"},"status":{"user":{}}}`,
  ])
})

describe('what is known of a token', () => {
  test.each([
    ['whose it is', { authenticated: true, user: ANN }],
    ['that it is of none', { authenticated: false }],
  ])('is kept for its time: %s', async (_what, status) => {
    const { ask, posts, clock } = await webhook(() => answer(review(status)))
    const first = await ask()
    await clock.advance(119_999)
    expect(await ask()).toEqual(first)
    expect(posts.length).toBe(1)
    await ask('another')
    expect(posts.length).toBe(2)
    await clock.advance(1)
    await ask()
    expect(posts.length).toBe(3)
  })

  test('is asked for each time after a failure, and where nothing is kept', async () => {
    const failing = await webhook(() => answer('', 403))
    for (let times = 0; times < 2; times++) await expect(failing.ask()).rejects.toThrow('answered 403')
    expect(failing.posts.length).toBe(2)
    const never = await webhook(() => answer(review({ authenticated: true, user: ANN })), { cacheTtlMs: 0 })
    for (let times = 0; times < 2; times++) await never.ask()
    expect(never.posts.length).toBe(2)
  })

  test('is asked for once, by however many requests, and for those that go on when one has left', async () => {
    let arrive: (given: RemoteAnswer) => void = () => {}
    const { ask, posts } = await webhook(() => () => new Promise((resolve) => (arrive = resolve)))
    const gone = new AbortController()
    const left = ask(TOKEN, { ...context(), signal: gone.signal })
    const others = [ask(), ask()]
    gone.abort(new Error('its client has left'))
    await expect(left).rejects.toThrow('its client has left')
    arrive(answer(review({ authenticated: true, user: ANN })))
    expect((await Promise.all(others)).map((each) => each?.user.name)).toEqual(['ann', 'ann'])
    expect(posts.length).toBe(1)
  })

  test('is not asked for without an end, nor of any number of tokens at a time', async () => {
    const { ask, clock, posts } = await webhook(
      () => (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    const all = Array.from({ length: 400 }, (_, at) => ask(`token ${at}`).catch((error: Error) => error.message))
    await expect(ask('one more')).rejects.toThrow('400 tokens are being looked up')
    await clock.advance('30s')
    expect(new Set(await Promise.all(all)).size).toBe(1)
    expect(posts.length).toBe(400)
    const again = ask('one more').catch((error: Error) => error.message)
    await clock.advance('30s')
    expect(await again).toMatch(/30s/)
  })

  test('is tried five times of a server that fails for a moment', async () => {
    const { ask, clock, posts } = await webhook(() => answer('', 500))
    const asked = ask().catch((error: Error) => error.message)
    await clock.runToEnd()
    expect(await asked).toBe('the webhook answered 500')
    expect(posts.map(({ at }) => at)).toEqual([0, 500, 1_250, 2_375, 4_062.5])
  })
})

const CLIENTS = pairFor({ commonName: "the cluster's client CA" })
const PROXIES = pairFor({ commonName: 'the front proxy CA' })
const SERVER = pairFor({ names: ['localhost'] })
const OPERATOR = clientOf(CLIENTS, 'operator/O=ops')
const PROXY = clientOf(PROXIES, 'front-proxy-client')

/** As much of a kube-apiserver as another server asks. */
async function kubeApiServer() {
  const it = {
    asked: [] as string[],
    status: 200,
    data: {
      'client-ca-file': CLIENTS.cert,
      'requestheader-client-ca-file': PROXIES.cert,
      'requestheader-allowed-names': '["front-proxy-client"]',
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    } as Record<string, string>,
    kubeconfig: '',
  }
  const server = createServer(async (request, response) => {
    it.asked.push(`${request.method} ${request.url}`)
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const path = request.url?.split('?')[0]
    const reply = (status: number, object: unknown): void => void response.writeHead(status).end(JSON.stringify(object))
    if (path === '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication') {
      const { status } = it
      return reply(status, status === 200 ? { kind: 'ConfigMap', data: it.data } : { kind: 'Status', status: 'Failure', message: 'no' })
    }
    const { spec } = JSON.parse(body) as { spec: { token?: string; user?: string } }
    if (path === '/apis/authentication.k8s.io/v1/tokenreviews') {
      const authenticated = spec.token === 'of-ann'
      return reply(201, JSON.parse(review({ authenticated, ...(authenticated && { user: ANN }) })))
    }
    if (path !== '/apis/authorization.k8s.io/v1/subjectaccessreviews') return reply(404, {})
    return reply(201, { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', status: { allowed: spec.user !== 'eve' } })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-cluster-'))
  onTestFinished(() => {
    server.close().closeAllConnections()
    rmSync(folder, { recursive: true })
  })
  it.kubeconfig = join(folder, 'kubeconfig')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  writeFileSync(
    it.kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'a', cluster: { server: url } }],
      contexts: [{ name: 'a', context: { cluster: 'a' } }],
      'current-context': 'a',
    }),
  )
  return it
}

const serve = (authenticationWebhook: AuthenticationWebhookOptions, config: ApiServerConfig = {}) =>
  serveApi({
    config: { tls: SERVER, authenticationWebhook, ...config },
    setUp: (server) => server.handle('/whoami', (request, response) => response.end(JSON.stringify(userOf(request)))),
  })

/** Who the server says that a request is from, or its status. */
function whoIs(port: number, headers: Readonly<Record<string, string>> = {}, pair?: PemPair): Promise<UserInfo | number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: SERVER.cert, ...pair })
    let received = ''
    socket.on('data', (chunk) => {
      received += String(chunk)
    })
    socket.once('error', reject)
    socket.once('end', () => {
      const [head = '', body = ''] = received.split('\r\n\r\n')
      const status = Number(head.split(' ')[1])
      resolve(status === 200 ? (JSON.parse(body) as UserInfo) : status)
    })
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`GET /whoami HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${lines.join('')}\r\n`)
  })
}

describe('behind a kube-apiserver', () => {
  test('a server knows its clients, and asks what they may do, by one kubeconfig file', async () => {
    const cluster = await kubeApiServer()
    const { kubeconfig, asked } = cluster
    const { port, life } = await serve({ apiServer: kubeconfig }, { authorizationWebhook: { apiServer: kubeconfig } })
    expect(await whoIs(port, { Authorization: 'Bearer of-ann' })).toEqual(WHOLE)
    expect(await whoIs(port, { Authorization: 'Bearer of-none' })).toBe(401)
    expect(await whoIs(port, {}, OPERATOR)).toMatchObject({ name: 'operator', groups: ['ops', 'system:authenticated'] })
    const asEve = { 'X-Remote-User': 'eve' }
    expect(await whoIs(port, { 'X-Remote-User': 'bob', 'X-Remote-Group': 'dev' }, PROXY)).toMatchObject({
      name: 'bob',
      groups: ['dev', 'system:authenticated'],
    })
    expect(await whoIs(port, asEve, PROXY)).toBe(403)
    // Not by one of the cluster's clients, nor with a name of another program.
    expect(await whoIs(port, asEve, OPERATOR)).toMatchObject({ name: 'operator' })
    expect(await whoIs(port, asEve, clientOf(PROXIES, 'kubelet'))).toBe(401)
    expect(asked[0]).toBe('GET /api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication?timeout=10s')
    expect([...new Set(asked.slice(1))].sort()).toEqual([
      'POST /apis/authentication.k8s.io/v1/tokenreviews?timeout=10s',
      'POST /apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=10s',
    ])
    expect((await life.stop()).exitCode).toBe(0)
  })

  test('what is said here is not looked up there', async () => {
    const { kubeconfig, asked } = await kubeApiServer()
    const own = pairFor({ commonName: 'a CA of its own' })
    const { port } = await serve(
      { apiServer: kubeconfig },
      { tls: { ...SERVER, clientCa: own.cert }, requestHeader: { clientCa: own.cert } },
    )
    expect(await whoIs(port, {}, OPERATOR)).toBe(401)
    expect(await whoIs(port, {}, clientOf(own, 'ann'))).toMatchObject({ name: 'ann' })
    expect(asked).toEqual([])
    const skipping = await serve({ apiServer: kubeconfig, skipLookup: true })
    expect(await whoIs(skipping.port, { Authorization: 'Bearer of-ann' }, OPERATOR)).toEqual(WHOLE)
    expect(asked.map((each) => each.split('?')[0])).toEqual(['POST /apis/authentication.k8s.io/v1/tokenreviews'])
  })

  test.each<[string, { status?: number; data?: object }, RegExp]>([
    [
      'may not be read',
      { status: 403 },
      /configmap\/extension-apiserver-authentication in kube-system: cannot be read \(403: no; a RoleBinding/,
    ],
    ['cannot be read now', { status: 500 }, /500: no/],
    [
      'has names that are none',
      { data: { 'requestheader-username-headers': '"X"' } },
      /requestheader-username-headers is not a JSON list of names/,
    ],
    ['has a CA that is none', { data: { 'client-ca-file': 'x' } }, /client-ca-file: holds no certificate/],
  ])('a lookup that %s is a failed start, unless that is tolerated', async (_what, wrong, message) => {
    const cluster = await kubeApiServer()
    Object.assign(cluster, wrong)
    await expect(serve({ apiServer: cluster.kubeconfig })).rejects.toMatchObject({ cause: { message: expect.stringMatching(message) } })
    if (wrong.status === undefined) return
    const { port, lines } = await serve({ apiServer: cluster.kubeconfig, tolerateLookupFailure: true })
    expect(JSON.stringify(lines)).toContain('the server starts without it, and knows no client by its certificate')
    expect(await whoIs(port, { 'X-Remote-User': 'root' }, PROXY)).toBe(401)
    expect(await whoIs(port, { Authorization: 'Bearer of-ann' })).toEqual(WHOLE)
  })

  test('one that says nothing has no clients that are known by certificates', async () => {
    const cluster = await kubeApiServer()
    Object.assign(cluster, { status: 404 })
    const { port } = await serve({ apiServer: cluster.kubeconfig }, { anonymousAuth: false })
    for (const pair of [OPERATOR, PROXY, undefined]) expect(await whoIs(port, { 'X-Remote-User': 'root' }, pair)).toBe(401)
  })
})

test('options that cannot be used are named', () => {
  const wrong = (authenticationWebhook: unknown) => () => completeConfig({ authenticationWebhook } as ApiServerConfig)
  expect(wrong({})).toThrow('authenticationWebhook.kubeconfig: got undefined, allowed: a file name, or url')
  expect(wrong({ apiServer: 'a', kubeconfig: 'b' })).toThrow('authenticationWebhook.kubeconfig: got "b", allowed: none beside apiServer')
  expect(wrong({ kubeconfig: 'a', version: 'v2' })).toThrow('authenticationWebhook.version')
  expect(() => completeConfig({ authorizationWebhook: { apiServer: 'a', url: 'http://b' } })).toThrow('authorizationWebhook.url')
})

test('a pod finds its API server by what it is given', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
  expect(remoteOfCluster(env, '/run/sa')).toEqual({
    url: 'https://[fd00::1]:443',
    ca: { file: '/run/sa/ca.crt' },
    token: { file: '/run/sa/token' },
  })
  expect(() => remoteOfCluster({})).toThrow('in-cluster: this process runs in no pod of a cluster')
})
