// Fails when: a server is asked something else than upstream asks it, more often, or not again; its
// answer is taken for another decision; or one that cannot be asked lets something pass.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { settingsOf, WebhookAuthorizer } from '#apiserver/authorization/webhook.ts'
import { resolveWebhook } from '#apiserver/authorization/webhook-options.ts'
import {
  type AuthorizationAttributes,
  type AuthorizationWebhookOptions,
  completeConfig,
  type Decision,
  webhookAuthorizer,
} from '#apiserver/index.ts'
import { askedOf } from '#apiserver/testing/asked-of.ts'
import type { RemoteAnswer } from '#apiserver/webhook/client.ts'
import { VirtualClock } from '#src/testing/index.ts'
import { serveApi } from '../../support/api-server.ts'
import { CONTEXT, NAMED, userOf } from './users.ts'

const review = (status: object): string =>
  JSON.stringify({ kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', metadata: {}, status })

type Answer = RemoteAnswer | Error | ((signal: AbortSignal) => Promise<RemoteAnswer>)

const ok = (status: object): Answer => ({ status: 200, retryAfter: undefined, body: review(status) })
const code = (status: number, retryAfter?: string): Answer => ({ status, retryAfter, body: '' })
const reset = (): Answer => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' })
/** As node says of a connection that has ended without an answer. */
const hungUp = (): Answer => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
const status = (http: number, fields: object): Answer => ({
  status: http,
  retryAfter: undefined,
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...fields }),
})
/** As a proxy in between answers, with what none of its clients should read. */
const PAGE = '<html>proxy authz-7.internal.corp: session cookie SSO=abc</html>'
const body = (text: string): Answer => ({ status: 200, retryAfter: undefined, body: text })

/** A webhook whose server answers as the test says, the last answer again and again. */
async function webhook(answers: readonly Answer[], options: AuthorizationWebhookOptions = {}) {
  const clock = new VirtualClock()
  const posts: { at: number; body: string }[] = []
  const authorizer = new WebhookAuthorizer(settingsOf(resolveWebhook({ url: 'http://authz.example/', ...options })), {
    open: () => Promise.resolve(),
    post: async (body, signal) => {
      const answer = answers[Math.min(posts.length, answers.length - 1)] as Answer
      posts.push({ at: clock.now(), body })
      if (answer instanceof Error) throw answer
      return typeof answer === 'function' ? answer(signal) : answer
    },
    close: () => {},
  })
  await authorizer.open({ clock, random: () => 0, failed: () => {}, warn: () => {} })
  return {
    clock,
    posts,
    authorizer,
    decide: (asked: Partial<AuthorizationAttributes> = {}, context = CONTEXT): Promise<Decision> =>
      Promise.resolve(authorizer.authorize(askedOf(asked), context)),
    times: () => posts.map(({ at }) => at),
  }
}

