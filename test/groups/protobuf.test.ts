// What typed clients of client-go send of kinds that are compiled into them. Fails when: such a
// client cannot create, change or delete a lease or a namespace, or something else is stored than
// what it has sent.
import { expect, test } from 'vitest'
import { type WrittenShape, writeMessage } from '#apiserver/groups/protobuf/write-message.ts'
import { type Lease, leaseGroup, memoryStorage, type Namespace, namespaceGroup } from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
const NAMESPACES = '/api/v1/namespaces'

const time = (): WrittenShape => ({ seconds: [1, 'whole'], nanos: [2, 'whole'] })
const SENT = {
  type: [1, () => ({ apiVersion: [1, 'text'], kind: [2, 'text'] })],
  raw: [2, 'bytes'],
} as const satisfies WrittenShape
const METADATA = (): WrittenShape => ({
  name: [1, 'text'],
  uid: [5, 'text'],
  resourceVersion: [6, 'text'],
  creationTimestamp: [8, time],
  deletionTimestamp: [9, time],
  deletionGracePeriodSeconds: [10, 'whole'],
})
const LEASE: WrittenShape = {
  metadata: [1, METADATA],
  spec: [
    2,
    () => ({
      holderIdentity: [1, 'text'],
      leaseDurationSeconds: [2, 'whole'],
      acquireTime: [3, time],
      renewTime: [4, time],
      leaseTransitions: [5, 'whole'],
    }),
  ],
}
const condition = (): WrittenShape => ({ type: [1, 'text'], status: [2, 'text'], lastTransitionTime: [4, time], reason: [5, 'text'] })
const NAMESPACE: WrittenShape = {
  metadata: [1, METADATA],
  spec: [2, () => ({ finalizers: [1, 'text'] })],
  status: [3, () => ({ phase: [1, 'text'], conditions: [2, condition] })],
}
const OPTIONS: WrittenShape = {
  gracePeriodSeconds: [1, 'whole'],
  preconditions: [2, () => ({ uid: [1, 'text'], resourceVersion: [2, 'text'] })],
  propagationPolicy: [4, 'text'],
  dryRun: [5, 'text'],
}

async function scene() {
  const memory = memoryStorage()
  const { ask } = await serveApi({
    setUp: (server) => {
      server.installApiGroups(leaseGroup(memory.resource()))
      server.installLegacyApiGroup('/api', namespaceGroup(memory.resource()))
    },
  })
  const answered = async <T>(path: string, init: RequestInit = {}): Promise<{ code: number; body: T & { message?: string } }> => {
    const answer = await ask(path, init)
    return { code: answer.status, body: (await answer.json()) as T & { message?: string } }
  }
  const post = async <T>(method: string, path: string, raw: Buffer, [apiVersion, kind]: readonly [string, string]) => {
    const sent = Buffer.concat([Buffer.from('k8s\0'), writeMessage({ type: { apiVersion, kind }, raw }, SENT)])
    const headers = {
      'content-type': 'application/vnd.kubernetes.protobuf',
      accept: 'application/vnd.kubernetes.protobuf,application/json',
    }
    return answered<T>(path, { method, headers, body: new Uint8Array(sent) })
  }
  return {
    get: answered,
    lease: (method: string, path: string, value: object) =>
      post<Lease>(method, path, writeMessage({ ...value }, LEASE), ['coordination.k8s.io/v1', 'Lease']),
    namespace: (method: string, path: string, value: object) =>
      post<Namespace>(method, path, writeMessage({ ...value }, NAMESPACE), ['v1', 'Namespace']),
    remove: (path: string, options: object, version = 'coordination.k8s.io/v1') =>
      post<object>('DELETE', path, writeMessage({ ...options }, OPTIONS), [version, 'DeleteOptions']),
    sendRaw: (method: string, path: string, raw: Buffer) => post<Lease>(method, path, raw, ['coordination.k8s.io/v1', 'Lease']),
  }
}

const AT = { seconds: 1_796_048_445, nanos: 45_051_457 }

