// Fails when: a double of the test kit answers something else than it was told to, or forgets what
// it was asked; or an authorizer that breaks its contract is not found out, or one that keeps it
// is.
import { describe, expect, test } from 'vitest'
import { type Authorizer, allowedPaths, alwaysAllow, alwaysDeny, privilegedGroups, rbac, unionAuthorizer } from '#apiserver/index.ts'
import { authorizerFaults, RecordingAuthenticator, RecordingAuthorizer } from '#apiserver/testing/index.ts'
import { serveApi } from '../support/api-server.ts'

test('a recorded authenticator and authorizer decide about the requests of a server', async () => {
  const authenticator = new RecordingAuthenticator('eve')
  const authorizer = new RecordingAuthorizer()
  const { ask } = await serveApi({
    config: { authenticators: [authenticator], authorizer },
    setUp: (server) => server.handle('/a', (request, response) => response.end(String(request.headers.authorization))),
  })
  const asEve = { headers: { Authorization: 'Bearer of-eve' } }
  const status = async (): Promise<number> => (await ask('/a', asEve)).status
  expect(await (await ask('/a', asEve)).text()).toBe('undefined')
  expect(authenticator.asked.map(({ method, url, headers }) => [method, url, headers.authorization])).toEqual([
    ['GET', '/a', 'Bearer of-eve'],
  ])
  expect(authorizer.asked[0]).toMatchObject({ user: { name: 'eve', groups: ['system:authenticated'] }, verb: 'get', path: '/a' })
  authenticator.answer = new Error('no such token')
  expect(await status()).toBe(401)
  authenticator.answer = { user: { name: 'bob', groups: ['g'], extra: {} } }
  authorizer.answer = ({ user }) => ({ decision: user?.name === 'bob' ? 'deny' : 'allow' })
  expect(await status()).toBe(403)
  authenticator.answer = undefined
  expect(await status()).toBe(401)
  authenticator.answer = () => Promise.resolve({ user: { name: 'ann', groups: [], extra: {} } })
  expect(await status()).toBe(200)
})

test('what is held is answered when it is released, as it is to be answered then', async () => {
  const authenticator = new RecordingAuthenticator('eve')
  const authorizer = new RecordingAuthorizer()
  const { ask } = await serveApi({
    config: { authenticators: [authenticator], authorizer },
    setUp: (server) => server.handle('/a', (_request, response) => response.end()),
  })
  authenticator.hold()
  authorizer.hold()
  const answered = ask('/a')
  await expect.poll(() => authenticator.asked.length).toBe(1)
  expect(authorizer.asked.length).toBe(0)
  authenticator.release()
  await expect.poll(() => authorizer.asked.length).toBe(1)
  authorizer.answer = 'deny'
  authorizer.release()
  expect((await answered).status).toBe(403)
  expect((await ask('/a')).status).toBe(403)
})

describe('the contract of an authorizer', () => {
  test.each<[string, Authorizer]>([
    ['alwaysAllow', alwaysAllow()],
    ['alwaysDeny', alwaysDeny()],
    ['allowedPaths', allowedPaths('/docs/*', '/healthz')],
    ['privilegedGroups', privilegedGroups('system:masters')],
    [
      'rbac',
      rbac(
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: '__proto__' },
          rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*/scale', 'pods'] }],
        },
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'constructor', namespace: 'constructor' },
          roleRef: { kind: 'ClusterRole', name: '__proto__' },
          subjects: [{ kind: 'User', name: 'toString' }],
        },
      ),
    ],
    ['a union', unionAuthorizer(privilegedGroups('a'), new RecordingAuthorizer('deny'))],
    ['one that takes time', new RecordingAuthorizer(async () => ({ decision: 'no-opinion', error: new Error('notified') }))],
  ])('is kept by %s', async (_name, authorizer) => {
    expect(await authorizerFaults(authorizer)).toEqual([])
  })

  const faultsOf = (authorize: Authorizer['authorize']): Promise<readonly string[]> => authorizerFaults({ authorize }, { withinMs: 50 })
  const PATH = '"someone": get "/"'

  test('is not kept by one that throws, changes what it is asked, says something else, or now this and now that', async () => {
    const noUser = await faultsOf(({ user }) => ({ decision: (user as { name: string }).name === 'a' ? 'allow' : 'deny' }))
    expect(noUser).toEqual([
      expect.stringMatching(/^no user: get "\/": Cannot read prop/),
      expect.stringMatching(/^no user: get apps\/deployments "one": /),
    ])
    const changing = await faultsOf((asked) => {
      Object.assign(asked, { verb: 'put' })
      return { decision: 'deny' }
    })
    expect(changing[0]).toMatch(/^"someone": get "\/": Cannot assign to read only property 'verb'/)
    const wrong = await faultsOf((() => 'yes') as never)
    expect(wrong[0]).toMatch(/^"someone": get "\/": the authorizer returned "yes", allowed: /)
    let calls = 0
    const fickle = await faultsOf(({ path, isResourceRequest }) => ({
      decision: path === '/' && !isResourceRequest && calls++ < 2 ? 'allow' : 'deny',
    }))
    expect(fickle).toEqual([
      `${PATH}: allow, and when it was asked a second time deny`,
      'no user: get "/": allow, and when it was asked a second time deny',
    ])
  })

  test('is not kept by one that hangs, or does so when it is not waited for', async () => {
    expect((await faultsOf(() => new Promise(() => {})))[0]).toBe(`${PATH}: no answer within 50ms`)
    expect(await faultsOf((_asked, { signal }) => (signal.aborted ? new Promise(() => {}) : { decision: 'deny' }))).toEqual([
      'with its signal aborted: no answer within 50ms',
    ])
  })

  test('is asked about with questions of its own, too', async () => {
    const authorizer = new RecordingAuthorizer(({ verb }) => {
      if (verb === 'frob') throw new Error('unknown')
      return { decision: 'allow' }
    })
    const asked = { user: undefined, verb: 'frob', isResourceRequest: false, path: '/x' }
    const rest = { apiGroup: '', apiVersion: '', namespace: '', resource: '', subresource: '', name: '' }
    expect(await authorizerFaults(authorizer, { asked: [{ ...rest, ...asked }] })).toEqual(['no user: frob "/x": unknown'])
  })
})
