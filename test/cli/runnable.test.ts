// What `quiesce run` takes an export for. Fails when: a function that makes a life answers its
// requests with anything but the reason why it cannot, or a fetch function is in its way.
import { expect, test } from 'vitest'
import { runnableOf } from '#src/cli/runnable.ts'
import { createLife } from '#src/index.ts'

const fetchOf = (value: (request: Request) => unknown): ((request: Request) => unknown) => {
  const runnable = runnableOf({ label: 'default export of app.mjs', value })
  return runnable.kind === 'handler' ? (runnable.handler as never) : expect.unreachable()
}
const request = new Request('http://localhost/')

test('a function that makes a life is named as one at its first request', async () => {
  const notified = 'default export of app.mjs: the exported function was called as a fetch function (request), and returned a server'
  expect(() => fetchOf(() => createLife())(request)).toThrow(notified)
  await expect(fetchOf(async () => createLife())(request)).rejects.toThrow(notified)
})

test('a fetch function answers as it does', async () => {
  expect(fetchOf(({ url }) => url)(request)).toBe(request.url)
  expect(await fetchOf(async () => 'late')(request)).toBe('late')
})
