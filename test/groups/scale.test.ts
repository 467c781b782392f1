// How many of something there are. Fails when: a scale says something else than its object, a
// change of it changes anything else, passes by what the object is checked by, or overwrites what
// was changed meanwhile; or discovery and OpenAPI do not name it.
import { describe, expect, test } from 'vitest'
import { aggregatedList, apiResourceList } from '#apiserver/groups/discovery/documents.ts'
import { openApiDocument } from '#apiserver/groups/openapi/documents.ts'
import { scaledTo, scaleOf } from '#apiserver/groups/resource/scale.ts'
import {
  type ApiObject,
  type ApiServerConfig,
  type ApiVersion,
  apiGroup,
  defineResource,
  memoryStorage,
  type ScalePaths,
} from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'

const PATHS: ScalePaths = {
  specReplicasPath: '.spec.size.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
}

const replicas = { type: 'integer', maximum: 5 } as const
const fleets = (scale: ScalePaths = PATHS) =>
  defineResource({
    group: 'demo.example',
    kind: 'Fleet',
    plural: 'fleets',
    scope: 'Namespaced',
    versions: {
      v1: {
        schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties: { color: { type: 'string' }, size: { type: 'object', properties: { replicas } } } },
            status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
        subresources: { status: true, scale },
      },
    },
  })

const group = () => apiGroup({ group: 'demo.example', versions: { v1: [{ resource: fleets(), storage: memoryStorage().resource() }] } })
const object = (fields: object): ApiObject => ({ apiVersion: 'demo.example/v1', kind: 'Fleet', metadata: { name: 'a' }, ...fields })

describe('a scale', () => {
  test.each([
    [{ spec: { size: { replicas: 3 } } }, { spec: { replicas: 3 }, status: { replicas: 0 } }],
    [
      { spec: { size: { replicas: 0 } }, status: { replicas: 2, selector: 'a=b' } },
      { spec: { replicas: 0 }, status: { replicas: 2, selector: 'a=b' } },
    ],
    [{ spec: { size: { replicas: '3' } } }, undefined],
    [{ spec: { size: [] } }, undefined],
    [{}, undefined],
  ])('of %j', (fields, expected) => {
    const scale = scaleOf(object(fields), PATHS)
    if (expected === undefined) expect(scale).toBeUndefined()
    else expect(scale).toEqual({ kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'a' }, ...expected })
  })

  test('is put where it was, and the object stays as it is', () => {
    const old = Object.freeze(object({ spec: Object.freeze({ color: 'red' }) }))
    const scaled = scaledTo(old, { ...old, spec: { replicas: 2 } }, PATHS)
    expect(scaled).toEqual(object({ spec: { color: 'red', size: { replicas: 2 } } }))
  })
})

test.each<[Partial<ScalePaths>, string]>([
  [{ specReplicasPath: 'spec.replicas' }, 'specReplicasPath'],
  [{ specReplicasPath: '.status.replicas' }, 'specReplicasPath'],
  [{ statusReplicasPath: '.spec.replicas' }, 'statusReplicasPath'],
  [{ labelSelectorPath: '.metadata.name' }, 'labelSelectorPath'],
])('paths that are none are refused: %j', (given, field) => {
  expect(() => fleets({ ...PATHS, ...given })).toThrow(field)
})

const FLEET = '/apis/demo.example/v1/namespaces/default/fleets'

async function serveFleets(config: ApiServerConfig = {}) {
  const { ask } = await serveApi({ config, setUp: (server) => void server.installApiGroups(group()) })
  const json = async (method: string, path: string, body?: object, type = 'application/json') => {
    const answer = await ask(path, { method, headers: { 'Content-Type': type }, ...(body && { body: JSON.stringify(body) }) })
    return { code: answer.status, body: (await answer.json()) as ApiObject & { message?: string } }
  }
  await json('POST', FLEET, object({ spec: { color: 'red', size: { replicas: 2 } } }))
  return json
}

