// What runs, and since when. Fails when: a client gets it in a form that it did not ask for, the
// time is another one, a path is named twice, or it is there where it is not wanted.
import { expect, test } from 'vitest'
import { statuszPage } from '#apiserver/mux/statusz.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { serveApi } from '../support/api-server.ts'

const MINUTE_MS = 60_000
const STARTED_AT = Date.UTC(2024, 9, 6, 21, 3, 43, 250)
const LISTED = ['/apis', '/healthz', '/healthz/ping', '/metrics', '/metrics/slis', '/openapi/v2', '/shop/']
const clock = new VirtualClock({ wall: STARTED_AT })
const page = statuszPage(clock, 'v1.2.3', () => LISTED)
await clock.advance(61 * MINUTE_MS + 5_999)

const asked = async (accept?: string) => {
  const { ask } = await serveApi({
    config: { enableStatusz: false },
    setUp: (server) => server.handle('/statusz', page),
  })
  return ask('/statusz', { headers: { ...(accept && { Accept: accept }), 'User-Agent': 'test' } })
}

test.each([undefined, 'text/plain', 'text/*, application/json;q=0.9'])('is text for people: %s', async (accept) => {
  const answer = await asked(accept)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  const [head, rest] = (await answer.text()).split('purposes only.')
  expect(head).toMatch(/^\napiserver statusz\nWarning: This endpoint is not meant to be machine parseable, /)
  expect(rest?.split('\n').slice(2)).toEqual([
    'Started: Sun Oct  6 21:03:43 UTC 2024',
    'Up: 1 hr 01 min 05 sec',
    `Node version: ${process.version}`,
    'Binary version: v1.2.3',
    'Paths: /healthz /metrics /shop',
    '',
  ])
})

test('is an object for programs that ask for exactly that one', async () => {
  const type = 'application/json;g=config.k8s.io;v=v1beta1;as=Statusz'
  const answer = await asked(type)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
  expect(await answer.json()).toEqual({
    kind: 'Statusz',
    apiVersion: 'config.k8s.io/v1beta1',
    metadata: { name: 'apiserver' },
    startTime: '2024-10-06T21:03:43Z',
    uptimeSeconds: 3_665,
    binaryVersion: 'v1.2.3',
    paths: ['/healthz', '/metrics', '/shop'],
  })
  for (const other of ['application/json', type.replace('v1beta1', 'v9'), 'image/png']) expect((await asked(other)).status).toBe(406)
  expect(await (await asked('application/json')).json()).toMatchObject({
    message: 'only the following media types are accepted: application/json, application/yaml, text/plain',
  })
})

test('is there unless it is not wanted', async () => {
  const own = await serveApi({ config: { version: { gitVersion: 'v7.0.0' } } })
  expect(await (await own.ask('/statusz')).text()).toMatch(
    /\nUp: 0 hr 00 min \d\d sec\n.*\nBinary version: v7\.0\.0\nPaths: .*\/readyz \/version\n$/s,
  )
  const without = await serveApi({ config: { enableStatusz: false } })
  expect((await without.ask('/statusz')).status).toBe(404)
})
