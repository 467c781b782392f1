// Who may do what with a resource. Fails when: a route of a resource answers a request that the
// authorizer was not asked about, or was asked about as another verb, resource, subresource,
// namespace or name than the one that is done.
import { expect, test } from 'vitest'
import { resourceRoutes } from '#apiserver/groups/resource-routes.ts'
import type { RestWorld } from '#apiserver/groups/rest/rest-request.ts'
import { type Authorizer, apiGroup, defineResource, memoryStorage } from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'

const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
const resourceOf = (plural: string, scope: 'Namespaced' | 'Cluster') =>
  defineResource({
    group: 'demo.example',
    kind: plural === 'ships' ? 'Ship' : 'Sea',
    plural,
    scope,
    versions: { v1: { schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, subresources: { status: true, scale } } },
  })
const served = (['Namespaced', 'Cluster'] as const).map((scope) => ({
  resource: resourceOf(scope === 'Namespaced' ? 'ships' : 'seas', scope),
  storage: memoryStorage().resource(),
}))

/** Every route that there is, with a path for it. */
const ROUTES = served.flatMap((one) =>
  resourceRoutes('/apis/demo.example/v1', one, {} as RestWorld).flatMap(({ template, methods }) =>
    [...methods.keys()].map((method) => ({
      method,
      template,
      path: template.replace(':namespace', 'blue').replace(':name', 'one'),
    })),
  ),
)

const ONE: Readonly<Record<string, string>> = { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }
const ALL: Readonly<Record<string, string>> = { GET: 'list', POST: 'create', DELETE: 'deletecollection' }

/** What a route does, by its template alone. */
function expected(template: string, method: string): string {
  const parts = template.split('/').slice(4)
  const isWatch = parts[0] === 'watch'
  if (isWatch) parts.shift()
  const isInside = parts[0] === 'namespaces'
  const [resource = '', name = '', subresource = ''] = isInside ? parts.slice(2) : parts
  const verb = isWatch ? 'watch' : (name === '' ? ALL : ONE)[method]
  return [verb, resource, subresource, isInside ? 'blue' : '', name === '' ? '' : 'one'].join(' ')
}

test.each(['deny', 'no-opinion'] as const)('every route asks for what it does, and does nothing on %s', async (decision) => {
  const asked: string[] = []
  const authorizer: Authorizer = {
    authorize: ({ verb, resource, subresource, namespace, name, apiGroup: group, apiVersion }) => {
      expect([group, apiVersion]).toEqual(['demo.example', 'v1'])
      asked.push([verb, resource, subresource, namespace, name].join(' '))
      return { decision }
    },
  }
  const group = apiGroup({ group: 'demo.example', versions: { v1: served } })
  const { ask } = await serveApi({ config: { authorizer }, setUp: (server) => void server.installApiGroups(group) })
  // Both kinds have a template for a list, for one, for each of its parts, and for watches.
  expect(new Set(ROUTES.map(({ template }) => template)).size).toBe(14)
  for (const { method, path, template } of ROUTES) {
    asked.length = 0
    const answer = await ask(path, { method, ...(method === 'GET' ? {} : { body: '{}', headers: { 'Content-Type': 'application/json' } }) })
    expect([method, template, answer.status, ...asked]).toEqual([method, template, 403, expected(template, method)])
  }
  asked.length = 0
  expect((await ask('/apis/demo.example/v1/ships?watch=true')).status).toBe(403)
  expect(asked).toEqual(['watch ships   '])
})
