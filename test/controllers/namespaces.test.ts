// Namespaces that come and go. Fails when: something is created in a namespace that is not there or
// is ending, one is gone before what is in it or stays behind it, one that the server needs can be
// deleted, a finalizer is taken by another path than /finalize, or kubectl waits for ever.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type WrittenShape, writeMessage } from '#apiserver/groups/protobuf/write-message.ts'
import {
  type AdmissionPlugin,
  type ApiObject,
  addGarbageCollector,
  addNamespaceController,
  apiGroup,
  memoryStorage,
  NAMESPACES,
  type Namespace,
  namespaceGroup,
  namespaceLifecycle,
  sharedInformers,
} from '#apiserver/index.ts'
import { deferred } from '#src/base/deferred.ts'
import { planets, widget, widgets } from '../groups/widgets.ts'
import { serveApi } from '../support/api-server.ts'
import { useKubectl } from '../support/kubectl.ts'

const NAMESPACE = '/api/v1/namespaces'
const MERGE = 'application/merge-patch+json'
const inside = (namespace: string): string => `/apis/demo.example/v1/namespaces/${namespace}/widgets`

interface Answer {
  readonly code: number
  readonly body: Namespace & {
    readonly message?: string
    readonly reason?: string
    readonly details?: object
    readonly items?: ApiObject[]
  }
}

async function scene({ hasController = true, admission = [] as readonly AdmissionPlugin[], deletionGracePeriod = '10ms' } = {}) {
  const memory = memoryStorage()
  const namespaces = memory.resource()
  const served = await serveApi({
    config: { admission: [namespaceLifecycle(namespaces), ...admission] },
    setUp: (server) => {
      server.installLegacyApiGroup('/api', namespaceGroup(namespaces))
      server.installApiGroups(
        apiGroup({
          group: 'demo.example',
          versions: {
            v1: [
              { resource: widgets, storage: memory.resource() },
              { resource: planets, storage: memory.resource() },
            ],
          },
        }),
      )
      const informers = sharedInformers(server)
      addGarbageCollector(server, { informers, resources: [widgets, NAMESPACES] })
      if (hasController) addNamespaceController(server, { informers, deletionGracePeriod })
    },
  })
  const json = async (method: string, path: string, body?: object, type = 'application/json'): Promise<Answer> => {
    const answer = await served.ask(path, { method, headers: { 'content-type': type }, ...(body && { body: JSON.stringify(body) }) })
    return { code: answer.status, body: (await answer.json()) as Answer['body'] }
  }
  return {
    ...served,
    json,
    create: async (name: string): Promise<void> =>
      expect((await json('POST', NAMESPACE, { kind: 'Namespace', apiVersion: 'v1', metadata: { name } })).code).toBe(201),
    put: async (namespace: string, name: string, metadata: object = {}): Promise<void> =>
      expect((await json('POST', inside(namespace), widget(name, { ...metadata }))).code).toBe(201),
    names: async (path: string): Promise<readonly string[]> =>
      ((await json('GET', path)).body.items ?? []).map(({ metadata }) => metadata.name),
  }
}

test('a namespace is created as it is in every cluster, and its finalizers are changed by /finalize alone', async () => {
  const { json, create } = await scene({ hasController: false })
  await create('blue')
  const path = `${NAMESPACE}/blue`
  const { body } = await json('GET', path)
  expect([body.spec, body.status, body.metadata.labels]).toEqual([
    { finalizers: ['kubernetes'] },
    { phase: 'Active' },
    { 'kubernetes.io/metadata.name': 'blue' },
  ])
  const without = { ...body, spec: { finalizers: [] }, status: { phase: 'Terminating' } }
  for (const [part, type] of [
    ['', 'application/json'],
    ['/status', 'application/json'],
  ] as const) {
    const changed = await json('PUT', `${path}${part}`, without, type)
    expect([changed.code, changed.body.spec ?? changed.body.message]).toEqual(
      part === ''
        ? [200, { finalizers: ['kubernetes'] }]
        : [
            422,
            'Namespace "blue" is invalid: status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
          ],
    )
  }
  expect((await json('PATCH', `${path}/finalize`, { spec: null }, MERGE)).code).toBe(405)
  expect((await json('DELETE', NAMESPACE)).code).toBe(405)
  const finalized = await json('PUT', `${path}/finalize`, { ...body, spec: { finalizers: ['demo.example/mine', 'kubernetes'] } })
  expect([finalized.code, finalized.body.spec?.finalizers, finalized.body.status]).toEqual([
    200,
    ['demo.example/mine', 'kubernetes'],
    { phase: 'Active' },
  ])
  const strange = await json('PUT', `${path}/finalize`, { ...body, spec: { finalizers: ['mine'] }, metadata: { name: 'blue' } })
  expect([strange.code, strange.body.message]).toEqual([
    422,
    'Namespace "blue" is invalid: spec.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
  ])
  expect((await json('POST', NAMESPACE, { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'a.b' } })).code).toBe(422)
})

