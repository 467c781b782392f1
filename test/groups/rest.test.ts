// Requests for objects. Fails when: a write is done that should not be, an answer has another code
// than upstream's, a list or a watch tells something else than what is there, a watch outlives its
// turn or is cut without its last bookmark, or something is done that was not allowed.
import { get, type IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { ApiServer } from '#apiserver/api-server.ts'
import {
  type ApiGroup,
  type ApiObject,
  type Authorizer,
  apiGroup,
  defineResource,
  leaseGroup,
  memoryStorage,
  type Storage,
} from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'
import { demoGroup, WIDGETS, widget } from './widgets.ts'

interface Json {
  // biome-ignore lint/suspicious/noExplicitAny: what was answered is looked at, whatever it is
  readonly [field: string]: any
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const MERGE = { 'Content-Type': 'application/merge-patch+json' }

async function serveWidgets(config = {}, setUp: (server: ApiServer) => void = (server) => void server.installApiGroups(demoGroup())) {
  const api = await serveApi({ config: { authorizer: { authorize: () => ({ decision: 'allow' }) }, watchGrace: '2s', ...config }, setUp })
  const ask = async (method: string, path: string, body?: object | string, headers: Record<string, string> = JSON_TYPE) => {
    const answer = await api.ask(path, {
      method,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { code: answer.status, headers: answer.headers, body: (await answer.json()) as Json }
  }
  return { ...api, json: ask }
}

describe('writes', () => {
  test('an owner that is named twice is kept once, and its client is told', async () => {
    const { json } = await serveWidgets()
    const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u', controller: true }
    const other = { apiVersion: 'v1', kind: 'X', name: 'y', uid: 'u' }
    const twice = { ownerReferences: [owner, other, { ...owner }, owner] }
    const created = await json('POST', WIDGETS, { ...widget('a'), metadata: { name: 'a', ...twice } })
    expect([created.code, created.body['metadata'].ownerReferences]).toEqual([201, [owner, other]])
    expect(created.headers.get('warning')).toContain('duplicate UID(s) observed: u, u')
    await json('POST', WIDGETS, widget('b'))
    const patched = await json('PATCH', `${WIDGETS}/b`, { metadata: twice }, MERGE)
    expect([patched.code, patched.body['metadata'].ownerReferences]).toEqual([200, [owner, other]])
    expect(patched.headers.get('warning')).toContain('duplicate UID(s) observed: u, u')
  })

  test('a finalizer that is new and has no domain is warned of', async () => {
    const { json } = await serveWidgets()
    const prefer = (name: string, path = '') =>
      `299 - "metadata.finalizers: \\"${name}\\": prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers"`
    const finalizers = ['one', 'a.b', 'a.b/c', 'orphan', 'one', 'kubernetes']
    const created = await json('POST', WIDGETS, widget('a', { finalizers }))
    expect(created.headers.get('warning')).toBe([prefer('a.b', ' including a path (/)'), prefer('one')].join(', '))
    const patch = async (metadata: object, of = '') =>
      (await json('PATCH', `${WIDGETS}/a${of}`, { metadata }, MERGE)).headers.get('warning')
    expect(await patch({ finalizers: [...finalizers, 'two'] })).toBe(prefer('two'))
    expect([await patch({ labels: { a: 'b' } }), await patch({ finalizers: ['three'] }, '/status')]).toEqual([null, null])
  })

  test('what a JSON patch has too much is told', async () => {
    const { json } = await serveWidgets()
    await json('POST', WIDGETS, widget('a'))
    const patch = '[{"op":"add","op":"replace","path":"/spec/size","value":3,"zork":1,"zork":{"a":1,"a":2}}]'
    const ask = async (of: string) => json('PATCH', `${WIDGETS}/a${of}`, patch, { 'Content-Type': 'application/json-patch+json' })
    const told = ['json patch duplicate field \\"[0].op\\"', 'json patch unknown field \\"[0].zork\\"']
    expect((await ask('')).headers.get('warning')).toBe(told.map((each) => `299 - "${each}"`).join(', '))
    expect((await ask('?fieldValidation=Ignore')).headers.get('warning')).toBe(null)
    expect((await ask('?fieldValidation=Strict')).code).toBe(400)
  })

  test('an object says what it is, but in the groups of Kubernetes', async () => {
    const { json } = await serveWidgets({}, (server) => {
      server.installApiGroups(demoGroup(), leaseGroup(memoryStorage().resource()))
    })
    const missing = "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in "
    const { kind: _, ...kindless } = widget('a') as unknown as Json
    const shown = JSON.stringify(kindless)
    const noKind = `${missing}'${shown}' (${shown.slice(0, 30)} ...)`
    const noVersion = 'the API version in the data () does not match the expected API version (demo.example/v1)'
    for (const [sent, message] of [
      [kindless, noKind],
      [{}, `${missing}'{}' ({})`],
      [{ ...widget('a'), apiVersion: '' }, noVersion],
    ] as const) {
      expect((await json('POST', WIDGETS, sent)).body).toMatchObject({ message, code: 400 })
      expect((await json('PUT', `${WIDGETS}/a`, sent)).body).toMatchObject({ message, code: 400 })
    }
    const lease = await json('POST', '/apis/coordination.k8s.io/v1/namespaces/default/leases', { metadata: { name: 'a' } })
    expect(lease.body).toMatchObject({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1' })
  })

  test('the version 0 is none', async () => {
    const { json } = await serveWidgets()
    await json('POST', WIDGETS, widget('a'))
    const sent = widget('a', { size: 5 })
    const put = await json('PUT', `${WIDGETS}/a`, { ...sent, metadata: { name: 'a', resourceVersion: '0' } })
    expect([put.code, put.body['spec']?.size]).toEqual([200, 5])
    const patched = await json('PATCH', `${WIDGETS}/a`, { metadata: { resourceVersion: '0' }, spec: { size: 6 } }, MERGE)
    expect([patched.code, patched.body['spec']?.size]).toEqual([200, 6])
  })

  test('a name that is taken by what is being deleted is one to wait for', async () => {
    const { json } = await serveWidgets()
    const held = { ...widget('a'), metadata: { name: 'a', finalizers: ['demo.example/held'] } }
    await json('POST', WIDGETS, held)
    const taken = 'widgets.demo.example "a" already exists'
    expect((await json('POST', WIDGETS, widget('a'))).body).toMatchObject({ message: taken, code: 409 })
    await json('DELETE', `${WIDGETS}/a`)
    for (const query of ['', '?dryRun=All']) {
      const again = await json('POST', `${WIDGETS}${query}`, widget('a'))
      expect(again.body).toMatchObject({ message: `object is being deleted: ${taken}`, reason: 'AlreadyExists', code: 409 })
    }
  })

  test('a status is written by its own path, and nothing else is by that', async () => {
    const { json } = await serveWidgets()
    const created = await json('POST', WIDGETS, { ...widget('a'), status: { ready: true } })
    expect([created.code, created.body['status'], created.body['spec'], created.body['metadata'].generation]).toEqual([
      201,
      undefined,
      { size: 1, color: 'grey' },
      1,
    ])
    const byStatus = await json('PATCH', `${WIDGETS}/a/status`, { status: { ready: true }, spec: { size: 9 } }, MERGE)
    expect([byStatus.body['status'], byStatus.body['spec'].size, byStatus.body['metadata'].generation]).toEqual([{ ready: true }, 1, 1])
    const whole = await json('PUT', `${WIDGETS}/a`, { ...widget('a', { size: 2 }), status: { ready: false } })
    expect([whole.body['status'], whole.body['spec'].size, whole.body['metadata'].generation]).toEqual([{ ready: true }, 2, 2])
  })

  test('what changes nothing is no write, and what was changed meanwhile is not overwritten', async () => {
    const { json } = await serveWidgets()
    const { body: created } = await json('POST', WIDGETS, widget('a'))
    const same = await json('PUT', `${WIDGETS}/a`, widget('a'))
    expect(same.body['metadata'].resourceVersion).toBe(created['metadata'].resourceVersion)
    await json('PATCH', `${WIDGETS}/a`, { spec: { size: 2 } }, MERGE)
    const stale = { resourceVersion: created['metadata'].resourceVersion }
    expect((await json('PUT', `${WIDGETS}/a`, widget('a', stale))).body['reason']).toBe('Conflict')
    expect((await json('PATCH', `${WIDGETS}/a`, { metadata: stale, spec: { size: 3 } }, MERGE)).code).toBe(409)
    expect((await json('DELETE', `${WIDGETS}/a`, { preconditions: stale })).code).toBe(409)
  })

  test('patches at the same time are all done', async () => {
    const { json } = await serveWidgets()
    await json('POST', WIDGETS, widget('a'))
    const labels = Array.from({ length: 20 }, (_, number) => `l${number}`)
    const patched = await Promise.all(
      labels.map((label) => json('PATCH', `${WIDGETS}/a`, { metadata: { labels: { [label]: 'x' } } }, MERGE)),
    )
    expect(new Set(patched.map(({ code }) => code))).toEqual(new Set([200]))
    expect(Object.keys((await json('GET', `${WIDGETS}/a`)).body['metadata'].labels).sort()).toEqual([...labels].sort())
  })

  test('a storage that another writer gets on with first is asked again', async () => {
    const memory = memoryStorage().resource()
    let isFirst = true
    const storage: Storage = {
      get: (key) => memory.get(key),
      create: (object) => memory.create(object),
      update: async (object, expected) => {
        const stored = await memory.get({ namespace: 'default', name: 'a' })
        if (isFirst && stored) await memory.update({ ...stored, metadata: { ...stored.metadata, labels: { by: 'another' } } }, expected)
        isFirst = false
        return memory.update(object, expected)
      },
    }
    const { json } = await serveWidgets({}, (server) => void server.installApiGroups(demoGroup(storage)))
    await json('POST', WIDGETS, widget('a'))
    const { body } = await json('PATCH', `${WIDGETS}/a`, { spec: { size: 5 } }, MERGE)
    expect([body['spec'].size, body['metadata'].labels]).toEqual([5, { by: 'another' }])
    // What it cannot do has no route.
    expect((await json('DELETE', `${WIDGETS}/a`)).code).toBe(405)
    expect((await json('GET', WIDGETS)).code).toBe(405)
  })

  test('an object with finalizers is gone when they are', async () => {
    const { json } = await serveWidgets()
    await json('POST', WIDGETS, widget('a', { finalizers: ['demo.example/wait'] }))
    const dry = await json('DELETE', `${WIDGETS}/a?dryRun=All`)
    expect(dry.body['metadata'].deletionTimestamp).toBeDefined()
    expect((await json('GET', `${WIDGETS}/a`)).body['metadata'].deletionTimestamp).toBeUndefined()
    const deleted = await json('DELETE', `${WIDGETS}/a`)
    expect([deleted.code, deleted.body['metadata'].deletionGracePeriodSeconds]).toEqual([200, 0])
    expect((await json('DELETE', `${WIDGETS}/a`)).body['metadata'].generation).toBe(deleted.body['metadata'].generation)
    const freed = await json('PATCH', `${WIDGETS}/a`, { metadata: { finalizers: null } }, MERGE)
    expect([freed.code, freed.body['kind']]).toEqual([200, 'Widget'])
    expect((await json('GET', `${WIDGETS}/a`)).code).toBe(404)
  })

  test.each([
    ['POST', WIDGETS, { ...widget('a'), spec: { size: 'big' } }, 422],
    ['POST', WIDGETS, { ...widget('a'), spec: {} }, 422],
    ['POST', WIDGETS, { ...widget(''), metadata: {} }, 422],
    ['POST', WIDGETS, widget('a', { resourceVersion: '1' }), 400],
    ['POST', WIDGETS, widget('a', { resourceVersion: '0' }), 201],
    ['GET', `${WIDGETS}?limit=9223372036854775807`, undefined, 200],
    ['GET', `${WIDGETS}?limit=9223372036854775808`, undefined, 400],
    ['GET', `${WIDGETS}/a?resourceVersion=abc`, undefined, 400],
    ['GET', `${WIDGETS}/a?resourceVersion=999999999999999`, undefined, 504],
    ['GET', `${WIDGETS}/a?resourceVersion=9999999999999999`, undefined, 504],
    ['GET', `${WIDGETS}/a?resourceVersion=0`, undefined, 404],
    ['GET', `${WIDGETS}/%2e%2e%2e`, undefined, 404],
    ['DELETE', `${WIDGETS}/a%25b`, undefined, 400],
    ['POST', `${WIDGETS}?fieldManager=${'x'.repeat(129)}`, widget('a'), 422],
    ['GET', `${WIDGETS}?resourceVersionMatch=Exact`, undefined, 422],
    ['GET', `${WIDGETS}?continue=x`, undefined, 400],
    ['GET', `${WIDGETS}?continue=x&resourceVersion=4`, undefined, 422],
    ['GET', `${WIDGETS}?resourceVersion=999999999999999`, undefined, 504],
    ['GET', `${WIDGETS}?resourceVersion=18446744073709551615`, undefined, 504],
    ['GET', `${WIDGETS}?resourceVersion=18446744073709551615&resourceVersionMatch=Exact`, undefined, 504],
    ['GET', `${WIDGETS}?resourceVersion=18446744073709551616`, undefined, 400],
    ['GET', `${WIDGETS}?watch=1&sendInitialEvents=true`, undefined, 422],
    ['GET', `${WIDGETS}?watch=1&continue=x`, undefined, 422],
    ['GET', `${WIDGETS}?limit=`, undefined, 400],
    ['GET', `${WIDGETS}?watch=1&limit`, undefined, 400],
    ['GET', `${WIDGETS}?timeoutSeconds=`, undefined, 400],
    ['GET', `${WIDGETS}?limit=9223372036854775808`, undefined, 400],
    ['DELETE', `${WIDGETS}/a?gracePeriodSeconds=`, undefined, 400],
    ['DELETE', `${WIDGETS}/a?propagationPolicy=`, undefined, 422],
    ['GET', `${WIDGETS}?resourceVersion=00000000000000000000`, undefined, 200],
    ['GET', `${WIDGETS}?resourceVersion=18446744073709551616`, undefined, 400],
    ['GET', '/apis/demo.example/v1/namespaces/default/planets', undefined, 404],
    ['POST', '/apis/demo.example/v1/widgets', widget('a'), 405],
    ['GET', '/apis/demo.example/v2/widgets', undefined, 404],
  ])('%s %s with %j is %i', async (method, path, body, code) => {
    const { json } = await serveWidgets()
    expect((await json(method, path, body)).code).toBe(code)
  })

  test('what a storage throws is an internal error, and is said', async () => {
    const broken: Storage = {
      get: () => {
        throw new Error('the disk is gone')
      },
    }
    const { json, lines } = await serveWidgets({}, (server) => void server.installApiGroups(demoGroup(broken)))
    const { code, body } = await json('GET', `${WIDGETS}/a`)
    expect([code, body['reason'], body['message']]).toEqual([500, 'InternalError', 'Internal error occurred: the disk is gone'])
    expect(lines.some(({ level }) => level === 'error')).toBe(true)
  })
})

test.each([
  ['an object', `${WIDGETS}/a`, 200],
  ['a status', `${WIDGETS}/a/status`, 200],
  ['a list', WIDGETS, 200],
  ['a list of all namespaces', '/apis/demo.example/v1/widgets', 200],
  ['a list that cannot be', `${WIDGETS}?limit=x`, 400],
  ['none', `${WIDGETS}/none`, 404],
  ['discovery', '/apis/demo.example/v1', 200],
])('HEAD of %s has the headers of GET and no body', async (_, path, code) => {
  const { ask, json } = await serveWidgets()
  await json('POST', WIDGETS, widget('a'))
  const [get, head] = [await ask(path), await ask(path, { method: 'HEAD' })]
  const headersOf = ({ headers }: Response) =>
    Object.fromEntries([...headers].filter(([name]) => !/^(?:audit-id|date|connection|keep-alive)$/.test(name)))
  expect([head.status, headersOf(head)]).toEqual([code, headersOf(get)])
  expect([head.headers.get('content-length'), await head.text()]).toEqual([String((await get.arrayBuffer()).byteLength), ''])
})

test('an object that is asked for at a version is the only one that is looked at', async () => {
  const memory = memoryStorage().resource()
  let looked = 0
  const looking: Storage = Object.assign(Object.create(memory) as Storage, {
    list: (query: Parameters<NonNullable<Storage['list']>>[0]) =>
      memory.list({
        ...query,
        matches: (object: ApiObject) => {
          looked++
          return query.matches(object)
        },
      }),
  })
  const { json } = await serveWidgets({}, (server) => void server.installApiGroups(demoGroup(looking)))
  const { body } = await json('POST', WIDGETS, widget('a'))
  await json('POST', WIDGETS, widget('b'))
  const { code } = await json('GET', `${WIDGETS}/a?resourceVersion=${body['metadata'].resourceVersion as string}`)
  expect([code, looked]).toEqual([200, 0])
  expect((await json('GET', WIDGETS)).body['items']).toHaveLength(2)
  expect(looked).toBe(2)
})

describe('lists', () => {
  test('pages are of one version; one whose version is forgotten can be gone on with', async () => {
    const { json } = await serveWidgets()
    for (const name of ['a', 'b', 'c', 'd']) await json('POST', WIDGETS, widget(name))
    const first = (await json('GET', `${WIDGETS}?limit=2`)).body
    expect([first['items'].length, first['metadata'].remainingItemCount]).toEqual([2, 2])
    await json('DELETE', `${WIDGETS}/c`)
    const token = first['metadata'].continue as string
    const names = ({ items }: Json) => (items as Json[]).map(({ metadata }) => (metadata as { name: string }).name)
    const second = (await json('GET', `${WIDGETS}?limit=2&continue=${token}`)).body
    expect([names(second), second['metadata'].resourceVersion]).toEqual([['c', 'd'], first['metadata'].resourceVersion])
    for (let count = 0; count < 50; count++) await json('POST', WIDGETS, widget(`n${count}`))
    const gone = await json('GET', `${WIDGETS}?limit=2&continue=${token}`)
    expect([gone.code, gone.body['reason']]).toEqual([410, 'Expired'])
    const rest = await json('GET', `${WIDGETS}?limit=2&continue=${gone.body['metadata'].continue as string}`)
    expect(names(rest.body)).toEqual(['d', 'n0'])
    const other = await json('GET', `/apis/demo.example/v1/namespaces/another/widgets?continue=${gone.body['metadata'].continue as string}`)
    expect(other.code).toBe(400)
  })

  test('as a table they have the columns of the kind', async () => {
    const { json } = await serveWidgets()
    await json('POST', WIDGETS, widget('a'))
    const accept = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    const { columnDefinitions, rows } = (await json('GET', WIDGETS, undefined, accept)).body
    expect((columnDefinitions as Json[]).map(({ name, priority }) => `${name} ${priority}`)).toEqual([
      'Name 0',
      'Size 0',
      'Color 1',
      'Age 0',
    ])
    expect((rows as Json[])[0]?.['cells'].slice(0, 3)).toEqual(['a', 1, 'grey'])
    expect((await json('GET', `${WIDGETS}?includeObject=All`, undefined, accept)).code).toBe(400)
  })
})

const CHANGES = 2_500

/** The frames of a watch, as they come. */
async function watching(api: Awaited<ReturnType<typeof serveWidgets>>, query: string) {
  const answer = await api.ask(`${WIDGETS}?watch=true${query}`)
  const frames: string[] = []
  const ended = (async () => {
    let rest = ''
    for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
      const lines = (rest + Buffer.from(chunk).toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as Json
        frames.push(`${type} ${object.metadata?.name ?? object.reason ?? (object.metadata.annotations ? 'initial end' : 'so far')}`)
      }
    }
  })()
  return { frames, ended, status: answer.status }
}

describe('watches', () => {
  test('see what comes into their selector and what leaves it, and end with their last bookmark', async () => {
    const api = await serveWidgets()
    const { json } = api
    await json('POST', WIDGETS, widget('a', { labels: { on: 'yes' } }))
    const { body } = await json('GET', WIDGETS)
    const from = `&resourceVersion=${body['metadata'].resourceVersion as string}`
    const selected = await watching(api, `${from}&labelSelector=on%3Dyes&allowWatchBookmarks=true`)
    const one = await watching(api, '&fieldSelector=metadata.name%3Db&resourceVersion=0')
    const initial = await watching(api, '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true')
    await json('POST', WIDGETS, widget('b'))
    await json('PATCH', `${WIDGETS}/b`, { metadata: { labels: { on: 'yes' } } }, MERGE)
    await json('PATCH', `${WIDGETS}/b`, { spec: { size: 3 } }, MERGE)
    await json('PATCH', `${WIDGETS}/b`, { metadata: { labels: { on: 'no' } } }, MERGE)
    await json('DELETE', `${WIDGETS}/b`)
    await json('DELETE', `${WIDGETS}/a`)
    await expect.poll(() => selected.frames.length).toBe(4)
    await api.life.stop('over')
    await Promise.all([selected.ended, one.ended, initial.ended])
    expect(selected.frames).toEqual(['ADDED b', 'MODIFIED b', 'DELETED b', 'DELETED a', 'BOOKMARK so far'])
    expect(one.frames).toEqual(['ADDED b', 'MODIFIED b', 'MODIFIED b', 'MODIFIED b', 'DELETED b'])
    expect(initial.frames.slice(0, 3)).toEqual(['ADDED a', 'BOOKMARK initial end', 'ADDED b'])
    expect(initial.frames.at(-1)).toBe('BOOKMARK so far')
  })

  test('what leaves a selection is told as it was in it, and nothing else of it', async () => {
    const api = await serveWidgets()
    const { json } = api
    const { body: first } = await json('POST', WIDGETS, widget('a', { labels: { on: 'yes' } }))
    const from = `resourceVersion=${first['metadata'].resourceVersion as string}&timeoutSeconds=1`
    const { body: left } = await json('PATCH', `${WIDGETS}/a`, { metadata: { labels: { on: 'no' } }, spec: { size: 9 } }, MERGE)
    const { body: back } = await json('PATCH', `${WIDGETS}/a`, { metadata: { labels: { on: 'yes' } }, spec: { size: 10 } }, MERGE)
    await json('DELETE', `${WIDGETS}/a`)
    const seen = async (query: string) => {
      const text = await (await api.ask(`${WIDGETS}?watch=1&${from}${query}`)).text()
      const events = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string; object: Json })
      return events.map(({ type, object }) => [type, object['metadata'].labels.on, object['spec'].size, object['metadata'].resourceVersion])
    }
    // In this order, so that frames that are kept for one would be seen by the other.
    for (let times = 0; times < 2; times++) {
      const [one, two, three] = await seen('&labelSelector=on%3Dyes')
      expect([one, two]).toEqual([
        ['DELETED', 'yes', 1, left['metadata'].resourceVersion],
        ['ADDED', 'yes', 10, back['metadata'].resourceVersion],
      ])
      expect(three?.slice(0, 3)).toEqual(['DELETED', 'yes', 10])
      const all = await seen('')
      expect(all.map((each) => each.slice(0, 3))).toEqual([
        ['MODIFIED', 'no', 9],
        ['MODIFIED', 'yes', 10],
        ['DELETED', 'yes', 10],
      ])
      expect((await seen('&labelSelector=on%3Dno')).map((each) => each.slice(0, 3))).toEqual([
        ['ADDED', 'no', 9],
        ['DELETED', 'no', 9],
      ])
    }
  })

  test('a version that is forgotten is an ERROR, and then the end', async () => {
    const api = await serveWidgets()
    const first = (await api.json('POST', WIDGETS, widget('a'))).body['metadata'].resourceVersion as string
    for (let count = 0; count < 50; count++) await api.json('POST', WIDGETS, widget(`n${count}`))
    const { frames, ended, status } = await watching(api, `&resourceVersion=${first}`)
    await ended
    expect([status, frames]).toEqual([200, ['ERROR Expired']])
  })

  test('last as long as their clients ask', async () => {
    const api = await serveWidgets()
    const { frames, ended } = await watching(api, '&timeoutSeconds=1&allowWatchBookmarks=true')
    await ended
    expect(frames).toEqual(['BOOKMARK so far'])
  })

  test('a client that does not read has its watch ended, and loses nothing of what it was sent', async () => {
    const memory = memoryStorage({ history: 10_000 }).resource()
    const api = await serveWidgets({}, (server) => void server.installApiGroups(demoGroup(memory)))
    const answer = await new Promise<IncomingMessage>((resolve) => get({ port: api.port, path: `${WIDGETS}?watch=true` }, resolve))
    await api.json('POST', WIDGETS, widget('a'))
    const color = 'x'.repeat(20_000)
    const key = { namespace: 'default', name: 'a' }
    // More than the buffers of both sockets and the watch hold.
    for (let size = 0; size < CHANGES; size++) {
      const { metadata, ...object } = (await memory.get(key)) as ApiObject
      await memory.update({ ...object, metadata, spec: { size, color } }, metadata.resourceVersion as string)
    }
    let text = ''
    for await (const chunk of answer) text += String(chunk)
    const sizes = [...text.matchAll(/"size":(\d+)/g)].map(([, size]) => Number(size))
    expect(sizes.length).toBeLessThan(CHANGES)
    expect(sizes.slice(1)).toEqual(sizes.slice(1).map((_, index) => index))
  })
})

test('every verb and subresource is asked for', async () => {
  const asked: string[] = []
  const authorizer: Authorizer = {
    authorize: ({ verb, resource, subresource, namespace, name }) => {
      asked.push([verb, resource, subresource, namespace, name].join(' '))
      return { decision: 'deny' }
    },
  }
  const { json } = await serveWidgets({ authorizer, authenticators: undefined })
  const paths: readonly (readonly [string, string])[] = [
    ['GET', WIDGETS],
    ['GET', `${WIDGETS}?watch=1`],
    ['POST', WIDGETS],
    ['DELETE', WIDGETS],
    ['GET', `${WIDGETS}/a`],
    ['PUT', `${WIDGETS}/a`],
    ['PATCH', `${WIDGETS}/a/status`],
    ['DELETE', `${WIDGETS}/a`],
    ['GET', '/apis/demo.example/v1/watch/widgets'],
  ]
  for (const [method, path] of paths) expect((await json(method, path)).code).toBe(403)
  expect(asked).toEqual([
    'list widgets  default ',
    'watch widgets  default ',
    'create widgets  default ',
    'deletecollection widgets  default ',
    'get widgets  default a',
    'update widgets  default a',
    'patch widgets status default a',
    'delete widgets  default a',
    'watch widgets   ',
  ])
})

describe('installing', () => {
  test('groups come and go while the server serves', async () => {
    let server: ApiServer | undefined
    const { json, ask } = await serveWidgets({}, (one) => {
      server = one
    })
    expect((await ask(WIDGETS)).status).toBe(404)
    const installed = server?.installApiGroups(demoGroup())
    expect((await json('GET', WIDGETS)).code).toBe(200)
    expect((await json('GET', '/apis')).body['groups'].length).toBe(1)
    expect((await json('GET', '/')).body['paths']).toEqual(
      expect.arrayContaining(['/apis/demo.example', '/apis/demo.example/v1', '/openapi/v3']),
    )
    expect(() => server?.installApiGroups(demoGroup())).toThrow('is installed already')
    installed?.[Symbol.dispose]()
    expect((await ask(WIDGETS)).status).toBe(404)
    expect((await json('GET', '/apis')).body['groups']).toEqual([])
    server?.installApiGroups(demoGroup())
    expect((await json('GET', WIDGETS)).code).toBe(200)
  })

  test('groups that come late are destroyed with all others, or at once when those are gone', async () => {
    const said: string[] = []
    const groupOf = (name: string) => demoGroup({ get: () => undefined, destroy: () => void said.push(name) })
    let found = (_: readonly ApiGroup[]): void => {}
    let server: ApiServer | undefined
    const { life } = await serveWidgets({}, (one) => {
      server = one
      one.installApiGroupsWhen('late', new Promise((resolve) => (found = resolve)))
    })
    await life.stop('over')
    expect(said).toEqual([])
    found([groupOf('late')])
    await expect.poll(() => said).toEqual(['late'])
    expect(() => server?.installApiGroupsWhen('more', Promise.resolve([]))).toThrow('more')
    expect(() => server?.installApiGroupsWhen('none', [] as never)).toThrow('a promise of a list of groups')
  })

  test('what is taken back before it is there is never installed', async () => {
    let found = (_: readonly ApiGroup[]): void => {}
    const { ask, json } = await serveWidgets({}, (server) => {
      server.installApiGroupsWhen('late', new Promise((resolve) => (found = resolve)))[Symbol.dispose]()
    })
    found([demoGroup()])
    await expect.poll(async () => (await ask(WIDGETS)).status).toBe(404)
    expect((await json('GET', '/apis')).body['groups']).toEqual([])
  })

  test('a storage is waited for, and destroyed once when nothing is written any more', async () => {
    const said: string[] = []
    let isReady = false
    const storage: Storage = { get: () => undefined, ready: () => isReady, destroy: () => void said.push('destroyed') }
    const { life, ask } = await serveWidgets({}, (server) => void server.installApiGroups(demoGroup(storage)))
    expect((await ask('/readyz')).status).toBe(500)
    expect(await (await ask('/readyz')).text()).toContain('[-]poststarthook/storage-readiness')
    isReady = true
    await expect.poll(async () => (await ask('/readyz')).status).toBe(200)
    await life.stop('over')
    expect(said).toEqual(['destroyed'])
  })

  test('what cannot be installed is refused, and nothing of it is', async () => {
    const refused: string[] = []
    const core = (group: string) =>
      apiGroup({
        group,
        versions: {
          v1: [
            {
              resource: defineResource({ group, kind: 'Note', plural: 'notes', scope: 'Cluster', versions: { v1: { schema: {} } } }),
              storage: memoryStorage().resource(),
            },
          ],
        },
      })
    const { json } = await serveWidgets({}, (server) => {
      const attempts = [
        () => server.installApiGroups(apiGroup({ group: 'empty.example', versions: {} })),
        () => server.installApiGroups(core('')),
        () => server.installLegacyApiGroup('/old' as '/api', core('')),
        () => server.installLegacyApiGroup('/api', core('named.example')),
        () => server.installApiGroups(core('one.example'), core('one.example')),
        () => apiGroup({ group: 'other.example', versions: { v1: [...(core('a.example').versions[0]?.resources ?? [])] } }),
      ]
      for (const attempt of attempts) expect(attempt).toThrow()
      server.installLegacyApiGroup('/api', core(''))
      refused.push('done')
    })
    expect(refused).toEqual(['done'])
    expect((await json('GET', '/apis')).body['groups']).toEqual([])
    expect((await json('GET', '/api')).body['versions']).toEqual(['v1'])
    expect((await json('GET', '/api/v1')).body['resources'][0].name).toBe('notes')
    expect((await json('POST', '/api/v1/notes', { metadata: { name: 'a' } })).body['apiVersion']).toBe('v1')
    expect((await json('GET', '/openapi/v3')).body['paths']).toHaveProperty('api/v1')
  })
})
