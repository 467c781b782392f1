// What a schema makes of an object. Fails when: a field that it does not know is kept, a default is
// missing, a wrong value passes or is refused with another text, or a keyword is passed over.
import { describe, expect, test } from 'vitest'
import { metaErrors, readMeta } from '#apiserver/groups/object-meta.ts'
import { openApiSchema } from '#apiserver/groups/openapi/schemas.ts'
import { defineResource } from '#apiserver/groups/resource/define-resource.ts'
import { type JsonSchema, readSchema } from '#apiserver/groups/resource/schema.ts'
import { walkSchema } from '#apiserver/groups/resource/schema-walk.ts'

function walked(schema: JsonSchema, value: unknown) {
  const findings = { unknown: [] as string[], errors: [] as { field: string; reason: string; message: string }[] }
  const kept = walkSchema({ type: 'object', properties: { spec: schema } }, { spec: value }, '', findings as never) as { spec: unknown }
  return { kept: kept.spec, unknown: findings.unknown, errors: findings.errors.map(({ field, message }) => `${field}: ${message}`) }
}

test('what is not known is left out, and what is missing is filled in', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      size: { type: 'integer', default: 3 },
      nested: { type: 'object', default: {}, properties: { deep: { type: 'string', default: 'x' } } },
      list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
      any: { 'x-kubernetes-preserve-unknown-fields': true, type: 'object' },
      map: { type: 'object', additionalProperties: { type: 'integer' } },
    },
  }
  const given = { b: 1, list: [{ a: 'x', c: 2 }], any: { z: [1] }, map: { k: 1 } }
  const { kept, unknown, errors } = walked(schema, given)
  expect(kept).toEqual({ list: [{ a: 'x' }], any: { z: [1] }, map: { k: 1 }, size: 3, nested: { deep: 'x' } })
  expect(unknown).toEqual(['spec.b', 'spec.list[0].c'])
  expect(errors).toEqual([])
  expect(given).toEqual({ b: 1, list: [{ a: 'x', c: 2 }], any: { z: [1] }, map: { k: 1 } })
})

test('null is left out where it is none of the values, and kept where it is', () => {
  const branches = { anyOf: [{ type: 'string' }, { type: 'null' }] }
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      text: { type: 'string' },
      preset: { type: 'string', default: 'x' },
      port: { 'x-kubernetes-int-or-string': true },
      map: { type: 'object', additionalProperties: { type: 'string' } },
      nullable: { type: 'string', nullable: true, default: 'x' },
      either: branches,
      any: {},
    },
  }
  const given = { text: null, preset: null, port: null, map: { a: null, b: 'c' }, nullable: null, either: null, any: null }
  const { kept, errors } = walked(schema, given)
  expect([kept, errors]).toEqual([{ preset: 'x', map: { b: 'c' }, nullable: null, either: null, any: null }, []])
})

/** A list that is a map by the names of its items. */
const BY_NAME: JsonSchema = {
  type: 'array',
  items: { type: 'object' },
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
}
/** What generators of definitions write for a quantity. */
const QUANTITY: JsonSchema = { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true }

