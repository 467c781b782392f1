// Fails when: the processor time of a write grows faster than what its client sends, in any list or
// map of an object or of a patch.
import { describe, expect, test } from 'vitest'
import { apiGroup, defineResource, memoryStorage } from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'

/** As many as the bound of a body has room for, in short texts. */
const COUNT = 40_000
/** Of a patch there are no more. */
const OPERATIONS = 10_000
/** A linear reader takes a tenth of it; one that compares each with each takes seconds. */
const CPU_MS = 1_500

const THINGS = '/apis/demo.example/v1/namespaces/default/things'
const JSON_TYPE = 'application/json'
const MERGE = 'application/merge-patch+json'
const JSON_PATCH = 'application/json-patch+json'

const things = defineResource({
  group: 'demo.example',
  kind: 'Thing',
  plural: 'things',
  scope: 'Namespaced',
  versions: { v1: { schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } } } },
})

async function serve() {
  const { ask } = await serveApi({
    setUp: (server) => {
      server.installApiGroups(
        apiGroup({ group: 'demo.example', versions: { v1: [{ resource: things, storage: memoryStorage().resource() }] } }),
      )
      server.enableGarbageCollection(things)
    },
  })
  /** Processor time in milliseconds. */
  const cost = async (method: string, path: string, body?: unknown, type = JSON_TYPE) => {
    const before = process.cpuUsage()
    const answer = await ask(path, { method, headers: { 'Content-Type': type }, ...(body !== undefined && { body: JSON.stringify(body) }) })
    await answer.text()
    const { user, system } = process.cpuUsage(before)
    return { status: answer.status, ms: (user + system) / 1000 }
  }
  return { cost }
}

const many = <T>(make: (index: number) => T, count = COUNT): T[] => Array.from({ length: count }, (_, index) => make(index))
const mapOf = (make: (index: number) => [string, unknown]): object => Object.fromEntries(many(make))
const thing = (meta: object = {}, rest: object = {}) => ({
  apiVersion: 'demo.example/v1',
  kind: 'Thing',
  metadata: { name: 'a', ...meta },
  ...rest,
})
const FINALIZERS = many((index) => `a.b/${index}`)

/** What stands in an object many times. */
const OBJECTS: Readonly<Record<string, object>> = {
  labels: thing({ labels: mapOf((index) => [`a${index}`, 'b']) }),
  'labels that are none': thing({ labels: mapOf((index) => [`-${index}`, '?']) }),
  annotations: thing({ annotations: mapOf((index) => [`a${index}`, 'b']) }),
  finalizers: thing({ finalizers: FINALIZERS }),
  'the same finalizer': thing({ finalizers: many(() => 'a.b/c') }),
  owners: thing({ ownerReferences: many((index) => ({ apiVersion: 'v1', kind: 'A', name: 'a', uid: `u${index}` })) }),
  'unknown fields': thing(
    {},
    mapOf((index) => [`a${index}`, 1]),
  ),
  'unknown fields of its spec': thing({}, { spec: mapOf((index) => [`a${index}`, 1]) }),
}

describe('many in an object:', () => {
  test.each(Object.entries(OBJECTS))('%s', async (_, object) => {
    const { cost } = await serve()
    const created = await cost('POST', THINGS, object)
    const strict = await cost('POST', `${THINGS}?fieldValidation=Strict`, object)
    if (created.status !== 201) await cost('POST', THINGS, thing())
    const put = await cost('PUT', `${THINGS}/a`, object)
    const patched = await cost('PATCH', `${THINGS}/a`, object, MERGE)
    const deleted = await cost('DELETE', `${THINGS}/a`)
    for (const { ms, status } of [created, strict, put, patched, deleted]) {
      expect(ms).toBeLessThan(CPU_MS)
      expect(status).toBeLessThan(500)
    }
  })
})

test('many finalizers of an object that is being deleted: other ones, and orphans', async () => {
  const { cost } = await serve()
  await cost('POST', THINGS, thing({ finalizers: FINALIZERS }))
  const deleted = await cost('DELETE', `${THINGS}/a`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Orphan' })
  expect([deleted.status, deleted.ms < CPU_MS]).toEqual([200, true])
  for (const finalizers of [FINALIZERS.slice(1), FINALIZERS.slice().reverse(), many((index) => `c.d/${index}`)]) {
    const put = await cost('PUT', `${THINGS}/a`, thing({ finalizers }))
    expect(put.ms).toBeLessThan(CPU_MS)
    expect([200, 422]).toContain(put.status)
  }
})

test.each([
  ['add', (index: number) => ({ op: 'add', path: `/metadata/labels/a${index}`, value: 'b' })],
  ['insert', () => ({ op: 'add', path: '/metadata/finalizers/0', value: 'a.b/c' })],
  ['copy', () => ({ op: 'copy', from: '/metadata/labels', path: '/metadata/annotations' })],
  ['test', () => ({ op: 'test', path: '/metadata/name', value: 'a' })],
] as const)('many operations of a patch: %s', async (_, make) => {
  const { cost } = await serve()
  await cost('POST', THINGS, thing({ labels: { a: 'b' }, finalizers: ['a.b/c'] }))
  const patched = await cost('PATCH', `${THINGS}/a`, many<object>(make, OPERATIONS), JSON_PATCH)
  expect(patched.ms).toBeLessThan(CPU_MS)
  expect(patched.status).toBeLessThan(500)
})
