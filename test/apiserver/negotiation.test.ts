// What clients ask for in unusual ways, each answered as a recorded server of upstream's. Fails
// when: a header or a query is read in another way than Go reads it, a form is sent that was not
// asked for, or what is no request of Go's comes to the filters.
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { negotiate } from '#apiserver/encoding/negotiate.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import { cpuOf, leastOf } from '../support/cost.ts'

interface Given {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const ask = ({ port }: ServedApi, path: string, headers: OutgoingHttpHeaders = {}, method = 'GET'): Promise<Given> =>
  new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false }, async (response) =>
      resolve({ status: response.statusCode as number, headers: response.headers, body: await text(response) }),
    )
    request.on('error', reject).end()
  })

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const JSON_LIST = [200, 'application/json', '{"kind":"APIGroupList","groups":[]}\n']
const YAML_LIST = [200, 'application/yaml', 'groups: []\nkind: APIGroupList\n']
const PRETTY = JSON.stringify({ kind: 'APIGroupList', groups: [] }, null, 2)
const AGGREGATED_LIST = [200, AGGREGATED, expect.stringContaining('"APIGroupDiscoveryList"')]
const NOT_ACCEPTABLE = [406, 'application/json', expect.stringContaining('only the following media types are accepted')]
const NO_REPRESENTATION = [406, 'application/json', expect.stringContaining('406: Not Acceptable')]

describe('a list is sent in the form that is asked for', () => {
  test.each([
    ['', JSON_LIST],
    ['application/yaml, */*', YAML_LIST],
    // No word of it is another one in upper case.
    ['Application/YAML', NO_REPRESENTATION],
    ['Application/YAML, */*', JSON_LIST],
    // Quality: what is no number is none.
    ['application/json;q=foo, application/yaml;q=0.5', YAML_LIST],
    ['application/json;q= 1, application/yaml;q=0.5', YAML_LIST],
    ['application/json;q=0', JSON_LIST],
    // Parameters: those of another form, of a stream, of a version, and unknown ones.
    ['application/json;v=v1', NOT_ACCEPTABLE],
    ['application/json;as=', JSON_LIST],
    ['application/json;stream=watch', JSON_LIST],
    ['application/yaml;stream=watch', NOT_ACCEPTABLE],
    ['application/json;stream=foo', NOT_ACCEPTABLE],
    ['application/json;sv=v1', NOT_ACCEPTABLE],
    ['application/json;foo=bar', JSON_LIST],
    ['application/json;pretty=1', [200, 'application/json', PRETTY]],
    ['application/json;pretty=true', JSON_LIST],
    ['application/json/x, application/yaml', YAML_LIST],
    // Of the aggregated form it is enough that it is taken at all.
    [AGGREGATED, AGGREGATED_LIST],
    [`application/json, ${AGGREGATED};q=0.1`, AGGREGATED_LIST],
    [`${AGGREGATED.replace('v2', 'v2beta1')}, application/json`, JSON_LIST],
    // Of several headers the first counts.
    [['application/yaml', 'application/json'], YAML_LIST],
    [['text/html', 'application/json'], NO_REPRESENTATION],
    [['', AGGREGATED], JSON_LIST],
  ])('%s', async (accept, expected) => {
    const served = await serveApi({})
    const { status, headers, body } = await ask(served, '/apis', accept === '' ? {} : { Accept: accept })
    expect([status, headers['content-type'], body]).toEqual(expected)
  })

  test('with the tag of what it lists, and without a body to a client that has it', async () => {
    const served = await serveApi({})
    const { headers } = await ask(served, '/apis', { Accept: AGGREGATED })
    // That of upstream's empty list.
    expect(headers.etag).toMatch(/^"E31D92F2F415F58D[0-9A-F]{112}"$/)
    const known = await ask(served, '/apis', { Accept: AGGREGATED, 'If-None-Match': headers.etag })
    expect([known.status, known.body, known.headers.etag, known.headers.vary]).toEqual([304, '', headers.etag, 'Accept'])
    expect(known.headers['content-type'] ?? known.headers['content-length']).toBeUndefined()
  })

  test.each([
    ['?pretty=1', PRETTY],
    ['?pretty=%zz&pretty=1', PRETTY],
    ['?pretty=1;x', JSON_LIST[2]],
    ['?%70retty=1', JSON_LIST[2]],
  ])('for people when its query says so: %s', async (query, expected) => {
    expect((await ask(await serveApi({}), `/apis${query}`)).body).toBe(expected)
  })

  test('and a body is of a type that is named, not of any', async () => {
    const served = await serveApi({})
    for (const path of ['/apis', '/version']) expect((await ask(served, path, { 'Content-Type': '*/*' })).status).toBe(415)
  })
})