test.each<[JsonSchema, unknown, readonly string[]]>([
  [{ type: 'integer' }, 'big', ['spec: Invalid value: "string": spec in body must be of type integer: "string"']],
  [{ type: 'integer' }, 1.5, ['spec: Invalid value: "number": spec in body must be of type integer: "number"']],
  [
    { type: 'array', items: { type: 'object' } },
    [null],
    ['spec[0]: Invalid value: "null": spec[0] in body must be of type object: "null"'],
  ],
  [{ type: 'object' }, null, []],
  [{ type: 'object', required: ['a'], properties: { a: { type: 'string' } } }, { a: null }, ['spec.a: Required value']],
  [{ type: 'object', nullable: true }, null, []],
  [{ type: ['string', 'null'] }, null, []],
  [{ type: 'integer', minimum: 0 }, -1, ['spec: Invalid value: -1: spec in body should be greater than or equal to 0']],
  [{ type: 'number', exclusiveMinimum: 0 }, 0, ['spec: Invalid value: 0: spec in body should be greater than 0']],
  [{ type: 'number', maximum: 2, exclusiveMaximum: true }, 2, ['spec: Invalid value: 2: spec in body should be less than 2']],
  [{ type: 'integer', multipleOf: 2 }, 3, ['spec: Invalid value: 3: spec in body should be a multiple of 2']],
  [{ type: 'string', minLength: 1 }, '', ['spec: Invalid value: "": spec in body should be at least 1 chars long']],
  [{ type: 'string', maxLength: 2 }, 'abc', ['spec: Too long: may not be more than 2 bytes']],
  [{ type: 'string', maxLength: 2 }, '😀😀', []],
  [{ type: 'string', pattern: '^a' }, 'b', ['spec: Invalid value: "b": spec in body should match \'^a\'']],
  [{ type: 'string', enum: ['a', 'b'] }, 'c', ['spec: Unsupported value: "c": supported values: "a", "b"']],
  [{ const: 1 }, 2, ['spec: Unsupported value: 2: supported values: 1']],
  [{ type: 'array', maxItems: 1 }, [1, 2], ['spec: Too many: 2: must have at most 1 item']],
  [{ type: 'array', minItems: 1 }, [], ['spec: Invalid value: 0: spec in body should have at least 1 items']],
  [{ type: 'array', uniqueItems: true }, [1, 1], ["spec: Invalid value: [1,1]: spec in body shouldn't contain duplicates"]],
  [{ type: 'object', required: ['a'], properties: { a: {} } }, {}, ['spec.a: Required value']],
  [{ type: 'object', properties: { a: { type: 'string' } }, required: ['constructor'] }, {}, ['spec.constructor: Required value']],
  [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, 1, []],
  [{ anyOf: [{ type: 'string' }] }, 1, ['spec: Invalid value: 1: spec in body must validate at least one schema (anyOf)']],
  [
    { oneOf: [{ type: 'integer' }, { type: 'number' }] },
    1,
    ['spec: Invalid value: 1: spec in body must validate one and only one schema (oneOf)'],
  ],
  [{ type: 'string' }, 1, ['spec: Invalid value: "integer": spec in body must be of type string: "integer"']],
  [
    { type: 'array', uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    ['spec: Invalid value: [{"a":1,"b":2},{"b":2,"a":1}]: spec in body shouldn\'t contain duplicates'],
  ],
  [{ type: 'array', 'x-kubernetes-list-type': 'set' }, ['a', 'b', 'a', 'a', 1, '1'], ['spec[2]: Duplicate value: "a"']],
  [{ type: 'array', 'x-kubernetes-list-type': 'atomic' }, ['a', 'a'], []],
  [BY_NAME, [{ name: 'a', n: 1 }, { name: 'a', n: 2 }, { name: 'b' }], ['spec[1]: Duplicate value: {"name":"a"}']],
  [BY_NAME, [{ n: 1 }, { n: 2 }], ['spec[1]: Duplicate value: {}']],
  [
    { ...BY_NAME, 'x-kubernetes-list-map-keys': ['name', 'n'] },
    [
      { name: 'a', n: 1 },
      { name: 'a', n: 2 },
      { name: 'a', n: 1 },
    ],
    ['spec[2]: Duplicate value: {"name":"a","n":1}'],
  ],
  // What is kept counts, not what was sent.
  [
    { type: 'object', additionalProperties: { type: 'string' }, minProperties: 1 },
    { a: null },
    ['spec: Invalid value: 0: spec in body should have at least 1 properties'],
  ],
  [
    { type: 'object', properties: { a: { type: 'string' } }, minProperties: 1 },
    { zork: 1 },
    ['spec: Invalid value: 0: spec in body should have at least 1 properties'],
  ],
  [{ type: 'object', properties: { a: { type: 'string', default: 'x' } }, minProperties: 1, maxProperties: 1 }, { zork: 1, zonk: 2 }, []],
  [{ type: 'number', multipleOf: 0.01 }, 19.99, []],
  [{ type: 'number', multipleOf: 0.01 }, 19.995, ['spec: Invalid value: 19.995: spec in body should be a multiple of 0.01']],
  [{ type: 'integer', multipleOf: 10 }, 10_000_000_001, ['spec: Invalid value: 10000000001: spec in body should be a multiple of 10']],
  // What stands beside branches holds as well.
  [{ ...QUANTITY, pattern: '^[0-9]+Gi$' }, 'lots', ['spec: Invalid value: "lots": spec in body should match \'^[0-9]+Gi$\'']],
  [{ ...QUANTITY, pattern: '^[0-9]+Gi$' }, '4Gi', []],
  [{ ...QUANTITY, pattern: '^[0-9]+Gi$', maximum: 5 }, 6, ['spec: Invalid value: 6: spec in body should be less than or equal to 5']],
  [
    { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }], maxProperties: 1 },
    { a: 1, b: 2 },
    ['spec: Too many: 2: must have at most 1 item'],
  ],
  [
    { type: 'string', anyOf: [{ pattern: '^a' }, { pattern: '^b' }] },
    5,
    ['spec: Invalid value: "integer": spec in body must be of type string: "integer"'],
  ],
  [
    { anyOf: [{ minimum: 1 }], oneOf: [{ type: 'integer' }, { type: 'number' }] },
    2,
    ['spec: Invalid value: 2: spec in body must validate one and only one schema (oneOf)'],
  ],
  [{ nullable: true, anyOf: [{ type: 'string' }] }, null, []],
  [{ 'x-kubernetes-int-or-string': true }, 'a', []],
  [
    { 'x-kubernetes-int-or-string': true },
    true,
    ['spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"'],
  ],
])('%j and %j: %j', (schema, value, errors) => {
  expect(walked(schema, value).errors).toEqual(errors)
})

