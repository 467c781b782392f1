// In which version which server stores. Fails when: a server writes an object before it has said in
// which version it does, holds a write for ever, or holds one that it needs for that itself, says
// something else than upstream's would, writes what is written already, or takes a server out that
// still writes.
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type ApiServer,
  addIdentityLease,
  addStorageVersions,
  apiGroup,
  completeConfig,
  createApiServer,
  defineResource,
  leaseGroup,
  memoryStorage,
  type Resource,
  StatusError,
  type Storage,
  type StorageVersion,
  type StorageVersionOptions,
  type StoreStorage,
  selfReviews,
  storageVersionGroup,
} from '#apiserver/index.ts'
import { withoutServers, withServer } from '#apiserver/storage-versions/server-entries.ts'
import { GADGETS, gadget, gadgetGroup, gadgets, kept } from '../groups/gadgets.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import { row } from '../support/row.ts'

const STORAGE_VERSIONS = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions'
const JSON_TYPE = { 'Content-Type': 'application/json' }

/** What replicas share. */
function shared() {
  const memory = memoryStorage()
  const all = { leases: memory.resource(), versions: memory.resource(), gadgets: memory.resource() }
  onTestFinished(() => Promise.all(Object.values(all).map((storage) => storage.destroy())).then(() => {}))
  return all
}

type Shared = ReturnType<typeof shared>

interface Replica {
  readonly id?: string
  readonly resource?: Resource
  readonly storage?: (of: StoreStorage) => Storage
  readonly leases?: (of: StoreStorage) => Storage
  readonly options?: StorageVersionOptions
  readonly more?: (server: ApiServer) => void
}

async function replica(
  of: Shared,
  { id = 'first', resource = gadgets(), storage = kept, leases = kept, options = {}, more }: Replica = {},
) {
  const served = await serveApi({
    setUp: (server) => {
      server.installApiGroups(
        leaseGroup(leases(of.leases)),
        storageVersionGroup(storage(of.versions)),
        gadgetGroup(resource, kept(of.gadgets)),
      )
      addIdentityLease(server, { id })
      addStorageVersions(server, options)
      more?.(server)
    },
  })
  const create = (name: string) => post(served, GADGETS('v1'), gadget('v1', name, { size: 1 }))
  return {
    ...served,
    create,
    versionOf: (name: string) => versionOf(served, name),
    isReady: async () => (await served.ask('/readyz')).status === 200,
  }
}

const post = (served: Pick<ServedApi, 'ask'>, path: string, body: object) =>
  served.ask(path, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) })

async function versionOf({ ask }: Pick<ServedApi, 'ask'>, name: string): Promise<StorageVersion | undefined> {
  const answer = await ask(`${STORAGE_VERSIONS}/${name}`)
  return answer.status === 404 ? undefined : ((await answer.json()) as StorageVersion)
}

/** Holds what is done with a storage until it is let go. */
function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  const storage = (of: StoreStorage): Storage => ({
    ...kept(of),
    create: async (object) => {
      await opened
      return of.create(object)
    },
  })
  return { storage, open: () => open() }
}

