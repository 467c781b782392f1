// Numbers and texts that are sent. Fails when: a number is stored as another one, or as null, an
// integer is taken that clients cannot hold, or a body of YAML takes long or ends the process.
import { describe, expect, test } from 'vitest'
import { isExact } from '#apiserver/encoding/exact-number.ts'
import { lookAtJson } from '#apiserver/encoding/json-text.ts'
import { readYamlBody } from '#apiserver/encoding/read-yaml-body.ts'
import { defineResource } from '#apiserver/index.ts'
import { cpuOf } from '../support/cost.ts'
import { JSON_PATCH_TYPE, JSON_TYPE, MERGE_TYPE, serveKind, YAML_TYPE } from './ask-widgets.ts'
import { WIDGETS } from './widgets.ts'

const counted = defineResource({
  group: 'demo.example',
  kind: 'Widget',
  plural: 'widgets',
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
              ratio: { type: 'number' },
              either: { 'x-kubernetes-int-or-string': true },
              any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              replicas: { type: 'integer' },
            },
          },
          status: { type: 'object', properties: { replicas: { type: 'integer' } } },
        },
      },
      subresources: { status: true, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    },
  },
})

const object = (name: string, spec: string): string =>
  `{"apiVersion":"demo.example/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":${spec}}`

const INEXACT = ['1e400', '-1e400', '9007199254740993', '-9007199254740993', '1152921504606846977', `1${'0'.repeat(400)}`]

test.each([
  ['9007199254740992', true],
  ['1152921504606847000', true],
  ['-0', true],
  ['1e21', true],
  ['0.12345678901234567890123', true],
  ['1e-400', true],
  ...INEXACT.map((literal): [string, boolean] => [literal, false]),
])('%s is kept as it is: %s', (literal, is) => {
  expect(isExact(literal)).toBe(is)
  expect(lookAtJson(`{"9007199254740993":[${literal}, "1e400"]}`, 1).inexact).toBe(is ? undefined : literal)
})

test('a number that cannot be kept is refused where it is read, and nothing is written', async () => {
  const { json } = await serveKind(counted)
  expect((await json('POST', WIDGETS, object('a', '{"size":1}'))).code).toBe(201)
  const path = `${WIDGETS}/a`
  for (const number of INEXACT)
    for (const [method, at, body, type] of [
      ['POST', WIDGETS, object('b', `{"any":{"x":[${number}]}}`), JSON_TYPE],
      ['POST', WIDGETS, object('b', `{"any":{"x": ${number}}}`), YAML_TYPE],
      ['PUT', path, object('a', `{"ratio":${number}}`), JSON_TYPE],
      ['PUT', `${path}/status`, object('a', `{"ratio":${number}}`), JSON_TYPE],
      ['PATCH', path, `{"spec":{"any":{"x":${number}}}}`, MERGE_TYPE],
      ['PATCH', path, `[{"op":"add","path":"/spec/any","value":{"x":${number}}}]`, JSON_PATCH_TYPE],
      ['PATCH', `${path}/scale`, `{"spec":{"replicas":${number}}}`, MERGE_TYPE],
      ['DELETE', path, `{"gracePeriodSeconds":${number}}`, JSON_TYPE],
    ] as const) {
      const { code, body: answer } = await json(method, at, body, type)
      expect([method, at, type, code, answer['message']]).toEqual([method, at, type, 400, expect.stringContaining(number.slice(0, 40))])
      expect(String(answer['message']).length).toBeLessThan(300)
    }
  for (const number of ['.inf', '-.inf', '.nan', '0x7fffffffffffffff', '123456789012345678_90'])
    expect((await json('POST', WIDGETS, object('b', `{any: {x: ${number}}}`), YAML_TYPE)).code).toBe(400)
  expect((await json('GET', WIDGETS)).body['items']).toMatchObject([{ metadata: { name: 'a' }, spec: { size: 1 } }])
})

test('an integer is one that all can hold, and a scale one of 32 bits', async () => {
  const { json } = await serveKind(counted)
  for (const wrong of ['{"size":1e30}', '{"either":1e30}', '{"size":9007199254740992}', '{"replicas":3000000000}', '{"replicas":-1}'])
    expect([wrong, (await json('POST', WIDGETS, object('a', wrong))).code]).toEqual([wrong, 422])
  const made = await json('POST', WIDGETS, object('a', '{"size":9007199254740991,"ratio":1e30,"replicas":2147483647,"any":{"x":1e3}}'))
  expect([made.code, made.body['spec']]).toEqual([201, { size: 9007199254740991, ratio: 1e30, replicas: 2147483647, any: { x: 1000 } }])
  const scaled = await json('PATCH', `${WIDGETS}/a/scale`, { spec: { replicas: 3_000_000_000 } }, MERGE_TYPE)
  expect([scaled.code, scaled.body['message']]).toEqual([422, expect.stringContaining('less than or equal to 2147483647')])
  expect((await json('PATCH', `${WIDGETS}/a/status`, { status: { replicas: 3_000_000_000 } }, MERGE_TYPE)).code).toBe(422)
  expect((await json('GET', `${WIDGETS}/a/scale`)).body['spec']).toEqual({ replicas: 2147483647 })
})

