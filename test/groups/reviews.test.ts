// What clients ask about themselves. Fails when: `kubectl auth can-i` is answered otherwise than
// the request would be, for another user than the one who asks, or without saying that a list of
// rules is not all; or bytes that are no message are read as one.
import { describe, expect, test } from 'vitest'
import { ProtobufError, readMessage } from '#apiserver/groups/protobuf/read-message.ts'
import { type WrittenShape, writeMessage } from '#apiserver/groups/protobuf/write-message.ts'
import { type ApiServerConfig, type Authorizer, rbac, selfReviews } from '#apiserver/index.ts'
import { userOf } from '../apiserver/authorization/users.ts'
import { serveApi } from '../support/api-server.ts'

const REVIEWS = '/apis/authorization.k8s.io/v1'
const RBAC = 'rbac.authorization.k8s.io/v1'

/** All may ask; eve may read one pod, and list green ones. */
const POLICY = rbac(
  {
    apiVersion: RBAC,
    kind: 'ClusterRole',
    metadata: { name: 'ask' },
    rules: [
      { verbs: ['create'], apiGroups: ['authorization.k8s.io', 'authentication.k8s.io'], resources: ['*'] },
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['one'] },
      { verbs: ['get'], nonResourceURLs: ['/docs/*'] },
    ],
  },
  {
    apiVersion: RBAC,
    kind: 'Role',
    metadata: { name: 'list', namespace: 'green' },
    rules: [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }],
  },
  {
    apiVersion: RBAC,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'ask' },
    roleRef: { kind: 'ClusterRole', name: 'ask' },
    subjects: [{ kind: 'User', name: 'eve' }],
  },
  {
    apiVersion: RBAC,
    kind: 'RoleBinding',
    metadata: { name: 'list', namespace: 'green' },
    roleRef: { kind: 'Role', name: 'list' },
    subjects: [{ kind: 'Group', name: 'devs' }],
  },
)

async function serveReviews(config: ApiServerConfig = {}) {
  const authenticator = { authenticate: () => ({ user: { ...userOf('eve', 'devs'), uid: '7', extra: { from: ['here'] } } }) }
  const given: ApiServerConfig = { authenticators: [authenticator], authorizer: POLICY, ...config }
  const { ask } = await serveApi({ config: given, setUp: (server) => void server.installApiGroups(...selfReviews()) })
  return async (path: string, body: string | Uint8Array, type = 'application/json') => {
    const answer = await ask(path, { method: 'POST', headers: { 'Content-Type': type }, body })
    return { code: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
}

const spec = (kind: string, given: object): string => JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind, spec: given })

test.each([
  [{ resourceAttributes: { verb: 'get', resource: 'pods', name: 'one' } }, true],
  [{ resourceAttributes: { verb: 'get', resource: 'pods', name: 'two' } }, false],
  [{ resourceAttributes: { verb: 'get', resource: 'pods', name: 'one', subresource: 'log' } }, false],
  [{ resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'green' } }, true],
  [{ resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'blue' } }, false],
  [{ resourceAttributes: { verb: 'list', resource: 'pods', group: 'apps', namespace: 'green' } }, false],
  [{ nonResourceAttributes: { verb: 'get', path: '/docs/tea' } }, true],
  [{ nonResourceAttributes: { verb: 'post', path: '/docs/tea' } }, false],
])('whether %j is allowed: %s', async (given, allowed) => {
  const ask = await serveReviews()
  const { code, body } = await ask(`${REVIEWS}/selfsubjectaccessreviews`, spec('SelfSubjectAccessReview', given))
  expect([code, (body['status'] as { allowed: boolean }).allowed, body['spec']]).toEqual([201, allowed, given])
})

test.each([
  [{}, 422, 'exactly one of'],
  [{ resourceAttributes: { verb: 'get' }, nonResourceAttributes: { verb: 'get' } }, 422, 'in combination'],
  [{ resourceAttributes: { verb: 7 } }, 422, 'spec.resourceAttributes.verb'],
])('no question: %j', async (given, code, message) => {
  const ask = await serveReviews()
  const answer = await ask(`${REVIEWS}/selfsubjectaccessreviews`, spec('SelfSubjectAccessReview', given))
  expect(answer).toMatchObject({ code, body: { message: expect.stringContaining(message) as string } })
})

