// Objects that were stored before their kind had a rule. Fails when: one cannot be changed in other
// parts, or deleted; or something wrong passes that was not there before. The answers are those of
// apiextensions-apiserver 0.37.2, but for what docs/divergences.md V102 says.
import { expect, test } from 'vitest'
import { type ApiObject, defineResource, type JsonSchema, memoryStorage, type Resource } from '#apiserver/index.ts'
import { JSON_PATCH_TYPE, JSON_TYPE, MERGE_TYPE, serveKind } from './ask-widgets.ts'

const RATS = '/apis/demo.example/v1/namespaces/default/rats'

function schemaOf(isStrict: boolean): JsonSchema {
  const rule = (schema: JsonSchema): JsonSchema => (isStrict ? schema : {})
  const short = { type: 'string', ...rule({ maxLength: 2 }) }
  const items = { type: 'object', required: ['name'], properties: { name: { type: 'string' }, value: short } }
  const set = { type: 'array', ...rule({ 'x-kubernetes-list-type': 'set' }), items: short }
  return {
    ...rule({ required: ['kept'] }),
    properties: {
      kept: { type: 'string' },
      spec: {
        type: 'object',
        ...rule({ required: ['must'] }),
        properties: {
          must: { type: 'string' },
          replicas: { type: 'integer' },
          size: { type: 'integer', ...rule({ maximum: 5 }) },
          plain: { type: 'array', items },
          map: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items, ...rule({ maxItems: 3 }) },
          set,
          labels: { type: 'object', additionalProperties: short },
          inner: {
            type: 'object',
            ...rule({ required: ['a'] }),
            properties: { a: { type: 'string' }, b: { type: 'string' }, d: { type: 'string', ...rule({ default: 'dd' }) } },
          },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...rule({ minProperties: 2 }) },
          either: { anyOf: [{ type: 'integer' }, { type: 'object', properties: { a: short, b: { type: 'string' } } }] },
          none: { type: 'string', nullable: true, ...rule({ enum: ['a'] }) },
        },
      },
      status: { type: 'object', properties: { need: { type: 'integer', ...rule({ minimum: 3 }) }, other: { type: 'string' }, set } },
    },
  }
}

