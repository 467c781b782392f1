// Kinds of several versions. Fails when: an object cannot be read, written, patched or watched by
// each version of its kind, it is stored in another version than it should be or loses something on
// the way, old objects cannot be read after that version has changed, or come into it by no write,
// a conversion changes what it may not, or one that fails changes anything that is stored.
import { get, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type ApiObject,
  apiGroup,
  type Conversion,
  createInformer,
  defineResource,
  loopbackResource,
  memoryStorage,
  type Resource,
  type ResourceClient,
  rewriteObjects,
  type StandardJsonSchema,
  type Storage,
  storageInVersion,
  storageListWatch,
} from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'
import { row } from '../support/row.ts'
import { BETA, GADGETS, gadget, gadgetGroup, gadgets, kept, storedGadget } from './gadgets.ts'

interface Json {
  // biome-ignore lint/suspicious/noExplicitAny: what was answered is looked at, whatever it is
  readonly [field: string]: any
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const MERGE = { 'Content-Type': 'application/merge-patch+json' }
const JSON_PATCH = { 'Content-Type': 'application/json-patch+json' }

async function serve(resource: Resource = gadgets(), storage: Storage = memoryStorage().resource(resource)) {
  const api = await serveApi({
    config: { watchGrace: '2s' },
    setUp: (server) => void server.installApiGroups(gadgetGroup(resource, storage)),
  })
  const json = async (method: string, path: string, body?: object, headers: Record<string, string> = JSON_TYPE) => {
    const answer = await api.ask(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { code: answer.status, body: (await answer.json()) as Json }
  }
  const watch = async (path: string) => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      get({ port: api.port, host: '127.0.0.1', path, agent: false }, resolve).on('error', reject),
    )
    onTestFinished(() => void answer.destroy())
    const lines = createInterface(answer)[Symbol.asyncIterator]()
    return async (): Promise<Json | undefined> => {
      const { value, done } = await lines.next()
      return done === true ? undefined : (JSON.parse(value) as Json)
    }
  }
  return { ...api, json, watch, storage }
}