describe('requests', () => {
  const MERGE = 'application/merge-patch+json'

  test('as a table say how many there are to be, and are', async () => {
    const { ask } = await serveApi({ setUp: (server) => void server.installApiGroups(group()) })
    const sent = object({ spec: { size: { replicas: 2 } } })
    await ask(FLEET, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(sent) })
    const answer = await ask(`${FLEET}/a/scale`, { headers: { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } })
    const { columnDefinitions, rows } = (await answer.json()) as Record<string, { readonly name?: string; readonly cells?: unknown[] }[]>
    expect(columnDefinitions?.map(({ name }) => name)).toEqual(['Name', 'Desired', 'Available', 'Age'])
    expect(rows?.[0]?.cells?.slice(0, 3)).toEqual(['a', 2, 0])
  })

  test('change how many there are to be, and nothing else', async () => {
    const json = await serveFleets()
    await json('PATCH', `${FLEET}/a/status`, { status: { replicas: 1 } }, MERGE)
    const { body: scale } = await json('GET', `${FLEET}/a/scale`)
    expect([scale['spec'], scale['status'], scale.metadata.namespace]).toEqual([{ replicas: 2 }, { replicas: 1 }, 'default'])
    const put = await json('PUT', `${FLEET}/a/scale`, { ...scale, spec: { replicas: 4 }, status: { replicas: 9 } })
    expect([put.code, put.body['spec'], put.body['status']]).toEqual([200, { replicas: 4 }, { replicas: 1 }])
    const patched = await json('PATCH', `${FLEET}/a/scale`, { spec: { replicas: 5 }, metadata: { labels: { a: 'b' } } }, MERGE)
    expect([patched.code, patched.body.kind, patched.body['spec']]).toEqual([200, 'Scale', { replicas: 5 }])
    const { body } = await json('GET', `${FLEET}/a`)
    expect([body['spec'], body['status'], body.metadata.labels, body.metadata.generation]).toEqual([
      { color: 'red', size: { replicas: 5 } },
      { replicas: 1 },
      undefined,
      3,
    ])
    // Of before the first change.
    expect((await json('PUT', `${FLEET}/a/scale`, { ...scale, spec: { replicas: 1 } })).code).toBe(409)
  })

  test.each([
    [{ spec: { replicas: -1 } }, 422, 'greater than or equal to 0'],
    [{ spec: { replicas: 6 } }, 422, 'less than or equal to 5'],
    [{ spec: { replicas: 'x' } }, 422, 'spec.replicas'],
    [{ metadata: { name: 'b' } }, 400, 'does not match'],
    [{ kind: 'Fleet' }, 400, 'Scale'],
  ])('%j: %i', async (patch, code, message) => {
    const json = await serveFleets()
    const answer = await json('PATCH', `${FLEET}/a/scale`, patch, MERGE)
    expect([answer.code, answer.body.message]).toEqual([code, expect.stringContaining(message)])
    expect((await json('GET', `${FLEET}/a/scale`)).body['spec']).toEqual({ replicas: 2 })
  })

  test('are admitted as changes of the object, by way of its scale', async () => {
    const asked: string[] = []
    const json = await serveFleets({
      admission: [
        {
          name: 'see',
          validate: ({ operation, subresource, kind, object }) =>
            void asked.push([operation, subresource, kind.kind, object?.kind].join(' ')),
        },
      ],
    })
    await json('PATCH', `${FLEET}/a/scale`, { spec: { replicas: 3 } }, MERGE)
    expect(asked).toEqual(['CREATE  Fleet Fleet', 'UPDATE scale Fleet Fleet'])
  })

  test('for what there is none of', async () => {
    const json = await serveFleets()
    await json('POST', FLEET, { ...object({}), metadata: { name: 'without' } })
    expect((await json('GET', `${FLEET}/without/scale`)).code).toBe(500)
    expect((await json('GET', `${FLEET}/none/scale`)).code).toBe(404)
    expect((await json('DELETE', `${FLEET}/a/scale`)).code).toBe(405)
  })
})

test('discovery and OpenAPI name it, by its own kind', () => {
  const version = group().versions[0] as ApiVersion
  const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
  const verbs = ['get', 'patch', 'update']
  expect((apiResourceList(group(), version) as { resources: unknown[] }).resources.slice(1)).toEqual([
    { name: 'fleets/scale', singularName: '', namespaced: true, ...scale, verbs },
    { name: 'fleets/status', singularName: '', namespaced: true, kind: 'Fleet', verbs },
  ])
  expect(JSON.stringify(aggregatedList([group()]))).toContain(JSON.stringify({ subresource: 'scale', responseKind: scale, verbs }))
  const document = openApiDocument(group(), version, {}) as { paths: object; components: { schemas: object } }
  expect(document.paths).toMatchObject({
    '/apis/demo.example/v1/namespaces/{namespace}/fleets/{name}/scale': { patch: { 'x-kubernetes-group-version-kind': scale } },
  })
  expect(document.components.schemas).toHaveProperty(['autoscaling.v1.Scale', 'x-kubernetes-group-version-kind'], [scale])
})
