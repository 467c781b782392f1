// Fails when: another rule than the first that matches decides, a field of a rule is not heeded, or
// a policy that cannot be used is taken, or refused without the name of what is wrong.
import { describe, expect, test } from 'vitest'
import { type AuditPolicy, type PolicyRule, parseAuditPolicy, policyEvaluator, policyProblem } from '#apiserver/audit/policy.ts'
import type { UserInfo } from '#apiserver/authentication/user.ts'
import { requestInfo } from '#apiserver/request/request-info.ts'

const user = (name: string, ...groups: string[]): UserInfo => ({ name, uid: '', groups, extra: {} })
const level = (rules: readonly PolicyRule[], request: string, who?: UserInfo): string => {
  const [method = '', url = ''] = request.split(' ')
  return policyEvaluator({ rules })({ user: who, info: requestInfo(method, url) }).level
}
const PODS = 'GET /api/v1/namespaces/blue/pods/p1'
const LOG = 'GET /api/v1/namespaces/blue/pods/p1/log'

describe('a policy', () => {
  test('records nothing that no rule is for', () => {
    expect(level([{ level: 'Metadata', verbs: ['create'] }], PODS)).toBe('None')
  })

  test('is decided by the first rule that matches', () => {
    expect(level([{ level: 'None', verbs: ['get'] }, { level: 'Request' }], PODS)).toBe('None')
    expect(level([{ level: 'None', verbs: ['list'] }, { level: 'Request' }], PODS)).toBe('Request')
  })

  test.each<[string, Partial<PolicyRule>, string, UserInfo | undefined, boolean]>([
    ['a user', { users: ['ann'] }, PODS, user('ann'), true],
    ['another user', { users: ['ann'] }, PODS, user('bob'), false],
    ['no user', { users: ['ann'] }, PODS, undefined, false],
    ['a group', { userGroups: ['dev'] }, PODS, user('ann', 'ops', 'dev'), true],
    ['another group', { userGroups: ['dev'] }, PODS, user('ann', 'ops'), false],
    ['no user with a group', { userGroups: ['dev'] }, PODS, undefined, false],
    ['a namespace', { namespaces: ['blue'] }, PODS, undefined, true],
    ['another namespace', { namespaces: ['red'] }, PODS, undefined, false],
    ['no namespace', { namespaces: [''] }, 'GET /api/v1/nodes/n1', undefined, true],
    ['a namespace of no resource', { namespaces: [''] }, 'GET /healthz', undefined, false],
    ['a group of resources', { resources: [{ group: '' }] }, PODS, undefined, true],
    ['another group of resources', { resources: [{ group: 'apps' }] }, PODS, undefined, false],
    ['any group of resources', { resources: [{ group: '*', resources: ['pods'] }] }, PODS, undefined, true],
    ['any group of resources by itself', { resources: [{ group: '*' }] }, 'GET /apis/apps/v1/deployments', undefined, true],
    ['any group, and another resource', { resources: [{ group: '*', resources: ['nodes'] }] }, PODS, undefined, false],
    ['a resource', { resources: [{ resources: ['pods'] }] }, PODS, undefined, true],
    ['a resource, not what is below it', { resources: [{ resources: ['pods'] }] }, LOG, undefined, false],
    ['a subresource', { resources: [{ resources: ['pods/log'] }] }, LOG, undefined, true],
    ['any subresource', { resources: [{ resources: ['pods/*'] }] }, LOG, undefined, true],
    ['any subresource, and the resource', { resources: [{ resources: ['pods/*'] }] }, PODS, undefined, true],
    ['a subresource of any resource', { resources: [{ resources: ['*/log'] }] }, LOG, undefined, true],
    ['any resource', { resources: [{ resources: ['*'] }] }, LOG, undefined, true],
    ['a name', { resources: [{ resources: ['pods'], resourceNames: ['p1'] }] }, PODS, undefined, true],
    ['another name', { resources: [{ resources: ['pods'], resourceNames: ['p2'] }] }, PODS, undefined, false],
    ['a resource where a path is asked for', { resources: [{ resources: ['*'] }] }, 'GET /healthz', undefined, false],
    ['a path', { nonResourceURLs: ['/healthz'] }, 'GET /healthz', undefined, true],
    ['a path that begins so', { nonResourceURLs: ['/healthz*'] }, 'GET /healthz/etcd', undefined, true],
    ['another path', { nonResourceURLs: ['/healthz'] }, 'GET /healthz/etcd', undefined, false],
    ['any path', { nonResourceURLs: ['*'] }, 'GET /version', undefined, true],
    ['a path where a resource is asked for', { nonResourceURLs: ['*'] }, PODS, undefined, false],
  ])('by %s', (_, rule, request, who, isMatched) => {
    expect(level([{ level: 'Metadata', ...rule }], request, who)).toBe(isMatched ? 'Metadata' : 'None')
  })

  test('omits the stages of its own and of the rule', () => {
    const policy: AuditPolicy = {
      rules: [{ level: 'Metadata', omitStages: ['Panic'], omitManagedFields: false }, { level: 'None' }],
      omitStages: ['RequestReceived'],
      omitManagedFields: true,
    }
    const config = policyEvaluator(policy)({ user: undefined, info: requestInfo('GET', '/') })
    expect([[...config.omits], config.omitManagedFields]).toEqual([['RequestReceived', 'Panic'], false])
  })
})