describe('an object of a kind with several versions', () => {
  row('RS-31', 'is created by one, read by all, and stored in one', async () => {
    const { json, storage } = await serve()
    const created = await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'a', { width: '3mm' }, { labels: { of: 'test' } }))
    expect([created.code, created.body['apiVersion'], created.body['spec']]).toEqual([201, 'demo.example/v1beta1', { width: '3mm' }])
    const v1 = await json('GET', `${GADGETS('v1')}/a`)
    expect(v1.body).toEqual({
      kind: 'Gadget',
      apiVersion: 'demo.example/v1',
      metadata: created.body['metadata'],
      spec: { size: 3, color: 'grey' },
    })
    const alpha = await json('GET', `${GADGETS('v1alpha1')}/a`)
    expect(alpha.body).toMatchObject({ apiVersion: 'demo.example/v1alpha1', metadata: created.body['metadata'], width: 3, color: 'grey' })
    expect(await storedGadget(storage, 'a')).toEqual(v1.body)
  })

  test('has the defaults of the version by which it is written', async () => {
    const { json, storage } = await serve(gadgets('v1beta1'))
    await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'a'))
    expect((await json('GET', `${GADGETS('v1')}/a`)).body['spec']).toEqual({ size: 7, color: 'grey' })
    expect((await json('POST', GADGETS('v1'), gadget('v1', 'b'))).body['message']).toContain('spec: Required value')
    await json('POST', GADGETS('v1'), gadget('v1', 'c', { size: 1 }))
    expect(await storedGadget(storage, 'c')).toMatchObject({ apiVersion: 'demo.example/v1beta1', spec: { width: '1mm' } })
  })

  test('is patched and put by each, at the same time, too, and keeps what the other cannot say', async () => {
    const { json } = await serve(gadgets('v1beta1'))
    await json('POST', GADGETS('v1'), gadget('v1', 'a', { size: 1, color: 'red' }))
    const beta = await json('PATCH', `${GADGETS('v1beta1')}/a`, { spec: { width: '2mm' } }, MERGE)
    expect([beta.body['spec'], beta.body['metadata'].generation]).toEqual([{ width: '2mm' }, 2])
    expect((await json('GET', `${GADGETS('v1')}/a`)).body['spec']).toEqual({ size: 2, color: 'red' })
    const v1 = await json('PATCH', `${GADGETS('v1')}/a`, [{ op: 'replace', path: '/spec/size', value: 3 }], JSON_PATCH)
    expect(v1.body['spec']).toEqual({ size: 3, color: 'red' })
    const labels = Array.from({ length: 12 }, (_, at) => `l${at}`)
    const all = await Promise.all(
      labels.map((label, at) =>
        json('PATCH', `${GADGETS(['v1', 'v1beta1', 'v1alpha1'][at % 3] as string)}/a`, { metadata: { labels: { [label]: 'x' } } }, MERGE),
      ),
    )
    expect(all.map(({ code }) => code)).toEqual(all.map(() => 200))
    const { body } = await json('GET', `${GADGETS('v1')}/a`)
    expect([Object.keys(body['metadata'].labels).sort(), body['spec']]).toEqual([labels.sort(), { size: 3, color: 'red' }])
    const stale = { ...body, metadata: { ...body['metadata'], resourceVersion: v1.body['metadata'].resourceVersion } }
    expect((await json('PUT', `${GADGETS('v1')}/a`, stale)).code).toBe(409)
  })

  test('has the parts of each version', async () => {
    const { json } = await serve()
    await json('POST', GADGETS('v1'), gadget('v1', 'a', { size: 1 }))
    const ready = await json('PATCH', `${GADGETS('v1beta1')}/a/status`, { status: { ready: true } }, MERGE)
    expect([ready.body['status'], ready.body['spec']]).toEqual([{ ready: true }, { width: '1mm' }])
    expect((await json('PATCH', `${GADGETS('v1')}/a/scale`, { spec: { replicas: 9 } }, MERGE)).code).toBe(200)
    expect((await json('GET', `${GADGETS('v1beta1')}/a`)).body).toMatchObject({ status: { ready: true }, spec: { width: '9mm' } })
    expect((await json('GET', `${GADGETS('v1beta1')}/a/scale`)).code).toBe(404)
    expect((await json('GET', `${GADGETS('v1alpha1')}/a/status`)).code).toBe(404)
  })

  row('RS-32', 'is of the version of its path', async () => {
    const { json } = await serve()
    const { code, body } = await json('POST', GADGETS('v1'), gadget('v1beta1', 'a'))
    expect([code, body['message']]).toEqual([
      400,
      'the API version in the data (demo.example/v1beta1) does not match the expected API version (demo.example/v1)',
    ])
  })

  test('is listed, paged, selected and shown by each version', async () => {
    const { json } = await serve(gadgets('v1beta1'))
    for (const [at, name] of ['a', 'b', 'c'].entries())
      await json('POST', GADGETS('v1'), gadget('v1', name, { size: at }, { labels: { odd: String(at % 2) } }))
    const page = await json('GET', `${GADGETS('v1')}?limit=2`)
    expect([page.body['apiVersion'], page.body['items'].map((each: Json) => each['spec'].size)]).toEqual(['demo.example/v1', [0, 1]])
    const next = await json('GET', `${GADGETS('v1')}?limit=2&continue=${page.body['metadata'].continue as string}`)
    expect(next.body['items'].map((each: Json) => [each['apiVersion'], each['spec'].size])).toEqual([['demo.example/v1', 2]])
    const odd = await json('GET', `${GADGETS('v1alpha1')}?labelSelector=odd%3D1`)
    expect(odd.body['items'].map((each: Json) => each['width'])).toEqual([1])
    const table = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    const rows = async (version: string) =>
      (await json('GET', GADGETS(version), undefined, table)).body['rows'].map((each: Json) => each['cells'])
    expect(await rows('v1')).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ])
    expect((await rows('v1beta1'))[2]).toEqual(['c', '2mm'])
    expect((await json('DELETE', `${GADGETS('v1')}?labelSelector=odd%3D0`)).body['items']).toHaveLength(2)
    expect((await json('DELETE', `${GADGETS('v1alpha1')}/b`)).body['status']).toBe('Success')
    expect((await json('GET', GADGETS('v1beta1'))).body['items']).toEqual([])
  })
})

