// What clients name must not be looked up among the members of every object. Fails when: a method
// such as `constructor` is another verb than a text, for the authorizer, the log or the audit log;
// or a request whose session is gone before it is over has no line, or fails for its address.
import { describe, expect, test } from 'vitest'
import type { AuthorizationAttributes } from '#apiserver/index.ts'
import { requestInfo } from '#apiserver/request/request-info.ts'
import { serveApi } from '../support/api-server.ts'
import { H2Client } from '../support/h2-client.ts'

/** Everything that an object of no class has. */
const MEMBERS = Object.getOwnPropertyNames(Object.prototype)

test.each(MEMBERS)('a method %s has no verb', (method) => {
  expect(requestInfo(method, '/api/v1/pods')).toMatchObject({ verb: '', resource: 'pods' })
  expect(requestInfo(method, '/')).toMatchObject({ verb: method.toLowerCase() })
})

describe('over HTTP/2', () => {
  async function serve() {
    const asked: AuthorizationAttributes[] = []
    const authorize = (attributes: AuthorizationAttributes) => {
      asked.push(attributes)
      return { decision: 'allow' } as const
    }
    const served = await serveApi({
      config: { http2: true, anonymousAuth: true, authorizer: { authorize } },
      setUp: (server) => void server.handlePrefix('/api/', (_, response) => setTimeout(() => response.end(), 50)),
    })
    const lines = () => served.lines.filter(({ message }) => message === 'HTTP').map(({ fields }) => fields)
    const errors = () => served.lines.filter(({ level }) => level === 'error')
    return { ...served, asked, httpLines: lines, errors }
  }

  test('whatever a method is called, an authorizer is given a text', async () => {
    const { connectH2, asked, httpLines, errors } = await serve()
    // One who is not known is told to come anew.
    for (const method of MEMBERS) await (await connectH2()).get('/api/v1/pods', { ':method': method })
    expect(asked.map(({ verb }) => verb)).toEqual(MEMBERS.map(() => ''))
    await expect.poll(() => httpLines().length).toBe(MEMBERS.length)
    expect(errors()).toEqual([])
  })

  test.each([{ expect: 'x' }, {}])(
    'a request whose client is gone has its line, with the address that it came from: %j',
    async (headers) => {
      const { port, httpLines, errors } = await serve()
      const COUNT = 5
      for (let at = 0; at < COUNT; at++) {
        const client = await H2Client.open(`http://127.0.0.1:${port}`)
        const stream = client.stream({ ':path': '/api/v1/pods', ...headers }, true)
        await expect.poll(() => stream.id).toBeDefined()
        if (headers.expect === undefined) setTimeout(() => client.session.destroy(), 10)
        else stream.on('response', () => client.session.destroy())
        await client.closed
      }
      await expect.poll(() => httpLines().length).toBe(COUNT)
      for (const { srcIP } of httpLines()) expect(srcIP).toMatch(/^127\.0\.0\.1:\d+$/)
      expect(errors()).toEqual([])
    },
  )
})