describe('a server', () => {
  row('AG-16', 'says in which version it stores what it keeps, and reads and serves', async () => {
    const of = shared()
    const legacy = defineResource({ group: '', kind: 'Note', plural: 'notes', scope: 'Cluster', versions: { v1: { schema: {} } } })
    const {
      ask,
      isReady,
      versionOf: look,
    } = await replica(of, {
      resource: gadgets('v1beta1'),
      more: (server) => {
        server.installLegacyApiGroup(
          '/api',
          apiGroup({ group: '', versions: { v1: [{ resource: legacy, storage: memoryStorage().resource() }] } }),
        )
        server.installApiGroups(...selfReviews())
      },
    })
    await expect.poll(isReady).toBe(true)
    const gadgetVersion = await look('demo.example.gadgets')
    expect(gadgetVersion).toMatchObject({ kind: 'StorageVersion', apiVersion: 'internal.apiserver.k8s.io/v1alpha1', spec: {} })
    expect(gadgetVersion?.status).toEqual({
      storageVersions: [
        {
          apiServerID: 'first',
          encodingVersion: 'demo.example/v1beta1',
          decodableVersions: ['demo.example/v1', 'demo.example/v1beta1', 'demo.example/v1alpha1'],
          servedVersions: ['demo.example/v1', 'demo.example/v1beta1', 'demo.example/v1alpha1'],
        },
      ],
      commonEncodingVersion: 'demo.example/v1beta1',
      conditions: [
        {
          type: 'AllEncodingVersionsEqual',
          status: 'True',
          observedGeneration: 1,
          lastTransitionTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
          reason: 'CommonEncodingVersionSet',
          message: 'Common encoding version set',
        },
      ],
    })
    expect((await look('core.notes'))?.status?.storageVersions?.[0]).toMatchObject({ encodingVersion: 'v1', servedVersions: ['v1'] })
    const { items } = (await (await ask(STORAGE_VERSIONS)).json()) as { readonly items: readonly StorageVersion[] }
    expect(items.map(({ metadata }) => metadata.name)).toEqual([
      'coordination.k8s.io.leases',
      'core.notes',
      'demo.example.gadgets',
      'internal.apiserver.k8s.io.storageversions',
    ])
  })

  row('AG-15', 'writes no object before it has said so, and what it needs for that all the same', async () => {
    const of = shared()
    const { storage, open } = gate()
    const { ask, create, isReady } = await replica(of, { storage, more: (server) => void server.installApiGroups(...selfReviews()) })
    const held = await create('a')
    expect([held.status, held.headers.get('retry-after'), ((await held.json()) as { message: string }).message]).toEqual([
      503,
      '1',
      'wait for storage version registration to complete for resource: gadgets.demo.example, last seen error: <nil>',
    ])
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'x' }, spec: {} }
    const leases = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
    const codes = async (): Promise<readonly number[]> =>
      Promise.all([
        ask(GADGETS('v1')).then(({ status }) => status),
        ask(`${GADGETS('v1')}/none`).then(({ status }) => status),
        post({ ask }, leases('kube-system'), lease).then(({ status }) => status),
        post({ ask }, leases('default'), lease).then(({ status }) => status),
        ask(`${GADGETS('v1beta1')}/a`, { method: 'DELETE' }).then(({ status }) => status),
        post({ ask }, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
          spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
        }).then(({ status }) => status),
      ])
    expect(await codes()).toEqual([200, 404, 201, 503, 503, 201])
    expect([await isReady(), (await of.gadgets.list(ALL)).items]).toEqual([false, []])
    open()
    await expect.poll(isReady).toBe(true)
    expect((await create('a')).status).toBe(201)
  })

  test('says why it waits, once in its log, and goes on when it can', async () => {
    const of = shared()
    let isLost = true
    const storage = (under: StoreStorage): Storage => ({
      ...kept(under),
      get: async (key) => (isLost ? Promise.reject(new Error('no database')) : under.get(key)),
    })
    const { create, isReady, lines } = await replica(of, { storage })
    await expect
      .poll(async () => ((await (await create('a')).json()) as { message: string }).message)
      .toBe(
        'wait for storage version registration to complete for resource: gadgets.demo.example, last seen error: Internal error occurred: no database',
      )
    isLost = false
    await expect.poll(isReady).toBe(true)
    expect((await create('a')).status).toBe(201)
    expect(lines.filter(({ message }) => message.startsWith('storage versions are not written: '))).toHaveLength(1)
  })

  test('holds what comes later until that is said, too', async () => {
    const of = shared()
    let server: ApiServer | undefined
    const {
      ask,
      isReady,
      versionOf: look,
    } = await replica(of, {
      more: (one) => {
        server = one
      },
    })
    await expect.poll(isReady).toBe(true)
    const group = 'late.example'
    const resource = defineResource({ group, kind: 'Note', plural: 'notes', scope: 'Cluster', versions: { v2: { schema: {} } } })
    server?.installApiGroups(apiGroup({ group, versions: { v2: [{ resource, storage: memoryStorage().resource() }] } }))
    const note = () =>
      post({ ask }, '/apis/late.example/v2/notes', { apiVersion: 'late.example/v2', kind: 'Note', metadata: { name: 'a' } })
    expect((await note()).status).toBe(503)
    await expect.poll(async () => (await note()).status).toBe(201)
    expect((await look('late.example.notes'))?.status?.commonEncodingVersion).toBe('late.example/v2')
  })

  test('holds a group that comes again with another version to be stored', async () => {
    const of = shared()
    let server: ApiServer | undefined
    const {
      ask,
      isReady,
      versionOf: look,
    } = await replica(of, {
      more: (one) => {
        server = one
      },
    })
    await expect.poll(isReady).toBe(true)
    const group = 'late.example'
    const storage = memoryStorage().resource()
    const install = (version: string) => {
      const resource = defineResource({ group, kind: 'Note', plural: 'notes', scope: 'Cluster', versions: { [version]: { schema: {} } } })
      return server?.installApiGroups(apiGroup({ group, versions: { [version]: [{ resource, storage }] } }))
    }
    const note = (version: string, name: string) =>
      post({ ask }, `/apis/late.example/${version}/notes`, { apiVersion: `late.example/${version}`, kind: 'Note', metadata: { name } })
    const first = install('v1')
    await expect.poll(async () => (await note('v1', 'a')).status).toBe(201)
    first?.[Symbol.dispose]()
    install('v2')
    expect((await note('v2', 'b')).status).toBe(503)
    await expect.poll(async () => (await note('v2', 'b')).status).toBe(201)
    expect((await look('late.example.notes'))?.status?.commonEncodingVersion).toBe('late.example/v2')
  })

  test('without the group of StorageVersions says so once, and waits between its tries', async () => {
    const of = shared()
    let tries = 0
    const counted = (under: StoreStorage): Storage => ({
      ...kept(under),
      get: (key) => {
        tries++
        return under.get(key)
      },
      create: () => Promise.reject(new StatusError({ code: 404, reason: 'NotFound', message: 'no such group' })),
    })
    const { create, isReady, lines } = await replica(of, { storage: counted })
    const warnings = () => lines.filter(({ message }) => message.startsWith('storage versions are not written: '))
    await expect.poll(warnings).toHaveLength(1)
    const before = tries
    for (let asked = 0; asked < 20; asked++) expect((await create('a')).status).toBe(503)
    expect(tries - before).toBeLessThan(20)
    expect([await isReady(), warnings().length]).toEqual([false, 1])
  })

  test('says it of the servers behind it, and holds their writes', async () => {
    const of = shared()
    const { storage, open } = gate()
    const delegate = createApiServer(completeConfig({ port: 0 }), { name: 'inner' })
    delegate.installApiGroups(gadgetGroup(gadgets(), kept(of.gadgets)))
    const served = await serveApi({
      delegate,
      setUp: (server) => {
        server.installApiGroups(leaseGroup(kept(of.leases)), storageVersionGroup(storage(of.versions)))
        addIdentityLease(server, { id: 'outer' })
        addStorageVersions(server)
      },
    })
    const create = () => post(served, GADGETS('v1'), gadget('v1', 'a', { size: 1 }))
    expect((await create()).status).toBe(503)
    open()
    await expect.poll(async () => (await create()).status).toBe(201)
    expect((await versionOf(served, 'demo.example.gadgets'))?.status?.storageVersions?.[0]?.apiServerID).toBe('outer')
  })

  test('needs to be known by a lease', () => {
    const server = createApiServer(completeConfig({ port: 0 }))
    expect(() => addStorageVersions(server)).toThrow('one that addIdentityLease() was called with')
  })
})

