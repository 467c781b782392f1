// Fails when: roles and bindings allow more, or less, than they say; a file that cannot be used is
// taken, or one of its mistakes not named; or a file that has changed is not read again.
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { rbacPolicy } from '#apiserver/authorization/rbac/policy.ts'
import { type AuthorizationAttributes, type RbacObject, type RbacRule, type RbacSubject, rbac, rbacFile } from '#apiserver/index.ts'
import { askedOf } from '#apiserver/testing/asked-of.ts'
import { systemClock } from '#src/base/clock.ts'
import type { QuiesceError } from '#src/base/errors.ts'
import { VirtualClock } from '#src/testing/index.ts'
import { serveApi } from '../../support/api-server.ts'
import { CONTEXT, NAMED, userOf } from './users.ts'

const apiVersion = 'rbac.authorization.k8s.io/v1' as const
const clusterRole = (name: string, ...rules: RbacRule[]): RbacObject => ({ apiVersion, kind: 'ClusterRole', metadata: { name }, rules })
const role = (namespace: string, name: string, ...rules: RbacRule[]): RbacObject => ({
  apiVersion,
  kind: 'Role',
  metadata: { name, namespace },
  rules,
})
const clusterBinding = (name: string, of: string, ...subjects: RbacSubject[]): RbacObject => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { kind: 'ClusterRole', name: of },
  subjects,
})
const binding = (namespace: string, name: string, kind: 'Role' | 'ClusterRole', of: string, ...subjects: RbacSubject[]): RbacObject => ({
  apiVersion,
  kind: 'RoleBinding',
  metadata: { name, namespace },
  roleRef: { kind, name: of },
  subjects,
})
const EVE: RbacSubject = { kind: 'User', name: 'eve' }

describe('a rule', () => {
  const allows = (rule: RbacRule, asked: Partial<AuthorizationAttributes>): boolean =>
    rbacPolicy([clusterRole('r', rule), clusterBinding('b', 'r', EVE)]).decide(askedOf({ user: userOf('eve'), ...asked })).decision ===
    'allow'
  /** `verb group/resource/subresource name`, or `verb /path`. */
  const asked = (text: string): Partial<AuthorizationAttributes> => {
    const [verb = '', what = '', name = ''] = text.split(' ')
    if (what.startsWith('/')) return { verb, path: what }
    const [apiGroup = '', resource = '', subresource = ''] = what.split('/')
    return { verb, isResourceRequest: true, apiGroup, resource, subresource, name }
  }

  test.each<[RbacRule, string[], string[]]>([
    [
      { verbs: ['get'], apiGroups: ['apps'], resources: ['things'] },
      ['get apps/things', 'get apps/things t1'],
      ['list apps/things', 'get apps/things/log', 'get other/things', 'get apps/thing', 'get /apps/things'],
    ],
    [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, ['get a/b', 'frob x/y/z n'], ['get /a', 'get /']],
    [{ verbs: ['get'], apiGroups: ['a'], resources: ['pods/log'] }, ['get a/pods/log p'], ['get a/pods p', 'get a/pods/exec p']],
    [
      { verbs: ['get'], apiGroups: ['a'], resources: ['*/scale'] },
      ['get a/x/scale n', 'get a/y/scale'],
      ['get a/x', 'get a/x/status', 'get a/scale', 'get a/*'],
    ],
    [
      { verbs: ['get'], apiGroups: ['a'], resources: ['x'], resourceNames: ['n', '*'] },
      ['get a/x n', 'get a/x *'],
      ['get a/x', 'get a/x m'],
    ],
    [
      { verbs: ['get'], nonResourceURLs: ['/docs/*', '/exact'] },
      ['get /docs/', 'get /docs/a/b', 'get /exact'],
      ['get /docs', 'get /exact/', 'post /exact', 'get docs/a', 'get /x/docs/'],
    ],
    [{ verbs: ['*'], nonResourceURLs: ['*'] }, ['get /', 'options /a/b'], ['get a/b']],
  ])('%j', (rule, yes, no) => {
    expect(yes.filter((text) => !allows(rule, asked(text)))).toEqual([])
    expect(no.filter((text) => allows(rule, asked(text)))).toEqual([])
  })

  test('of the legacy group', () => {
    const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
    expect(allows(rule, { isResourceRequest: true, resource: 'pods' })).toBe(true)
    expect(allows(rule, { isResourceRequest: true, resource: 'pods', apiGroup: 'apps' })).toBe(false)
  })
})