test('clients of compiled kinds create one by what it says in protocol buffers', async () => {
  const { ask, json } = await scene({ hasController: false })
  const entry = (): WrittenShape => ({ key: [1, 'text'], value: [2, 'text'] })
  const owner = (): WrittenShape => ({
    kind: [1, 'text'],
    name: [3, 'text'],
    uid: [4, 'text'],
    apiVersion: [5, 'text'],
    controller: [6, 'flag'],
  })
  const metadata = (): WrittenShape => ({
    name: [1, 'text'],
    labels: [11, entry],
    annotations: [12, entry],
    ownerReferences: [13, owner],
    finalizers: [14, 'text'],
  })
  const given = {
    metadata: {
      name: 'blue',
      labels: [
        { key: 'a', value: 'b' },
        { key: 'c', value: '' },
      ],
      annotations: [{ key: '__proto__', value: 'x' }],
      ownerReferences: [{ apiVersion: 'demo.example/v1', kind: 'Planet', name: 'mars', uid: 'u', controller: true }],
      finalizers: ['demo.example/a', 'demo.example/b'],
    },
    spec: { finalizers: ['demo.example/c'] },
  }
  const type = { apiVersion: 'v1', kind: 'Namespace' }
  const post = (): Promise<Response> => {
    const raw = writeMessage(given, { metadata: [1, metadata], spec: [2, () => ({ finalizers: [1, 'text'] })] })
    const sent = writeMessage({ type, raw }, { type: [1, () => ({ apiVersion: [1, 'text'], kind: [2, 'text'] })], raw: [2, 'bytes'] })
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
    return ask(NAMESPACE, { method: 'POST', headers, body: new Uint8Array(Buffer.concat([Buffer.from('k8s\0'), sent])) })
  }
  const refused = await post()
  // It is read like any other: that annotation is none.
  expect([refused.status, ((await refused.json()) as { message: string }).message]).toEqual([422, expect.stringContaining('"__proto__"')])
  given.metadata.annotations = [{ key: 'note', value: 'x' }]
  const created = await post()
  expect(created.status).toBe(201)
  const { metadata: stored, spec } = (await json('GET', `${NAMESPACE}/blue`)).body
  expect([stored, spec]).toMatchObject([
    {
      name: 'blue',
      labels: { a: 'b', c: '', 'kubernetes.io/metadata.name': 'blue' },
      annotations: { note: 'x' },
      ownerReferences: [{ apiVersion: 'demo.example/v1', kind: 'Planet', name: 'mars', uid: 'u', controller: true }],
      finalizers: ['demo.example/a', 'demo.example/b'],
    },
    { finalizers: ['demo.example/c', 'kubernetes'] },
  ])
})

test('one that is deleted stays until its finalizers are empty, of both kinds', async () => {
  const { json, create } = await scene({ hasController: false })
  await create('blue')
  const path = `${NAMESPACE}/blue`
  await json('PATCH', path, { metadata: { finalizers: ['demo.example/held'] } }, MERGE)
  expect((await json('DELETE', `${path}?dryRun=All`)).body.status?.phase).toBe('Terminating')
  expect((await json('GET', path)).body.status?.phase).toBe('Active')
  const deleted = await json('DELETE', path)
  expect([deleted.code, deleted.body.status, typeof deleted.body.metadata.deletionTimestamp]).toEqual([
    200,
    { phase: 'Terminating' },
    'string',
  ])
  expect((await json('DELETE', path)).body).toEqual(deleted.body)
  const emptied = await json('PUT', `${path}/finalize`, { ...deleted.body, spec: { finalizers: [] } })
  expect([emptied.code, emptied.body.spec]).toEqual([200, {}])
  expect((await json('GET', path)).code).toBe(200)
  expect((await json('PATCH', path, { metadata: { finalizers: null } }, MERGE)).code).toBe(200)
  expect((await json('GET', path)).code).toBe(404)
})

