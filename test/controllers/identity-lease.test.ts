// The leases by which servers are known. Fails when: replicas are not all seen, one that ends
// stays, one that was started again leaves two, or the lease of a dead server is kept, or that of a
// living one is removed.
import { describe, expect, test } from 'vitest'
import { addIdentityLease, type IdentityLeaseOptions, type Lease, leaseGroup, memoryStorage } from '#apiserver/index.ts'
import { apiServerId } from '#apiserver/leases/identity-lease.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'

const PATH = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'

type Shared = ReturnType<ReturnType<typeof memoryStorage>['resource']>

/** What several servers share is destroyed by none of them. */
const kept = (storage: Shared) => ({
  get: storage.get.bind(storage),
  list: storage.list.bind(storage),
  create: storage.create.bind(storage),
  update: storage.update.bind(storage),
  delete: storage.delete.bind(storage),
  watch: storage.watch.bind(storage),
})

const replica = (storage: Shared, options: IdentityLeaseOptions = {}): Promise<ServedApi> =>
  serveApi({
    setUp: (server) => {
      server.installApiGroups(leaseGroup(kept(storage)))
      addIdentityLease(server, options)
    },
  })

const stored = async (storage: Shared): Promise<readonly Lease[]> =>
  (await storage.list({ namespace: 'kube-system', matches: () => true, limit: undefined, at: undefined, start: '' }))
    .items as readonly Lease[]

describe('identity leases', () => {
  test('are three of three replicas, and two when one has ended', async () => {
    const storage = memoryStorage().resource()
    const replicas = await Promise.all([replica(storage), replica(storage), replica(storage)])
    await expect.poll(async () => (await stored(storage)).length).toBe(3)
    for (const { metadata, spec } of await stored(storage)) {
      expect(metadata.name).toMatch(/^apiserver-[a-z2-7]{26}$/)
      expect(metadata.labels).toMatchObject({
        'apiserver.kubernetes.io/identity': 'kube-apiserver',
        'kubernetes.io/hostname': expect.any(String),
      })
      expect(spec).toEqual({
        holderIdentity: expect.stringMatching(new RegExp(`^${metadata.name}_[0-9a-f-]{36}$`)),
        leaseDurationSeconds: 3_600,
        renewTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      })
    }
    const [first, second] = replicas as [ServedApi, ServedApi, ServedApi]
    expect((await first.life.stop('over')).exitCode).toBe(0)
    const listed = (await (await second.ask(PATH)).json()) as { items: readonly Lease[] }
    expect(listed.items).toHaveLength(2)
  })

  test('are renewed, and taken over by the server that is started in the same place', async () => {
    const storage = memoryStorage().resource()
    const { life } = await replica(storage, { id: 'apiserver-here', renewInterval: 20 })
    const version = async (): Promise<string | undefined> => (await stored(storage))[0]?.metadata.resourceVersion
    await expect.poll(version).toBeDefined()
    const first = await version()
    await expect.poll(version).not.toBe(first)
    const holder = async () => (await stored(storage))[0]?.spec?.holderIdentity
    const before = await holder()
    // Beside the first, as if that one had not ended in order, and is about to.
    await replica(storage, { id: 'apiserver-here' })
    await expect.poll(holder).not.toBe(before)
    expect((await life.stop('over')).exitCode).toBe(0)
    expect(await stored(storage)).toHaveLength(1)
  })

  test('of dead servers are removed, those of living ones and of elections are not', async () => {
    const storage = memoryStorage().resource()
    const lease = (name: string, spec: Lease['spec'], labels?: Record<string, string>): unknown =>
      storage.create({
        kind: 'Lease',
        apiVersion: 'coordination.k8s.io/v1',
        metadata: { name, namespace: 'kube-system', uid: name, ...(labels && { labels }) },
        spec,
      })
    const ours = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }
    const old = '2020-01-01T00:00:00.000000Z'
    await lease('dead', { leaseDurationSeconds: 3_600, renewTime: old }, ours)
    await lease('never', {}, ours)
    await lease('alive', { leaseDurationSeconds: 2 ** 30, renewTime: old }, ours)
    await lease('election', { leaseDurationSeconds: 15, renewTime: old })
    await lease('other', { leaseDurationSeconds: 15, renewTime: old }, { 'apiserver.kubernetes.io/identity': 'other-apiserver' })
    await replica(storage, { id: 'self' })
    await expect
      .poll(async () => (await stored(storage)).map(({ metadata }) => metadata.name))
      .toEqual(['alive', 'election', 'other', 'self'])
  })

  test('are written when the storage answers at last, and missed with one warning', async () => {
    const storage = memoryStorage().resource()
    let isOpen = false
    const { lines } = await serveApi({
      setUp: (server) => {
        const get: Shared['get'] = async (key) => (isOpen ? storage.get(key) : Promise.reject(new Error('no database')))
        server.installApiGroups(leaseGroup({ ...kept(storage), get }))
        addIdentityLease(server, { id: 'self' })
      },
    })
    const warnings = () => lines.filter(({ message }) => message.startsWith('lease self is not renewed: '))
    await expect.poll(() => warnings().length).toBe(1)
    isOpen = true
    await expect.poll(async () => (await stored(storage)).length).toBe(1)
    expect(warnings()).toHaveLength(1)
  })
})

test('a server is known by where it listens', () => {
  expect(apiServerId(['127.0.0.1:6443'])).toBe(apiServerId(['127.0.0.1:6443']))
  expect(apiServerId(['127.0.0.1:6443'])).not.toBe(apiServerId(['127.0.0.1:6444']))
})

describe('a lease', () => {
  const post = (ask: ServedApi['ask'], spec: object) =>
    ask('/apis/coordination.k8s.io/v1/namespaces/default/leases', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { name: 'one' }, spec }),
    })

  test.each([
    [{ leaseDurationSeconds: 0 }, 'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
    [{ leaseTransitions: -1 }, 'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0'],
    [{ renewTime: '2026-01-01T00:00:00Z' }, 'spec.renewTime'],
  ])('with %o is refused', async (spec, message) => {
    const { ask } = await serveApi({ setUp: (server) => void server.installApiGroups(leaseGroup(memoryStorage().resource())) })
    const answer = await post(ask, spec)
    expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining(message)])
  })

  test('is changed in one version only, and printed with its holder', async () => {
    const { ask } = await serveApi({ setUp: (server) => void server.installApiGroups(leaseGroup(memoryStorage().resource())) })
    expect((await post(ask, { holderIdentity: 'me' })).status).toBe(201)
    const put = await ask('/apis/coordination.k8s.io/v1/namespaces/default/leases/one', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { name: 'one' } }),
    })
    expect([put.status, await put.text()]).toEqual([422, expect.stringContaining('must be specified for an update')])
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const table = (await (await ask('/apis/coordination.k8s.io/v1/leases', { headers: { accept } })).json()) as {
      columnDefinitions: readonly { name: string }[]
      rows: readonly { cells: readonly unknown[] }[]
    }
    expect(table.columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Holder', 'Age'])
    expect(table.rows[0]?.cells.slice(0, 2)).toEqual(['one', 'me'])
  })
})
