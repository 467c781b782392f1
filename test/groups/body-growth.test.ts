// Fails when: the processor time of a write grows faster than what its client sends, in any list or
// map of an object or of a patch.
import { describe, expect, test } from 'vitest'
import { apiGroup, defineResource, memoryStorage } from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'
import { cpuOf, hasGrown } from '../support/cost.ts'

/** As many as the bound of a body has room for, in short texts. */
const COUNT = 40_000
/** Of a patch there are no more. */
const OPERATIONS = 10_000
/** A linear reader takes a tenth of it; one that compares each with each takes seconds. */
const CPU_MS = 1_500
/** No machine is so slow or so busy. */
const CPU_MS_MAX = 5_000
const PART = 4

const THINGS = '/apis/demo.example/v1/namespaces/default/things'
const JSON_TYPE = 'application/json'
const MERGE = 'application/merge-patch+json'
const JSON_PATCH = 'application/json-patch+json'

const things = defineResource({
  group: 'demo.example',
  kind: 'Thing',
  plural: 'things',
  scope: 'Namespaced',
  versions: {
    v1: {
      schema: {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: {
              size: { type: 'integer' },
              set: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
              map: {
                type: 'array',
                items: { type: 'object', properties: { id: { type: 'string' }, size: { type: 'integer' } } },
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['id'],
              },
            },
          },
        },
      },
    },
  },
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
    let status = 0
    const ms = await cpuOf(async () => {
      const answer = await ask(path, {
        method,
        headers: { 'Content-Type': type },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      await answer.text()
      status = answer.status
    })
    return { status, ms }
  }
  return { cost }
}

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))
const mapOf = (count: number, make: (index: number) => [string, unknown]): object => Object.fromEntries(many(count, make))
const thing = (meta: object = {}, rest: object = {}) => ({
  apiVersion: 'demo.example/v1',
  kind: 'Thing',
  metadata: { name: 'a', ...meta },
  ...rest,
})
const finalizersOf = (count: number): string[] => many(count, (index) => `a.b/${index}`)

interface Cost {
  readonly status: number
  readonly ms: number
}

/** Fails when one of several requests costs too much, if need be beside a part of the many. */
async function expectNoGrowth(whole: number, requests: (count: number) => Promise<readonly Cost[]>): Promise<void> {
  const costs = await requests(whole)
  for (const { status } of costs) expect(status).toBeLessThan(500)
  for (const { ms } of costs) expect(ms).toBeLessThan(CPU_MS_MAX)
  if (costs.every(({ ms }) => ms < CPU_MS)) return
  const ofPart = await requests(whole / PART)
  const grown = costs.filter(({ ms }, index) => hasGrown({ whole: ms, part: ofPart[index]?.ms ?? 0, times: PART, allowed: CPU_MS }))
  expect(grown, JSON.stringify(ofPart)).toEqual([])
}

/** What stands in an object many times. */
const OBJECTS: Readonly<Record<string, (count: number) => object>> = {
  labels: (count) => thing({ labels: mapOf(count, (index) => [`a${index}`, 'b']) }),
  'labels that are none': (count) => thing({ labels: mapOf(count, (index) => [`-${index}`, '?']) }),
  annotations: (count) => thing({ annotations: mapOf(count, (index) => [`a${index}`, 'b']) }),
  finalizers: (count) => thing({ finalizers: finalizersOf(count) }),
  'the same finalizer': (count) => thing({ finalizers: many(count, () => 'a.b/c') }),
  owners: (count) => thing({ ownerReferences: many(count, (index) => ({ apiVersion: 'v1', kind: 'A', name: 'a', uid: `u${index}` })) }),
  'the same owner': (count) => thing({ ownerReferences: many(count, () => ({ apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u' })) }),
  'finalizers without a domain': (count) => thing({ finalizers: many(count, (index) => `a${index}`) }),
  // A part of them has its part of duplicates.
  'items of a set and of a map': (count) => {
    const different = Math.floor(count / 4) - 1
    const set = many(count, (index) => index % different)
    return thing({}, { spec: { set, map: set.map((id) => ({ id: `${id}`, size: 'wrong' })) } })
  },
  'unknown fields': (count) =>
    thing(
      {},
      mapOf(count, (index) => [`a${index}`, 1]),
    ),
  'unknown fields of its spec': (count) => thing({}, { spec: mapOf(count, (index) => [`a${index}`, 1]) }),
}

describe('many in an object:', () => {
  test.each(Object.entries(OBJECTS))('%s', async (_, make) => {
    await expectNoGrowth(COUNT, async (count) => {
      const { cost } = await serve()
      const object = make(count)
      const created = await cost('POST', THINGS, object)
      const strict = await cost('POST', `${THINGS}?fieldValidation=Strict`, object)
      if (created.status !== 201) await cost('POST', THINGS, thing())
      const put = await cost('PUT', `${THINGS}/a`, object)
      const patched = await cost('PATCH', `${THINGS}/a`, object, MERGE)
      const deleted = await cost('DELETE', `${THINGS}/a`)
      return [created, strict, put, patched, deleted]
    })
  })
})

test('many finalizers of an object that is being deleted: other ones, and orphans', async () => {
  await expectNoGrowth(COUNT, async (count) => {
    const { cost } = await serve()
    const finalizers = finalizersOf(count)
    await cost('POST', THINGS, thing({ finalizers }))
    const deleted = await cost('DELETE', `${THINGS}/a`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Orphan' })
    expect(deleted.status).toBe(200)
    const costs = [deleted]
    for (const other of [finalizers.slice(1), finalizers.slice().reverse(), many(count, (index) => `c.d/${index}`)]) {
      const put = await cost('PUT', `${THINGS}/a`, thing({ finalizers: other }))
      expect([200, 422]).toContain(put.status)
      costs.push(put)
    }
    return costs
  })
})

test.each([
  ['add', (index: number) => ({ op: 'add', path: `/metadata/labels/a${index}`, value: 'b' })],
  ['insert', () => ({ op: 'add', path: '/metadata/finalizers/0', value: 'a.b/c' })],
  ['copy', () => ({ op: 'copy', from: '/metadata/labels', path: '/metadata/annotations' })],
  ['test', () => ({ op: 'test', path: '/metadata/name', value: 'a' })],
] as const)('many operations of a patch: %s', async (_, make) => {
  await expectNoGrowth(OPERATIONS, async (count) => {
    const { cost } = await serve()
    await cost('POST', THINGS, thing({ labels: { a: 'b' }, finalizers: ['a.b/c'] }))
    return [await cost('PATCH', `${THINGS}/a`, many<object>(count, make), JSON_PATCH)]
  })
})

test('many unknown members of an operation, and others that are repeated in it', async () => {
  await expectNoGrowth(4 * COUNT, async (count) => {
    const { cost } = await serve()
    await cost('POST', THINGS, thing())
    const unknown = many(count, (index) => `"a${index}":1`)
    const repeated = many(200, (index) => `"b${index % 100}":1`)
    const body = `[{"op":"add","path":"/spec","value":{},${[...unknown, ...repeated].join()}}]`
    const patched = await cost('PATCH', `${THINGS}/a`, body, JSON_PATCH)
    expect(patched.status).toBe(200)
    return [patched]
  })
})
