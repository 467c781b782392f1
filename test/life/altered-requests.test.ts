// Handlers that change the request that they were given: they put a URL object in the place of its
// text, or take a part off, as routers do. Fails when: what is left is then not cut, not named or
// named by what was made of it, or a failing handler is not answered for.
import type { RequestListener } from 'node:http'
import { describe, expect, test } from 'vitest'
import { newLife } from '../support/life.ts'

type Alter = (request: { url?: unknown; method?: unknown }) => void
const ALTERED: readonly (readonly [what: string, alter: Alter])[] = [
  ['a URL in place of its text', (request) => (request.url = new URL('http://a/b'))],
  ['no URL', (request) => (request.url = null)],
  ['a method that is no text', (request) => (request.method = Symbol('GET'))],
  ['the URL of a router', (request) => (request.url = '/x')],
]

/** A life whose requests are altered; `/good` is left as it is. */
async function altered(alter: Alter, then: RequestListener = () => {}, options = {}) {
  const t = newLife({
    listener: (request, response) => {
      if (request.url !== '/good') alter(request)
      then(request, response)
    },
    options,
  })
  await t.life.start()
  return t
}

describe.each(ALTERED)('a request that a handler gives %s', (_, alter) => {
  test('is cut and named as it arrived, like all beside it', async () => {
    const t = await altered(alter, undefined, { deadline: '300ms' })
    const asked = ['/api/v1/x?secret', '/good'].map((path) => t.get(path).catch((error: unknown) => error))
    while (t.life.status.gauges().requests < 2) await new Promise(setImmediate)
    const { exitCode, requests, connections, errors } = await t.life.stop()
    expect(requests.cut.map(({ name }) => name).sort()).toEqual(['GET /api/v1/x', 'GET /good'])
    expect([exitCode, connections?.forced, errors]).toEqual([5, 2, []])
    expect(await Promise.all(asked)).toEqual([expect.any(Error), expect.any(Error)])
  })

  test('is ended by force', async () => {
    const t = await altered(alter)
    const asked = t.get('/x').catch((error: unknown) => error)
    while (t.life.status.gauges().requests === 0) await new Promise(setImmediate)
    expect(await t.life.stop({ now: true })).toMatchObject({ requests: { cut: [{ name: 'GET /x' }] }, errors: [] })
    expect(await asked).toBeInstanceOf(Error)
  })

  test('and fails is answered for', async () => {
    const t = await altered(alter, () => {
      throw new Error('of the handler')
    })
    expect(await t.get('/x')).toMatchObject({ status: 500 })
    expect((await t.life.stop()).errors).toMatchObject([{ where: 'handler GET /x', error: { message: 'of the handler' } }])
  })
})