const rats = (isStrict: boolean): Resource =>
  defineResource({
    group: 'demo.example',
    kind: 'Rat',
    plural: 'rats',
    scope: 'Namespaced',
    versions: {
      v1: {
        schema: schemaOf(isStrict),
        subresources: { status: true, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
      },
    },
  })

const OLD = {
  size: 9,
  plain: [
    { name: 'p', value: 'long' },
    { name: 'q', value: 'x' },
  ],
  map: [
    { name: 'm', value: 'long' },
    { name: 'n', value: 'x' },
  ],
  set: ['a', 'a'],
  labels: { l: 'long', m: 'x' },
  inner: { b: 'b' },
  free: { z: 1 },
  either: { a: 'long', b: 'b' },
  none: null,
}
const FINALIZERS = ['a.example/b']

/** A server whose kind has got rules, of an object `r` from before. */
async function withOld(spec: object, status: object = {}) {
  const storage = memoryStorage().resource()
  const before = await serveKind(rats(false), storage)
  const rat = { apiVersion: 'demo.example/v1', kind: 'Rat', metadata: { name: 'r', finalizers: FINALIZERS }, spec }
  expect((await before.json('POST', RATS, rat)).code).toBe(201)
  expect((await before.json('PATCH', `${RATS}/r/status`, { status }, MERGE_TYPE)).code).toBe(200)
  const { json } = await serveKind(rats(true), storage)
  return (body: object | undefined, of = '', method = 'PATCH') =>
    json(method, `${RATS}/r${of}`, body, method !== 'PATCH' ? JSON_TYPE : Array.isArray(body) ? JSON_PATCH_TYPE : MERGE_TYPE)
}

const replace = (path: string, value: unknown, op = 'replace') => [{ op, path: `/spec/${path}`, value }]
const TOO_LONG = 'Too long: may not be more than 2 bytes'

test('an object that a rule has made wrong can be changed in other parts, and deleted', async () => {
  const ask = await withOld(OLD, { need: 1, set: ['s', 's'] })
  for (const [body, of] of [
    [{ metadata: { labels: { a: 'b' } } }, ''],
    [[{ op: 'add', path: '/metadata/annotations', value: { a: 'b' } }], ''],
    [{ status: { other: 'x' } }, '/status'],
    [{ status: { set: ['s', 's', 't'] } }, '/status'],
  ] as const)
    expect([body, (await ask(body, of)).code]).toEqual([body, 200])
  const { body } = await ask({})
  const put = await ask({ ...body, metadata: { ...body['metadata'], labels: { c: 'd' } } }, '?fieldValidation=Strict', 'PUT')
  // What is filled in meanwhile is no change.
  expect([put.code, put.body['spec'].inner]).toEqual([200, { b: 'b', d: 'dd' }])
  expect((await ask(undefined, '', 'DELETE')).code).toBe(200)
  expect((await ask({ metadata: { finalizers: null } })).code).toBe(200)
  expect((await ask(undefined, '', 'GET')).code).toBe(404)
})

const KEPT = { kept: 'x', spec: { must: 'x' } }

test.each<[string, object, string?]>([
  ['size', { spec: { must: 'y' } }],
  ['size', { spec: { size: 8 } }, 'spec.size: Invalid value: 8: spec.size in body should be less than or equal to 5'],
  ['plain', { spec: { must: 'y' } }],
  ['plain', replace('plain/1/value', 'y'), `spec.plain[0].value: ${TOO_LONG}`],
  ['map', replace('map/1/value', 'y')],
  ['map', { spec: { map: OLD.map.toReversed() } }],
  ['map', { spec: { map: [{ name: 'm', value: 'longer' }] } }, `spec.map[0].value: ${TOO_LONG}`],
  ['map', { spec: { map: [{ name: 'o', value: 'long' }] } }, `spec.map[0].value: ${TOO_LONG}`],
  ['map', { spec: { map: [OLD.map[0], OLD.map[0]] } }, 'spec.map[1]: Duplicate value: {"name":"m"}'],
  ['map', { spec: { map: [...OLD.map, { name: 'o' }, { name: 'p' }] } }, 'spec.map: Too many: 4: must have at most 3 items'],
  ['set', replace('set/-', 'b', 'add')],
  ['set', replace('set/-', 'a', 'add')],
  ['set', replace('set/-', 'long', 'add'), `spec.set[2]: ${TOO_LONG}`],
  ['labels', { spec: { labels: { m: 'y' } } }],
  ['labels', { spec: { labels: { l: 'longer' } } }, `spec.labels.l: ${TOO_LONG}`],
  ['labels', { spec: { labels: { n: 'long' } } }, `spec.labels.n: ${TOO_LONG}`],
  ['inner', { spec: { inner: { b: 'c' } } }, 'spec.inner.a: Required value'],
  ['none', { spec: { must: 'y' } }],
  ['either', { spec: { must: 'y' } }],
  ['either', { spec: { either: { b: 'c' } } }, 'spec.either in body must validate at least one schema (anyOf)'],
])('%s of an old object, changed by %j', async (name, change, message) => {
  const ask = await withOld({ must: 'x', [name]: OLD[name as keyof typeof OLD] })
  // Those of its own fields hold from now on.
  const body = Array.isArray(change) ? [{ op: 'add', path: '/kept', value: 'x' }, ...(change as object[])] : { ...KEPT, ...change }
  const answer = await ask(body)
  expect([answer.code, answer.body['message']]).toEqual(
    message === undefined ? [200, undefined] : [422, expect.stringContaining(message) as string],
  )
})

test('what is wrong in a status is told when the status changes it, and what was mended stays so', async () => {
  const ask = await withOld({ must: 'x', size: 9 }, { need: 1 })
  const status = async (fields: object | null) => (await ask({ status: fields }, '/status')).code
  expect([await status({ need: 2 }), await status({ set: ['a', 'a'] }), await status({ other: 'x' })]).toEqual([422, 422, 200])
  expect([await status(null), await status({ need: 1 })]).toEqual([200, 422])
  expect((await ask({ ...KEPT, spec: { size: 3 } })).code).toBe(200)
  expect((await ask({ spec: { size: 9 } })).code).toBe(422)
})

test('a scale is one more write of an object', async () => {
  const ask = await withOld({ must: 'x', size: 9, map: OLD.map, inner: OLD.inner })
  expect((await ask({ kept: 'x' })).code).toBe(200)
  const empty = await ask({ metadata: {} }, '/scale')
  expect([empty.code, empty.body['message']]).toEqual([400, 'the spec replicas field ".spec.replicas" cannot be empty'])
  const scaled = await ask({ spec: { replicas: 3 } }, '/scale')
  expect([scaled.code, scaled.body['spec']]).toEqual([200, { replicas: 3 }])
  const without = await withOld({ replicas: 1 })
  const { code, body } = await without({ spec: { replicas: 3 } }, '/scale')
  expect([code, body['message']]).toEqual([422, expect.stringContaining('spec.must: Required value')])
})

test('an object that is stored in a version that has got a rule', async () => {
  const storage = memoryStorage().resource()
  const moles = (isStrict: boolean): Resource => {
    const properties = { size: { type: 'integer', ...(isStrict && { maximum: 5 }) }, color: { type: 'string' } } as const
    const convert = { toHub: (object: ApiObject) => object, fromHub: (object: ApiObject) => object }
    const free = { type: 'object', additionalProperties: true } as const
    return defineResource({
      group: 'demo.example',
      kind: 'Mole',
      plural: 'moles',
      scope: 'Namespaced',
      hub: 'v1',
      versions: { v1: { schema: { properties } }, v2: { schema: { properties: { size: {}, color: {}, more: free } }, convert } },
    })
  }
  const serve = async (isStrict: boolean) => {
    const { json } = await serveKind(moles(isStrict), storage)
    return json
  }
  const path = '/apis/demo.example/v2/namespaces/default/moles'
  const before = await serve(false)
  const mole = { apiVersion: 'demo.example/v2', kind: 'Mole', metadata: { name: 'm', finalizers: FINALIZERS }, size: 9 }
  expect((await before('POST', path, mole)).code).toBe(201)
  const ask = await serve(true)
  expect((await ask('PATCH', `${path}/m`, { color: 'red' }, MERGE_TYPE)).code).toBe(200)
  expect((await ask('PATCH', `${path}/m?dryRun=All`, { color: 'grey' }, MERGE_TYPE)).code).toBe(200)
  expect((await ask('PATCH', `${path}/m`, { size: 8 }, MERGE_TYPE)).code).toBe(422)
  expect((await ask('DELETE', `${path}/m`)).code).toBe(200)
  expect((await ask('PATCH', `${path}/m`, { metadata: { finalizers: null } }, MERGE_TYPE)).code).toBe(200)
  expect((await ask('GET', `${path}/m`)).code).toBe(404)
})