describe('a binding', () => {
  const EVERYTHING: RbacRule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
  const policy = rbacPolicy([
    clusterRole('all', EVERYTHING),
    clusterRole('paths', { verbs: ['get'], nonResourceURLs: ['*'] }),
    role('blue', 'all', EVERYTHING),
    clusterBinding('for-root', 'all', { kind: 'User', name: 'root' }),
    binding('blue', 'for-devs', 'ClusterRole', 'all', { kind: 'Group', name: 'devs' }),
    binding('blue', 'for-bot', 'Role', 'all', { kind: 'ServiceAccount', name: 'bot' }),
    binding('blue', 'for-other-bot', 'Role', 'all', { kind: 'ServiceAccount', name: 'bot', namespace: 'green' }),
    binding('blue', 'no-paths', 'ClusterRole', 'paths', { kind: 'Group', name: 'devs' }),
  ])
  const why = (user: Parameters<typeof userOf>, asked: Partial<AuthorizationAttributes>): string | undefined =>
    policy.decide(askedOf({ user: userOf(...user), isResourceRequest: true, resource: 'pods', ...asked })).reason

  test('of a cluster role is for all namespaces and for none', () => {
    const reason = 'RBAC: allowed by ClusterRoleBinding "for-root" of ClusterRole "all" to User "root"'
    for (const namespace of ['', 'blue', 'green']) expect(why(['root'], { namespace })).toBe(reason)
    expect(why(['roo'], { namespace: 'blue' })).toBeUndefined()
    expect(why(['x', 'root'], { namespace: 'blue' })).toBeUndefined()
  })

  test('in a namespace is for that alone', () => {
    expect(why(['a', 'x', 'devs'], { namespace: 'blue' })).toBe(
      'RBAC: allowed by RoleBinding "for-devs/blue" of ClusterRole "all" to Group "devs"',
    )
    for (const namespace of ['', 'green']) expect(why(['a', 'devs'], { namespace })).toBeUndefined()
    expect(why(['devs'], { namespace: 'blue' })).toBeUndefined()
    expect(why(['a', 'devs'], { isResourceRequest: false, path: '/a', verb: 'get' })).toBeUndefined()
  })

  test('names service accounts, of its own namespace unless it says another', () => {
    const reason = (name: string, account: string) =>
      `RBAC: allowed by RoleBinding "${name}/blue" of Role "all" to ServiceAccount "${account}"`
    expect(why(['system:serviceaccount:blue:bot'], { namespace: 'blue' })).toBe(reason('for-bot', 'bot/blue'))
    expect(why(['system:serviceaccount:green:bot'], { namespace: 'blue' })).toBe(reason('for-other-bot', 'bot/green'))
    expect(why(['system:serviceaccount:green:bot'], { namespace: 'green' })).toBeUndefined()
    expect(why(['bot'], { namespace: 'blue' })).toBeUndefined()
  })

  test('is for no one without a user', () => {
    expect(policy.decide(askedOf({ isResourceRequest: true }))).toEqual({ decision: 'no-opinion' })
  })
})

/**
 * The rules said again as upstream documents them, without an index: every binding, every subject,
 * every rule.
 */
