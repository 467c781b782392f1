// What fails in a Response when it is sent. Fails when: that is in no log or report, the adapter
// prints it, a client is told what only the server should know, takes a part for the whole, or a
// client that has left is a failure of the handler.
import { expect, onTestFinished, test, vi } from 'vitest'
import { deferred } from '#src/base/deferred.ts'
import { createServer } from '#src/index.ts'

const text = (part: string) => new TextEncoder().encode(part)

/** Begins, and then fails. */
const failing = (before: readonly string[]) =>
  new ReadableStream({
    pull(controller) {
      const part = before[sent++]
      if (part === undefined) controller.error(new Error('the database went away'))
      else controller.enqueue(text(part))
    },
  })
let sent = 0

async function served(handler: (path: string) => Response | Promise<Response>) {
  sent = 0
  const printed = [vi.spyOn(console, 'error').mockReturnValue(), vi.spyOn(console, 'info').mockReturnValue()]
  onTestFinished(() => void vi.restoreAllMocks())
  const server = createServer(({ url }) => handler(new URL(url).pathname), { port: 0, host: '127.0.0.1', logger: false, lastCall: 0 })
  await server.start()
  const { port } = server.addresses[0] as { readonly port: number }
  return {
    ask: (init?: RequestInit) => fetch(`http://127.0.0.1:${port}/x`, init),
    end: async () => ({ errors: (await server.stop()).errors, printed: printed.flatMap(({ mock }) => mock.calls) }),
  }
}

const usedUp = async () => {
  const answer = new Response(new ReadableStream({ start: (controller) => controller.close() }))
  await answer.text()
  return answer
}
const locked = () => {
  const answer = new Response(failing([]))
  answer.body?.getReader()
  return answer
}

test.each<[string, () => Response | Promise<Response>, string]>([
  ['has no status', () => Response.error(), 'a Response with the status 0'],
  ['is locked', locked, 'a Response whose body is read already'],
])('an answer that %s is a failure of the handler', async (_, handler, why) => {
  const { ask, end } = await served(handler)
  const answer = await ask()
  expect([answer.status, await answer.text()]).toEqual([500, 'Internal Server Error\n'])
  const { errors, printed } = await end()
  expect([errors.map(({ where, error }) => [where, error.message]), printed]).toEqual([
    [['handler GET /x', expect.stringContaining(why)]],
    [],
  ])
})

test('an answer that was read to its end is empty, or a failure, and nothing is printed of it', async () => {
  const { ask, end } = await served(usedUp)
  const answer = await ask()
  expect(await answer.text()).not.toContain('locked')
  expect((await end()).printed).toEqual([])
})

test.each<[string, Response['headers'] | undefined]>([
  ['light', undefined],
  ['with headers', new Headers({ 'content-type': 'text/event-stream' })],
])('a body that fails in the middle breaks the answer off: %s', async (_, headers) => {
  const { ask, end } = await served(() => new Response(failing(['part', 'more']), headers && { headers }))
  await expect(ask().then((answer) => answer.text())).rejects.toThrow()
  const { errors, printed } = await end()
  expect([errors.map(({ where, error }) => [where, error.message]), printed]).toEqual([[['handler GET /x', 'the database went away']], []])
})

test('a client that leaves is no failure of the body', async () => {
  const cancelled = deferred<void>()
  const endless = () =>
    new ReadableStream({
      pull: (controller) => {
        controller.enqueue(text('tick'))
        return new Promise((resolve) => setImmediate(resolve))
      },
      cancel: () => cancelled.resolve(),
    })
  const { ask, end } = await served(() => new Response(endless()))
  const leaving = new AbortController()
  const answer = await ask({ signal: leaving.signal })
  leaving.abort()
  await answer.text().catch(() => {})
  await cancelled.promise
  expect(await end()).toEqual({ errors: [], printed: [] })
})