describe('watches', () => {
  row('WT-13', 'of each version see every change once, as that version has it', async () => {
    const { json, watch } = await serve()
    const versions = ['v1', 'v1beta1', 'v1beta1', 'v1alpha1']
    const all = await Promise.all(versions.map((version) => watch(`${GADGETS(version)}?watch=1&labelSelector=seen`)))
    const seen = async () => {
      const events = await Promise.all(all.map((next) => next()))
      return events.map((event) => [event?.['type'], event?.['object'].apiVersion, event?.['object'].spec ?? event?.['object'].width])
    }
    await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'a', { width: '1mm' }, { labels: { seen: '' } }))
    const as = (type: string, size: number) => [
      [type, 'demo.example/v1', { size, color: 'grey' }],
      [type, 'demo.example/v1beta1', { width: `${size}mm` }],
      [type, 'demo.example/v1beta1', { width: `${size}mm` }],
      [type, 'demo.example/v1alpha1', size],
    ]
    expect(await seen()).toEqual(as('ADDED', 1))
    await json('PATCH', `${GADGETS('v1')}/a`, { spec: { size: 2 } }, MERGE)
    expect(await seen()).toEqual(as('MODIFIED', 2))
    await json('PATCH', `${GADGETS('v1alpha1')}/a`, { metadata: { labels: null } }, MERGE)
    expect(await seen()).toEqual(as('DELETED', 2))
    await json('POST', GADGETS('v1'), gadget('v1', 'b', { size: 3 }, { labels: { seen: '' } }))
    expect(await seen()).toEqual(as('ADDED', 3))
    await json('DELETE', `${GADGETS('v1beta1')}/b`)
    expect(await seen()).toEqual(as('DELETED', 3))
  })

  test('begin behind a version that another version of the kind has given', async () => {
    const { json, watch } = await serve(gadgets('v1beta1'))
    const { body } = await json('POST', GADGETS('v1'), gadget('v1', 'a', { size: 1 }))
    await json('PATCH', `${GADGETS('v1')}/a`, { spec: { size: 2 } }, MERGE)
    const next = await watch(`${GADGETS('v1alpha1')}?watch=1&resourceVersion=${body['metadata'].resourceVersion as string}`)
    expect(await next()).toMatchObject({ type: 'MODIFIED', object: { apiVersion: 'demo.example/v1alpha1', width: 2 } })
  })

  test('have bookmarks of their version', async () => {
    const { watch, life } = await serve()
    const next = await watch(`${GADGETS('v1beta1')}?watch=1&allowWatchBookmarks=true`)
    const stopped = life.stop('over')
    expect(await next()).toMatchObject({ type: 'BOOKMARK', object: { kind: 'Gadget', apiVersion: 'demo.example/v1beta1' } })
    await stopped
  })

  test('of a storage without requests are of a version, too', async () => {
    const resource = gadgets('v1beta1')
    const { json, storage } = await serve(resource)
    await json('POST', GADGETS('v1'), gadget('v1', 'a', { size: 1 }))
    const seen = storageInVersion(resource.versions.v1alpha1, storage) as Required<Storage>
    const informer = createInformer(storageListWatch('demo.example/v1alpha1/gadgets', seen))
    const over = new AbortController()
    onTestFinished(() => over.abort())
    const events: unknown[] = []
    const running = informer.events$.subscribe(({ type, object }) => void events.push([type, object['width']]))
    onTestFinished(() => running.unsubscribe())
    void informer.run(over.signal)
    await expect.poll(() => events).toContainEqual(['added', 1])
  })
})