test.each<[object, string]>([
  [{ $ref: '#/x' }, '$ref'],
  [{ type: 'object', properties: { a: { not: {} } } }, 'properties.a.not'],
  [{ type: 'object', properties: { a: { type: 'strange' } } }, 'properties.a.type'],
  [{ type: 'object', properties: { a: { pattern: '(' } } }, 'properties.a.pattern'],
  [{ type: 'string' }, 'type'],
  [{ properties: { a: { type: 'array', 'x-kubernetes-list-type': 'bag' } } }, 'properties.a.x-kubernetes-list-type'],
  [{ properties: { a: { type: 'array', 'x-kubernetes-list-type': 'map' } } }, 'properties.a.x-kubernetes-list-map-keys'],
  [{ properties: { a: { type: 'array', 'x-kubernetes-list-map-keys': ['b'] } } }, 'properties.a.x-kubernetes-list-map-keys'],
])('a schema with what is not known is refused: %j', (schema, place) => {
  expect(() => readSchema(schema as JsonSchema, 'schema')).toThrow(`schema.${place}`)
})

test('a schema that says itself as JSON Schema is one', () => {
  const given = { '~standard': { jsonSchema: { input: ({ target }: { target: string }) => ({ type: 'object', description: target }) } } }
  expect(readSchema(given, 'schema')).toEqual({ type: 'object', description: 'draft-2020-12' })
})

test('OpenAPI 3.0 says what JSON Schema says in its own words', () => {
  expect(
    openApiSchema({ type: ['integer', 'null'], exclusiveMinimum: 1, const: 4, $schema: 'x', items: { type: 'string', pattern: 'a' } }),
  ).toEqual({ type: 'integer', nullable: true, minimum: 1, exclusiveMinimum: true, enum: [4], items: { type: 'string', pattern: 'a' } })
})

