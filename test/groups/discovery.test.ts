// What a server says about its groups. Fails when: a document differs from upstream's, kubectl
// would not find a resource by it, a client's own copy is sent again, or a delegate's groups are
// left out.
import { expect, test } from 'vitest'
import { aggregatedList, apiResourceList, storageVersionHash } from '#apiserver/groups/discovery/documents.ts'
import { openApiDocument } from '#apiserver/groups/openapi/documents.ts'
import {
  type ApiGroup,
  type ApiVersion,
  apiGroup,
  completeConfig,
  createApiServer,
  defineResource,
  memoryStorage,
} from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'
import { demoGroup } from './widgets.ts'

const group = demoGroup()
const version = group.versions[0] as ApiVersion
const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

test.each([
  ['demo.example.io', 'v1', 'Widget', '6uLze6aDDBY='],
  ['', 'v1', 'ConfigMap', 'qFsyl6wFWjQ='],
  ['apps', 'v1', 'Deployment', '8aSe+NMegvE='],
])('the hash of %s/%s %s is that of upstream', (name, of, kind, hash) => {
  expect(storageVersionHash(name, of, kind)).toBe(hash)
})

test('a version names its resources and their subresources', () => {
  expect(apiResourceList(group, version)).toEqual({
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'demo.example/v1',
    resources: [
      {
        name: 'planets',
        singularName: 'planet',
        namespaced: false,
        kind: 'Planet',
        verbs: ALL_VERBS,
        storageVersionHash: storageVersionHash('demo.example', 'v1', 'Planet'),
      },
      {
        name: 'widgets',
        singularName: 'widget',
        namespaced: true,
        kind: 'Widget',
        verbs: ALL_VERBS,
        shortNames: ['wd'],
        categories: ['all'],
        storageVersionHash: storageVersionHash('demo.example', 'v1', 'Widget'),
      },
      { name: 'widgets/status', singularName: '', namespaced: true, kind: 'Widget', verbs: ['get', 'patch', 'update'] },
    ],
  })
})

test('the aggregated list has what its clients do without nothing of', () => {
  const responseKind = { group: 'demo.example', version: 'v1', kind: 'Widget' }
  expect(aggregatedList([group]).items).toEqual([
    {
      metadata: { name: 'demo.example' },
      versions: [
        {
          version: 'v1',
          resources: [
            expect.objectContaining({ resource: 'planets', scope: 'Cluster', singularResource: 'planet' }),
            {
              resource: 'widgets',
              responseKind,
              scope: 'Namespaced',
              singularResource: 'widget',
              verbs: ALL_VERBS,
              shortNames: ['wd'],
              categories: ['all'],
              subresources: [{ subresource: 'status', responseKind, verbs: ['get', 'patch', 'update'] }],
            },
          ],
          freshness: 'Current',
        },
      ],
    },
  ])
})

test('OpenAPI says of each kind that the server validates its fields', () => {
  const document = openApiDocument(group, version, { title: 'Test', version: '1' }) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: readonly { readonly name: string }[] }>>>>
    readonly components: { readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> }
  }
  const patch = document.paths['/apis/demo.example/v1/namespaces/{namespace}/widgets/{name}']?.['patch']
  expect(patch).toMatchObject({ 'x-kubernetes-group-version-kind': { group: 'demo.example', version: 'v1', kind: 'Widget' } })
  expect(patch?.parameters?.map(({ name }) => name)).toContain('fieldValidation')
  expect(document.components.schemas['example.demo.v1.Widget']).toMatchObject({
    'x-kubernetes-group-version-kind': [{ group: 'demo.example', version: 'v1', kind: 'Widget' }],
    properties: { spec: { required: ['size'], properties: { size: { type: 'integer', description: 'How large it is.' } } } },
  })
})

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** A group of one kind, of its own name. */
function notes(name: string): ApiGroup {
  const resource = defineResource({ group: name, kind: 'Note', plural: 'notes', scope: 'Cluster', versions: { v1: { schema: {} } } })
  return apiGroup({ group: name, versions: { v1: [{ resource, storage: memoryStorage().resource() }] } })
}

test('a server names the groups of its delegate, which serves them', async () => {
  const delegate = createApiServer(completeConfig({ platform: 'unknown' }), { name: 'inner' })
  delegate.installApiGroups(notes('inner.example'), notes('both.example'))
  const { ask } = await serveApi({
    delegate,
    setUp: (server) => void server.installApiGroups(notes('outer.example'), notes('both.example')),
  })
  const { groups } = (await (await ask('/apis')).json()) as { readonly groups: readonly { readonly name: string }[] }
  expect(groups.map(({ name }) => name)).toEqual(['outer.example', 'both.example', 'inner.example'])
  const first = await ask('/apis', { headers: { Accept: AGGREGATED } })
  expect(first.headers.get('content-type')).toBe(AGGREGATED)
  const etag = first.headers.get('etag') as string
  const known = await ask('/apis', { headers: { Accept: AGGREGATED, 'If-None-Match': etag } })
  expect([known.status, await known.text()]).toEqual([304, ''])
  expect((await ask('/apis/inner.example/v1/notes')).status).toBe(200)
  expect((await ask('/apis/inner.example/v9/notes')).status).toBe(404)
  const readyz = await (await ask('/readyz?verbose')).text()
  expect(readyz).toContain('storage-readiness-apiserver')
  expect(readyz).toContain('storage-readiness ok')
})

test('a document that is asked for by its content may be kept, and one of older content is elsewhere', async () => {
  const { ask } = await serveApi({ setUp: (server) => void server.installApiGroups(notes('demo.example')) })
  const root = await ask('/openapi/v3')
  const { paths } = (await root.json()) as { readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>> }
  const url = paths['apis/demo.example/v1']?.serverRelativeURL as string
  const document = await ask(url)
  expect(document.headers.get('cache-control')).toBe('public, immutable')
  expect(((await document.json()) as { readonly openapi: string }).openapi).toBe('3.0.0')
  const old = await ask(url.replace(/hash=.*/, 'hash=OLD'), { redirect: 'manual' })
  expect([old.status, old.headers.get('location')]).toEqual([301, url])
  expect((await ask('/openapi/v3/apis/nothing/v1')).status).toBe(404)
  const etag = root.headers.get('etag') as string
  expect((await ask('/openapi/v3', { headers: { 'If-None-Match': etag } })).status).toBe(304)
})