test('a watch of a storage gives nothing behind what it cannot convert, and says so once', async () => {
  const fromHub: Conversion['fromHub'] = (object) => {
    if (object.metadata.name.startsWith('bad')) throw new Error('boom')
    return BETA.fromHub(object)
  }
  const resource = gadgets('v1', { ...BETA, fromHub })
  const storage = memoryStorage().resource(resource)
  const newest = async () =>
    (await storage.list({ namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' })).resourceVersion
  const create = (name: string) => storage.create(gadget('v1', name, { size: 1 }, { namespace: 'default' }) as ApiObject)
  const before = await newest()
  for (const name of ['one', 'bad', 'two']) await create(name)
  const heard: string[] = []
  const failures: unknown[] = []
  const ends: number[] = []
  const seen = storageInVersion(resource.versions.v1beta1, storage, (error) => void failures.push(error))
  const watch = async (after: string) =>
    seen.watch?.(
      after,
      ({ object }) => void heard.push(object.metadata.name),
      ({ failure }) => void ends.push(failure.code),
    )
  await expect(watch(before)).rejects.toThrow('boom')
  expect([heard.splice(0), failures.splice(0).length, ends]).toEqual([['one'], 1, []])
  await watch(await newest())
  for (const name of ['three', 'bad-again', 'four', 'bad-once-more']) await create(name)
  await expect.poll(() => ends).toEqual([500])
  expect([heard, failures.length]).toEqual([['three'], 1])
})

/** A client of the server's objects as v1 has them. */
const clientAt = (port: number): ResourceClient =>
  loopbackResource({ fetch: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init), addresses: [] }, gadgets())

describe('the version in which objects are stored', () => {
  /** Two servers, one after the other, in whose time it has changed. */
  async function changed() {
    const storage = memoryStorage().resource(gadgets())
    const before = await serve(gadgets('v1beta1'), kept(storage))
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const [size, name] of names.entries()) await before.json('POST', GADGETS('v1'), gadget('v1', name, { size, color: 'red' }))
    await before.life.stop('over')
    return serve(gadgets('v1'), kept(storage))
  }
  const versionsOf = async (storage: Storage): Promise<readonly string[]> => {
    const page = await storage.list?.({ namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' })
    return page?.items.map(({ apiVersion }) => apiVersion) ?? []
  }
  const OLD = 'demo.example/v1beta1'
  const NEW = 'demo.example/v1'

  test('may change: old objects are read as before, and written as new ones', async () => {
    const { json, storage } = await changed()
    const { body } = await json('GET', GADGETS('v1'))
    expect(body['items'].map((each: Json) => [each['apiVersion'], each['spec']])).toEqual(
      [0, 1, 2, 3, 4].map((size) => [NEW, { size, color: 'red' }]),
    )
    await json('PATCH', `${GADGETS('v1beta1')}/b`, { spec: { width: '9mm' } }, MERGE)
    expect(await versionsOf(storage)).toEqual([OLD, NEW, OLD, OLD, OLD])
    expect((await json('GET', `${GADGETS('v1')}/b`)).body['spec']).toEqual({ size: 9, color: 'red' })
  })

  row('RS-33', 'comes to old objects by writes that change nothing, of any version, and once', async () => {
    const { json, storage, watch } = await changed()
    const next = await watch(
      `${GADGETS('v1')}?watch=1&resourceVersion=${(await json('GET', GADGETS('v1'))).body['metadata'].resourceVersion as string}`,
    )
    for (const [version, name] of [
      ['v1', 'a'],
      ['v1beta1', 'b'],
      ['v1alpha1', 'c'],
    ] as const) {
      const { body: old } = await json('GET', `${GADGETS(version)}/${name}`)
      const { body: put } = await json('PUT', `${GADGETS(version)}/${name}`, old)
      expect(put).toEqual({ ...old, metadata: { ...old['metadata'], resourceVersion: put['metadata'].resourceVersion } })
      expect(put['metadata'].resourceVersion).not.toBe(old['metadata'].resourceVersion)
      expect(await next()).toMatchObject({
        type: 'MODIFIED',
        object: { metadata: { name, resourceVersion: put['metadata'].resourceVersion } },
      })
      const { body: again } = await json('PUT', `${GADGETS(version)}/${name}`, put)
      expect(again).toEqual(put)
    }
    await json('PATCH', `${GADGETS('v1')}/d`, {}, MERGE)
    expect(await versionsOf(storage)).toEqual([NEW, NEW, NEW, NEW, OLD])
    expect((await json('PUT', `${GADGETS('v1')}/e?dryRun=All`, (await json('GET', `${GADGETS('v1')}/e`)).body)).code).toBe(200)
    expect(await versionsOf(storage)).toEqual([NEW, NEW, NEW, NEW, OLD])
  })

  test('comes to all old objects by rewriting them, and to none twice', async () => {
    const { json, storage, port } = await changed()
    const client = clientAt(port)
    await json('PATCH', `${GADGETS('v1')}/a`, { metadata: { labels: { written: 'x' } } }, MERGE)
    const { signal } = new AbortController()
    expect(await rewriteObjects(client, { signal })).toBe(5)
    expect(await versionsOf(storage)).toEqual([NEW, NEW, NEW, NEW, NEW])
    const { body: before } = await json('GET', GADGETS('v1'))
    expect(await rewriteObjects(client, { signal })).toBe(5)
    expect((await json('GET', GADGETS('v1'))).body['items']).toEqual(before['items'])
  })

  test('comes to old objects also where others write, delete and fail meanwhile', async () => {
    const { json, storage, port } = await changed()
    const client = clientAt(port)
    const { signal } = new AbortController()
    const meddled: Pick<ResourceClient, 'list' | 'update'> = {
      list: (options) => client.list(options),
      update: async (object, options) => {
        const path = `${GADGETS('v1')}/${object.metadata.name}`
        if (object.metadata.name === 'b') await json('PATCH', path, { metadata: { labels: { meanwhile: 'x' } } }, MERGE)
        if (object.metadata.name === 'c') await json('DELETE', path)
        if (object.metadata.name === 'd') throw new Error('no connection')
        return client.update(object, options)
      },
    }
    await expect(rewriteObjects(meddled, { signal })).rejects.toThrow('no connection')
    const failures: string[] = []
    expect(
      await rewriteObjects(meddled, { signal, failed: ({ metadata }, error) => void failures.push(`${metadata.name}: ${String(error)}`) }),
    ).toBe(3)
    expect(failures).toEqual(['d: Error: no connection'])
    expect(await versionsOf(storage)).toEqual([NEW, NEW, OLD, NEW])
  })

  row('DI-11', 'is what discovery has a hash of, the same for all versions', async () => {
    const hashes = async (resource: Resource) => {
      const { json } = await serve(resource)
      const versions = await Promise.all(['v1', 'v1beta1', 'v1alpha1'].map((version) => json('GET', `/apis/demo.example/${version}`)))
      return versions.map(({ body }) => body['resources'][0].storageVersionHash as string)
    }
    const [first, ...others] = await hashes(gadgets('v1'))
    expect(others).toEqual([first, first])
    const [second] = await hashes(gadgets('v1beta1'))
    expect(second).not.toBe(first)
  })
})

row('DI-12', 'discovery and OpenAPI have each version, in the order of preference', async () => {
  const { json } = await serve()
  expect((await json('GET', '/apis/demo.example')).body).toMatchObject({
    versions: ['v1', 'v1beta1', 'v1alpha1'].map((version) => ({ groupVersion: `demo.example/${version}`, version })),
    preferredVersion: { groupVersion: 'demo.example/v1', version: 'v1' },
  })
  const names = async (version: string) =>
    (await json('GET', `/apis/demo.example/${version}`)).body['resources'].map(({ name }: Json) => name as string)
  expect(await names('v1')).toEqual(['gadgets', 'gadgets/scale', 'gadgets/status'])
  expect(await names('v1beta1')).toEqual(['gadgets', 'gadgets/status'])
  const aggregated = { Accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }
  const { body } = await json('GET', '/apis', undefined, aggregated)
  expect(body['items'][0].versions.map((each: Json) => [each['version'], each['resources'][0].responseKind])).toEqual(
    ['v1', 'v1beta1', 'v1alpha1'].map((version) => [version, { group: 'demo.example', version, kind: 'Gadget' }]),
  )
  const spec = async (version: string) => {
    const document = (await json('GET', `/openapi/v3/apis/demo.example/${version}`)).body
    return document['components'].schemas[`example.demo.${version}.Gadget`].properties.spec?.properties as Json | undefined
  }
  expect([await spec('v1'), await spec('v1beta1'), await spec('v1alpha1')].map((each) => Object.keys(each ?? {}))).toEqual([
    ['size', 'color'],
    ['width'],
    [],
  ])
  const { body: v2 } = await json('GET', '/openapi/v2')
  expect(Object.keys(v2['definitions'])).toEqual(expect.arrayContaining(['example.demo.v1.Gadget', 'example.demo.v1beta1.Gadget']))
})

describe('a conversion', () => {
  /** How conversions fail, and what is said of it. */
  const RUBBISH: readonly (readonly [string, (object: ApiObject) => unknown, string])[] = [
    [
      'throws',
      () => {
        throw new Error('boom')
      },
      'boom',
    ],
    [
      'throws no error',
      () => {
        // biome-ignore lint/style/useThrowOnlyError: what is thrown is what is tested
        throw 'a text'
      },
      'a text',
    ],
    ['returns nothing', () => undefined, 'it returned no object, but undefined'],
    ['returns null', () => null, 'it returned no object, but null'],
    ['returns a list', () => [], 'it returned no object, but object'],
    ['returns a promise that rejects', () => Promise.reject(new Error('unheard')), 'it returned a promise'],
    ['returns a date', () => ({ spec: new Date(0) }), 'spec is no JSON'],
    ['returns no number', () => ({ spec: { size: Number.NaN } }), 'spec.size is no JSON'],
    ['returns a function', () => ({ spec: { list: [() => 1] } }), 'spec.list[0] is no JSON'],
    [
      'returns what has no end',
      () => {
        const spec: Record<string, unknown> = {}
        spec['spec'] = spec
        return { spec }
      },
      'Maximum call stack',
    ],
    ['returns another type', () => ({ spec: { size: 'large', width: 7 } }), 'must be of type'],
    ['returns another name', (object) => ({ ...object, metadata: { ...object.metadata, name: 'x' } }), 'must have the same name: a != x'],
    [
      'returns another namespace',
      (object) => ({ ...object, metadata: { ...object.metadata, namespace: 'x' } }),
      'the same namespace: default != x',
    ],
    ['returns another uid', (object) => ({ ...object, metadata: { ...object.metadata, uid: 'x' } }), 'must have the same uid'],
    ['returns no metadata', (object) => ({ ...object, metadata: 7 }), 'metadata is no object'],
    ['returns labels that are none', (object) => ({ ...object, metadata: { labels: { '-': 'x' } } }), 'metadata.labels: Invalid value'],
    ['returns labels that are no texts', (object) => ({ ...object, metadata: { labels: { a: 1 } } }), 'metadata.labels are no texts'],
  ]

  test.each(RUBBISH)('that %s is answered 500, and nothing is stored', async (_, convert, said) => {
    let isBroken = false
    const toHub: Conversion['toHub'] = (object) => (isBroken ? convert(object) : BETA.toHub(object)) as object
    const { json, storage, lines } = await serve(gadgets('v1', { ...BETA, toHub }))
    await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'a', { width: '3mm' }))
    const before = await storedGadget(storage, 'a')
    isBroken = true
    const attempts = [
      await json('PUT', `${GADGETS('v1beta1')}/a`, gadget('v1beta1', 'a', { width: '4mm' })),
      await json('PATCH', `${GADGETS('v1beta1')}/a`, { spec: { width: '5mm' } }, MERGE),
      await json('PUT', `${GADGETS('v1beta1')}/a?dryRun=All`, gadget('v1beta1', 'a', { width: '4mm' })),
    ]
    for (const { code, body } of attempts) {
      expect([code, body['kind'], body['reason']]).toEqual([500, 'Status', 'InternalError'])
      expect(body['message']).toContain('conversion of demo.example/v1beta1, Kind=Gadget "default/a" to demo.example/v1 failed: ')
      expect(body['message']).toContain(said)
    }
    expect((await json('POST', `${GADGETS('v1beta1')}?dryRun=All`, gadget('v1beta1', 'b'))).code).toBe(500)
    expect((await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'b'))).code).toBe(500)
    expect(await storedGadget(storage, 'a')).toEqual(before)
    expect(await storedGadget(storage, 'b')).toBeUndefined()
    expect((await json('GET', `${GADGETS('v1beta1')}/a`)).body['spec']).toEqual({ width: '3mm' })
    expect(lines.filter(({ level }) => level === 'error').length).toBeGreaterThan(0)
  })

  test('whose result could not be read again stores nothing', async () => {
    let isBroken = false
    const fromHub: Conversion['fromHub'] = (object) => {
      if (isBroken) throw new Error('boom')
      return BETA.fromHub(object)
    }
    const { json, storage } = await serve(gadgets('v1', { ...BETA, fromHub }))
    isBroken = true
    expect((await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'a'))).code).toBe(500)
    expect(await storedGadget(storage, 'a')).toBeUndefined()
  })

  test('that fails in another version than those of a write stores nothing, and fails no list', async () => {
    const toHub: Conversion['toHub'] = (object) => {
      if (object.metadata.name === 'bad') throw new Error('boom')
      return BETA.toHub(object)
    }
    const { json, storage } = await serve(gadgets('v1beta1', { ...BETA, toHub }))
    expect((await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'good'))).code).toBe(201)
    const { code, body } = await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'bad'))
    expect([code, body['message']]).toEqual([500, expect.stringContaining('boom')])
    expect(await storedGadget(storage, 'bad')).toBeUndefined()
    expect((await json('GET', GADGETS('v1alpha1'))).body['items']).toHaveLength(1)
  })

  test('that makes less than is stored, or more, stores nothing', async () => {
    let made: object = {}
    const { json, storage } = await serve(gadgets('v1', { ...BETA, toHub: () => made }))
    expect((await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'a'))).body['message']).toContain('spec: Required value')
    made = { spec: { size: 1, weight: 2 } }
    const { code, body } = await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'a'))
    expect([code, body['message']]).toEqual([500, expect.stringContaining('spec.weight: the version has no such field')])
    expect(await storedGadget(storage, 'a')).toBeUndefined()
  })

  test('of a value that is not allowed where it is stored is answered 422', async () => {
    const { json, storage } = await serve()
    const { code, body } = await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'a', { width: '-1mm' }))
    expect([code, body['details'].causes]).toEqual([
      422,
      [
        {
          field: 'spec.size',
          reason: 'FieldValueInvalid',
          message: 'Invalid value: -1: spec.size in body should be greater than or equal to 0',
        },
      ],
    ])
    expect(await storedGadget(storage, 'a')).toBeUndefined()
  })

  row('RS-34', 'may change labels and annotations, and nothing else of metadata', async () => {
    const toHub: Conversion['toHub'] = ({ spec, metadata }) => ({
      spec: { size: Number.parseInt((spec as { width: string }).width, 10) },
      metadata: {
        name: metadata.name,
        labels: { ...metadata.labels, more: 'x' },
        creationTimestamp: '1999-01-01T00:00:00Z',
        generation: 99,
        finalizers: [],
      },
    })
    const { json, storage } = await serve(gadgets('v1', { ...BETA, toHub }))
    const owner = { apiVersion: 'v1', kind: 'Owner', name: 'o', uid: 'o' }
    const kept = { labels: { a: 'b' }, annotations: { gone: 'x' }, finalizers: ['demo.example/f'], ownerReferences: [owner] }
    const { body } = await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'a', { width: '1mm' }, kept))
    expect(body['metadata']).toMatchObject({
      generation: 1,
      finalizers: ['demo.example/f'],
      ownerReferences: [owner],
      labels: { a: 'b', more: 'x' },
    })
    expect(body['metadata'].annotations).toBeUndefined()
    expect((await storedGadget(storage, 'a'))?.metadata).toEqual(body['metadata'])
  })

  test('may change what it is given, and go on to use what it has returned', async () => {
    const returned: { spec: { size: number } }[] = []
    const toHub: Conversion['toHub'] = (object) => {
      object['spec'] = { size: 5 }
      returned.push(object as unknown as (typeof returned)[0])
      return object
    }
    const { json, storage } = await serve(gadgets('v1', { ...BETA, toHub }))
    await json('POST', GADGETS('v1beta1'), gadget('v1beta1', 'a'))
    for (const each of returned) each.spec.size = 6
    expect(await storedGadget(storage, 'a')).toMatchObject({ apiVersion: 'demo.example/v1', spec: { size: 5 } })
  })

  test('that fails when objects are read leaves their own version to read, mend and delete them', async () => {
    let isBroken = false
    const fromHub: Conversion['fromHub'] = (object) => {
      if (isBroken && object.metadata.name === 'bad') throw new Error('boom')
      return BETA.fromHub(object)
    }
    const { json, storage, watch, lines } = await serve(gadgets('v1', { ...BETA, fromHub }))
    const { body: list } = await json('GET', GADGETS('v1'))
    const next = await watch(`${GADGETS('v1beta1')}?watch=1`)
    const v1 = await watch(`${GADGETS('v1')}?watch=1`)
    isBroken = true
    await json('POST', GADGETS('v1'), gadget('v1', 'good', { size: 1 }))
    // A server that does not know v1beta1 yet has no such conversion.
    const old = gadget('v1', 'bad', { size: 1, color: 'grey' }, { namespace: 'default', uid: 'bad', generation: 1 })
    await storage.create?.(old as ApiObject)
    expect((await json('GET', `${GADGETS('v1beta1')}/good`)).code).toBe(200)
    for (const path of ['/bad', '']) {
      const { code, body } = await json('GET', `${GADGETS('v1beta1')}${path}`)
      expect([code, body['kind'], body['message']]).toEqual([
        500,
        'Status',
        expect.stringContaining('to demo.example/v1beta1 failed: boom'),
      ])
    }
    expect([await next(), await next()]).toMatchObject([
      { type: 'ADDED', object: { metadata: { name: 'good' } } },
      { type: 'ERROR', object: { kind: 'Status', code: 500, message: expect.stringContaining('boom') as string } },
    ])
    expect(await next()).toBeUndefined()
    expect([await v1(), await v1()]).toMatchObject([{ object: { metadata: { name: 'good' } } }, { object: { metadata: { name: 'bad' } } }])
    const late = await watch(`${GADGETS('v1beta1')}?watch=1&resourceVersion=${list['metadata'].resourceVersion as string}`)
    expect(await late()).toMatchObject({ type: 'ERROR', object: { code: 500 } })
    expect((await json('DELETE', `${GADGETS('v1beta1')}/bad`)).code).toBe(500)
    const finalizers = { metadata: { finalizers: ['demo.example/f'] } }
    // The answer of a dry run is that of the write.
    for (const query of ['?dryRun=All', '']) expect((await json('PATCH', `${GADGETS('v1')}/bad${query}`, finalizers, MERGE)).code).toBe(200)
    expect((await json('PATCH', `${GADGETS('v1')}/bad`, { metadata: { finalizers: null } }, MERGE)).code).toBe(200)
    expect((await json('DELETE', `${GADGETS('v1')}/bad`)).code).toBe(200)
    expect((await json('GET', GADGETS('v1beta1'))).body['items']).toHaveLength(1)
    expect(await storedGadget(storage, 'good')).toBeDefined()
    expect(lines.filter(({ message }) => message.endsWith('to demo.example/v1beta1 failed: boom'))).toHaveLength(5)
  })

  test('that fails ends no watch of another namespace, or of another object', async () => {
    let isBroken = false
    const fromHub: Conversion['fromHub'] = (object) => {
      if (isBroken && object.metadata.name === 'bad') throw new Error('boom')
      return BETA.fromHub(object)
    }
    const { json, storage, watch } = await serve(gadgets('v1', { ...BETA, fromHub }))
    const gadgetsOf = (namespace: string) => GADGETS('v1beta1').replace('/default/', `/${namespace}/`)
    const ofGood = await watch(`${gadgetsOf('default')}?watch=1&fieldSelector=metadata.name%3Dgood`)
    const ofOther = await watch(`${gadgetsOf('other')}?watch=1`)
    isBroken = true
    await storage.create?.(gadget('v1', 'bad', { size: 1 }, { namespace: 'default', uid: 'bad', generation: 1 }) as ApiObject)
    await json('POST', GADGETS('v1'), gadget('v1', 'good', { size: 1 }))
    expect(await ofGood()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'good' } } })
    await json('POST', GADGETS('v1').replace('/default/', '/other/'), gadget('v1', 'there', { size: 1 }))
    expect(await ofOther()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'there' } } })
  })

  test('of what is of no version of its kind says which there are', async () => {
    const resource = gadgets()
    const single = defineResource({
      group: 'demo.example',
      kind: 'Gadget',
      plural: 'gadgets',
      scope: 'Cluster',
      versions: { v1: { schema: {} } },
    })
    const old = memoryStorage().resource(single)
    await old.create(gadget('v1beta1', 'a') as ApiObject)
    await expect(storageInVersion(single, old).get?.({ namespace: '', name: 'a' })).rejects.toThrow('it is of none of the versions v1')
    const { json, storage } = await serve(resource)
    await storage.create?.(gadget('v1', 'a', { size: 1 }, { namespace: 'default' }) as ApiObject)
    await storage.create?.({ ...(gadget('v1', 'b', {}, { namespace: 'default' }) as ApiObject), apiVersion: 'demo.example/v0' })
    const { code, body } = await json('GET', `${GADGETS('v1')}/b`)
    expect([code, body['message']]).toEqual([500, expect.stringContaining('it is of none of the versions v1, v1beta1, v1alpha1')])
  })
})