const YAML = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    users: ["system:kube-proxy"]
    verbs: [watch]
    resources:
      - group: ""
        resources: [endpoints, services]
  - level: Metadata
    namespaces:
`

describe('a policy in a file', () => {
  test('is YAML as upstream has it', async () => {
    const policy = await parseAuditPolicy(YAML)
    expect(policy.rules).toHaveLength(2)
    const evaluate = policyEvaluator(policy)
    const watch = { user: user('system:kube-proxy'), info: requestInfo('GET', '/api/v1/services?watch=1') }
    expect([evaluate(watch).level, evaluate({ ...watch, user: undefined }).level]).toEqual(['None', 'Metadata'])
  })

  test('may be JSON', async () => {
    const text = JSON.stringify({ kind: 'Policy', apiVersion: 'audit.k8s.io/v1', rules: [{ level: 'Metadata' }] })
    expect((await parseAuditPolicy(text)).rules).toEqual([{ level: 'Metadata' }])
  })

  test.each([
    ['kind: Pod\napiVersion: v1\nrules: [{level: None}]', /policy\.yaml\.kind: got "Pod", allowed: Policy/],
    ['rules: [{level: None}]', /policy\.yaml: got .*allowed: kind Policy, apiVersion audit\.k8s\.io\/v1/],
    ['a: [', /policy\.yaml: /],
    ['rules: [{level: None}]\nrules: []', /policy\.yaml: Map keys must be unique/],
    ['{"rules": [{"level": "None", "level": "Metadata"}]}', /^policy\.yaml: has rules\[0\]\.level twice, allowed: once$/],
    ['just text', /policy\.yaml: got "just text", allowed: an object with rules/],
  ])('is refused by its name: %s', async (text, message) => {
    await expect(parseAuditPolicy(text, 'policy.yaml')).rejects.toThrow(message)
  })
})

test.each<[unknown, string, string]>([
  [{}, '.rules', 'a list of at least one rule'],
  [{ rules: [] }, '.rules', 'a list of at least one rule'],
  [{ rules: [{ verbs: ['get'] }] }, '.rules[0].level', 'None, Metadata, Request, RequestResponse'],
  [{ rules: [{ level: 'Metadata' }, { level: 'All' }] }, '.rules[1].level', 'None, Metadata, Request, RequestResponse'],
  [{ rules: [{ level: 'None', verbs: 'get' }] }, '.rules[0].verbs', 'a list of texts'],
  [{ rules: [{ level: 'None', verbs: [1] }] }, '.rules[0].verbs[0]', 'text'],
  [
    { rules: [{ level: 'None', omitStages: ['Late'] }] },
    '.rules[0].omitStages[0]',
    'RequestReceived, ResponseStarted, ResponseComplete, Panic',
  ],
  [{ rules: [{ level: 'None', nonResourceURLs: ['healthz'] }] }, '.rules[0].nonResourceURLs[0]', '*, or a path that begins with /'],
  [{ rules: [{ level: 'None', nonResourceURLs: ['/a*b'] }] }, '.rules[0].nonResourceURLs[0]', '* at the end of a path only'],
  [
    { rules: [{ level: 'None', nonResourceURLs: ['/a'], namespaces: ['b'] }] },
    '.rules[0].nonResourceURLs',
    'none beside resources and namespaces',
  ],
  [
    { rules: [{ level: 'None', resources: [{ group: 'apps/v1' }] }] },
    '.rules[0].resources[0].group',
    'a group without its version, as apps',
  ],
  [
    { rules: [{ level: 'None', resources: [{ resourceNames: ['a'] }] }] },
    '.rules[0].resources[0].resources',
    'at least one beside resourceNames',
  ],
  [{ rules: [{ level: 'None' }], omitManagedFields: 'yes' }, '.omitManagedFields', 'true, false'],
])('a policy that cannot be used says where: %j', (policy, path, allowed) => {
  expect(policyProblem(policy)).toMatchObject({ path, allowed })
})

test('a field that there is not is refused', () => {
  expect(policyProblem({ rules: [{ level: 'None', userGroup: ['a'] }] })).toMatchObject({
    path: '.rules[0].userGroup',
    words: expect.stringMatching(/unknown/),
  })
})