function naive(objects: readonly RbacObject[], { user, ...asked }: AuthorizationAttributes): boolean {
  const star = (list: readonly string[] | undefined, text: string) => (list ?? []).some((each) => each === '*' || each === text)
  const ruleAllows = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: RbacRule): boolean => {
    if (!star(verbs, asked.verb)) return false
    if (!asked.isResourceRequest)
      return (nonResourceURLs ?? []).some(
        (url) => url === asked.path || (url.endsWith('*') && asked.path.startsWith(url.replace(/\*$/, ''))),
      )
    const combined = asked.resource + (asked.subresource && `/${asked.subresource}`)
    return (
      star(apiGroups, asked.apiGroup) &&
      (star(resources, combined) || (asked.subresource !== '' && (resources ?? []).includes(`*/${asked.subresource}`))) &&
      ((resourceNames ?? []).length === 0 || (resourceNames ?? []).includes(asked.name))
    )
  }
  return objects.some((object) => {
    if (!('roleRef' in object) || user === undefined) return false
    const namespace = object.kind === 'RoleBinding' ? object.metadata.namespace : undefined
    if (namespace !== undefined && (asked.namespace === '' || namespace !== asked.namespace)) return false
    const isFor = (object.subjects ?? []).some(({ kind, name, namespace: own = namespace }) =>
      kind === 'Group' ? user.groups.includes(name) : user.name === (kind === 'User' ? name : `system:serviceaccount:${own}:${name}`),
    )
    const given = objects.find(
      (each) =>
        each.kind === object.roleRef.kind &&
        each.metadata.name === object.roleRef.name &&
        (each.kind !== 'Role' || each.metadata.namespace === namespace),
    ) as { readonly rules?: readonly RbacRule[] }
    return isFor && (given.rules ?? []).some(ruleAllows)
  })
}

test('what is allowed is what a plain reading of the rules allows', () => {
  const few = <T>(...items: readonly T[]) => fc.subarray([...items])
  const some = <T>(...items: readonly T[]) => fc.subarray([...items], { minLength: 1 })
  const resourceRule = fc.record({
    verbs: some('get', 'list', '*'),
    apiGroups: some('', 'apps', '*'),
    resources: some('pods', 'pods/log', '*/log', 'things', '*'),
    resourceNames: few('a', 'b'),
  })
  const pathRule = fc.record({ verbs: some('get', 'list', '*'), nonResourceURLs: some('/', '/a', '/a/*', '/a*', '*') })
  const NAMESPACES = ['blue', 'green'] as const
  const subject = fc.oneof(
    fc.record({ kind: fc.constant('User' as const), name: fc.constantFrom('eve', 'root') }),
    fc.record({ kind: fc.constant('Group' as const), name: fc.constantFrom('devs', 'ops') }),
    fc.record({
      kind: fc.constant('ServiceAccount' as const),
      name: fc.constantFrom('bot', 'eve'),
      namespace: fc.constantFrom(...NAMESPACES),
    }),
  )
  const subjects = fc.array(subject, { maxLength: 3 })
  const rules = fc.array(fc.oneof(resourceRule, pathRule), { maxLength: 3 })
  const objects = fc
    .record({
      one: rules,
      two: rules,
      blue: fc.array(resourceRule, { maxLength: 2 }),
      s: fc.array(subjects, { minLength: 5, maxLength: 5 }),
    })
    .map(({ one, two, blue, s: [a = [], b = [], c = [], d = [], e = []] }): RbacObject[] => [
      clusterRole('one', ...one),
      clusterRole('two', ...two),
      role('blue', 'one', ...blue),
      clusterBinding('a', 'one', ...a),
      clusterBinding('b', 'two', ...b),
      binding('blue', 'c', 'Role', 'one', ...c),
      binding('green', 'd', 'ClusterRole', 'one', ...d),
      binding('blue', 'e', 'ClusterRole', 'two', ...e),
    ])
  const user = fc.record({
    name: fc.constantFrom('eve', 'root', 'devs', 'system:serviceaccount:blue:bot', 'system:serviceaccount:green:eve'),
    groups: few('devs', 'ops', 'eve'),
    extra: fc.constant({}),
  })
  const asked = fc.record({
    user: fc.option(user, { nil: undefined, freq: 10 }),
    verb: fc.constantFrom('get', 'list', 'delete'),
    isResourceRequest: fc.boolean(),
    path: fc.constantFrom('/', '/a', '/a/', '/a/b', '/ab', '/b'),
    apiGroup: fc.constantFrom('', 'apps', 'x'),
    apiVersion: fc.constant('v1'),
    namespace: fc.constantFrom('', ...NAMESPACES),
    resource: fc.constantFrom('pods', 'things', 'log'),
    subresource: fc.constantFrom('', 'log', 'scale'),
    name: fc.constantFrom('', 'a', 'c'),
  })
  let allowed = 0
  let all = 0
  fc.assert(
    fc.property(objects, fc.array(asked, { minLength: 20, maxLength: 20 }), (given, questions) => {
      const policy = rbacPolicy(given)
      for (const question of questions) {
        const expected = naive(given, question)
        all++
        if (expected) allowed++
        expect(policy.decide(question).decision).toBe(expected ? 'allow' : 'no-opinion')
      }
    }),
    { numRuns: 300 },
  )
  // Both answers are met often.
  expect(Math.min(allowed, all - allowed) / all).toBeGreaterThan(0.1)
})

