// What decides about writes. Fails when: a plugin is asked in another order than upstream's, about
// a read, or not about a write; what it has changed is stored unchecked, or not at all; what it has
// refused is done; or one that hangs holds a request for ever.
import { describe, expect, test } from 'vitest'
import { type AdmissionPlugin, type ApiServerConfig, completeConfig, StatusError } from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'
import { demoGroup, WIDGETS, widget } from './widgets.ts'

interface Json {
  // biome-ignore lint/suspicious/noExplicitAny: what was answered is looked at, whatever it is
  readonly [field: string]: any
}

const MERGE = 'application/merge-patch+json'

async function serveAdmitted(admission: readonly AdmissionPlugin[], config: ApiServerConfig = {}) {
  const { ask } = await serveApi({ config: { admission, ...config }, setUp: (server) => void server.installApiGroups(demoGroup()) })
  return async (method: string, path: string, body?: object, type = 'application/json') => {
    const answer = await ask(path, { method, headers: { 'Content-Type': type }, ...(body && { body: JSON.stringify(body) }) })
    return { code: answer.status, body: (await answer.json()) as Json, headers: answer.headers }
  }
}

/** Says what it was asked about, and changes nothing. */
function recorder(name: string, into: string[]): AdmissionPlugin {
  const record =
    (phase: string): NonNullable<AdmissionPlugin['mutate']> =>
    ({ operation, subresource, name: of, namespace, object, oldObject, isDryRun }) =>
      void into.push(
        [name, phase, operation, subresource, `${namespace}/${of}`, object && 'new', oldObject && 'old', isDryRun && 'dry']
          .filter(Boolean)
          .join(' '),
      )
  return { name, mutate: record('mutates'), validate: record('validates') }
}

test('all that mutate are asked before all that validate, about writes alone', async () => {
  const asked: string[] = []
  const json = await serveAdmitted([recorder('a', asked), recorder('b', asked)])
  const during = async (...request: Parameters<typeof json>): Promise<readonly string[]> => {
    asked.length = 0
    await json(...request)
    return [...asked]
  }
  const of = (rest: string): readonly string[] => ['a mutates', 'b mutates', 'a validates', 'b validates'].map((who) => `${who} ${rest}`)
  expect(await during('POST', WIDGETS, widget('x'))).toEqual(of('CREATE default/x new'))
  expect(await during('POST', `${WIDGETS}?dryRun=All`, widget('y'))).toEqual(of('CREATE default/y new dry'))
  expect(await during('PUT', `${WIDGETS}/x`, widget('x', { size: 2 }))).toEqual(of('UPDATE default/x new old'))
  expect(await during('PATCH', `${WIDGETS}/x`, { spec: { size: 3 } }, MERGE)).toEqual(of('UPDATE default/x new old'))
  expect(await during('PATCH', `${WIDGETS}/x/status`, { status: { ready: true } }, MERGE)).toEqual(of('UPDATE status default/x new old'))
  for (const path of [WIDGETS, `${WIDGETS}/x`, '/apis/demo.example/v1/widgets']) expect(await during('GET', path)).toEqual([])
  await json('POST', WIDGETS, widget('y'))
  expect(await during('DELETE', `${WIDGETS}/x?dryRun=All`)).toEqual(of('DELETE default/x old dry'))
  expect(await during('DELETE', WIDGETS)).toEqual([...of('DELETE default/x old'), ...of('DELETE default/y old')])
  expect(await during('DELETE', `${WIDGETS}/x`)).toEqual([])
})

test('a plugin is asked about what it handles', async () => {
  const asked: string[] = []
  const handles: AdmissionPlugin['handles'] = ({ operation, resource, subresource, kind }) =>
    operation === 'UPDATE' && resource.resource === 'widgets' && kind.kind === 'Widget' && subresource === ''
  const json = await serveAdmitted([{ ...recorder('a', asked), handles }])
  await json('POST', WIDGETS, widget('x'))
  await json('PATCH', `${WIDGETS}/x/status`, { status: { ready: true } }, MERGE)
  await json('PATCH', `${WIDGETS}/x`, { spec: { size: 3 } }, MERGE)
  await json('DELETE', `${WIDGETS}/x`)
  expect(asked).toEqual(['a mutates UPDATE default/x new old', 'a validates UPDATE default/x new old'])
})