test('nothing is created where there is no namespace, or one that is ending', async () => {
  const { json, create, put } = await scene({ hasController: false })
  const nowhere = await json('POST', inside('nowhere'), widget('a'))
  expect([nowhere.code, nowhere.body.message]).toEqual([404, 'namespaces "nowhere" not found'])
  await create('blue')
  await put('blue', 'a')
  await json('DELETE', `${NAMESPACE}/blue`)
  const refused = await json('POST', inside('blue'), widget('b'))
  expect([refused.code, refused.body.reason, refused.body.message, refused.body.details]).toEqual([
    403,
    'Forbidden',
    'widgets.demo.example "b" is forbidden: unable to create new content in namespace blue because it is being terminated',
    {
      name: 'b',
      group: 'demo.example',
      kind: 'widgets',
      causes: [{ reason: 'NamespaceTerminating', message: 'namespace blue is being terminated', field: 'metadata.namespace' }],
    },
  ])
  const generated = await json('POST', inside('blue'), { ...widget(''), metadata: { generateName: 'c-' } })
  expect(generated.body.message).toMatch(/^widgets\.demo\.example "c-" is forbidden/)
  // What is there can be changed and deleted, and what is in no namespace does not care.
  expect((await json('PATCH', `${inside('blue')}/a`, { spec: { size: 3 } }, MERGE)).code).toBe(200)
  expect((await json('DELETE', `${inside('blue')}/a`)).code).toBe(200)
  expect(
    (await json('POST', '/apis/demo.example/v1/planets', { apiVersion: 'demo.example/v1', kind: 'Planet', metadata: { name: 'mars' } }))
      .code,
  ).toBe(201)
})

test('the namespaces of the system are there, and the first three are not deleted', async () => {
  const { json, names } = await scene()
  await expect.poll(() => names(NAMESPACE)).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
  const refused = await json('DELETE', `${NAMESPACE}/kube-system`)
  expect([refused.code, refused.body.message]).toEqual([403, 'namespaces "kube-system" is forbidden: this namespace may not be deleted'])
  expect((await json('DELETE', `${NAMESPACE}/kube-node-lease`)).code).toBe(200)
  await expect.poll(() => names(NAMESPACE)).not.toContain('kube-node-lease')
})

test('everything in a namespace is deleted with it, and nothing else; what has finalizers is waited for and named', async () => {
  const { json, create, put, names, life, lines } = await scene()
  for (const name of ['blue', 'red']) {
    await create(name)
    for (const each of ['a', 'b', 'c']) await put(name, each)
  }
  await put('blue', 'held', { finalizers: ['demo.example/held'] })
  await json('DELETE', `${NAMESPACE}/blue`)
  await expect.poll(() => names(inside('blue'))).toEqual(['held'])
  await expect
    .poll(async () =>
      (await json('GET', `${NAMESPACE}/blue`)).body.status?.conditions?.map(({ type, status, message }) => [type, status, message]),
    )
    .toEqual([
      ['NamespaceDeletionContentFailure', 'False', 'All content successfully deleted, may be waiting on finalization'],
      ['NamespaceContentRemaining', 'True', 'Some resources are remaining: widgets.demo.example has 1 resource instances'],
      [
        'NamespaceFinalizersRemaining',
        'True',
        'Some content in the namespace has finalizers remaining: demo.example/held in 1 resource instances',
      ],
    ])
  await json('PATCH', `${inside('blue')}/held`, { metadata: { finalizers: null } }, MERGE)
  await expect.poll(async () => (await json('GET', `${NAMESPACE}/blue`)).code).toBe(404)
  expect(await names(inside('red'))).toEqual(['a', 'b', 'c'])
  // Another one of that name is empty.
  await create('blue')
  expect(await names(inside('blue'))).toEqual([])
  expect((await life.stop('over')).exitCode).toBe(0)
  expect(lines.filter(({ message }) => message.startsWith('namespace'))).toEqual([])
})