describe('defining several versions', () => {
  const base = { group: 'demo.example', kind: 'Gadget', plural: 'gadgets', scope: 'Cluster' } as const
  const convert = { toHub: () => ({}), fromHub: () => ({}) }

  test('says which is the hub, and how the others become it', () => {
    const v1 = { schema: {} }
    const define = (more: object) => () => defineResource({ ...base, versions: { v1, v1beta1: { ...v1, convert } }, ...more } as never)
    expect(define({})).toThrow('hub of resource "gadgets": got undefined, allowed: "v1" or "v1beta1"')
    expect(define({ hub: 'v2' })).toThrow('hub of resource "gadgets": got "v2"')
    expect(define({ hub: 'v1beta1' })).toThrow('convert of version v1 of resource "gadgets"')
    expect(define({ hub: 'v1', versions: { v1, v1beta1: v1 } })).toThrow('functions that convert to the hub and back')
    expect(define({ hub: 'v1', storageVersion: 'v3' })).toThrow('storageVersion of resource "gadgets": got "v3"')
    expect(define({ hub: 'v1', versions: { v1, v1beta1: null } })).toThrow('version v1beta1 of resource "gadgets"')
    expect(define({ versions: {} })).toThrow('at least one version')
    expect(define({ versions: { one: v1 } })).toThrow('versions of resource "gadgets"')
    expect(define({ hub: 'v1' })).not.toThrow()
    expect(() => gadgetGroup(defineResource({ ...base, versions: { v1 } }), memoryStorage().resource())).toThrow(
      'version of resource "gadgets": got "v1beta1"',
    )
  })

  test('takes one storage for all of them', () => {
    const resource = gadgets()
    const versions = {
      v1: [{ resource, storage: memoryStorage().resource(resource) }],
      v1beta1: [{ resource, storage: memoryStorage().resource(resource) }],
    }
    expect(() => apiGroup({ group: 'demo.example', versions })).toThrow(
      'storage of resource "gadgets": got "a different one in each of demo.example/v1 and demo.example/v1beta1", allowed: the same in all versions of the kind',
    )
  })

  test('has the compiler know the objects of each', () => {
    const typed = <T>(): StandardJsonSchema<T> => ({ '~standard': { jsonSchema: { input: () => ({}) } } })
    const resource = defineResource({
      ...base,
      hub: 'v1',
      versions: {
        v1: { schema: typed<{ spec: { size: number } }>(), strategy: { validate: ({ spec }) => (spec.size > 1 ? [] : []) } },
        v1beta1: {
          schema: typed<{ width: string }>(),
          convert: { toHub: ({ width }) => ({ spec: { size: width.length } }), fromHub: ({ spec }) => ({ width: 'x'.repeat(spec.size) }) },
        },
      },
    })
    const sizes: Resource<ApiObject & { spec: { size: number } }> = resource
    const widths: Resource<ApiObject & { width: string }> = resource.versions.v1beta1
    expect([sizes.version, widths.version, resource.versions.v1.hub, resource.storageVersion]).toEqual(['v1', 'v1beta1', 'v1', 'v1'])
  })
})