describe('a policy that cannot be used', () => {
  const linesOf = (...objects: readonly unknown[]): readonly string[] => {
    try {
      rbacPolicy(objects)
    } catch (error) {
      const { code, message, details } = error as QuiesceError
      expect([code, (details['problems'] as readonly { message: string }[]).map((each) => each.message).join('\n')]).toEqual([
        'ERR_OPTION_INVALID',
        message,
      ])
      return message.split('\n')
    }
    return []
  }

  test('is told with everything that is wrong, and where', () => {
    const bad = {
      apiVersion: 'v1',
      kind: 'ClusterRole',
      metadata: { name: 'bad', labels: {} },
      rules: [
        { verbs: [], apiGroups: [''], resources: ['pods'] },
        { verbs: ['get'], resources: ['pods/*', 'a', 1] },
        { verbs: ['get'], resources: ['pods'] },
        { verbs: ['get'], nonResourceURLs: ['docs', '/a*b'] },
        { verbs: ['get'], nonResourceURLs: ['/'], resources: ['pods'] },
        { verbs: ['get'], resource: ['pods'] },
      ],
      aggregationRule: {},
    }
    expect(linesOf(bad, 'text', { kind: 'Pod' }, { apiVersion, kind: 'Role', metadata: { name: '' } })).toEqual([
      'rbac[0], ClusterRole "bad": apiVersion: got "v1", allowed: rbac.authorization.k8s.io/v1',
      'rbac[0], ClusterRole "bad": rules[0].verbs: got [], allowed: a list of at least one verb',
      'rbac[0], ClusterRole "bad": rules[1].resources[0]: got "pods/*", allowed: *, a resource, RESOURCE/SUBRESOURCE or */SUBRESOURCE',
      'rbac[0], ClusterRole "bad": rules[1].resources[2]: got 1, allowed: *, a resource, RESOURCE/SUBRESOURCE or */SUBRESOURCE',
      'rbac[0], ClusterRole "bad": rules[2].apiGroups: got undefined, allowed: at least one group beside resources',
      'rbac[0], ClusterRole "bad": rules[3].nonResourceURLs[0]: got "docs", allowed: *, or a path that begins with /; * may stand at its end',
      'rbac[0], ClusterRole "bad": rules[3].nonResourceURLs[1]: got "/a*b", allowed: *, or a path that begins with /; * may stand at its end',
      'rbac[0], ClusterRole "bad": rules[4].nonResourceURLs: got ["/"], allowed: none beside resources',
      expect.stringMatching(/^rbac\[0\], ClusterRole "bad": rules\[5\]\.resource: unknown.*resources/),
      expect.stringMatching(/^rbac\[0\], ClusterRole "bad": aggregationRule: unknown/),
      'rbac[1]: got "text", allowed: an object of kind Role, ClusterRole, RoleBinding, ClusterRoleBinding',
      'rbac[2]: kind: got "Pod", allowed: Role, ClusterRole, RoleBinding, ClusterRoleBinding',
      'rbac[3], Role "": metadata.name: got "", allowed: a text that is not empty',
      'rbac[3], Role "": metadata.namespace: got undefined, allowed: a text that is not empty',
    ])
  })

  test('for its bindings', () => {
    expect(
      linesOf(
        clusterRole('r'),
        clusterRole('r'),
        role('blue', 'r', { verbs: ['get'], nonResourceURLs: ['/'] }),
        clusterBinding('a', 'missing', { kind: 'ServiceAccount', name: 's' }),
        clusterBinding('b', 'missing', { kind: 'Robot' as 'User', name: '' }),
        binding('green', 'c', 'Role', 'r', { kind: 'User', name: 'u', namespace: 'blue' }),
        binding('green', 'd', 'Role', 'r'),
        { ...clusterBinding('e', 'r'), roleRef: { kind: 'Role', name: 'r', apiGroup: 'x' } },
      ),
    ).toEqual([
      'rbac[2], Role "r": rules[0].nonResourceURLs: got ["/"], allowed: none in a Role, because paths are in no namespace',
      'rbac[3], ClusterRoleBinding "a": subjects[0].namespace: got undefined, allowed: that of the ServiceAccount',
      'rbac[4], ClusterRoleBinding "b": subjects[0].kind: got "Robot", allowed: User, Group, ServiceAccount',
      'rbac[4], ClusterRoleBinding "b": subjects[0].name: got "", allowed: a text that is not empty',
      'rbac[5], RoleBinding "c": subjects[0].namespace: got "blue", allowed: none of a User',
      'rbac[7], ClusterRoleBinding "e": roleRef.kind: got "Role", allowed: ClusterRole',
      'rbac[7], ClusterRoleBinding "e": roleRef.apiGroup: got "x", allowed: rbac.authorization.k8s.io',
      'rbac[1], ClusterRole "r": metadata.name: got "r", allowed: one ClusterRole "r" only',
      'rbac[6], RoleBinding "d": roleRef.name: got "r", allowed: the name of a Role that is there, in the namespace "green"',
    ])
  })

  test('is refused by rbac(), too', () => {
    expect(() => rbac({} as RbacObject)).toThrow(
      'rbac[0]: kind: got undefined, allowed: Role, ClusterRole, RoleBinding, ClusterRoleBinding',
    )
  })
})