test('what was changed is stored, and the next is given it', async () => {
  const paint =
    (from: string, to: string): NonNullable<AdmissionPlugin['mutate']> =>
    ({ object }) => {
      const spec = object?.['spec'] as { color: string }
      if (spec.color === from) spec.color = to
    }
  const seen: unknown[] = []
  const see: NonNullable<AdmissionPlugin['validate']> = ({ object }) => void seen.push((object?.['spec'] as Json | undefined)?.['color'])
  const json = await serveAdmitted([
    { name: 'red', mutate: paint('grey', 'red') },
    { name: 'blue', mutate: paint('red', 'blue') },
    { name: 'see', validate: see },
  ])
  expect((await json('POST', WIDGETS, widget('x'))).body['spec']).toEqual({ size: 1, color: 'blue' })
  expect((await json('PATCH', `${WIDGETS}/x`, { spec: { color: 'red' } }, MERGE)).body['spec']).toEqual({ size: 1, color: 'blue' })
  expect(seen).toEqual(['blue', 'blue'])
})

test('what was changed is checked as what a client sends is', async () => {
  const json = await serveAdmitted([
    {
      name: 'shrink',
      mutate: ({ object }) => {
        ;(object?.['spec'] as { size: number }).size = -1
        ;(object?.['spec'] as Record<string, unknown>)['sugar'] = 1
      },
    },
  ])
  expect((await json('POST', WIDGETS, widget('x'))).body).toMatchObject({
    code: 422,
    message: expect.stringContaining('spec.size') as string,
  })
})

describe('a refusal', () => {
  const refusing = (thrown: unknown, phase: 'mutate' | 'validate'): AdmissionPlugin => ({
    name: 'no',
    [phase]: () => {
      throw thrown
    },
  })

  test.each(['mutate', 'validate'] as const)('of one that would %s is 403, and nothing is done', async (phase) => {
    let isOpen = true
    const gate = refusing(new Error('not today'), phase)
    const json = await serveAdmitted([{ ...gate, handles: () => !isOpen }])
    await json('POST', WIDGETS, widget('x'))
    isOpen = false
    const refused = { code: 403, body: { reason: 'Forbidden', message: 'widgets.demo.example "x" is forbidden: not today' } }
    expect(await json('PUT', `${WIDGETS}/x`, widget('x', { size: 9 }))).toMatchObject(refused)
    expect(await json('DELETE', `${WIDGETS}/x`)).toMatchObject(refused)
    expect((await json('DELETE', WIDGETS)).code).toBe(403)
    expect((await json('POST', WIDGETS, widget('y'))).code).toBe(403)
    const { body } = await json('GET', WIDGETS)
    expect(body['items'].map(({ metadata, spec }: { metadata: { name: string }; spec: object }) => [metadata.name, spec])).toEqual([
      ['x', { size: 1, color: 'grey' }],
    ])
  })

  test('that is an answer is given as it is', async () => {
    const failure = { message: 'later', reason: 'TooManyRequests', code: 429, details: { retryAfterSeconds: 7 } }
    const json = await serveAdmitted([refusing(new StatusError(failure), 'validate')])
    const { code, headers } = await json('POST', WIDGETS, widget('x'))
    expect([code, headers.get('retry-after')]).toEqual([429, '7'])
  })

  test('is not waited for after the request’s time', async () => {
    const json = await serveAdmitted([{ name: 'slow', validate: () => new Promise(() => {}) }], { requestTimeout: '1s' })
    expect((await json('POST', WIDGETS, widget('x'))).code).toBe(504)
  })
})

test('warnings reach the client, and annotations need a qualified key', async () => {
  const json = await serveAdmitted([
    {
      name: 'speak',
      validate: ({ warn, annotate, object }) => {
        warn('look out')
        annotate(object?.metadata.name === 'bad' ? 'no key/of/any' : 'tea.example/kind', 'x')
      },
    },
  ])
  const created = await json('POST', WIDGETS, widget('x'))
  expect([created.code, created.headers.get('warning')]).toEqual([201, '299 - "look out"'])
  expect((await json('POST', WIDGETS, widget('bad'))).body['message']).toContain('audit annotation')
})

test.each([[{}], [{ name: 'a' }], [{ name: '', mutate: () => {} }], [{ name: 'a', mutate: 1 }], [null]])(
  'what is no plugin is refused: %j',
  (given) => {
    expect(() => completeConfig({ admission: [given as never] })).toThrow('admission[0]')
  },
)
