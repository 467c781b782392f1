// What a deletion is asked for with. Fails when: it deletes what its preconditions do not allow,
// one object or many, takes something else than options for options, or reads more than is allowed.
import { describe, expect, test } from 'vitest'
import { type ApiObject, memoryStorage, type Storage } from '#apiserver/index.ts'
import { serveKind, YAML_TYPE } from './ask-widgets.ts'
import { WIDGETS, widget } from './widgets.ts'

async function scene(...names: readonly string[]) {
  const served = await serveKind()
  const uids: string[] = []
  for (const name of names) uids.push((await served.json('POST', WIDGETS, widget(name))).body['metadata'].uid as string)
  const left = async (): Promise<readonly string[]> =>
    ((await served.json('GET', WIDGETS)).body['items'] as readonly ApiObject[]).map(({ metadata }) => metadata.name)
  return { ...served, uids, left }
}

describe('preconditions of a collection', () => {
  test.each([{ uid: 'another' }, { resourceVersion: '1' }, { uid: '' }])('%j: nothing is deleted', async (preconditions) => {
    const { json, left } = await scene('a', 'b')
    const { code, body } = await json('DELETE', WIDGETS, { preconditions })
    expect([code, body['reason'], body['message']]).toEqual([409, 'Conflict', expect.stringContaining('Precondition failed')])
    expect(await left()).toEqual(['a', 'b'])
  })

  test('what has them is deleted, up to what has not', async () => {
    const { json, left, uids } = await scene('a', 'b')
    expect((await json('DELETE', WIDGETS, { preconditions: { uid: uids[0] } })).code).toBe(409)
    expect(await left()).toEqual(['b'])
    expect((await json('DELETE', `${WIDGETS}?fieldSelector=metadata.name%3Db`, { preconditions: { uid: uids[1] } })).code).toBe(200)
    expect(await left()).toEqual([])
  })

  test('an object that is changed meanwhile is not the one that they were about', async () => {
    const memory = memoryStorage().resource()
    let isFirst = true
    const storage: Storage = {
      get: (key) => memory.get(key),
      list: (query) => memory.list(query),
      create: (object) => memory.create(object),
      delete: async (key, expected) => {
        const stored = (await memory.get(key)) as ApiObject
        if (isFirst) await memory.update({ ...stored, metadata: { ...stored.metadata, labels: { by: 'another' } } }, expected)
        isFirst = false
        return memory.delete(key, expected)
      },
    }
    const { json } = await serveKind(undefined, storage)
    const { resourceVersion } = (await json('POST', WIDGETS, widget('a'))).body['metadata'] as { readonly resourceVersion: string }
    expect((await json('DELETE', WIDGETS, { preconditions: { resourceVersion } })).code).toBe(409)
    expect((await json('GET', `${WIDGETS}/a`)).code).toBe(200)
  })
})

describe('the body of a deletion', () => {
  test.each([
    [{ kind: 'Pod', apiVersion: 'v1' }, 'no kind "Pod" is registered for version "v1"'],
    [{ kind: 'Widget' }, 'no kind "Widget" is registered for version "meta.k8s.io/v1"'],
    [{ kind: 'deleteoptions' }, 'no kind "deleteoptions"'],
    [{ kind: 5 }, 'cannot unmarshal number into Go struct field .kind of type string'],
    [{ apiVersion: [] }, '.apiVersion of type string'],
    [{ apiVersion: 'a/b/c' }, 'unexpected GroupVersion string: a/b/c'],
    [{ preconditions: { uid: 5 } }, 'v1.DeleteOptions'],
    [{ gracePeriodSeconds: 1.5 }, 'v1.DeleteOptions'],
  ])('%j is no options, and deletes nothing', async (body, message) => {
    const { json, left } = await scene('a')
    for (const path of [`${WIDGETS}/a`, WIDGETS]) {
      const answer = await json('DELETE', path, body)
      expect([answer.code, answer.body['message']]).toEqual([400, expect.stringContaining(message)])
    }
    expect(await left()).toEqual(['a'])
  })

  test.each([
    { kind: 'DeleteOptions', apiVersion: 'demo.example/v1' },
    { kind: null, apiVersion: null },
    { apiVersion: 'v1' },
    { preconditions: { uid: null, resourceVersion: null } },
    { preconditions: null, dryRun: null, propagationPolicy: null, orphanDependents: null, gracePeriodSeconds: null },
    { unknown: 1, gracePeriodSeconds: -5 },
  ])('%j deletes', async (body) => {
    const { json, left } = await scene('a')
    expect((await json('DELETE', `${WIDGETS}/a`, body)).code).toBe(200)
    expect(await left()).toEqual([])
  })

  test('as YAML is bounded as that of any other request', async () => {
    const { json, left } = await scene('a')
    const long = `# ${'x'.repeat(300_000)}\n{}`
    for (const path of [`${WIDGETS}/a`, WIDGETS]) expect((await json('DELETE', path, long, YAML_TYPE)).code).toBe(413)
    expect(await left()).toEqual(['a'])
    expect((await json('DELETE', `${WIDGETS}/a`, 'dryRun: [All]', YAML_TYPE)).code).toBe(200)
    expect(await left()).toEqual(['a'])
  })
})