test('a lease is taken, renewed and given back, as candidates of client-go do', async () => {
  const { lease, get, remove } = await scene()
  const spec = { holderIdentity: 'a', leaseDurationSeconds: 15, acquireTime: AT, renewTime: { seconds: AT.seconds }, leaseTransitions: 0 }
  // Go's zero time is an empty message.
  const created = await lease('POST', LEASES, { metadata: { name: 'contest', uid: '', creationTimestamp: {} }, spec })
  expect([created.code, created.body.spec]).toEqual([
    201,
    {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-11-30T14:20:45.045051Z',
      renewTime: '2026-11-30T14:20:45.000000Z',
      leaseTransitions: 0,
    },
  ])
  const path = `${LEASES}/contest`
  const { resourceVersion = '', uid = '' } = created.body.metadata
  const metadata = { name: 'contest', uid, resourceVersion, creationTimestamp: { seconds: AT.seconds } }
  const renewed = await lease('PUT', path, { metadata, spec: { ...spec, holderIdentity: 'b', acquireTime: {}, leaseTransitions: 300 } })
  expect([renewed.code, renewed.body.spec?.holderIdentity, renewed.body.spec?.leaseTransitions, renewed.body.spec?.acquireTime]).toEqual([
    200,
    'b',
    300,
    undefined,
  ])
  expect((await get<Lease>(path)).body).toEqual(renewed.body)
  const late = await lease('PUT', path, { metadata, spec })
  expect([late.code, late.body.message]).toEqual([409, expect.stringContaining('the object has been modified')])
  const other = await lease('PUT', path, { metadata: { ...metadata, uid: 'other' }, spec })
  expect([other.code, other.body.message]).toEqual([409, expect.stringContaining('Precondition failed: UID')])
  expect((await remove(path, { preconditions: { uid: 'other' } })).code).toBe(409)
  expect((await remove(path, { dryRun: ['All'] })).code).toBe(200)
  expect((await remove(path, { propagationPolicy: 'X' })).code).toBe(422)
  expect((await get(path)).code).toBe(200)
  expect((await remove(path, { gracePeriodSeconds: 0, preconditions: { uid }, propagationPolicy: 'Background' })).code).toBe(200)
  expect((await get(path)).code).toBe(404)
})

test('numbers and times that no lease has are refused, and an object is no options', async () => {
  const { sendRaw, get } = await scene()
  const spec = (...bytes: readonly number[]): Buffer =>
    Buffer.concat([writeMessage({ metadata: { name: 'a' } }, LEASE), Buffer.from([0x12, bytes.length, ...bytes])])
  const minusTwo = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
  const negative = await sendRaw('POST', LEASES, spec(0x10, ...minusTwo))
  expect([negative.code, negative.body.message]).toEqual([422, expect.stringContaining('Invalid value: -2: must be greater than 0')])
  const far = await sendRaw('POST', LEASES, spec(0x1a, 9, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f))
  expect([far.code, far.body.message]).toEqual([400, 'proto: time out of range'])
  const before = await sendRaw('POST', LEASES, spec(0x1a, 11, 0x08, ...minusTwo))
  expect([before.code, before.body.spec?.acquireTime]).toEqual([201, '1969-12-31T23:59:58.000000Z'])
  // The length of what follows: -2.
  const endless = await sendRaw('POST', LEASES, Buffer.from([0x12, ...minusTwo]))
  expect([endless.code, endless.body.message]).toEqual([400, 'proto: integer overflow'])
  const object = await sendRaw('DELETE', `${LEASES}/a`, spec())
  expect([object.code, object.body.message]).toEqual([400, 'no kind "Lease" is registered for version "coordination.k8s.io/v1"'])
  expect((await get(`${LEASES}/a`)).code).toBe(200)
})

test('a namespace is changed while it ends, with its status', async () => {
  const { namespace, remove } = await scene()
  expect((await namespace('POST', NAMESPACES, { metadata: { name: 'blue' } })).code).toBe(201)
  const path = `${NAMESPACES}/blue`
  const deleted = (await remove(path, {}, 'v1')).body as Namespace
  const { uid, resourceVersion, deletionTimestamp = '' } = deleted.metadata
  const metadata = { name: 'blue', uid, resourceVersion, deletionTimestamp: { seconds: Date.parse(deletionTimestamp) / 1_000 } }
  const given = { type: 'NamespaceContentRemaining', status: 'True', lastTransitionTime: AT, reason: 'SomeResourcesRemain' }
  const told = await namespace('PUT', `${path}/status`, { metadata, status: { phase: 'Terminating', conditions: [given] } })
  expect([told.code, told.body.status]).toEqual([
    200,
    { phase: 'Terminating', conditions: [{ ...given, lastTransitionTime: '2026-11-30T14:20:45Z' }] },
  ])
  const named = { ...metadata, resourceVersion: told.body.metadata.resourceVersion }
  expect((await namespace('PUT', `${path}/finalize`, { metadata: named, spec: {} })).code).toBe(200)
  expect((await namespace('PUT', path, { metadata: named })).code).toBe(404)
})
