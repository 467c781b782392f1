// Fails when: steps stand in another order than their places say, a step hears of other ends than
// its own, one lets in what it has not decided about, or a mistake in the list is not named.
import { createServer as createNodeServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { type ExchangeView, type PlacedStep, placeSteps } from '#src/http/chain.ts'
import { attachLifecycle, createServer } from '#src/index.ts'
import { testServer } from '#src/testing/index.ts'
import { newLife } from '../support/life.ts'
import { fresh } from '../support/upstream-client.ts'

const step = (name: string, place: Pick<PlacedStep, 'before' | 'after'> = {}): PlacedStep => ({ name, admit: () => true, ...place })
const namesOf = (...steps: readonly PlacedStep[]): string[] => placeSteps([step('count'), ...steps]).map(({ name }) => name)

describe('places', () => {
  test('without one, a step comes after the counting; at one place in the order given', () => {
    expect(namesOf(step('a'), step('b'), step('health'))).toEqual(['health', 'count', 'a', 'b'])
    expect(namesOf(step('a', { before: 'count' }), step('b', { before: 'count' }))).toEqual(['a', 'b', 'count'])
    expect(namesOf(step('a', { after: 'health' }), step('b', { after: 'health' }), step('c', { after: 'a' }))).toEqual([
      'a',
      'c',
      'b',
      'count',
    ])
    // Directly means so, whatever stands where in the list.
    expect(namesOf(step('c', { after: 'a' }), step('a'), step('b'), step('d', { before: 'a' }))).toEqual(['count', 'd', 'a', 'c', 'b'])
  })

  test('of both refusals count as one for what comes before, and have a place between them', () => {
    const refusal = step('retry-after')
    expect(namesOf(refusal, step('a', { before: 'count' }), step('b', { after: 'retry-after' }))).toEqual([
      'a',
      'retry-after',
      'b',
      'count',
    ])
  })

  test('that a life has not are places all the same', () => {
    expect(namesOf(step('first', { before: 'health' }))).toEqual(['first', 'count'])
  })

  test('that are not there, and names that are, are refused by name', () => {
    expect(() => namesOf(step('a', { after: 'auth' }))).toThrowError(
      expect.objectContaining({
        code: 'ERR_UNKNOWN_REFERENCE',
        message: 'steps: the place of "a": got "auth", allowed: health, retry-after, count',
      }),
    )
    expect(() => namesOf(step('a', { before: 'b' }), step('b', { before: 'a' }))).toThrowError(
      /of "a": got "b", allowed: health, retry-after, count$/,
    )
    expect(() => namesOf(step('a'), step('a'))).toThrowError(expect.objectContaining({ code: 'ERR_DUPLICATE' }))
  })
})

describe('a server with steps of its own', () => {
  const notified: string[] = []
  const noting = (name: string, admit: (exchange: ExchangeView) => boolean): PlacedStep => ({
    name,
    admit,
    over: (exchange) => notified.push(`${name} ${exchange.name} ${exchange.countedAs}`),
  })

  test('asks them in order, tells those that were asked of the end, the last one first, and waits for what they answer later', async () => {
    notified.length = 0
    const finish: (() => void)[] = []
    const server = await testServer(() => new Response('handler'), {
      steps: [
        noting('first', () => true),
        noting('answers', ({ request, response }) => {
          if (request.url !== '/later') return true
          finish.push(() => response?.end('later'))
          return false
        }),
        noting('last', () => true),
      ],
    })
    const client = await server.connect()
    expect((await client.get('/')).body).toBe('handler')
    expect(notified).toEqual(['last GET / request', 'answers GET / request', 'first GET / request'])

    notified.length = 0
    const later = client.get('/later')
    await expect.poll(() => server.life.counts().requests).toBe(1)
    finish[0]?.()
    expect((await later).body).toBe('later')
    expect(notified).toEqual(['answers GET /later request', 'first GET /later request'])
    void server.life.stop()
    await server.end()
  })
})

test('a step that answers neither true nor false lets nothing in, on no listener, and each is reported once', async () => {
  const answers: readonly (readonly [() => unknown, string])[] = [
    [async () => false, 'a promise'],
    [() => Promise.reject(new Error('not allowed')), 'a promise'],
    [() => undefined, 'undefined'],
    [() => 'yes', '"yes"'],
  ]
  let asked = -1
  let handled = 0
  const t = newLife({
    listener: (_request, response) => {
      handled++
      response.end('secret')
    },
    options: {
      admin: { port: 0, host: '127.0.0.1' },
      steps: [{ name: 'auth', onAdmin: true, admit: () => answers[asked]?.[0]() as boolean }],
    },
  })
  await t.life.start()
  for (const { port } of t.events.filter((event) => event.type === 'listening') as unknown as { readonly port: number }[]) {
    for (asked = 0; asked < answers.length; asked++) {
      const { status, body } = await fresh(port, '/x')
      expect([status, body], `${answers[asked]?.[1]}`).toEqual([500, 'Internal Server Error\n'])
    }
  }
  await t.life.stop()
  const expected = answers.map(([, shown]) => `step "auth": returned ${shown}, allowed: true or false, at once`)
  expect(t.events.flatMap((event) => (event.type === 'error' ? [event.error.message] : []))).toEqual([...expected, ...expected])
  expect(handled).toBe(0)
})

test('a mistake in the list is refused with its place', () => {
  const make = (steps: unknown) => () => createServer({ listener: () => {} }, { logger: false, steps } as never)
  expect(make([{ name: 'auth' }])).toThrowError(/\[0\]\.admit: got undefined, allowed: a function of the exchange/)
  expect(make([{ name: 'auth', admit: () => true, befor: 'count' }])).toThrowError(/steps\[0\]\.befor: unknown \(did you mean "before"\?\)/)
  expect(make([{ name: 'health', admit: () => true }])).toThrowError(/\[0\]\.name: got "health"/)
  expect(make([{ name: 'a', admit: () => true, after: 'auth' }])).toThrowError(/got "auth", allowed: health, retry-after, count/)
  const server = createNodeServer()
  expect(() => attachLifecycle(server, { steps: [{ name: 'a', admit: () => true, after: 'auth' }] })).toThrowError(/got "auth"/)
  // Nothing is taken over by a call that fails.
  expect(() => attachLifecycle(server)).not.toThrow()
})
