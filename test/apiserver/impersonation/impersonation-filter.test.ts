// Fails when: a request acts as a user that its own may not act as, acts as itself although its
// headers name another, or leaves the headers to what stands behind; or is refused in other words
// than upstream's; or is audited as the wrong user.
import { describe, expect, test } from 'vitest'
import type { ApiServer } from '#apiserver/api-server.ts'
import { type ApiServerConfig, type AuthorizationAttributes, type Authorizer, bearerTokenAuthenticator, userOf } from '#apiserver/index.ts'
import { serveApi } from '../../support/api-server.ts'
import { Sink } from '../audit/sink.ts'

/** A token is the name of its user, with `+NODE` for the node that a pod runs on. */
const TOKENS = bearerTokenAuthenticator({
  authenticateToken: (token) => {
    const [name = '', node] = token.split('+')
    return {
      user: { name, groups: [], extra: node === undefined ? {} : { 'authentication.kubernetes.io/node-name': [node], other: ['x'] } },
    }
  },
})

const questionOf = ({
  user,
  verb,
  isResourceRequest,
  path,
  apiGroup,
  resource,
  subresource,
  namespace,
  name,
}: AuthorizationAttributes): string =>
  isResourceRequest
    ? `${user?.name} ${verb} ${[apiGroup, resource, subresource, namespace, name].filter((text) => text !== '').join('/')}`
    : `${user?.name} ${verb} ${path}`

/** Allows what one of the expressions says, and notes what it is asked. */
function rules(...allowed: readonly RegExp[]) {
  const asked: string[] = []
  const users: AuthorizationAttributes['user'][] = []
  const authorizer: Authorizer = {
    authorize: (attributes) => {
      const question = questionOf(attributes)
      asked.push(question)
      users.push(attributes.user)
      return allowed.some((each) => each.test(question)) ? { decision: 'allow' } : { decision: 'no-opinion', reason: 'no rule' }
    },
  }
  return { authorizer, asked, users }
}

function fail(thrown: unknown): never {
  throw thrown
}

interface Heard {
  readonly user: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly raw: readonly string[]
}

