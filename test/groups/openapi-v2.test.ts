// The document of Swagger 2.0, and long answers. Fails when: an older kubectl could not read the
// document, or would refuse by it what the server takes; its tag is not that of its content; or an
// answer is compressed for a client that does not take that, is short, or is not the same after it.
import { get } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openApiV2Document } from '#apiserver/groups/openapi/v2-document.ts'
import { openApiV2Message } from '#apiserver/groups/openapi/v2-message.ts'
import { type MessageShape, readMessage } from '#apiserver/groups/protobuf/read-message.ts'
import { apiGroup, defineResource, type FlowControl, type JsonSchema, memoryStorage } from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'
import { POLL } from '../support/upstream-client.ts'
import { demoGroup, WIDGETS, widget } from './widgets.ts'

const INFO = { title: 'Demo', version: 'v1' }

/** A group with one kind, whose spec has this schema. */
const groupOf = (spec: JsonSchema) => {
  const schema = { type: 'object', properties: { spec } }
  const resource = defineResource({
    group: 'demo.example',
    kind: 'Thing',
    plural: 'things',
    scope: 'Cluster',
    versions: { v1: { schema } },
  })
  return apiGroup({ group: 'demo.example', versions: { v1: [{ resource, storage: memoryStorage().resource() }] } })
}

const specIn = (spec: JsonSchema): unknown => {
  const thing = openApiV2Document([groupOf(spec)], INFO).definitions['example.demo.v1.Thing'] as { properties: { spec: unknown } }
  return thing.properties.spec
}

const TEXTS: JsonSchema = { type: 'object', properties: { a: { type: 'string' } } }

test.each<[string, JsonSchema, object]>([
  [
    'what both forms have stays',
    { type: 'integer', minimum: 1, maximum: 3, description: 'x' },
    { type: 'integer', minimum: 1, maximum: 3, description: 'x' },
  ],
  ['defaults are left out', { type: 'object', properties: { a: { type: 'string', default: 'x' } } }, TEXTS],
  ['one of several is any', { type: 'string', anyOf: [{ minLength: 1 }] }, { type: 'string' }],
  ['what may be null has no type', { type: 'string', nullable: true, description: 'x' }, { description: 'x' }],
  ['a number or a text has no type', { 'x-kubernetes-int-or-string': true }, { 'x-kubernetes-int-or-string': true }],
  [
    'what may have other fields names none',
    { ...TEXTS, 'x-kubernetes-preserve-unknown-fields': true },
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  ],
  ['a list of anything has no type', { type: 'array' }, {}],
  ['a list says of what', { type: 'array', items: { type: 'string', default: 'x' } }, { type: 'array', items: { type: 'string' } }],
  [
    'a map, too',
    { type: 'object', additionalProperties: { type: 'integer' } },
    { type: 'object', additionalProperties: { type: 'integer' } },
  ],
])('%s', (_, given, expected) => {
  expect(specIn(given)).toEqual(expected)
})

test('references are to definitions, and everything that is referred to is there', () => {
  const document = openApiV2Document([demoGroup()], INFO)
  const json = JSON.stringify(document)
  expect(json).not.toContain('#/components/')
  const names = [...json.matchAll(/"#\/definitions\/([^"]+)"/g)].map(([, name]) => name as string)
  expect(names.length).toBeGreaterThan(5)
  for (const name of names) expect(Object.keys(document.definitions)).toContain(name)
})

describe('the message', () => {
  const NAMED = (value: MessageShape): MessageShape => ({ 1: ['name', 'text'], 2: ['value', value] })
  const EXTENSION = NAMED({ 2: ['yaml', 'text'] })
  const SCHEMA = {
    4: ['description', 'text'],
    19: ['required', 'texts'],
    22: ['type', { 1: ['value', 'texts'] }],
    31: ['extensions', [EXTENSION]],
  } as unknown as Record<number, [string, unknown]>
  SCHEMA[25] = ['properties', { 1: ['all', [NAMED(SCHEMA as unknown as MessageShape)]] }]
  const QUERY: MessageShape = { 4: ['name', 'text'], 6: ['type', 'text'] }
  const OPERATION: MessageShape = {
    5: ['id', 'text'],
    8: ['parameters', [{ 1: ['parameter', { 2: ['other', { 3: ['query', QUERY] }] }] }]],
    13: ['extensions', [EXTENSION]],
  }
  const DOCUMENT: MessageShape = {
    1: ['swagger', 'text'],
    2: ['info', { 1: ['title', 'text'], 2: ['version', 'text'] }],
    8: ['paths', { 2: ['all', [NAMED({ 8: ['patch', OPERATION] })]] }],
    9: ['definitions', { 1: ['all', [NAMED(SCHEMA as unknown as MessageShape)]] }],
  }
  interface Named<T> {
    readonly name: string
    readonly value: T
  }
  interface Read {
    readonly swagger: string
    readonly info: object
    readonly paths: {
      readonly all: readonly Named<{
        readonly patch?: { parameters: readonly { parameter: { other?: { query?: object } } }[]; extensions: readonly unknown[] }
      }>[]
    }
    readonly definitions: {
      readonly all: readonly Named<{
        readonly extensions?: readonly Named<{ yaml: string }>[]
        readonly properties?: { all: readonly Named<object>[] }
      }>[]
    }
  }
  const read = readMessage(openApiV2Message(openApiV2Document([demoGroup()], INFO)), DOCUMENT) as unknown as Read

  test('has what kubectl explains a kind by', () => {
    expect([read.swagger, read.info]).toEqual(['2.0', INFO])
    const found = read.definitions.all.find(({ name }) => name === 'example.demo.v1.Widget')?.value
    expect(found?.extensions?.map(({ name, value }) => [name, JSON.parse(value.yaml) as unknown])).toEqual([
      ['x-kubernetes-group-version-kind', [{ group: 'demo.example', version: 'v1', kind: 'Widget' }]],
    ])
    const spec = found?.properties?.all.find(({ name }) => name === 'spec')
    expect(spec?.value).toMatchObject({
      required: ['size'],
      type: { value: ['object'] },
      properties: { all: [{ name: 'size', value: { description: 'How large it is.', type: { value: ['integer'] } } }, { name: 'color' }] },
    })
  })

  test('has what it knows by that the server validates fields', () => {
    const patch = read.paths.all.find(({ name }) => name.endsWith('/widgets/{name}'))?.value.patch
    expect(patch?.parameters.map(({ parameter }) => parameter.other?.query)).toContainEqual({ name: 'fieldValidation', type: 'string' })
    expect(patch?.extensions).toContainEqual({
      name: 'x-kubernetes-group-version-kind',
      value: { yaml: '{"group":"demo.example","version":"v1","kind":"Widget"}' },
    })
  })
})