describe('a question', () => {
  const specOf = async (asked: Partial<AuthorizationAttributes>): Promise<unknown> => {
    const { decide, posts } = await webhook([ok({ allowed: true })])
    await decide(asked)
    const { spec, ...rest } = JSON.parse(posts[0]?.body as string) as { spec: unknown }
    expect(rest).toEqual({ kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', metadata: {}, status: { allowed: false } })
    return spec
  }

  test('for a resource has all that is known, and nothing that is empty', async () => {
    const user = { name: 'eve', uid: 'u1', groups: ['a', 'b'], extra: { scopes: ['x', 'y'] } }
    const resource = { apiGroup: 'apps', apiVersion: 'v1', namespace: 'blue', resource: 'things', subresource: 'log', name: 't1' }
    expect(
      await specOf({
        user,
        isResourceRequest: true,
        path: '/apis/apps',
        ...resource,
        fieldSelector: [{ key: 'spec.node', operator: 'In', values: ['n'] }],
        labelSelector: [{ key: 'old', operator: 'DoesNotExist', values: [] }],
      }),
    ).toEqual({
      resourceAttributes: {
        namespace: 'blue',
        verb: 'get',
        group: 'apps',
        version: 'v1',
        resource: 'things',
        subresource: 'log',
        name: 't1',
        fieldSelector: { requirements: [{ key: 'spec.node', operator: 'In', values: ['n'] }] },
        labelSelector: { requirements: [{ key: 'old', operator: 'DoesNotExist' }] },
      },
      user: 'eve',
      groups: ['a', 'b'],
      extra: { scopes: ['x', 'y'] },
      uid: 'u1',
    })
    expect(await specOf({ isResourceRequest: true, verb: 'list', resource: 'nodes' })).toEqual({
      resourceAttributes: { verb: 'list', resource: 'nodes' },
    })
  })

  test('for a path has that', async () => {
    expect(await specOf({ user: userOf('eve'), verb: 'post', path: '/a b' })).toEqual({
      nonResourceAttributes: { path: '/a b', verb: 'post' },
      user: 'eve',
    })
  })
})

test.each<[object, Decision]>([
  [{ allowed: true }, { decision: 'allow' }],
  [
    { allowed: true, reason: 'because' },
    { decision: 'allow', reason: 'because' },
  ],
  [{ allowed: false }, { decision: 'no-opinion' }],
  [{}, { decision: 'no-opinion' }],
  [{ allowed: null, denied: null, reason: null }, { decision: 'no-opinion' }],
  [
    { allowed: false, reason: 'not today', evaluationError: 'x' },
    { decision: 'no-opinion', reason: 'not today' },
  ],
  [
    { allowed: false, denied: true, reason: 'never' },
    { decision: 'deny', reason: 'never' },
  ],
  [
    { allowed: true, denied: true },
    { decision: 'deny', error: new Error('webhook subject access review returned both allow and deny response') },
  ],
])('an answer %j is a decision', async (status, decision) => {
  const { decide } = await webhook([ok(status)])
  expect(await decide()).toEqual(decision)
})

test.each([
  ['no status', '{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1"}', 'no-opinion'],
  ['a status of null', '{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":null}', 'no-opinion'],
  ['no kind', '{"status":{"allowed":true}}', 'allow'],
])('an answer with %s is read as upstream reads it', async (_what, text, decision) => {
  const { decide } = await webhook([body(text)])
  expect(await decide()).toEqual({ decision })
})

describe('what a server has said', () => {
  test.each([
    ['allowed', { allowed: true }, 5 * 60_000],
    ['not allowed', { allowed: false }, 30_000],
    ['denied', { allowed: false, denied: true }, 30_000],
  ])('is kept for its time: %s', async (_what, status, ms) => {
    const { decide, clock, times } = await webhook([ok(status)])
    const first = await decide({ user: userOf('eve') })
    await clock.advance(ms - 1)
    expect(await decide({ user: userOf('eve') })).toEqual(first)
    expect(times()).toEqual([0])
    await clock.advance(1)
    await decide({ user: userOf('eve') })
    expect(times()).toEqual([0, ms])
  })

  test('is about that question alone', async () => {
    const { decide, posts } = await webhook([ok({ allowed: true })])
    const questions = [
      { user: userOf('eve') },
      { user: userOf('eve', 'devs') },
      { user: userOf('mallory') },
      { user: { ...userOf('eve'), uid: '2' } },
      { user: { ...userOf('eve'), extra: { a: ['b'] } } },
      {},
      { verb: 'post' },
      { path: '/b' },
      { isResourceRequest: true, resource: 'a' },
      { isResourceRequest: true, resource: 'a', subresource: 'b' },
      { isResourceRequest: true, resource: 'a', name: 'b' },
      { isResourceRequest: true, resource: 'a', namespace: 'b' },
      { isResourceRequest: true, resource: 'a', apiGroup: 'b' },
      { isResourceRequest: true, resource: 'a', fieldSelector: [{ key: 'a', operator: 'In', values: ['b'] }] },
    ] as const
    for (const asked of [...questions, ...questions]) await decide(asked)
    expect(posts.length).toBe(questions.length)
  })

  test('is asked for each time where its time is 0, where the question is long, and after a failure', async () => {
    const never = await webhook([ok({ allowed: true })], { authorizedTtl: 0 })
    await never.decide()
    await never.decide()
    expect(never.posts.length).toBe(2)
    const long = await webhook([ok({ allowed: true })])
    await long.decide({ path: `/${'x'.repeat(10_000)}` })
    await long.decide({ path: `/${'x'.repeat(10_000)}` })
    expect(long.posts.length).toBe(2)
    // A client has sent 2 kB of it.
    const labelSelector = Array.from({ length: 1000 }, () => ({ key: 'a', operator: 'Exists', values: [] }) as const)
    await long.decide({ labelSelector })
    await long.decide({ labelSelector })
    expect(long.posts.length).toBe(4)
    const failing = await webhook([code(403), ok({ allowed: true })])
    expect((await failing.decide()).decision).toBe('no-opinion')
    expect((await failing.decide()).decision).toBe('allow')
  })

  test('is forgotten when there is too much of it, the oldest first', async () => {
    const { decide, posts } = await webhook([ok({ allowed: true })])
    for (let at = 0; at < 8192; at++) await decide({ path: `/${at}` })
    await decide({ path: '/0' })
    await decide({ path: '/new' })
    expect(posts.length).toBe(8193)
    await decide({ path: '/0' })
    expect(posts.length).toBe(8193)
    await decide({ path: '/1' })
    expect(posts.length).toBe(8194)
  })
})

describe('a server that fails', () => {
  test.each([
    ['500', code(500)],
    ['504', code(504)],
    ['429', code(429)],
    ['503 with Retry-After', code(503, '1')],
    ['a connection that is reset', reset()],
    ['a Status of a mistake inside', status(400, { reason: 'InternalError', message: 'no luck' })],
  ])('for a moment is asked five times, ever later: %s', async (_what, answer) => {
    const { decide, clock, times } = await webhook([answer])
    const decided = decide()
    await clock.runToEnd()
    expect(await decided).toMatchObject({ decision: 'no-opinion', error: expect.any(Error) })
    expect(times()).toEqual([0, 500, 1_250, 2_375, 4_062.5])
    const recovered = await webhook([answer, ok({ allowed: true })])
    const late = recovered.decide()
    await recovered.clock.runToEnd()
    expect(await late).toEqual({ decision: 'allow' })
  })

  test.each<[string, Answer, RegExp]>([
    ['403', code(403), /^the webhook answered 403$/],
    ['503', code(503), /^the webhook answered 503$/],
    ['300', code(300), /^the webhook answered 300$/],
    ['refuses', new Error('connect ECONNREFUSED'), /^connect ECONNREFUSED$/],
    ['hangs up', hungUp(), /^socket hang up$/],
    ['a Status', status(400, { reason: 'BadRequest', message: 'no\nschema' }), /^the webhook answered 400: no schema$/],
    ['a Status of 500', status(500, { reason: 'Forbidden', message: 'not you' }), /^the webhook answered 500: not you$/],
    ['a Status as its answer', status(200, { message: 'not you' }), /^the webhook answered a Status with a failure, allowed/],
    ['a page', body(PAGE), /^the webhook answered 64 bytes that are not a JSON object, allowed: a SubjectAccessReview/],
    ['a page as a failure', { status: 502, retryAfter: undefined, body: PAGE }, /^the webhook answered 502$/],
    ['a list', body('[]'), /not a JSON object, allowed: a SubjectAccessReview/],
    ['nothing', body(''), /^the webhook answered 0 bytes/],
    ['a status in a list', body('{"status":[]}'), /a status that is not an object/],
    [
      'a version of another time',
      body('{"apiVersion":"authorization.k8s.io/v1beta1","status":{"allowed":true}}'),
      /of "authorization.k8s.io\/v1beta1"/,
    ],
    [
      'another kind',
      { status: 200, retryAfter: undefined, body: '{"kind":"LocalSubjectAccessReview","status":{"allowed":true}}' },
      /^the webhook answered "LocalSubjectAccessReview" of "authorization.k8s.io\/v1", allowed: a SubjectAccessReview/,
    ],
    ['without end', { status: 200, retryAfter: undefined, body: undefined }, /^the answer is longer than 1048576 bytes$/],
    ['no word', ok({ allowed: 'true' }), /allowed: a SubjectAccessReview/],
    ['no word of denial', ok({ allowed: true, denied: 'true' }), /allowed: a SubjectAccessReview/],
  ])('otherwise is asked once, and lets nothing pass: %s', async (_what, answer, message) => {
    const { decide, posts } = await webhook([answer])
    expect(await decide()).toEqual({ decision: 'no-opinion', error: expect.objectContaining({ message: expect.stringMatching(message) }) })
    expect(posts.length).toBe(1)
    const denying = await webhook([answer], { failurePolicy: 'Deny' })
    expect(await denying.decide()).toMatchObject({ decision: 'deny', error: expect.any(Error) })
  })

  const hanging: Answer = (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

  test('by saying nothing is given up', async () => {
    const { decide, clock } = await webhook([hanging], { timeout: '3s' })
    const decided = decide()
    await clock.advance('3s')
    expect(await decided).toMatchObject({ decision: 'no-opinion', error: { message: 'the webhook did not answer within 3s' } })
  })

  test.each([
    ['asked', hanging],
    ['waiting to ask again', code(500)],
  ])('is left alone when the request is not waited for any more: %s', async (_what, answer) => {
    const { decide, clock, posts } = await webhook([answer])
    const gone = new AbortController()
    const decided = decide({}, gone)
    await clock.advance(100)
    gone.abort(new Error('its client has left'))
    expect(await decided).toMatchObject({ decision: 'no-opinion', error: { message: 'its client has left' } })
    await clock.advance('1m')
    expect(posts.length).toBe(1)
  })
})

test('one that has not been opened decides nothing', () => {
  expect(() => webhookAuthorizer({ url: 'http://a' }).authorize(askedOf({}), CONTEXT)).toThrow(
    'cannot be asked before the server has started',
  )
})

test('options that cannot be used are named', () => {
  expect(() => webhookAuthorizer({})).toThrow('webhookAuthorizer.kubeconfig: got undefined, allowed: a file name, or url')
  expect(() => completeConfig({ authorizationWebhook: { kubeconfig: 'a', url: 'http://b' } })).toThrow(
    'authorizationWebhook.url: got "http://b", allowed: none beside kubeconfig',
  )
  expect(() => completeConfig({ authorizationWebhook: { url: 'http://b', cert: '-----BEGIN' } })).toThrow(
    'authorizationWebhook.key: got undefined, allowed: one beside cert',
  )
  expect(() => completeConfig({ auditWebhook: { headers: {} } })).toThrow(
    'auditWebhook.kubeconfig: got undefined, allowed: a file name, or url',
  )
  expect(() => completeConfig({ authorizationMode: ['Webhook'] })).toThrow(
    'authorizationWebhook: got undefined, allowed: one beside authorizationMode Webhook',
  )
})

/** A server that is asked, on a port of its own. */
async function reviewer(
  statusFor: (spec: { readonly user?: string }) => object | string | undefined,
): Promise<{ url: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = []
  const server = createServer(async (request, response) => {
    asked.push(request)
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const status = statusFor((JSON.parse(body) as { spec: object }).spec)
    response.statusCode = status === undefined ? 400 : 201
    response.end(status === undefined ? 'no' : typeof status === 'string' ? status : review(status))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/authorize?v=1`, asked }
}

test('what a webhook says instead of an answer comes into the log, and to no client', async () => {
  const { url } = await reviewer(() => PAGE)
  const { ask, lines } = await serveApi({
    config: { authorizationWebhook: { url }, anonymousAuth: true },
    setUp: (server) => server.handlePrefix('/', (_request, response) => response.end('served')),
  })
  const answer = await ask('/echo')
  expect([answer.status, await answer.text()]).toEqual([
    500,
    'Internal Server Error: "/echo": the authorizer failed; the log of the server says why\n',
  ])
  const impersonated = await ask('/echo', { headers: { 'Impersonate-User': 'eve' } })
  expect([impersonated.status, ((await impersonated.json()) as { message: string }).message]).toEqual([
    403,
    'forbidden: User "system:anonymous" cannot impersonate-on:user-info:get path "/echo": the authorizer failed; the log of the server says why',
  ])
  const said = lines.filter(({ message }) => message === 'Unable to authorize the request')
  expect(said[0]).toMatchObject({
    level: 'error',
    fields: { err: { message: expect.stringContaining('64 bytes that are not a JSON object') } },
  })
  expect(JSON.stringify(said)).not.toContain('SSO')
})

test('a server asks its webhook, over one connection, once for each question', async () => {
  const { url, asked } = await reviewer(({ user }) =>
    user === 'mallory' ? undefined : { allowed: user === 'eve', reason: `${user} was asked about` },
  )
  const { ask, life } = await serveApi({
    config: { authorizationWebhook: { url, token: 'secret' }, filters: [NAMED] },
    setUp: (server) => server.handlePrefix('/', (_request, response) => response.end('served')),
  })
  const answerTo = async (name: string) => {
    const answer = await ask('/echo', { headers: { 'X-User': name } })
    return [answer.status, await answer.text()]
  }
  expect(await answerTo('eve')).toEqual([200, 'served'])
  expect(await answerTo('eve')).toEqual([200, 'served'])
  expect(await answerTo('bob')).toEqual([
    403,
    expect.stringContaining('cannot get path \\"/echo\\": kubernetes.io/webhook: bob was asked about'),
  ])
  expect(await answerTo('mallory')).toEqual([
    500,
    'Internal Server Error: "/echo": the authorizer failed; the log of the server says why\n',
  ])
  expect(asked.map(({ method, url: target, headers }) => [method, target, headers.authorization, headers['content-type']])).toEqual(
    Array(3).fill(['POST', '/authorize?v=1&timeout=30s', 'Bearer secret', 'application/json']),
  )
  expect(new Set(asked.map(({ socket }) => socket)).size).toBe(1)
  const { exitCode } = await life.stop()
  expect(exitCode).toBe(0)
  await expect.poll(() => asked[0]?.socket.destroyed).toBe(true)
})