describe('metadata', () => {
  test('is read field by field, and what is not known of it is named', () => {
    const { metadata, unknown, problem } = readMeta({ labels: { a: 'b' }, name: 'x', managedFields: [], strange: 1, finalizers: [] })
    expect([metadata, unknown, problem]).toEqual([{ name: 'x', labels: { a: 'b' } }, ['strange'], undefined])
    expect(readMeta({ labels: { a: 1 } }).problem).toBe(
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    )
    expect(readMeta([]).problem).toMatch('array into Go struct field ObjectMeta.metadata of type')
  })

  test.each([
    [
      { labels: { a: null }, annotations: { a: null }, finalizers: ['a.b/c', null] },
      { labels: { a: '' }, annotations: { a: '' }, finalizers: ['a.b/c', ''] },
    ],
    [{ ownerReferences: [null] }, { ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] }],
    [{ creationTimestamp: '2020-01-01T00:00:00.5+02:00', generation: null }, { creationTimestamp: '2020-01-01T00:00:00.5+02:00' }],
  ])('%j is read as upstream reads it', (given, read) => {
    expect(readMeta(given)).toEqual({ metadata: { name: '', ...read }, unknown: [], problem: undefined })
  })

  test.each([
    [{ ownerReferences: [{ controller: 'true' }] }, 'string into Go struct field OwnerReference.ownerReferences.controller of type bool'],
    [{ ownerReferences: [{ name: 5 }] }, 'number into Go struct field OwnerReference.ownerReferences.name of type string'],
    [{ ownerReferences: [5] }, 'OwnerReference'],
    [{ creationTimestamp: '2020' }, 'creationTimestamp'],
    [{ deletionTimestamp: '2020-01-01 00:00:00Z' }, 'deletionTimestamp'],
    [{ finalizers: [1] }, 'finalizers'],
  ])('%j is not read', (given, problem) => {
    expect(readMeta(given).problem).toContain(problem)
  })

  test('unknown fields of owners are named', () => {
    const owner = { apiVersion: 'v1', kind: 'X', name: 'n', uid: 'u', controller: null, blockOwnerDeletion: false }
    const { metadata, unknown } = readMeta({ ownerReferences: [owner, { ...owner, foo: 1 }] })
    const { controller: _, ...read } = owner
    expect([metadata.ownerReferences, unknown]).toEqual([[read, read], ['ownerReferences[1].foo']])
  })

  test.each([
    [{ name: 'A' }, true, ['metadata.name', 'metadata.namespace']],
    [{ name: 'a', namespace: 'b.c' }, true, ['metadata.namespace']],
    [{ name: 'a', namespace: 'b' }, false, ['metadata.namespace']],
    [{ name: 'a.b-c', labels: { 'x/y/z': 'ok', ok: '-' } }, false, ['metadata.labels', 'metadata.labels']],
    [{ name: 'a', annotations: { 'no good': 'x'.repeat(300_000) } }, false, ['metadata.annotations', 'metadata.annotations']],
    [{ name: 'a', finalizers: ['x/'] }, false, ['metadata.finalizers', 'metadata.finalizers']],
    [
      { name: 'a', ownerReferences: [{ apiVersion: '', kind: 'K', name: 'n', uid: 'u' }] },
      false,
      ['metadata.ownerReferences[0].apiVersion'],
    ],
    [{ name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'n', uid: 'u' }] }, false, ['metadata.ownerReferences[0]']],
    [
      { name: 'a', ownerReferences: ['a/b/c', 'a/', '/v1'].map((apiVersion) => ({ apiVersion, kind: 'K', name: 'n', uid: 'u' })) },
      false,
      ['metadata.ownerReferences[0].apiVersion', 'metadata.ownerReferences[1].apiVersion'],
    ],
  ])('%.80j is wrong in: %j %j', (metadata, isNamespaced, fields) => {
    expect(metaErrors(metadata, isNamespaced).map(({ field }) => field)).toEqual(fields)
  })
})

test.each([
  [{ kind: 'widget' }, 'kind'],
  [{ plural: 'Widgets' }, 'plural'],
  [{ plural: 'status' }, 'plural'],
  [{ plural: 'namespaces' }, 'scope'],
  [{ scope: 'Both' }, 'scope'],
  [{ group: 'Demo' }, 'group'],
  [{ shortNames: ['W D'] }, 'shortNames'],
  [{ versions: {} }, 'versions'],
  [{ versions: { v1: { schema: {} }, v2: { schema: {} } } }, 'hub'],
  [{ versions: { one: { schema: {} } } }, 'versions'],
  [{ versions: { v1: { schema: {}, columns: [{ name: 'A', type: 'string', path: 'spec' }] } } }, 'columns'],
])('a resource that cannot be served is refused: %j', (part, place) => {
  const whole = { group: 'demo.example', kind: 'Widget', plural: 'widgets', scope: 'Namespaced', versions: { v1: { schema: {} } } }
  expect(() => defineResource({ ...whole, ...part } as never)).toThrow(place)
  expect(defineResource(whole as never).listKind).toBe('WidgetList')
})