const MESSAGE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

describe('the page', () => {
  const serve = () => serveApi({ setUp: (server) => void server.installApiGroups(demoGroup()) })

  test.each([
    ['application/json', 200, 'application/json'],
    ['*/*', 200, 'application/json'],
    [MESSAGE, 200, MESSAGE],
    ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', 200, MESSAGE],
    ['text/html', 406, null],
  ])('for %s: %i', async (accept, status, type) => {
    const { ask } = await serve()
    const answer = await ask('/openapi/v2', { headers: { Accept: accept } })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, type])
  })

  test('has one tag in both forms, and another with other groups', async () => {
    let add = (): void => {}
    const { ask } = await serveApi({
      setUp: (server) => {
        server.installApiGroups(demoGroup())
        const { versions } = groupOf(TEXTS)
        add = () => void server.installApiGroups({ group: 'other.example', versions })
      },
    })
    const tag = async (accept: string, known = '') => {
      const answer = await ask('/openapi/v2', { headers: { Accept: accept, 'If-None-Match': known } })
      return [answer.status, answer.headers.get('etag') ?? ''] as const
    }
    const [, etag] = await tag('application/json')
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/)
    expect(await tag(MESSAGE, etag)).toEqual([304, etag])
    add()
    expect((await tag(MESSAGE, etag))[0]).toBe(200)
  })

  test('is not there where it is not wanted', async () => {
    const { ask } = await serveApi({ config: { enableOpenApi: false }, setUp: (server) => void server.installApiGroups(demoGroup()) })
    for (const path of ['/openapi/v2', '/openapi/v3']) expect((await ask(path)).status).toBe(404)
  })
})

describe('a long answer', () => {
  const serve = async (count: number) => {
    const text = 'x'.repeat(1_000)
    const api = await serveApi({ setUp: (server) => void server.installApiGroups(demoGroup()) })
    for (let at = 0; at < count; at++)
      await api.ask(WIDGETS, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(widget(`w${at}`, { annotations: { text } })),
      })
    return (path: string, headers: Record<string, string>) =>
      new Promise<{ headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
        get({ port: api.port, host: '127.0.0.1', path, headers, agent: false }, (answer) => {
          const chunks: Buffer[] = []
          answer
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('end', () => resolve({ headers: answer.headers, bytes: Buffer.concat(chunks) }))
        }).on('error', reject)
      })
  }

  test('is compressed where that is asked for, and the same after it', async () => {
    const ask = await serve(150)
    const plain = await ask(WIDGETS, {})
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(plain.bytes.length).toBeGreaterThan(128 * 1024)
    const compressed = await ask(WIDGETS, { 'accept-encoding': 'deflate, gzip' })
    expect([compressed.headers['content-encoding'], compressed.headers['vary'], compressed.headers['content-length']]).toEqual([
      'gzip',
      'Accept-Encoding',
      String(compressed.bytes.length),
    ])
    expect(gunzipSync(compressed.bytes).equals(plain.bytes)).toBe(true)
    // As upstream, which reads no qualities.
    expect((await ask(WIDGETS, { 'accept-encoding': 'gzip;q=1' })).headers['content-encoding']).toBeUndefined()
  })

  test('keeps the seat of its request while it is compressed, also for a client that has left', async () => {
    let leave = (): void => {}
    const given: boolean[] = []
    const flowControl: FlowControl = {
      admit: ({ info, response }) => {
        if (info.verb !== 'list') return true
        leave()
        return { giveBack: () => void given.push(response.writableEnded) }
      },
    }
    const text = 'x'.repeat(100_000)
    const api = await serveApi({ config: { flowControl }, setUp: (server) => void server.installApiGroups(demoGroup()) })
    for (let at = 0; at < 40; at++)
      await api.ask(WIDGETS, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(widget(`w${at}`, { annotations: { text } })),
      })
    const asked = get({ port: api.port, host: '127.0.0.1', path: WIDGETS, headers: { 'accept-encoding': 'gzip' }, agent: false })
    asked.on('error', () => undefined)
    leave = () => void asked.destroy()
    await expect.poll(() => given, POLL).toEqual([true])
  })

  test('of 128 KiB at most is not', async () => {
    const ask = await serve(2)
    expect((await ask(WIDGETS, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBeUndefined()
  })
})