test('what was admitted before its namespace was deleted does not stay behind it', async () => {
  const admitted = deferred<void>()
  const slow: AdmissionPlugin = {
    name: 'slow',
    handles: ({ operation, resource }) => operation === 'CREATE' && resource.resource === 'widgets',
    validate: () => {
      admitted.resolve()
      return setTimeout(500)
    },
  }
  const { json, create, names } = await scene({ admission: [slow], deletionGracePeriod: '2s' })
  await create('blue')
  const creating = json('POST', inside('blue'), widget('late'))
  await admitted.promise
  await json('DELETE', `${NAMESPACE}/blue`)
  expect((await creating).code).toBe(201)
  await expect.poll(async () => (await json('GET', `${NAMESPACE}/blue`)).code).toBe(404)
  expect(await names(inside('blue'))).toEqual([])
})

test('a namespace says why what is in it cannot be deleted, and is gone when it can be', async () => {
  let isRefused = true
  const refuses: AdmissionPlugin = {
    name: 'refuses',
    handles: ({ operation, resource }) => operation === 'DELETE' && resource.resource === 'widgets',
    validate: () => {
      if (isRefused) throw new Error('not now')
    },
  }
  const { json, create, put } = await scene({ admission: [refuses] })
  await create('blue')
  await put('blue', 'a')
  await json('DELETE', `${NAMESPACE}/blue`)
  const failure = async () =>
    (await json('GET', `${NAMESPACE}/blue`)).body.status?.conditions?.find(({ type }) => type === 'NamespaceDeletionContentFailure')
  await expect.poll(failure).toMatchObject({
    status: 'True',
    message: 'Failed to delete all resource types, 1 remaining: demo.example/v1/widgets: widgets.demo.example "a" is forbidden: not now',
  })
  isRefused = false
  await expect.poll(async () => (await json('GET', `${NAMESPACE}/blue`)).code).toBe(404)
})

const { isThere, folder, run } = useKubectl()
test(isThere ? 'kubectl creates, shows and deletes a namespace' : 'kubectl is not on this machine: install kubernetes-client', async () => {
  if (!isThere) return
  const { port, json, put, names } = await scene()
  const says = async (expected: RegExp, ...args: readonly string[]): Promise<void> => {
    const { code, text } = await run(port, ...args).ended
    expect(`${code} ${text}`, args.join(' ')).toMatch(expected)
  }
  await says(/^0 namespace\/blue created/, 'create', 'namespace', 'blue')
  await says(/^0 NAME +STATUS +AGE\nblue +Active +\d+s/, 'get', 'ns', 'blue')
  await put('blue', 'a')
  await says(/^0 [\s\S]*Status: +Active/, 'describe', 'ns', 'blue')
  await says(/^0 [\s\S]*namespaces +ns +v1 +false +Namespace/, 'api-resources', '--cached=false')
  const file = join(folder, 'blue.json')
  const manifest = (team: string): string =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'blue', labels: { team }, finalizers: [`demo.example/${team}`] },
    })
  // For a kind that is compiled into it, kubectl sends strategic merge patches.
  for (const team of ['a', 'b']) {
    writeFileSync(file, manifest(team))
    await says(/^0 [\s\S]*namespace\/blue configured/, 'apply', '-f', file)
  }
  const { metadata } = (await json('GET', `${NAMESPACE}/blue`)).body
  expect([metadata.labels, metadata.finalizers]).toEqual([{ 'kubernetes.io/metadata.name': 'blue', team: 'b' }, ['demo.example/b']])
  await says(
    /^0 namespace\/blue patched/,
    'patch',
    'ns',
    'blue',
    '-p',
    '{"metadata":{"$deleteFromPrimitiveList/finalizers":["demo.example/b"]}}',
  )
  // It waits until it is gone.
  await says(/^0 namespace "blue" deleted/, 'delete', 'ns', 'blue')
  expect(await names(inside('blue'))).toEqual([])
  await says(/^1 [\s\S]*NotFound/, 'get', 'ns', 'blue')
})