describe('options of the query, as upstream: where there is no body', () => {
  test.each(['uid=another', 'resourceVersion=1', 'resourceVersion=0', 'resourceVersion=x'])(
    '%s: nothing else is deleted',
    async (query) => {
      const { json, left } = await scene('a', 'b')
      expect((await json('DELETE', `${WIDGETS}/a?${query}`)).code).toBe(409)
      expect(await left()).toEqual(['a', 'b'])
      expect((await json('DELETE', `${WIDGETS}/a?${query}`, {})).code).toBe(200)
      expect(await left()).toEqual(['b'])
    },
  )

  test('what has them is deleted, and what they leave empty is not asked for', async () => {
    const { json, left, uids } = await scene('a', 'b')
    const { resourceVersion } = (await json('GET', `${WIDGETS}/a`)).body['metadata'] as { readonly resourceVersion: string }
    expect((await json('DELETE', `${WIDGETS}/a?uid=${uids[0]}&resourceVersion=${resourceVersion}`)).code).toBe(200)
    expect((await json('DELETE', `${WIDGETS}/b?uid=&resourceVersion=`)).code).toBe(200)
    expect(await left()).toEqual([])
  })

  test('count for each object of a collection', async () => {
    const { json, left } = await scene('a', 'b')
    expect((await json('DELETE', `${WIDGETS}?uid=another`)).code).toBe(409)
    expect(await left()).toEqual(['a', 'b'])
  })
})

describe('a collection at a version', () => {
  const ofOld = async () => {
    const served = await serveKind(undefined, memoryStorage({ history: 2 }).resource())
    const version = async () =>
      ((await served.json('GET', WIDGETS)).body['metadata'] as { readonly resourceVersion: string }).resourceVersion
    const before = await version()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await served.json('POST', WIDGETS, widget(name))
    return { ...served, before, now: await version() }
  }

  test('that is forgotten is 410, and nothing is deleted', async () => {
    const { json, before } = await ofOld()
    for (const query of [`resourceVersion=${before}`, `resourceVersion=${before}&resourceVersionMatch=Exact`])
      expect(await json('DELETE', `${WIDGETS}?${query}`, {})).toMatchObject({ code: 410, body: { reason: 'Expired' } })
    expect((await json('GET', WIDGETS)).body['items']).toHaveLength(7)
  })

  test('that is known, or may be a newer one, is deleted', async () => {
    const { json, before, now } = await ofOld()
    expect((await json('DELETE', `${WIDGETS}?resourceVersion=${now}`, { dryRun: ['All'] })).body['items']).toHaveLength(7)
    const newer = `resourceVersion=${before}&resourceVersionMatch=NotOlderThan`
    expect((await json('DELETE', `${WIDGETS}?${newer}`, {})).body['items']).toHaveLength(7)
    expect((await json('GET', WIDGETS)).body['items']).toEqual([])
  })
})
