// What upstream's API surface is, row by row: installation (AG), objects (RS), watches (WT),
// discovery (DI) and OpenAPI (OA). Fails when: a client of Kubernetes would be answered otherwise
// than by upstream, where docs/divergences.md does not say so.
import { get, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { expect } from 'vitest'
import type { ApiServer } from '#apiserver/api-server.ts'
import {
  type ApiGroup,
  type ApiServerConfig,
  type ApiServerParts,
  apiGroup,
  completeConfig,
  createApiServer,
  defineResource,
  memoryStorage,
  type Storage,
} from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'
import { row } from '../support/row.ts'
import { demoGroup, planets, WIDGETS, widget, widgets } from './widgets.ts'

interface Json {
  // biome-ignore lint/suspicious/noExplicitAny: what was answered is looked at, whatever it is
  readonly [field: string]: any
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const MERGE = { 'Content-Type': 'application/merge-patch+json' }
const PLANETS = '/apis/demo.example/v1/planets'

async function serve(
  setUp: (server: ApiServer) => void = (server) => void server.installApiGroups(demoGroup()),
  config: ApiServerConfig = {},
  parts: Omit<ApiServerParts, 'metrics'> = {},
) {
  const api = await serveApi({ config: { watchGrace: '2s', ...config }, setUp, ...parts })
  const json = async (method: string, path: string, body?: object | string, headers: Record<string, string> = JSON_TYPE) => {
    const sent = typeof body === 'object' ? JSON.stringify(body) : body
    const answer = await api.ask(path, { method, headers, ...(sent !== undefined && { body: sent }) })
    const text = await answer.text()
    return { code: answer.status, headers: answer.headers, text, body: (/^[{[]/.test(text) ? JSON.parse(text) : {}) as Json }
  }
  const create = async (...names: readonly string[]): Promise<readonly Json[]> => {
    const all: Json[] = []
    for (const name of names) all.push((await json('POST', WIDGETS, widget(name, { labels: { name } }))).body)
    return all
  }
  /** A watch, an event at a time; undefined when it has ended. */
  const watch = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      get({ port: api.port, host: '127.0.0.1', path, headers, agent: false }, resolve).on('error', reject),
    )
    const lines = createInterface(answer)[Symbol.asyncIterator]()
    const next = async (): Promise<Json | undefined> => {
      const { value, done } = await lines.next()
      return done === true ? undefined : (JSON.parse(value) as Json)
    }
    return { answer, next, close: () => answer.destroy() }
  }
  return { ...api, json, create, watch }
}

const groupOf = (group: string, versions: readonly string[] = ['v1']) =>
  apiGroup({
    group,
    versions: Object.fromEntries(
      versions.map((version) => [
        version,
        [
          {
            resource: defineResource({ group, kind: 'Note', plural: 'notes', scope: 'Cluster', versions: { [version]: { schema: {} } } }),
            storage: memoryStorage().resource(),
          },
        ],
      ]),
    ),
  })

row('AG-01', 'a group without versions refuses its whole batch', async () => {
  const { json } = await serve((server) => {
    const empty = apiGroup({ group: 'empty.example', versions: {} })
    expect(() => server.installApiGroups(groupOf('a.example'), empty)).toThrow('no version priority')
  })
  expect((await json('GET', '/apis')).body['groups']).toEqual([])
})
row('AG-02', 'the group without a name is not for /apis', async () => {
  await serve((server) => {
    expect(() => server.installApiGroups(groupOf(''))).toThrow('empty group')
  })
})
row('AG-03', 'a prefix that is none is refused with those that are', async () => {
  await serve((server) => {
    expect(() => server.installLegacyApiGroup('/old' as '/api', groupOf(''))).toThrow('prefix: got "/old", allowed: /api')
  })
})
row('AG-04', 'names of resources are in lower case', () => {
  const schema = {}
  expect(() =>
    defineResource({ group: 'a.example', kind: 'Note', plural: 'Notes', scope: 'Cluster', versions: { v1: { schema } } }),
  ).toThrow('lower case')
})
row('AG-05', 'a version without resources is skipped with a warning, and named nowhere', async () => {
  const { versions } = groupOf('a.example')
  const { json, lines } = await serve((server) => {
    const [one] = versions
    server.installApiGroups(apiGroup({ group: 'a.example', versions: { v1: one?.resources ?? [], v2: [] } }))
  })
  expect(lines.map(({ message }) => message)).toContain('Skipping API a.example/v2 because it has no resources.')
  expect((await json('GET', '/apis/a.example')).body['versions']).toEqual([{ groupVersion: 'a.example/v1', version: 'v1' }])
})
row('AG-06', 'a group that is there stays, and another of its name is refused', async () => {
  const { json } = await serve((server) => {
    server.installApiGroups(demoGroup())
    expect(() => server.installApiGroups(groupOf('demo.example'))).toThrow('is installed already')
  })
  expect((await json('GET', WIDGETS)).code).toBe(200)
})
row('AG-07', 'groups are listed in the order in which they were installed', async () => {
  const { json } = await serve((server) => void server.installApiGroups(groupOf('b.example'), groupOf('a.example')))
  expect((await json('GET', '/apis')).body['groups'].map(({ name }: Json) => name as string)).toEqual(['b.example', 'a.example'])
})
row('AG-08', 'every storage is destroyed once, when nothing is written any more', async () => {
  const said: string[] = []
  const storage = (name: string): Storage => ({ get: () => undefined, destroy: () => void said.push(name) })
  const { life } = await serve((server) => {
    const group = (name: string) =>
      apiGroup({ group: name, versions: { v1: [{ resource: { ...planets, group: name }, storage: storage(name) }] } })
    server.installApiGroups(group('a.example'), group('b.example'))[Symbol.dispose]()
  })
  expect(said).toEqual([])
  await life.stop('over')
  expect(said.sort()).toEqual(['a.example', 'b.example'])
})
row('AG-09', 'a storage that is not ready is waited for by readiness', async () => {
  let isReady = false
  const storage: Storage = { get: () => undefined, ready: () => isReady }
  const { ask } = await serve((server) => void server.installApiGroups(demoGroup(storage)))
  expect((await ask('/readyz')).status).toBe(500)
  isReady = true
  await expect.poll(async () => (await ask('/readyz')).status).toBe(200)
})
row('AG-10', 'groups come and go while the server serves', async () => {
  let server: ApiServer | undefined
  const { json } = await serve((one) => {
    server = one
  })
  expect((await json('GET', WIDGETS)).code).toBe(404)
  const installed = server?.installApiGroups(demoGroup())
  expect((await json('GET', WIDGETS)).code).toBe(200)
  installed?.[Symbol.dispose]()
  expect((await json('GET', WIDGETS)).code).toBe(404)
  expect((await json('GET', '/apis')).body['groups']).toEqual([])
})
row('AG-11', 'what may still be installed is answered 503, and then 404', async () => {
  let found = (_: readonly ApiGroup[]): void => {}
  const { json } = await serve((server) => {
    server.installApiGroupsWhen('late', new Promise((resolve) => (found = resolve)))
  })
  const early = await json('GET', WIDGETS)
  expect([early.code, early.headers.get('retry-after')]).toEqual([503, '5'])
  found([demoGroup()])
  await expect.poll(async () => (await json('GET', WIDGETS)).code).toBe(200)
  await expect.poll(async () => (await json('GET', '/apis/none.example/v1/x')).code).toBe(404)
})
row('AG-12', 'the index lists a group and its versions', async () => {
  const { json } = await serve()
  expect((await json('GET', '/')).body['paths']).toEqual(
    expect.arrayContaining(['/apis', '/apis/demo.example', '/apis/demo.example/v1', '/openapi/v2', '/openapi/v3']),
  )
})
row('AG-13', 'a group that is here hides its other versions in delegates', async () => {
  const delegate = createApiServer(completeConfig({ port: 0 }), { name: 'inner' })
  delegate.handlePrefix('/apis/', (_, response) => void response.end('inner'))
  const { json, ask } = await serve(undefined, {}, { delegate })
  expect((await json('GET', '/apis/demo.example/v9/widgets')).body).toMatchObject({ kind: 'Status', code: 404 })
  expect(await (await ask('/apis/other.example/v1/x')).text()).toBe('inner')
})
row('AG-14', 'a path that only begins like a group is no group’s', async () => {
  const { ask } = await serve((server) => {
    server.installLegacyApiGroup('/api', groupOf(''))
    server.handle('/apiserver', (_, response) => void response.end('mine'))
  })
  expect(await (await ask('/apiserver')).text()).toBe('mine')
  expect((await ask('/api/v2/notes')).status).toBe(404)
})

row('RS-01', 'an object that is not there', async () => {
  const { json } = await serve()
  const { code, body } = await json('GET', `${WIDGETS}/none`)
  expect([code, body]).toEqual([
    404,
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'widgets.demo.example "none" not found',
      reason: 'NotFound',
      details: { name: 'none', group: 'demo.example', kind: 'widgets' },
      code: 404,
    },
  ])
})
row('RS-02', 'what a server sets of a new object', async () => {
  const { json } = await serve()
  const { code, body } = await json('POST', WIDGETS, widget('a'))
  expect(code).toBe(201)
  expect(body['metadata']).toEqual({
    name: 'a',
    namespace: 'default',
    uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    resourceVersion: expect.stringMatching(/^\d+$/) as string,
    generation: 1,
    creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
  })
})
row('RS-03', 'a name that is taken', async () => {
  const { json, create } = await serve()
  await create('a')
  expect((await json('POST', WIDGETS, widget('a'))).body).toMatchObject({ code: 409, reason: 'AlreadyExists' })
})
row('RS-04', 'a name that is made up', async () => {
  const { json } = await serve()
  const { body } = await json('POST', WIDGETS, widget('', { generateName: 'a-' }))
  expect(body['metadata'].name).toMatch(/^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
})
row('RS-05', 'a namespace that is not that of the path', async () => {
  const { json } = await serve()
  expect((await json('POST', WIDGETS, widget('a', { namespace: 'blue' }))).code).toBe(400)
  expect((await json('POST', PLANETS, { metadata: { name: 'a', namespace: 'blue' } })).body['metadata'].namespace).toBeUndefined()
})
row('RS-06', 'metadata that clients do not set', async () => {
  const { json } = await serve()
  const given = { uid: 'mine', deletionTimestamp: '2020-01-01T00:00:00Z', creationTimestamp: '2020-01-01T00:00:00Z', selfLink: '/x' }
  const { metadata } = (await json('POST', WIDGETS, widget('a', given))).body as { metadata: Json }
  expect([metadata['uid'] === 'mine', metadata['deletionTimestamp'], metadata['selfLink']]).toEqual([false, undefined, undefined])
  expect(metadata['creationTimestamp']).not.toBe('2020-01-01T00:00:00Z')
})
row('RS-07', 'a version in a new object', async () => {
  const { json } = await serve()
  expect((await json('POST', WIDGETS, widget('a', { resourceVersion: '7' }))).code).toBe(400)
})
row('RS-08', 'an update of another version', async () => {
  const { json, create } = await serve()
  const [first] = await create('a')
  await json('PUT', `${WIDGETS}/a`, widget('a', { size: 2 }))
  const late = await json('PUT', `${WIDGETS}/a`, { ...first, spec: { size: 3 } })
  expect(late.body).toMatchObject({ code: 409, reason: 'Conflict' })
  expect(late.body['message']).toContain('Operation cannot be fulfilled on widgets.demo.example "a": the object has been modified')
})
row('RS-09', 'a change of nothing is no write', async () => {
  const { json, create } = await serve()
  const [first] = await create('a')
  expect((await json('PUT', `${WIDGETS}/a`, first as object)).body).toEqual(first)
})
row('RS-10', 'a merge patch: null takes away, lists are replaced', async () => {
  const { json } = await serve()
  await json('POST', WIDGETS, widget('a', { labels: { x: '1', y: '2' }, finalizers: ['a.example/x', 'a.example/y'] }))
  const { body } = await json('PATCH', `${WIDGETS}/a`, { metadata: { labels: { x: null }, finalizers: ['a.example/z'] } }, MERGE)
  expect([body['metadata'].labels, body['metadata'].finalizers]).toEqual([{ y: '2' }, ['a.example/z']])
})
row('RS-11', 'a JSON patch: what cannot be applied is 422, what is none 400', async () => {
  const { json, create } = await serve()
  await create('a')
  const patch = (body: object | string) => json('PATCH', `${WIDGETS}/a`, body, { 'Content-Type': 'application/json-patch+json' })
  expect((await patch([{ op: 'replace', path: '/spec/size', value: 7 }])).body['spec'].size).toBe(7)
  expect((await patch([{ op: 'test', path: '/spec/size', value: 1 }])).code).toBe(422)
  expect((await patch([{ op: 'remove', path: '/spec/none' }])).code).toBe(422)
  expect((await patch('{')).code).toBe(400)
})
row('RS-12', 'patches that need to know more of a kind are 415, as for custom resources', async () => {
  const { json, create } = await serve()
  await create('a')
  for (const type of ['application/strategic-merge-patch+json', 'text/plain'])
    expect((await json('PATCH', `${WIDGETS}/a`, {}, { 'Content-Type': type })).body).toMatchObject({
      code: 415,
      reason: 'UnsupportedMediaType',
    })
})
row('RS-13', 'finalizers have an object wait for its end', async () => {
  const { json } = await serve()
  await json('POST', WIDGETS, widget('a', { finalizers: ['a.example/x'] }))
  const { body } = await json('DELETE', `${WIDGETS}/a`)
  expect([body['metadata'].deletionGracePeriodSeconds, typeof body['metadata'].deletionTimestamp]).toEqual([0, 'string'])
  expect((await json('GET', `${WIDGETS}/a`)).code).toBe(200)
  expect((await json('PATCH', `${WIDGETS}/a`, { metadata: { finalizers: null } }, MERGE)).code).toBe(200)
  expect((await json('GET', `${WIDGETS}/a`)).code).toBe(404)
})
row('RS-14', 'preconditions of a deletion', async () => {
  const { json, create } = await serve()
  await create('a')
  expect((await json('DELETE', `${WIDGETS}/a`, { preconditions: { uid: 'another' } })).body).toMatchObject({
    code: 409,
    reason: 'Conflict',
  })
  expect((await json('GET', `${WIDGETS}/a`)).code).toBe(200)
})
row('RS-15', 'what a deletion answers', async () => {
  const { json, create } = await serve()
  const [first] = await create('a')
  expect((await json('DELETE', `${WIDGETS}/a`)).body).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: 'a', group: 'demo.example', kind: 'widgets', uid: first?.['metadata'].uid as string },
  })
})
row('RS-16', 'a collection is deleted by its selector, and answered with what it was', async () => {
  const { json, create } = await serve()
  await create('a', 'b', 'c')
  const { body } = await json('DELETE', `${WIDGETS}?labelSelector=name+in+(a,c)`)
  expect(body['items'].map(({ metadata }: Json) => metadata.name as string)).toEqual(['a', 'c'])
  expect((await json('GET', WIDGETS)).body['items'].length).toBe(1)
})
row('RS-17', 'pages are of one version', async () => {
  const { json, create } = await serve()
  await create('a', 'b', 'c')
  const { metadata, items } = (await json('GET', `${WIDGETS}?limit=2`)).body as { metadata: Json; items: readonly Json[] }
  expect([items.length, metadata['remainingItemCount']]).toEqual([2, 1])
  await create('bb')
  const next = (await json('GET', `${WIDGETS}?limit=2&continue=${String(metadata['continue'])}`)).body
  expect(next['items'].map((each: Json) => each['metadata'].name as string)).toEqual(['c'])
  expect(next['metadata'].resourceVersion).toBe(metadata['resourceVersion'])
  expect((await json('GET', `${WIDGETS}?continue=x`)).code).toBe(400)
})
row('RS-18', 'labels select', async () => {
  const { json, create } = await serve()
  await create('a', 'b')
  const names = async (selector: string) =>
    (await json('GET', `${WIDGETS}?labelSelector=${encodeURIComponent(selector)}`)).body['items'].map(
      ({ metadata }: Json) => metadata.name as string,
    )
  for (const [selector, expected] of [
    ['name=a', ['a']],
    ['name!=a', ['b']],
    ['!none', ['a', 'b']],
    ['name notin (a),name', ['b']],
  ] as const)
    expect([selector, await names(selector)]).toEqual([selector, expected])
})
row('RS-19', 'fields select by name and namespace, and by no other', async () => {
  const { json, create } = await serve()
  await create('a', 'b')
  expect((await json('GET', `${WIDGETS}?fieldSelector=metadata.name%3Da`)).body['items'].length).toBe(1)
  expect((await json('GET', `${WIDGETS}?fieldSelector=spec.size%3D1`)).code).toBe(400)
})
row('RS-20', 'a dry run does everything but the write', async () => {
  const { json } = await serve()
  expect((await json('POST', `${WIDGETS}?dryRun=All`, widget('a'))).code).toBe(201)
  expect((await json('GET', `${WIDGETS}/a`)).code).toBe(404)
  expect((await json('POST', `${WIDGETS}?dryRun=Some`, widget('a'))).code).toBe(422)
})
row('RS-21', 'unknown fields are refused, warned of, or passed over', async () => {
  const { json } = await serve()
  const body = (name: string) => ({ ...widget(name), sugar: 1 })
  const strict = await json('POST', `${WIDGETS}?fieldValidation=Strict`, body('a'))
  expect([strict.code, strict.body['message']]).toEqual([400, expect.stringContaining('strict decoding error: unknown field "sugar"')])
  expect((await json('POST', WIDGETS, body('b'))).headers.get('warning')).toBe('299 - "unknown field \\"sugar\\""')
  const ignored = await json('POST', `${WIDGETS}?fieldValidation=Ignore`, body('c'))
  expect([ignored.headers.get('warning'), ignored.body['sugar']]).toEqual([null, undefined])
})
row('RS-22', 'a table has its columns and the metadata of each row', async () => {
  const { json, create } = await serve()
  await create('a')
  const { body } = await json('GET', WIDGETS, undefined, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  expect([body['kind'], body['columnDefinitions'].map(({ name }: Json) => name as string)]).toEqual([
    'Table',
    ['Name', 'Size', 'Color', 'Age'],
  ])
  expect([body['rows'][0].cells.slice(0, 3), body['rows'][0].object.kind]).toEqual([['a', 1, 'grey'], 'PartialObjectMetadata'])
})
row('RS-23', 'metadata alone, and no form that there is not', async () => {
  const { json, create } = await serve()
  await create('a')
  const as = (kind: string) => ({ Accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` })
  const { body } = await json('GET', `${WIDGETS}/a`, undefined, as('PartialObjectMetadata'))
  expect([body['kind'], body['spec'], body['metadata'].name]).toEqual(['PartialObjectMetadata', undefined, 'a'])
  expect((await json('GET', `${WIDGETS}/a`, undefined, as('PartialObjectMetadataList'))).code).toBe(406)
  expect((await json('GET', WIDGETS, undefined, { Accept: 'image/png' })).body).toMatchObject({ code: 406, reason: 'NotAcceptable' })
})
row('RS-24', 'a body that is too long', async () => {
  const { json } = await serve(undefined, { maxRequestBodyBytes: 1_000 })
  const { body } = await json('POST', WIDGETS, widget('a', { annotations: { x: 'x'.repeat(1_000) } }))
  expect(body).toMatchObject({ code: 413, reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 1000' })
})
row('RS-25', 'a body of a type that is not read', async () => {
  const { json } = await serve()
  expect((await json('POST', WIDGETS, 'x', { 'Content-Type': 'text/csv' })).body).toMatchObject({
    code: 415,
    reason: 'UnsupportedMediaType',
  })
})
row('RS-26', 'YAML is read and written', async () => {
  const { json } = await serve()
  const body = 'apiVersion: demo.example/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 3}\n'
  expect((await json('POST', WIDGETS, body, { 'Content-Type': 'application/yaml' })).body['spec'].size).toBe(3)
  expect((await json('GET', `${WIDGETS}/a`, undefined, { Accept: 'application/yaml' })).text).toContain(
    '\nspec:\n  color: grey\n  size: 3\n',
  )
})
row('RS-27', 'a status is written by its own path, and by no other', async () => {
  const { json, create } = await serve()
  await create('a')
  const status = { status: { ready: true } }
  expect((await json('PATCH', `${WIDGETS}/a`, status, MERGE)).body['status']).toBeUndefined()
  expect((await json('PATCH', `${WIDGETS}/a/status`, { ...status, spec: { size: 9 } }, MERGE)).body).toMatchObject({
    ...status,
    spec: { size: 1 },
  })
})
row('RS-28', 'what a path does not do is 405', async () => {
  const { json } = await serve()
  for (const [method, path] of [
    ['POST', '/apis/demo.example/v1/widgets'],
    ['DELETE', '/apis/demo.example/v1/widgets'],
    ['POST', `${WIDGETS}/a`],
    ['PUT', WIDGETS],
  ] as const)
    expect((await json(method, path, '{}')).body).toMatchObject({ code: 405, reason: 'MethodNotAllowed' })
})
row('RS-29', 'options that do not go together', async () => {
  const { json } = await serve()
  for (const query of [
    'resourceVersionMatch=Exact',
    'resourceVersion=1&resourceVersionMatch=Near',
    'sendInitialEvents=true',
    'watch=true&sendInitialEvents=true',
    'watch=true&resourceVersion=1&resourceVersionMatch=Exact',
  ])
    expect((await json('GET', `${WIDGETS}?${query}`)).body).toMatchObject({
      code: 422,
      reason: 'Invalid',
      details: { kind: 'ListOptions' },
    })
})
row('RS-30', 'a version that is yet to come', async () => {
  const { json } = await serve()
  const { body } = await json('GET', `${WIDGETS}?resourceVersion=999999999999999&resourceVersionMatch=NotOlderThan`)
  expect(body).toMatchObject({ code: 504, reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } })
})

row('WT-01', 'the head of a watch is sent at once', async () => {
  const { watch } = await serve()
  const { answer, close } = await watch(`${WIDGETS}?watch=true`)
  expect([answer.statusCode, answer.headers['content-type'], answer.headers['transfer-encoding']]).toEqual([
    200,
    'application/json',
    'chunked',
  ])
  close()
})
row('WT-02', 'a watch from a version tells what has come behind it', async () => {
  const { create, watch } = await serve()
  const [, second] = await create('a', 'b')
  const { next, close } = await watch(`${WIDGETS}?watch=true&resourceVersion=${String(second?.['metadata'].resourceVersion)}`)
  await create('c')
  expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'c' } } })
  close()
})
row('WT-03', 'a watch from no version tells what is there first', async () => {
  const { create, watch } = await serve()
  await create('a', 'b')
  for (const version of ['', '&resourceVersion=0']) {
    const { next, close } = await watch(`${WIDGETS}?watch=true${version}`)
    expect([await next(), await next()].map((event) => [event?.['type'], event?.['object'].metadata.name])).toEqual([
      ['ADDED', 'a'],
      ['ADDED', 'b'],
    ])
    close()
  }
})
row('WT-04', 'what enters a selector is added, and what leaves it deleted', async () => {
  const { json, create, watch } = await serve()
  await create('a')
  const { next, close } = await watch(`${WIDGETS}?watch=true&labelSelector=on`)
  const label = (on: string | null) => json('PATCH', `${WIDGETS}/a`, { metadata: { labels: { on } } }, MERGE)
  for (const on of ['1', '2', null]) await label(on)
  expect([await next(), await next(), await next()].map((event) => event?.['type'] as string)).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
  close()
})
row('WT-05', 'bookmarks are for those who ask for them', async () => {
  const { create, watch } = await serve()
  await create('a')
  for (const [query, types] of [
    ['', ['ADDED']],
    // As upstream: the end of what was there is told to those alone who ask for it by name.
    ['&allowWatchBookmarks=true', ['ADDED', 'BOOKMARK']],
  ] as const) {
    const { next } = await watch(`${WIDGETS}?watch=true&timeoutSeconds=1${query}`)
    const seen: string[] = []
    for (let event = await next(); event !== undefined; event = await next()) seen.push(event['type'] as string)
    expect([query, seen]).toEqual([query, types])
  }
})
row('WT-06', 'the end of what was there at first is told by a bookmark', async () => {
  const { create, watch } = await serve()
  await create('a')
  const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  const { next, close } = await watch(`${WIDGETS}?${query}`)
  expect([(await next())?.['type'], (await next())?.['object'].metadata.annotations]).toEqual([
    'ADDED',
    { 'k8s.io/initial-events-end': 'true' },
  ])
  close()
})
row('WT-07', 'a version that is too old is told as the only event', async () => {
  const { watch } = await serve()
  const { answer, next } = await watch(`${WIDGETS}?watch=true&resourceVersion=1`)
  expect([answer.statusCode, await next(), await next()]).toEqual([
    200,
    { type: 'ERROR', object: expect.objectContaining({ kind: 'Status', code: 410, reason: 'Expired' }) as object },
    undefined,
  ])
})
row('WT-08', 'a watch ends after the time that its client asks for', async () => {
  const { watch } = await serve()
  const { next, answer } = await watch(`${WIDGETS}?watch=true&timeoutSeconds=1`)
  expect([await next(), answer.complete]).toEqual([undefined, true])
})
row('WT-09', 'a watch ends in its turn when the server does', async () => {
  const { watch, life } = await serve()
  const { next, answer } = await watch(`${WIDGETS}?watch=true`)
  const stopped = life.stop('over')
  expect([await next(), answer.complete]).toEqual([undefined, true])
  await stopped
})
row('WT-10', 'YAML cannot be watched', async () => {
  const { watch } = await serve()
  const { answer, close } = await watch(`${WIDGETS}?watch=true`, { Accept: 'application/yaml' })
  expect(answer.statusCode).toBe(406)
  close()
})
row('WT-11', 'of a watch of tables the first event has the columns', async () => {
  const { create, watch } = await serve()
  await create('a', 'b')
  const { next, close } = await watch(`${WIDGETS}?watch=true`, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  const [first, second] = [await next(), await next()]
  expect([first?.['object'].columnDefinitions.length, second?.['object'].columnDefinitions, second?.['object'].rows.length]).toEqual([
    4,
    null,
    1,
  ])
  close()
})
row('WT-12', 'what is deleted is told as it was last, with the version of its deletion', async () => {
  const { json, create, watch } = await serve()
  const [first] = await create('a')
  const { next, close } = await watch(`${WIDGETS}?watch=true&resourceVersion=${String(first?.['metadata'].resourceVersion)}`)
  await json('DELETE', `${WIDGETS}/a`)
  const event = await next()
  expect([event?.['type'], event?.['object'].spec]).toEqual(['DELETED', first?.['spec']])
  expect(Number(event?.['object'].metadata.resourceVersion)).toBeGreaterThan(Number(first?.['metadata'].resourceVersion))
  close()
})

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

row('DI-01', 'the list of groups', async () => {
  const { json, port } = await serve()
  const version = { groupVersion: 'demo.example/v1', version: 'v1' }
  const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress: `:${port}` }]
  expect((await json('GET', '/apis')).body).toEqual({
    kind: 'APIGroupList',
    groups: [{ name: 'demo.example', versions: [version], preferredVersion: version, serverAddressByClientCIDRs }],
  })
})
row('DI-02', 'a group', async () => {
  const { json } = await serve()
  const version = { groupVersion: 'demo.example/v1', version: 'v1' }
  expect((await json('GET', '/apis/demo.example')).body).toEqual({
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'demo.example',
    versions: [version],
    preferredVersion: version,
  })
})
row('DI-03', 'the resources of a version, in the order of their names', async () => {
  const { json } = await serve()
  const { body } = await json('GET', '/apis/demo.example/v1')
  expect([body['kind'], body['groupVersion'], body['resources'].map(({ name }: Json) => name as string)]).toEqual([
    'APIResourceList',
    'demo.example/v1',
    ['planets', 'widgets', 'widgets/status'],
  ])
})
row('DI-04', 'the aggregated list says in its type what it is', async () => {
  const { json } = await serve()
  const { headers, body } = await json('GET', '/apis', undefined, { Accept: `${AGGREGATED},application/json` })
  expect([headers.get('content-type'), headers.get('vary'), body['kind'], body['apiVersion']]).toEqual([
    AGGREGATED,
    'Accept',
    'APIGroupDiscoveryList',
    'apidiscovery.k8s.io/v2',
  ])
  expect(body['items'][0].versions[0].freshness).toBe('Current')
})
row('DI-05', 'who has the aggregated list is not sent it again', async () => {
  const { json } = await serve()
  const headers = { Accept: AGGREGATED }
  const etag = (await json('GET', '/apis', undefined, headers)).headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[0-9A-F]{128}"$/)
  const again = await json('GET', '/apis', undefined, { ...headers, 'If-None-Match': etag })
  expect([again.code, again.text]).toEqual([304, ''])
})
row('DI-06', 'the first version is the preferred one', async () => {
  const { json } = await serve((server) => void server.installApiGroups(groupOf('a.example', ['v1beta1', 'v1'])))
  const { body } = await json('GET', '/apis/a.example')
  expect([body['preferredVersion'].version, body['versions'].map(({ version }: Json) => version as string)]).toEqual([
    'v1beta1',
    ['v1beta1', 'v1'],
  ])
})
row('DI-07', 'a form of before is passed over for the plain one', async () => {
  const { json } = await serve()
  const { body } = await json('GET', '/apis', undefined, { Accept: `${AGGREGATED.replace('v=v2;', 'v=v2beta1;')},application/json` })
  expect(body['kind']).toBe('APIGroupList')
})
row('DI-08', 'groups of delegates are named, too', async () => {
  const delegate = createApiServer(completeConfig({ port: 0 }), { name: 'inner' })
  delegate.installApiGroups(groupOf('inner.example'))
  const { json } = await serve(undefined, {}, { delegate })
  expect((await json('GET', '/apis')).body['groups'].map(({ name }: Json) => name as string)).toEqual(['demo.example', 'inner.example'])
  expect((await json('GET', '/apis/inner.example/v1')).body['resources'].length).toBe(1)
})
row('DI-09', 'the group without a name', async () => {
  const { json } = await serve((server) => void server.installLegacyApiGroup('/api', groupOf('')))
  expect((await json('GET', '/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] })
  expect((await json('GET', '/api/v1')).body).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' })
  expect((await json('GET', '/api', undefined, { Accept: AGGREGATED })).body['items']).toHaveLength(1)
})
row('DI-10', 'discovery can be another server’s', async () => {
  const { json } = await serve(undefined, { enableDiscovery: false })
  expect((await json('GET', '/apis')).code).toBe(404)
  expect((await json('GET', WIDGETS)).code).toBe(200)
})

row('OA-01', 'the root of OpenAPI names a document for each version, by its content', async () => {
  const { json } = await serve()
  expect((await json('GET', '/openapi/v3')).body['paths']).toEqual({
    'apis/demo.example/v1': {
      serverRelativeURL: expect.stringMatching(/^\/openapi\/v3\/apis\/demo\.example\/v1\?hash=[0-9A-F]{128}$/) as string,
    },
  })
})
const urlOf = ({ body }: { body: Json }): string => body['paths']['apis/demo.example/v1'].serverRelativeURL as string
row('OA-02', 'a document by its content may be kept for a year', async () => {
  const { json } = await serve()
  const { code, headers } = await json('GET', urlOf(await json('GET', '/openapi/v3')))
  expect([code, headers.get('cache-control'), Date.parse(headers.get('expires') ?? '') > Date.now()]).toEqual([
    200,
    'public, immutable',
    true,
  ])
})
row('OA-03', 'another content is somewhere else', async () => {
  const { ask, json } = await serve()
  const answer = await ask('/openapi/v3/apis/demo.example/v1?hash=OLD', { redirect: 'manual' })
  expect([answer.status, answer.headers.get('location')]).toEqual([301, urlOf(await json('GET', '/openapi/v3'))])
})
row('OA-04', 'a patch says by its parameter that the server validates fields', async () => {
  const { json } = await serve()
  const { paths } = (await json('GET', '/openapi/v3/apis/demo.example/v1')).body as { paths: Json }
  const { patch } = paths[`${WIDGETS.replace('default', '{namespace}')}/{name}`] as { patch: Json }
  expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: 'demo.example', version: 'v1', kind: 'Widget' })
  expect(patch['parameters'].map(({ name }: Json) => name as string)).toContain('fieldValidation')
})
row('OA-05', 'a schema says of which kind it is', async () => {
  const { json } = await serve()
  const { components } = (await json('GET', '/openapi/v3/apis/demo.example/v1')).body as { components: Json }
  expect(components['schemas']['example.demo.v1.Widget']['x-kubernetes-group-version-kind']).toEqual([
    { group: widgets.group, version: 'v1', kind: 'Widget' },
  ])
})
row('OA-06', 'who has a document is not sent it again', async () => {
  const { json } = await serve()
  for (const path of ['/openapi/v2', '/openapi/v3', '/openapi/v3/apis/demo.example/v1']) {
    const etag = (await json('GET', path)).headers.get('etag') ?? ''
    expect([path, (await json('GET', path, undefined, { 'If-None-Match': etag })).code]).toEqual([path, 304])
  }
})
row('OA-07', 'version 2 is one document for all groups, those of delegates, too', async () => {
  const delegate = createApiServer(completeConfig({ port: 0 }), { name: 'inner' })
  delegate.installApiGroups(groupOf('inner.example'))
  const { json } = await serve(undefined, {}, { delegate })
  const { body } = await json('GET', '/openapi/v2')
  expect([body['swagger'], Object.keys(body['definitions'] as object)]).toEqual([
    '2.0',
    expect.arrayContaining(['example.demo.v1.Widget', 'example.inner.v1.Note']),
  ])
})
row('OA-08', 'a document that is not there', async () => {
  const { json } = await serve()
  expect((await json('GET', '/openapi/v3/apis/none.example/v1')).code).toBe(404)
})
row('OA-09', 'OpenAPI can be another server’s', async () => {
  const { json } = await serve(undefined, { enableOpenApi: false })
  expect((await json('GET', '/openapi/v3')).code).toBe(404)
  expect((await json('GET', WIDGETS)).code).toBe(200)
})