test('an authorizer that denies, and one that fails, say so', async () => {
  const failing: Authorizer = {
    authorize: ({ resource }) =>
      resource === 'pods' ? { decision: 'deny', reason: 'none of yours', error: new Error('half of it') } : { decision: 'allow' },
  }
  const ask = await serveReviews({ authorizer: failing })
  const { body } = await ask(
    `${REVIEWS}/selfsubjectaccessreviews`,
    spec('SelfSubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'pods', labelSelector: { rawSelector: 'a=b' } } }),
  )
  expect(body['status']).toEqual({ allowed: false, denied: true, reason: 'none of yours', evaluationError: 'half of it' })
})

describe('the rules of a namespace', () => {
  const rules = spec('SelfSubjectRulesReview', { namespace: 'green' })
  const path = `${REVIEWS}/selfsubjectrulesreviews`

  test('are those of the cluster and of the namespace', async () => {
    const { code, body } = await (await serveReviews({ authorizationAlwaysAllowPaths: [] }))(path, rules)
    expect([code, body['status']]).toEqual([
      201,
      {
        resourceRules: [
          { verbs: ['create'], apiGroups: ['authorization.k8s.io', 'authentication.k8s.io'], resources: ['*'] },
          { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['one'] },
          { verbs: ['list'], apiGroups: [''], resources: ['pods'] },
        ],
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/docs/*'] }],
        incomplete: false,
      },
    ])
  })

  test('are not all where an authorizer lists none', async () => {
    const allow: Authorizer = { name: 'mine', authorize: () => ({ decision: 'allow' }) }
    const { body } = await (await serveReviews({ authorizer: allow }))(path, rules)
    expect(body['status']).toMatchObject({ incomplete: true, evaluationError: 'mine does not support user rule resolution' })
  })

  test('need a namespace', async () => {
    const { code } = await (await serveReviews())(path, spec('SelfSubjectRulesReview', {}))
    expect(code).toBe(400)
  })
})

describe('who the user is', () => {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

  test('is what authentication has found', async () => {
    const { code, body } = await (await serveReviews())(path, '{}')
    expect([code, body['status']]).toEqual([
      201,
      { userInfo: { username: 'eve', uid: '7', groups: ['devs', 'system:authenticated'], extra: { from: ['here'] } } },
    ])
  })

  test('cannot be said where nothing is authenticated', async () => {
    const { code, body } = await (await serveReviews({ authenticators: [], authorizer: { authorize: () => ({ decision: 'allow' }) } }))(
      path,
      '{}',
    )
    expect([code, body['message']]).toEqual([400, 'no user present on request'])
  })
})

describe('protocol buffers', () => {
  const PROTOBUF = 'application/vnd.kubernetes.protobuf'
  const TEXT = { verb: [2, 'text'], resource: [5, 'text'], name: [7, 'text'] } satisfies WrittenShape
  const REVIEW: WrittenShape = { spec: [2, () => ({ resourceAttributes: [1, () => TEXT] })] }
  const envelope = (raw: Buffer): Buffer =>
    Buffer.concat([
      Buffer.from('k8s\0'),
      writeMessage(
        { type: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' }, raw },
        { type: [1, () => ({ apiVersion: [1, 'text'], kind: [2, 'text'] })], raw: [2, 'bytes'] },
      ),
    ])
  const question = (name: string): Buffer =>
    envelope(writeMessage({ spec: { resourceAttributes: { verb: 'get', resource: 'pods', name } } }, REVIEW))

  test.each([
    ['one', true],
    ['two', false],
  ])('are read as JSON is: %s', async (name, allowed) => {
    const ask = await serveReviews()
    const { code, body } = await ask(`${REVIEWS}/selfsubjectaccessreviews`, question(name), PROTOBUF)
    expect([code, body['status']]).toMatchObject([201, { allowed }])
  })

  test.each([
    ['another beginning', Buffer.from('{}')],
    ['a length behind the end', Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x12, 0x7f, 1])])],
    ['a group, which is not read', envelope(Buffer.from([0x0b]))],
    ['a number without an end', envelope(Buffer.alloc(11, 0xff))],
  ])('%s is 400', async (_, body) => {
    const ask = await serveReviews()
    expect((await ask(`${REVIEWS}/selfsubjectaccessreviews`, body, PROTOBUF)).code).toBe(400)
  })

  test('what is read is what was written, and what is not known is passed over', () => {
    const bytes = writeMessage(
      { a: 'x', list: ['p', 'q'], of: [{ a: 'i' }, { a: 'j' }], flag: true, whole: 300, half: 0.5 },
      {
        flag: [4, 'flag'],
        whole: [5, 'whole'],
        half: [6, 'double'],
        a: [1, 'text'],
        list: [2, 'text'],
        of: [3, () => ({ a: [1, 'text'] })],
      },
    )
    expect(readMessage(bytes, { 1: ['a', 'text'], 2: ['list', 'texts'], 3: ['of', [{ 1: ['a', 'text'] }]] })).toEqual({
      a: 'x',
      list: ['p', 'q'],
      of: [{ a: 'i' }, { a: 'j' }],
    })
  })

  test('a message in a message ends somewhere', () => {
    const shape = { 1: ['in', {}] } as { 1: [string, object] }
    shape[1][1] = shape
    let bytes = Buffer.alloc(0)
    for (let depth = 0; depth < 40; depth++) bytes = Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes])
    expect(() => readMessage(bytes, shape as never)).toThrow(ProtobufError)
  })
})