const ALL = { namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' }

describe('replicas', () => {
  test('agree again when the last one that stores an old version has ended', async () => {
    const of = shared()
    const options = { refreshInterval: 20 }
    const old = await replica(of, { id: 'old', resource: gadgets('v1beta1'), options })
    await expect.poll(old.isReady).toBe(true)
    const status = async () => (await next.versionOf('demo.example.gadgets'))?.status
    const next = await replica(of, { id: 'new', resource: gadgets('v1'), options })
    await expect.poll(next.isReady).toBe(true)
    const both = await status()
    expect(both?.storageVersions?.map(({ apiServerID, encodingVersion }) => [apiServerID, encodingVersion])).toEqual([
      ['old', 'demo.example/v1beta1'],
      ['new', 'demo.example/v1'],
    ])
    expect([both?.commonEncodingVersion, both?.conditions?.[0]?.status]).toEqual([undefined, 'False'])
    await old.life.stop('over')
    await expect.poll(async () => (await status())?.commonEncodingVersion).toBe('demo.example/v1')
    const after = await status()
    expect([after?.storageVersions?.length, after?.conditions?.[0]?.status, after?.conditions?.[0]?.reason]).toEqual([
      1,
      'True',
      'CommonEncodingVersionSet',
    ])
  })

  test('take one out only when its lease is gone for a while, and what none serves any more', async () => {
    const of = shared()
    const entry = { encodingVersion: 'a.example/v1', decodableVersions: ['a.example/v1'] }
    const written = (name: string, ...ids: readonly string[]) =>
      of.versions.create({
        kind: 'StorageVersion',
        apiVersion: 'internal.apiserver.k8s.io/v1alpha1',
        metadata: { name, uid: name },
        status: { storageVersions: ids.map((apiServerID) => ({ apiServerID, ...entry })) },
      })
    await written('a.example.gone', 'dead')
    await written('a.example.kept', 'dead', 'alive')
    await written('a.example.empty')
    const alive = {
      labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver' },
      name: 'alive',
      namespace: 'kube-system',
      uid: 'alive',
    }
    const spec = { leaseDurationSeconds: 3_600, renewTime: new Date().toISOString().replace('Z', '000Z') }
    await of.leases.create({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: alive, spec })
    const lists: string[][] = []
    const storage = (under: StoreStorage): Storage => ({
      ...kept(under),
      list: async (query) => {
        const page = await under.list(query)
        lists.push(page.items.map(({ metadata }) => metadata.name))
        return page
      },
    })
    const { isReady, versionOf: look } = await replica(of, { storage, options: { refreshInterval: 20 } })
    await expect.poll(isReady).toBe(true)
    await expect.poll(() => look('a.example.gone')).toBeUndefined()
    // It was there at two looks at least.
    expect(lists.filter((names) => names.includes('a.example.gone')).length).toBeGreaterThanOrEqual(2)
    await expect
      .poll(async () => (await look('a.example.kept'))?.status?.storageVersions?.map(({ apiServerID }) => apiServerID))
      .toEqual(['alive'])
    expect(await look('a.example.empty')).toBeDefined()
  })

  test('take nobody out while they do not find themselves among the living', async () => {
    const of = shared()
    let looks = 0
    const leases = (under: StoreStorage): Storage => ({
      ...kept(under),
      list: async (query) => {
        looks++
        return { ...(await under.list(query)), items: [] }
      },
    })
    const dead = { apiServerID: 'dead', encodingVersion: 'demo.example/v1', decodableVersions: ['demo.example/v1'] }
    await of.versions.create({
      kind: 'StorageVersion',
      apiVersion: 'internal.apiserver.k8s.io/v1alpha1',
      metadata: { name: 'demo.example.gadgets', uid: 'x' },
      status: { storageVersions: [dead] },
    })
    const { isReady, versionOf: look } = await replica(of, { leases, options: { refreshInterval: 10 } })
    await expect.poll(isReady).toBe(true)
    await expect.poll(() => looks).toBeGreaterThan(3)
    expect((await look('demo.example.gadgets'))?.status?.storageVersions?.map(({ apiServerID }) => apiServerID)).toEqual(['dead', 'first'])
  })

  test('write what somebody has taken away, and nothing that is there', async () => {
    const of = shared()
    const { ask, isReady, versionOf: look } = await replica(of, { options: { refreshInterval: 10 } })
    await expect.poll(isReady).toBe(true)
    const name = 'demo.example.gadgets'
    const before = (await look(name))?.metadata
    await ask(`${STORAGE_VERSIONS}/${name}`, { method: 'DELETE' })
    await expect.poll(async () => (await look(name))?.status?.storageVersions?.length).toBe(1)
    const after = (await look(name))?.metadata
    expect(after?.uid).not.toBe(before?.uid)
    // Another one is written anew several times meanwhile, if any is.
    for (let times = 0; times < 3; times++) {
      await ask(`${STORAGE_VERSIONS}/coordination.k8s.io.leases`, { method: 'DELETE' })
      await expect.poll(async () => (await look('coordination.k8s.io.leases'))?.status?.storageVersions?.length).toBe(1)
    }
    expect((await look(name))?.metadata.resourceVersion).toBe(after?.resourceVersion)
  })
})

describe('what is said of several servers', () => {
  const object = (status?: StorageVersion['status'], generation = 1): StorageVersion => ({
    kind: 'StorageVersion',
    apiVersion: 'internal.apiserver.k8s.io/v1alpha1',
    metadata: { name: 'a', generation },
    ...(status && { status }),
  })
  const entry = (apiServerID: string, encodingVersion: string) => ({ apiServerID, encodingVersion, decodableVersions: [encodingVersion] })

  test('has the time of the last change of a condition, also from one common version to another', () => {
    const first = withServer(object(), entry('a', 'v1'), 't1')
    expect(first.conditions?.[0]).toMatchObject({ status: 'True', lastTransitionTime: 't1' })
    const same = withServer(object(first), entry('b', 'v1'), 't2')
    expect([same.commonEncodingVersion, same.conditions?.[0]?.lastTransitionTime]).toEqual(['v1', 't1'])
    const apart = withServer(object(same), entry('a', 'v2'), 't3')
    expect([apart.commonEncodingVersion, apart.conditions?.[0]]).toEqual([
      undefined,
      expect.objectContaining({ status: 'False', lastTransitionTime: 't3', reason: 'CommonEncodingVersionUnset' }),
    ])
    const again = withServer(object(apart), entry('b', 'v2'), 't4')
    expect([again.commonEncodingVersion, again.conditions?.[0]?.lastTransitionTime]).toEqual(['v2', 't4'])
    const other = withServer(object(withServer(object(), entry('a', 'v1'), 't1')), entry('a', 'v2'), 't5')
    expect([other.commonEncodingVersion, other.conditions?.[0]?.lastTransitionTime]).toEqual(['v2', 't5'])
  })

  /** What upstream's localUpdateStorageVersion of 1.37 said, and whether it set the time anew. */
  const OF_UPSTREAM = [
    ['a', 'g/v1', true, 'g/v1'],
    ['b', 'g/v1', false, 'g/v1'],
    ['a', 'g/v2', true, undefined],
    ['b', 'g/v2', true, 'g/v2'],
    ['c', 'g/v1', true, undefined],
    ['c', 'g/v2', true, 'g/v2'],
    ['c', 'g/v2', false, 'g/v2'],
  ] as const

  test('is what upstream says, step by step', () => {
    let status: StorageVersion['status']
    const said = OF_UPSTREAM.map(([id, version], at) => {
      const next = withServer(object(status), entry(id, version), `t${at}`)
      status = next
      return [id, version, next.conditions?.[0]?.lastTransitionTime === `t${at}`, next.commonEncodingVersion]
    })
    expect(said).toEqual(OF_UPSTREAM)
    expect(status?.storageVersions?.map(({ apiServerID }) => apiServerID)).toEqual(['a', 'b', 'c'])
  })

  test('keeps conditions of others, and is nothing without a server', () => {
    const foreign = { type: 'Other', status: 'True', reason: 'R', message: 'm' } as const
    const said = withServer(object({ conditions: [foreign] }), entry('a', 'v1'), 't')
    expect(said.conditions?.map(({ type }) => type)).toEqual(['Other', 'AllEncodingVersionsEqual'])
    expect(withoutServers(object(said), (id) => id === 'a', 't')).toBeUndefined()
    expect(withoutServers(object(said), (id) => id === 'b', 't')).toEqual(said)
  })
})