describe('before any filter', () => {
  test('a path with an escape that is none is no request', async () => {
    const served = await serveApi({ setUp: (server) => server.handlePrefix('/a/', (_, response) => void response.end('a')) })
    for (const path of ['/%', '/%zz', '/a/%2', 'http://host/a/%zz']) {
      const { status, headers, body } = await ask(served, path)
      expect([status, headers, body]).toEqual([
        400,
        { 'content-type': 'text/plain; charset=utf-8', connection: 'close' },
        '400 Bad Request',
      ])
    }
    expect((await ask(served, '/a/?b=%zz')).body).toBe('a')
  })

  test('the server itself is asked for its options', async () => {
    const served = await serveApi({})
    const { status, headers, body } = await ask(served, '*', {}, 'OPTIONS')
    expect([status, headers['content-length'], headers['audit-id'], body]).toEqual([200, '0', undefined, ''])
    expect((await ask(served, '*')).status).toBe(400)
  })
})

test('a time that is over before the handler is asked is 504, however quick the handler', async () => {
  const served = await serveApi({ setUp: (server) => server.handle('/a', (_, response) => void response.end('a')) })
  for (const given of ['1ns', '0.5us', '1ns&timeout=1h'])
    expect([given, (await ask(served, `/a?timeout=${given}`)).status]).toEqual([given, 504])
  expect((await ask(served, '/a?timeout=-1s')).body).toBe('a')
  expect((await ask(served, '/a?%74imeout=foo')).status).toBe(400)
  expect(served.life.requestsUnderWay()).toEqual([])
})

test('what a check is excluded by is read and quoted as Go does', async () => {
  const served = await serveApi({})
  const warning = async (query: string) => /warn: .* (".*")\n/.exec((await ask(served, `/readyz?verbose&${query}`)).body)?.[1]
  expect(await warning('exclude=a;b')).toBeUndefined()
  expect(await warning('exclude=%zz')).toBeUndefined()
  expect(await warning('exclude=%zz&exclude=b')).toBe('"b"')
  expect(await warning('exclude=%00%1b%7f')).toBe('"\\x00\\x1b\\x7f"')
  expect(await warning('exclude=%c2%a0%c3%a9%ef%bb%bf')).toBe('"\\u00a0é\\ufeff"')
  expect((await ask(served, '/readyz?verbose=%zz')).body).toBe('ok')
})

test('only a GET is told in HTML where the profiles are', async () => {
  const served = await serveApi({ config: { enableProfiling: true, authorizer: { authorize: () => ({ decision: 'allow' }) } } })
  const notified = async (method: string) => {
    const { status, headers, body } = await ask(served, '/debug/pprof', {}, method)
    return [status, headers.location, headers['content-type'], headers['content-length'], body]
  }
  const html = 'text/html; charset=utf-8'
  expect(await notified('GET')).toEqual([302, '/debug/pprof/', html, '36', '<a href="/debug/pprof/">Found</a>.\n\n'])
  expect(await notified('HEAD')).toEqual([302, '/debug/pprof/', html, undefined, ''])
  expect(await notified('POST')).toEqual([302, '/debug/pprof/', undefined, '0', ''])
})

// 16 KiB is what node lets in. What takes the square of that blocks the event loop for seconds.
test.each([
  ['clauses in the worst order', `${'*,'.repeat(4000)}${'a/b,'.repeat(2000)}`],
  ['a run of spaces', `a${' '.repeat(16_000)}b/c`],
  ['parameters', 'a/b;'.repeat(4000)],
])('a long Accept costs no more than its length: %s', async (_, accept) => {
  const request = { headers: { accept }, rawHeaders: ['Accept', accept] } as unknown as IncomingMessage
  expect(await leastOf(150, () => cpuOf(() => negotiate(request, [{ type: 'application/json' }])))).toBeLessThan(150)
})