describe('a policy file', () => {
  const POLICY = `
# who may read
apiVersion: ${apiVersion}
kind: ClusterRole
metadata: {name: reader}
rules:
- verbs: [get]
  nonResourceURLs: ["/reports/*"]
---
apiVersion: ${apiVersion}
kind: ClusterRoleBinding
metadata: {name: readers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects:
- {kind: User, apiGroup: rbac.authorization.k8s.io, name: eve}
`
  const temporary = async (text: string): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'quiesce-rbac-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'rbac.yaml')
    await writeFile(file, text)
    return file
  }
  const swap = async (file: string, text: string): Promise<void> => {
    await writeFile(`${file}.new`, text)
    await rename(`${file}.new`, file)
  }
  const serve = (authorizationRbacFile: string) =>
    serveApi({
      config: { authorizationRbacFile, filters: [NAMED] },
      setUp: (server) => server.handlePrefix('/', (_request, response) => response.end('served')),
    })

  test('is read before the first request, and again when it changes', async () => {
    const file = await temporary(POLICY)
    const { ask } = await serve(file)
    const status = async (user: string) => (await ask('/reports/x', { headers: { 'X-User': user } })).status
    expect([await status('eve'), await status('mallory')]).toEqual([200, 403])
    await swap(file, POLICY.replace('name: eve', 'name: mallory'))
    await expect.poll(() => status('mallory')).toBe(200)
    expect(await status('eve')).toBe(403)
  })

  test('that cannot be used any more changes nothing, and is told with all its mistakes, once', async () => {
    const file = await temporary(POLICY)
    const clock = new VirtualClock()
    const errors: string[] = []
    const authorizer = rbacFile(file)
    await authorizer.open?.({ clock, random: () => 0, failed: ({ message }) => void errors.push(message), warn: () => {} })
    onTestFinished(() => authorizer.close?.())
    const isAllowed = async (user: string): Promise<boolean> =>
      (await authorizer.authorize(askedOf({ user: userOf(user), path: '/reports/x' }), CONTEXT)).decision === 'allow'
    /** Time goes on beside what the system does. */
    const poll = <T>(what: () => T | Promise<T>) =>
      expect.poll(async () => {
        await clock.advance(200)
        return what()
      })
    await swap(file, POLICY.replace('verbs: [get]', 'verbs: []').replace('kind: User', 'kind: Robot'))
    const expected = [
      `${file}: document 1, ClusterRole "reader": rules[0].verbs: got [], allowed: a list of at least one verb`,
      `${file}: document 2, ClusterRoleBinding "readers": subjects[0].kind: got "Robot", allowed: User, Group, ServiceAccount`,
    ]
    await poll(() => errors).toEqual([expected.join('\n')])
    expect(await isAllowed('eve')).toBe(true)
    await swap(file, POLICY.replace('name: eve', 'name: mallory'))
    await poll(() => isAllowed('mallory')).toBe(true)
    expect([await isAllowed('eve'), errors.length]).toEqual([false, 1])
  })

  test.each<[string, string, RegExp]>([
    ['with mistakes', 'kind: Pod', /rbac\.yaml: kind: got "Pod"/],
    ['that is no YAML', 'a: [', /rbac\.yaml: .*at line 1/],
    ['of JSON that is none', '{"kind"', /rbac\.yaml: .*JSON/],
  ])('%s is a failed start', async (_what, text, message) => {
    const file = await temporary(text)
    await expect(serve(file)).rejects.toMatchObject({
      code: 'ERR_START',
      cause: { code: 'ERR_OPTION_INVALID', message: expect.stringMatching(message) },
    })
  })

  test('that is not there is a failed start', async () => {
    await expect(serve('/nowhere/rbac.yaml')).rejects.toMatchObject({
      cause: { message: "/nowhere/rbac.yaml: ENOENT: no such file or directory, open '/nowhere/rbac.yaml'" },
    })
  })

  test('may be a list in JSON, and one without documents allows nothing', async () => {
    const decide = async (text: string) => {
      const authorizer = rbacFile(await temporary(text))
      expect(() => authorizer.authorize(askedOf({}), CONTEXT)).toThrow('has not been read')
      await authorizer.open?.({ clock: systemClock, random: () => 0, failed: () => {}, warn: () => {} })
      onTestFinished(() => authorizer.close?.())
      return (await authorizer.authorize(askedOf({ user: userOf('eve'), path: '/reports/x' }), CONTEXT)).decision
    }
    const items = [clusterRole('r', { verbs: ['get'], nonResourceURLs: ['/reports/*'] }), clusterBinding('b', 'r', EVE)]
    expect(await decide(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))).toBe('allow')
    expect(await decide('# nothing yet\n')).toBe('no-opinion')
  })

  test.each<[string, string]>([
    ['that is empty', ''],
    ['of comments', '# nothing yet\n---\n# nor here\n'],
    ['with an empty list', '{"apiVersion": "v1", "kind": "List", "items": []}'],
    ['of roles that nobody has', POLICY.split('---')[0] as string],
    ['of bindings without subjects', POLICY.replace(/subjects:[\s\S]*/, 'subjects: []\n')],
  ])('%s is warned about at the start, once, and refuses', async (_what, text) => {
    const file = await temporary(text)
    const { ask, lines } = await serve(file)
    const refused = async () => (await ask('/reports/x', { headers: { 'X-User': 'eve' } })).status
    expect([await refused(), await refused()]).toEqual([403, 403])
    const warnings = () => lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
    const expected = `${file}: the file binds no subject to a role, so it allows nothing`
    expect(warnings()).toEqual([expected])
    await swap(file, POLICY)
    await expect.poll(refused).toBe(200)
    expect(warnings()).toEqual([expected])
  })

  test('that binds somebody at the start and nobody later is warned about then', async () => {
    const file = await temporary(POLICY)
    const { lines } = await serve(file)
    const warnings = () => lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
    expect(warnings()).toEqual([])
    await swap(file, '')
    await expect.poll(warnings).toEqual([`${file}: the file binds no subject to a role, so it allows nothing`])
  })
})
