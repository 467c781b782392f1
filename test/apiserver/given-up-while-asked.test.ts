// Fails when: a client is told that its credentials are wrong, that it may not do what it asks for,
// or that its request is bad, because the server did not wait for the answer to that any more.
import { expect, test } from 'vitest'
import { type ApiServerConfig, type Authenticator, type Authorizer, apiGroup, memoryStorage } from '#apiserver/index.ts'
import { deferred } from '#src/base/deferred.ts'
import { widget, widgets } from '../groups/widgets.ts'
import { serveApi } from '../support/api-server.ts'

const PATH = '/apis/demo.example/v1/namespaces/default/widgets'
interface Case {
  readonly config: ApiServerConfig
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly query?: string
}

/** They know no answer, and `asked` is resolved when they are asked for it. */
const cases = {
  'an authenticator': (asked) => ({ config: { authenticators: [authenticator(asked)] } }),
  'an authenticator, about a watch,': (asked) => ({ config: { authenticators: [authenticator(asked)] }, query: '?watch=true' }),
  'an authorizer': (asked) => ({ config: { authorizer: authorizer(asked) } }),
  'an authorizer, about a watch,': (asked) => ({ config: { authorizer: authorizer(asked) }, query: '?watch=true' }),
  'an authorizer, about another user,': (asked) => ({
    config: { authenticators: [ANN], authorizer: authorizer(asked) },
    headers: { 'Impersonate-User': 'eve' },
  }),
  'an admission plugin': (asked) => ({
    config: { admission: [{ name: 'slow', handles: () => true, validate: () => untilGivenUp(asked) }] },
    method: 'POST',
  }),
} as const satisfies Record<string, (asked: Asked) => Case>

type Asked = ReturnType<typeof deferred<void>>

const ANN: Authenticator = { authenticate: () => ({ user: { name: 'ann', groups: [], extra: {} } }) }
const authenticator = (asked: Asked): Authenticator => ({ authenticate: (_, { signal }) => untilGivenUp(asked, signal) })
const authorizer = (asked: Asked): Authorizer => ({ authorize: (_, { signal }) => untilGivenUp(asked, signal) })

function untilGivenUp(asked: Asked, signal?: AbortSignal): Promise<never> {
  asked.resolve()
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
}

test.each(Object.entries(cases))('a drain that gives up a request while %s is asked has its client ask another server', async (_, make) => {
  const asked = deferred<void>()
  const { config, method = 'GET', headers = {}, query = '' }: Case = make(asked)
  const { ask, life, lines } = await serveApi({
    config: { deadline: '2s', watchGrace: '100ms', ...config },
    setUp: (server) =>
      server.installApiGroups(
        apiGroup({ group: 'demo.example', versions: { v1: [{ resource: widgets, storage: memoryStorage().resource() }] } }),
      ),
  })
  const body = method === 'POST' ? { body: JSON.stringify(widget('a')) } : {}
  const answer = ask(`${PATH}${query}`, { method, headers: { 'content-type': 'application/json', ...headers }, ...body })
  await asked.promise
  const stopped = life.stop()
  const { status, headers: answered } = await answer
  expect([status, answered.get('retry-after')]).toEqual([503, '1'])
  await stopped
  expect(lines.filter(({ message }) => message.startsWith('Unable to'))).toEqual([])
})