/** As many pieces as there may be. */
const PIECES = 16_000
const repeated = (text: string, pieces: number): string => text.repeat(PIECES / pieces)

describe('a body of YAML', () => {
  test.each([
    ['two documents', 'a: 1\n---\nb: 1', 'more than one document at line 2, column 1'],
    ['an open list', 'a: [1\nb: 2', 'at line'],
    ['a closed list', ']', 'at line 1'],
    ['an alias of nothing', 'a: *none', 'Unresolved alias'],
    ['many open lists', '['.repeat(520), 'exceeded max depth'],
    ['many lists', '- '.repeat(600), 'exceeded max depth'],
    ['many closed lists', '['.repeat(100_000) + ']'.repeat(100_000), 'exceeded max depth'],
    ['many objects', '{a: '.repeat(60_000), 'exceeded max depth'],
    ['many names', '? '.repeat(100_000), 'exceeded max depth'],
    ['a long list', `[${'a,'.repeat(100_000)}]`, 'more than 16384 names'],
    ['many aliases', `a: &a [1]\nb: [${'*a,'.repeat(1_000)}]`, 'alias'],
  ])('%s: refused', async (_, text, why) => {
    await expect(readYamlBody(text, 100)).rejects.toThrow(why)
  })

  test('is nested as deep as one of JSON', async () => {
    const deepest = '['.repeat(512) + ']'.repeat(512)
    expect(JSON.stringify((await readYamlBody(deepest, 100)).value)).toBe(deepest)
    expect((await readYamlBody('', 100)).value).toBeNull()
    const { value } = await readYamlBody('a: y\nb: 0o17\nc: 1.5e3\nd: 1_000\n1: x', 100)
    expect(value).toEqual({ a: true, b: '0o17', c: 1500, d: 1000, 1: 'x' })
  })

  // As apiextensions-apiserver answers.
  test.each([
    ['a: 2020-01-01\n2020-01-01: b', { a: '2020-01-01', '2020-01-01': 'b' }],
    ['a: 2001-12-14t21:59:43.10-05:00', { a: '2001-12-14t21:59:43.10-05:00' }],
    ['a: !!binary aGk=', { a: 'hi' }],
    ['a: !!set {b, c}', { a: { b: null, c: null } }],
    ['a: !!omap [b: 1, c: 2]', { a: [{ b: 1 }, { c: 2 }] }],
    ['a: !!pairs [b: 1]', { a: [{ b: 1 }] }],
    ['a: {<<: {b: 1}, c: 2}', { a: { b: 1, c: 2 } }],
  ])('%j keeps what JSON has no word for as it is written', async (text, value) => {
    expect(JSON.parse(JSON.stringify((await readYamlBody(text, 100)).value))).toEqual(value)
  })

  test('says what stands in it twice', async () => {
    const text = 'a: {b: 1, b: 2, "b": 3}\nl: [{x: 1, x: 2}]\na: 5\n? [q, q]\n: {z: 1, z: 2}\n<<: {m: 1}\n<<: {m: 2}'
    expect((await readYamlBody(text, 100)).duplicates).toEqual(['a.b', 'a.b', 'l[0].x', 'a', 'z'])
    expect((await readYamlBody(text, 2)).duplicates).toEqual(['a.b', 'a.b'])
    const { json } = await serveKind(counted)
    const twice = 'apiVersion: demo.example/v1\nkind: Widget\nmetadata: {name: a, name: b}\n'
    const strict = await json('POST', `${WIDGETS}?fieldValidation=Strict`, twice, YAML_TYPE)
    expect([strict.code, strict.body['message']]).toEqual([
      400,
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: duplicate field "metadata.name"',
    ])
    expect((await json('POST', WIDGETS, twice, YAML_TYPE)).body['metadata']?.name).toBe('b')
  })

  test('what its aliases stand for is bounded', async () => {
    const { json } = await serveKind(counted)
    const text = `apiVersion: &a "${'x'.repeat(100_000)}"\nb: [${'*a,'.repeat(90)}]`
    expect((await json('POST', WIDGETS, text, YAML_TYPE)).code).toBe(413)
  })

  // It takes about 0.2 s. What is bounded by bytes alone takes many seconds.
  test.each([
    ['a list', '[', repeated('a,', 2), ']'],
    ['commas', '[', repeated(',', 1), ''],
    ['lines', '', repeated('a: 1\n', 5), ''],
    ['directives', '', repeated('%x\n', 2), ''],
    ['errors', '', repeated('[}', 2), ''],
    ['aliases', 'a: &a 1\nb: [', repeated('*a,', 2), ']'],
    ['a number to the base of 60', 'a: ', `1${':1'.repeat(120_000)}`, ''],
    ['digits', 'a: ', '9'.repeat(250_000), ''],
    ['an empty text', 'a: "', '\n'.repeat(250_000), '"'],
  ])('%s: the process goes on', async (_, before, many, behind) => {
    expect(await cpuOf(async () => void (await readYamlBody(before + many + behind, 100).catch(() => {})))).toBeLessThan(2_000)
  })
})