async function served(authorizer: Authorizer | undefined, config: ApiServerConfig = {}) {
  const handle = (server: ApiServer) =>
    server.handlePrefix('/', (request, response) =>
      response.end(JSON.stringify({ user: userOf(request), headers: request.headers, raw: request.rawHeaders })),
    )
  const api = await serveApi({
    config: { authenticators: [TOKENS], ...(authorizer && { authorizer }), authorizationAlwaysAllowPaths: [], ...config },
    setUp: handle,
  })
  return {
    ...api,
    as: async (token: string, headers: readonly (readonly [string, string])[], path = '/x') => {
      const client = await api.connect()
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
      client.send(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${lines}\r\n`))
      const { status, headers: head, body } = await client.response()
      return { status, head, body: JSON.parse(String(body) || '{}') as Heard & { readonly message?: string; readonly details?: unknown } }
    },
  }
}

const user = (name: string) => ['Impersonate-User', name] as const
const group = (name: string) => ['Impersonate-Group', name] as const

describe('a request that may act as another user', () => {
  test('does, with all that it has asked for, and no header of it is left', async () => {
    const { authorizer, asked } = rules(/ impersonate/, /^ann /)
    const { as } = await served(authorizer)
    const headers = [
      user('ann'),
      ['impersonate-uid', '7'],
      group('dev'),
      group('ops, too'),
      ['Impersonate-Extra-Acme.io%2fScopes', 'a'],
      ['Impersonate-Extra-acme.io%2Fscopes', 'b'],
    ] as const
    const { status, body } = await as('root', headers)
    expect(status).toBe(200)
    expect(body.user).toEqual({
      name: 'ann',
      uid: '7',
      groups: ['dev', 'ops, too', 'system:authenticated'],
      extra: { 'acme.io/scopes': ['a', 'b'] },
    })
    expect(JSON.stringify([body.headers, body.raw])).not.toMatch(/impersonate/i)
    const of = 'authentication.k8s.io'
    expect(asked).toEqual([
      'root impersonate-on:user-info:get /x',
      `root impersonate:user-info ${of}/users/ann`,
      `root impersonate:user-info ${of}/uids/7`,
      `root impersonate:user-info ${of}/groups/dev`,
      `root impersonate:user-info ${of}/groups/ops, too`,
      `root impersonate:user-info ${of}/userextras/acme.io/scopes/a`,
      `root impersonate:user-info ${of}/userextras/acme.io/scopes/b`,
      'ann get /x',
    ])
  })

  // Node keeps the first thousand in `headers`, and some more in `rawHeaders` alone.
  test.each([995, 996, 997, 998, 999, 1010])('says so in any of its headers, also behind %i others', async (others) => {
    const { as } = await served(rules(/ impersonate/, /^ann /).authorizer)
    const many = Array.from({ length: others }, () => ['a', ''] as const)
    const { status, body } = await as('root', [...many, ['X-Remote-User', 'eve'], user('ann'), group('dev'), ['X-Remote-Extra-A', 'b']])
    // Later versions of node refuse more than a thousand: no handler has heard of it then.
    if (status !== 431) expect([status, body.user]).toEqual([200, { name: 'ann', groups: ['dev', 'system:authenticated'], extra: {} }])
    expect(JSON.stringify([body.headers, body.raw])).not.toMatch(/impersonate|remote|bearer/i)
  })

  test.each<[string, string, string, readonly string[], readonly string[]]>([
    [
      'a service account',
      'root',
      'system:serviceaccount:blue:web',
      ['root impersonate-on:serviceaccount:get /x', 'root impersonate:serviceaccount authentication.k8s.io/serviceaccounts/blue/web'],
      ['system:serviceaccounts', 'system:serviceaccounts:blue', 'system:authenticated'],
    ],
    [
      'any node',
      'root',
      'system:node:n1',
      ['root impersonate-on:arbitrary-node:get /x', 'root impersonate:arbitrary-node authentication.k8s.io/nodes/n1'],
      ['system:nodes', 'system:authenticated'],
    ],
    [
      'the node that it runs on',
      'system:serviceaccount:blue:agent+n1',
      'system:node:n1',
      [
        'system:serviceaccount:blue:agent impersonate-on:associated-node:get /x',
        'system:serviceaccount:blue:agent impersonate:associated-node authentication.k8s.io/nodes/*',
      ],
      ['system:nodes', 'system:authenticated'],
    ],
    [
      'a node that it does not run on, as any',
      'system:serviceaccount:blue:agent+n2',
      'system:node:n1',
      [
        'system:serviceaccount:blue:agent impersonate-on:arbitrary-node:get /x',
        'system:serviceaccount:blue:agent impersonate:arbitrary-node authentication.k8s.io/nodes/n1',
      ],
      ['system:nodes', 'system:authenticated'],
    ],
    [
      'the node that a user who is no service account says that it runs on, as any',
      'root+n1',
      'system:node:n1',
      ['root impersonate-on:arbitrary-node:get /x', 'root impersonate:arbitrary-node authentication.k8s.io/nodes/n1'],
      ['system:nodes', 'system:authenticated'],
    ],
    [
      'who is not known',
      'root',
      'system:anonymous',
      ['root impersonate-on:user-info:get /x', 'root impersonate:user-info authentication.k8s.io/users/system:anonymous'],
      ['system:unauthenticated'],
    ],
  ])('%s', async (_, token, name, questions, groups) => {
    const { authorizer, asked, users } = rules(/ impersonate/, / get /)
    const { as } = await served(authorizer)
    expect((await as(token, [user(name)])).body.user).toEqual({ name, groups, extra: {} })
    expect(asked.slice(0, -1)).toEqual(questions)
    if (token === 'system:serviceaccount:blue:agent+n1')
      expect(users[0]?.extra).toEqual({
        'authentication.kubernetes.io/associated-node-keys': ['authentication.kubernetes.io/node-name', 'other'],
      })
  })

  test('in the older way, which allows everything', async () => {
    const { authorizer, asked } = rules(/^root impersonate (users\/ann|groups\/system:masters|authentication.k8s.io\/uids\/7)$/, /^ann /)
    const { as } = await served(authorizer)
    const { body } = await as('root', [user('ann'), group('system:masters'), ['Impersonate-Uid', '7']])
    expect(body.user).toMatchObject({ name: 'ann', uid: '7', groups: ['system:masters', 'system:authenticated'] })
    // What it asks for is not asked about any more: masters may do everything.
    expect(asked.slice(1)).toEqual([
      'root impersonate users/ann',
      'root impersonate authentication.k8s.io/uids/7',
      'root impersonate groups/system:masters',
    ])
  })

  test('in words of any language', async () => {
    const { authorizer } = rules(/./)
    const { as } = await served(authorizer)
    expect((await as('root', [user('jürgen')])).body.user).toMatchObject({ name: 'jürgen' })
  })

  test('is asked once about many groups, where that is allowed', async () => {
    const groups = ['a', 'b', 'c', 'd'].map(group)
    const wild = rules(/impersonate-on/, /users\/ann/, /groups\/\*$/, /^ann/)
    expect((await (await served(wild.authorizer)).as('root', [user('ann'), ...groups])).status).toBe(200)
    expect(wild.asked.filter((question) => question.includes('groups'))).toHaveLength(1)
    const each = rules(/impersonate-on/, /users\/ann/, /groups\/[a-d]$/, /^ann/)
    expect((await (await served(each.authorizer)).as('root', [user('ann'), ...groups])).status).toBe(200)
    expect(each.asked.filter((question) => question.includes('groups'))).toHaveLength(5)
  })

  test('is audited as both', async () => {
    const sink = new Sink()
    const { authorizer } = rules(/ impersonate/, /^ann /)
    const { as, life } = await served(authorizer, { audit: sink, auditPolicy: { rules: [{ level: 'Metadata' }] } })
    await as('root', [user('ann')])
    await life.stop()
    const [received, complete] = sink.calls.flat()
    expect([received?.user.username, received?.impersonatedUser]).toEqual(['root', undefined])
    expect(complete).toMatchObject({
      user: { username: 'root' },
      impersonatedUser: { username: 'ann', groups: ['system:authenticated'] },
      authenticationMetadata: { impersonationConstraint: 'impersonate:user-info' },
    })
  })
})

describe('a request that may not act as another user', () => {
  test.each<[string, readonly RegExp[], readonly (readonly [string, string])[], string]>([
    ['for this request', [/impersonate:/], [user('ann')], 'forbidden: User "eve" cannot impersonate-on:user-info:get path "/x": no rule'],
    [
      'as that one',
      [/impersonate-on/],
      [user('ann')],
      'users.authentication.k8s.io "ann" is forbidden: User "eve" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope: no rule',
    ],
    [
      'of one of the groups',
      [/impersonate-on/, /users/, /groups\/a$/],
      [user('ann'), group('a'), group('b')],
      'groups.authentication.k8s.io "b" is forbidden',
    ],
    [
      'of the masters',
      [/impersonate-on/, /impersonate:/],
      [user('ann'), group('system:masters')],
      'impersonating the system:masters group is not allowed',
    ],
    [
      'of a group without a name',
      [/impersonate-on/, /impersonate:/],
      [user('ann'), group('')],
      'impersonating the empty string group is not allowed',
    ],
    ['with that uid', [/impersonate-on/, /users/], [user('ann'), ['Impersonate-Uid', '7']], 'uids.authentication.k8s.io "7" is forbidden'],
    [
      'with that fact',
      [/impersonate-on/, /users/],
      [user('ann'), ['Impersonate-Extra-a.io%2fb', 'c']],
      'cannot impersonate:user-info resource "userextras/a.io/b"',
    ],
    [
      'with facts of no domain',
      [/impersonate-on/, /impersonate:/],
      [user('ann'), ['Impersonate-Extra-scopes', 'c']],
      'must be a domain-prefixed path (such as "acme.io/foo")',
    ],
    ['as a node', [/impersonate:/], [user('system:node:n1')], 'cannot impersonate-on:arbitrary-node:get'],
    [
      'as a service account with groups',
      [/impersonate-on/, /impersonate:/],
      [user('system:serviceaccount:a:b'), group('x')],
      'serviceaccounts "b" is forbidden: User "eve" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "a"',
    ],
  ])('%s', async (_, allowed, headers, message) => {
    const { authorizer, asked } = rules(...allowed)
    const { as } = await served(authorizer)
    const { status, head, body } = await as('eve', headers)
    expect([status, head['x-content-type-options']]).toEqual([403, 'nosniff'])
    expect(body.message).toContain(message)
    expect(asked.some((question) => question === 'eve get /x')).toBe(false)
  })

  test('where nothing decides', async () => {
    const { as } = await served(undefined)
    const { status, body } = await as('root', [user('ann')])
    expect([status, body.message]).toEqual([403, expect.stringContaining('nothing is configured that could allow it')])
    expect((await as('root', [])).status).toBe(200)
  })

  const FAILED = 'the authorizer failed; the log of the server says why'
  test.each<[string, Authorizer['authorize'], string]>([
    ['throws', () => fail(new Error('the rules are away')), FAILED],
    ['rejects', () => Promise.reject(new Error('the rules are away')), FAILED],
    ['returns what is no decision', () => true as never, FAILED],
    ['denies', () => ({ decision: 'deny', reason: 'never' }), 'never'],
    ['denies with an error', () => ({ decision: 'deny', reason: 'never', error: new Error('odd') }), `${FAILED}: never`],
  ])('by an authorizer that %s', async (_, authorize, message) => {
    const { as } = await served({ authorize })
    const { status, body } = await as('root', [user('ann')])
    expect([status, body.message]).toEqual([403, expect.stringMatching(new RegExp(`: ${message}$`))])
  })

  test('by one of several readings of its path', async () => {
    const { authorizer } = rules(/impersonate-on:user-info:get \/(?!secret)/, /impersonate:/, /^ann /)
    const { as } = await served(authorizer)
    expect((await as('root', [user('ann')], '/open/x')).status).toBe(200)
    expect((await as('root', [user('ann')], '/open/../secret')).status).toBe(403)
  })
})

describe('headers that name no user', () => {
  const BEGIN = 'requested &user.DefaultInfo{Name:"", UID:'
  test.each<[readonly (readonly [string, string])[], string]>([
    [[group('x')], `${BEGIN}"", Groups:[]string{"x"}, Extra:map[string][]string(nil)} without impersonating a user name`],
    [
      [group('x'), group('y"')],
      `${BEGIN}"", Groups:[]string{"x", "y\\""}, Extra:map[string][]string(nil)} without impersonating a user name`,
    ],
    [[['Impersonate-Uid', '7']], `${BEGIN}"7", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name`],
    [
      [
        ['Impersonate-Extra-B', 'x'],
        ['Impersonate-Extra-A', 'y'],
      ],
      `${BEGIN}"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"y"}, "b":[]string{"x"}}} without impersonating a user name`,
    ],
    [[user('')], `${BEGIN}"", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name`],
    [[user('ann'), user('root')], 'more than one header impersonate-user'],
    [[user('ann'), ['impersonate-USER', 'ann']], 'more than one header impersonate-user'],
    [[user('ann'), ['Impersonate-Uid', '1'], ['Impersonate-Uid', '2']], 'more than one header impersonate-uid'],
  ])('%j', async (headers, message) => {
    const { authorizer, asked } = rules(/./)
    const { as } = await served(authorizer)
    const { status, head, body } = await as('root', headers)
    expect([status, head['x-content-type-options'], body.message]).toEqual([400, 'nosniff', message])
    expect(body).not.toHaveProperty('details')
    expect(asked).toEqual([])
  })

  test('that have a key which is no text: two of them would be one', async () => {
    const { authorizer, users } = rules(/./)
    const { as } = await served(authorizer)
    expect((await as('root', [user('ann'), ['Impersonate-Extra-%FF', 'a']])).status).toBe(400)
    const { body } = await as('root', [user('ann'), ['Impersonate-Extra-%25ff', 'a'], ['Impersonate-Extra-%zz', 'b']])
    expect([body.user, users.length > 0]).toEqual([expect.objectContaining({ extra: { '%ff': ['a'], '%zz': ['b'] } }), true])
  })

  test('that are no text', async () => {
    const { authorizer } = rules(/./)
    const { connect } = await served(authorizer)
    const client = await connect()
    client.send(Buffer.from('GET /x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer root\r\nImpersonate-User: \xff\r\n\r\n', 'latin1'))
    expect((await client.response()).status).toBe(400)
  })
})

