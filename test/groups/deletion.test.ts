// What a deletion leaves on an object. Fails when: an object has a finalizer of the garbage
// collector where there is none, or has another one than upstream would set, one that is being
// deleted takes further finalizers, or an answer has another code.
import { describe, expect, test } from 'vitest'
import {
  type ApiObject,
  apiGroup,
  completeConfig,
  createApiServer,
  defineResource,
  memoryStorage,
  type Resource,
} from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'
import { widget, widgets } from './widgets.ts'

const WIDGETS = '/apis/demo.example/v1/namespaces/default/widgets'
const keepers = kindOf('Keeper', 'OrphanDependents')
const loners = kindOf('Loner', 'Unsupported')

function kindOf(kind: string, garbageCollectionPolicy: 'OrphanDependents' | 'Unsupported'): Resource {
  const plural = `${kind.toLowerCase()}s`
  const versions = { v1: { schema: { type: 'object' } } } as const
  return defineResource({ group: 'demo.example', kind, plural, scope: 'Cluster', versions, strategy: { garbageCollectionPolicy } })
}

async function scene(collected: readonly Resource[] = [widgets, keepers, loners]) {
  const memory = memoryStorage()
  const resources = [widgets, keepers, loners].map((resource) => ({ resource, storage: memory.resource() }))
  const { ask } = await serveApi({
    setUp: (server) => {
      server.installApiGroups(apiGroup({ group: 'demo.example', versions: { v1: resources } }))
      server.enableGarbageCollection(...collected)
    },
  })
  const json = async (method: string, path: string, body?: object, type = 'application/json') => {
    const answer = await ask(path, { method, headers: { 'content-type': type }, ...(body && { body: JSON.stringify(body) }) })
    return { code: answer.status, body: (await answer.json()) as ApiObject & { message?: string } }
  }
  return {
    json,
    create: async (kind: string, finalizers: readonly string[] = []): Promise<string> => {
      const path = kind === 'Widget' ? WIDGETS : `/apis/demo.example/v1/${kind.toLowerCase()}s`
      const object = { ...widget('it', { finalizers }), kind, ...(kind !== 'Widget' && { spec: undefined }) }
      expect((await json('POST', path, object)).code).toBe(201)
      return `${path}/it`
    },
  }
}