test('without authentication and authorization the headers are like any other', async () => {
  const { ask } = await serveApi({
    setUp: (server) => server.handle('/x', (request, response) => response.end(request.headers['impersonate-user'])),
  })
  expect(await (await ask('/x', { headers: { 'Impersonate-User': 'ann' } })).text()).toBe('ann')
})

test('over HTTP/2 likewise', async () => {
  const { authorizer } = rules(/ impersonate/, /^ann /)
  const { connectH2 } = await served(authorizer, { http2: true })
  const client = await connectH2()
  const headers = { authorization: 'Bearer root', 'impersonate-user': 'ann', 'impersonate-group': ['a', 'b'] }
  const { status, body } = await client.get('/x', headers)
  expect(status).toBe(200)
  expect((JSON.parse(body) as Heard).user).toMatchObject({ name: 'ann', groups: ['a', 'b', 'system:authenticated'] })
  expect(body).not.toMatch(/impersonate/)
})

// Node 20 leaves such a header out in any case, and says nothing of it (V42).
test.skipIf(process.versions.node.startsWith('20.'))('over HTTP/2 a name may begin and end with spaces', async () => {
  const { authorizer } = rules(/ impersonate/, /^ ann /)
  const { connectH2 } = await served(authorizer, { http2: true })
  const client = await connectH2()
  const { status, body } = await client.get('/x', { authorization: 'Bearer root', 'impersonate-user': ' ann ' })
  expect([status, (JSON.parse(body) as Heard).user]).toEqual([200, expect.objectContaining({ name: ' ann ' })])
})