describe('with a garbage collector', () => {
  // Each with the finalizers that are there behind it; undefined: it is gone.
  test.each<[kind: string, had: readonly string[], asked: object, has: readonly string[] | undefined]>([
    ['Widget', [], {}, undefined],
    ['Widget', [], { propagationPolicy: 'Background' }, undefined],
    ['Widget', [], { propagationPolicy: 'Foreground' }, ['foregroundDeletion']],
    ['Widget', [], { propagationPolicy: 'Orphan' }, ['orphan']],
    ['Widget', [], { orphanDependents: true }, ['orphan']],
    ['Widget', [], { orphanDependents: false }, undefined],
    ['Widget', ['orphan'], {}, ['orphan']],
    ['Widget', ['foregroundDeletion'], {}, ['foregroundDeletion']],
    ['Widget', ['orphan'], { propagationPolicy: 'Background' }, undefined],
    ['Widget', ['orphan'], { orphanDependents: false }, undefined],
    ['Widget', ['a.example/x', 'orphan'], { propagationPolicy: 'Foreground' }, ['a.example/x', 'foregroundDeletion']],
    ['Widget', ['foregroundDeletion', 'a.example/x'], { propagationPolicy: 'Orphan' }, ['a.example/x', 'orphan']],
    // What has not changed keeps its order.
    ['Widget', ['foregroundDeletion', 'a.example/x'], { propagationPolicy: 'Foreground' }, ['foregroundDeletion', 'a.example/x']],
    ['Widget', ['a.example/x'], {}, ['a.example/x']],
    ['Keeper', [], {}, ['orphan']],
    ['Keeper', [], { propagationPolicy: 'Background' }, undefined],
    ['Keeper', ['foregroundDeletion'], {}, ['foregroundDeletion']],
    ['Loner', [], { propagationPolicy: 'Foreground' }, undefined],
    ['Loner', ['orphan'], { propagationPolicy: 'Orphan' }, undefined],
    ['Loner', ['a.example/x', 'orphan'], { orphanDependents: true }, ['a.example/x']],
  ])('%s with %j that is deleted with %j has %j', async (kind, had, asked, has) => {
    const { json, create } = await scene()
    const path = await create(kind, had)
    const dry = await json('DELETE', path, { ...asked, dryRun: ['All'] })
    expect(dry.body.metadata.finalizers).toEqual(has)
    expect((await json('GET', path)).body.metadata.deletionTimestamp).toBeUndefined()
    const { code, body } = await json('DELETE', path, asked)
    expect([code, body.kind]).toEqual([200, has === undefined ? 'Status' : kind])
    const left = await json('GET', path)
    expect(left.body.metadata.finalizers).toEqual(has)
    if (has === undefined) return expect(left.code).toBe(404)
    expect([typeof left.body.metadata.deletionTimestamp, left.body.metadata.generation]).toEqual(['string', 2])
  })

  test('the query says it, too', async () => {
    const { json, create } = await scene()
    const path = await create('Widget')
    expect((await json('DELETE', `${path}?propagationPolicy=Foreground&orphanDependents`)).code).toBe(422)
    expect((await json('DELETE', `${path}?orphanDependents`)).body.metadata.finalizers).toEqual(['orphan'])
    expect((await json('DELETE', `${path}?orphanDependents=FALSE`)).body.kind).toBe('Status')
  })

  test('another policy may be asked for while it is being deleted', async () => {
    const { json, create } = await scene()
    const path = await create('Widget')
    const { body: first } = await json('DELETE', path, { propagationPolicy: 'Orphan' })
    const { body: second } = await json('DELETE', path, { propagationPolicy: 'Foreground' })
    expect(second.metadata).toEqual({ ...first.metadata, resourceVersion: expect.anything(), finalizers: ['foregroundDeletion'] })
    // Nothing is written for what is so already.
    expect((await json('DELETE', path, { propagationPolicy: 'Foreground' })).body).toEqual(second)
    expect((await json('DELETE', path, { propagationPolicy: 'Background' })).body.kind).toBe('Status')
    expect((await json('GET', path)).code).toBe(404)
  })

  test('only who forbids orphans in the older form is told that it is not gone yet', async () => {
    const { json, create } = await scene()
    const path = await create('Widget', ['a.example/x'])
    expect((await json('DELETE', path, { propagationPolicy: 'Background' })).code).toBe(200)
    expect((await json('DELETE', path, { orphanDependents: false })).code).toBe(202)
  })

  test('a collection is deleted in the same way', async () => {
    const { json, create } = await scene()
    const path = await create('Widget')
    expect((await json('DELETE', WIDGETS, { propagationPolicy: 'Foreground' })).code).toBe(200)
    expect((await json('GET', path)).body.metadata.finalizers).toEqual(['foregroundDeletion'])
  })

  test('no finalizer comes to what is being deleted, and not both policies to anything', async () => {
    const { json, create } = await scene()
    const path = await create('Widget', ['a.example/x', 'a.example/y'])
    const merge = (finalizers: readonly string[]) => json('PATCH', path, { metadata: { finalizers } }, 'application/merge-patch+json')
    const both = await merge(['orphan', 'foregroundDeletion'])
    expect([both.code, both.body.message]).toEqual([
      422,
      'Widget.demo.example "it" is invalid: metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ])
    await json('DELETE', path)
    const late = await merge(['a.example/x', 'a.example/z', 'orphan'])
    expect([late.code, late.body.message]).toEqual([
      422,
      'Widget.demo.example "it" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.example/z", "orphan"}',
    ])
    expect((await merge(['a.example/y'])).code).toBe(200)
  })

  test.each([{ propagationPolicy: 1 }, { orphanDependents: 'yes' }])('%j is no DeleteOptions', async (asked) => {
    const { json, create } = await scene()
    expect((await json('DELETE', await create('Widget'), asked)).code).toBe(400)
  })
})

test('no update makes or changes a deletion', async () => {
  const { json } = await scene()
  const held = { ...widget('a'), metadata: { name: 'a', finalizers: ['demo.example/held'] } }
  await json('POST', WIDGETS, held)
  const since = { deletionTimestamp: '2020-01-01T00:00:00Z' }
  const put = (more: object) => json('PUT', `${WIDGETS}/a`, { ...held, metadata: { ...held.metadata, ...more } })
  const message =
    'Widget.demo.example "a" is invalid: metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable'
  expect(await put(since)).toMatchObject({ code: 422, body: { message } })
  expect((await json('PATCH', `${WIDGETS}/a`, { metadata: since }, 'application/merge-patch+json')).code).toBe(422)
  const { body } = await json('DELETE', `${WIDGETS}/a`)
  for (const more of [since, {}]) {
    const kept = await put(more)
    expect([kept.code, kept.body.metadata.deletionTimestamp]).toEqual([200, body.metadata.deletionTimestamp])
  }
  expect((await put({ deletionGracePeriodSeconds: 5 })).code).toBe(422)
})

test('without one, what is deleted is not kept for it', async () => {
  const { json, create } = await scene([keepers])
  const path = await create('Widget')
  expect((await json('DELETE', path, { propagationPolicy: 'Foreground' })).body.kind).toBe('Status')
  expect((await json('GET', path)).code).toBe(404)
  // What its finalizers were before is not for the server to say.
  const kept = await create('Widget', ['foregroundDeletion'])
  expect((await json('DELETE', kept, { propagationPolicy: 'Background' })).body.metadata.finalizers).toEqual(['foregroundDeletion'])
})

test('a server in front says it for those behind it', async () => {
  const { ask } = await serveApi({
    setUp: (server) => server.enableGarbageCollection(widgets),
    delegate: (() => {
      const behind = createApiServer(completeConfig({}), { name: 'behind' })
      const resources = [{ resource: widgets, storage: memoryStorage().resource() }]
      behind.installApiGroups(apiGroup({ group: 'demo.example', versions: { v1: resources } }))
      return behind
    })(),
  })
  const headers = { 'content-type': 'application/json' }
  await ask(WIDGETS, { method: 'POST', headers, body: JSON.stringify(widget('it')) })
  const deleted = await ask(`${WIDGETS}/it?propagationPolicy=Foreground`, { method: 'DELETE' })
  expect(((await deleted.json()) as ApiObject).metadata.finalizers).toEqual(['foregroundDeletion'])
})
