// What a whole life takes for a watch, and what becomes of it, judged by its clients and the exit
// code. Fails when: an ordinary request is cut as a watch because of its URL or of what its client
// accepts, an event stream is waited for like a request, or a watch that was lost costs nothing.
import type { RequestListener } from 'node:http'
import { describe, expect, test } from 'vitest'
import { kubernetesLongRunning, markWatch, type ServerOptions, shutdownSignalOf } from '#src/index.ts'
import { type TestLife, testServer } from '#src/testing/index.ts'

const GRACE_MS = 1_000
const OPTIONS: ServerOptions = { watchGrace: GRACE_MS, deadline: '30s', shutdownDelay: 0 }

const serving = (listener: (t: () => TestLife) => RequestListener, options: ServerOptions = {}): Promise<TestLife> => {
  let life: TestLife | undefined
  const made = testServer({ listener: listener(() => life as TestLife) }, { ...OPTIONS, ...options })
  return made.then((t) => (life = t))
}

describe('an ordinary request is none', () => {
  test.each([
    ['POST', '/mcp', { accept: 'application/json, text/event-stream' }],
    ['GET', '/events', { accept: 'text/event-stream' }],
    ['POST', '/api/v1/watch/123', {}],
    ['GET', '/api/v1/movies?watch=later', {}],
    ['DELETE', '/api/v2/watch/list/7', {}],
    ['GET', '/debug/pprof/x', {}],
  ])('whatever it looks like: %s %s', async (method, path, headers) => {
    await using t = await serving((life) => (_, response) => void life().clock.setTimeout(() => response.end('done'), 3 * GRACE_MS))
    const asked = (await t.connect()).request({ method, path, headers })
    await t.clock.advance(1)
    expect(await t.stop()).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 }, watches: { before: 0 } })
    expect(await asked.response).toMatchObject({ status: 200, body: 'done' })
  })

  test('but with upstream’s rule, it is what upstream says', async () => {
    await using t = await serving(
      () => (request, response) => {
        response.write('frame ')
        shutdownSignalOf(request).addEventListener('abort', () => response.end('bye'))
      },
      { longRunning: kubernetesLongRunning },
    )
    const asked = (await t.connect()).request('/api/v1/pods?watch=1')
    await asked.head
    expect(await t.stop()).toMatchObject({ exitCode: 0, requests: { before: 0 }, watches: { before: 1, after: 0 } })
    expect(await asked.response).toMatchObject({ body: 'frame bye' })
  })
})

describe('an event stream is one', () => {
  test('that is told, and ends cleanly', async () => {
    await using t = await serving(() => (request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\n\n')
      shutdownSignalOf(request).addEventListener('abort', () => response.end('data: bye\n\n'))
    })
    const asked = (await t.connect()).request({ method: 'POST', path: '/stream' })
    await asked.head
    expect(await t.stop()).toMatchObject({
      exitCode: 0,
      requests: { before: 0, after: 0 },
      watches: { before: 1, after: 0, cut: [] },
    })
    expect(await asked.response).toMatchObject({ body: 'data: 1\n\ndata: bye\n\n' })
  })

  test('that is cut and named at the end of its grace when it does not listen, which costs nothing', async () => {
    await using t = await serving(() => (_, response) => response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders())
    const asked = (await t.connect()).request({ method: 'POST', path: '/stream' })
    await asked.head
    const brokenOff = expect(asked.response).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    expect(await t.stop()).toMatchObject({ exitCode: 0, errors: [], watches: { before: 1, after: 1, cut: [{ name: 'POST /stream' }] } })
    await brokenOff
  })
})

describe('a watch that is lost costs exit code 5', () => {
  test('when it had no byte of an answer yet', async () => {
    await using t = await serving(() => (request) => void markWatch(request))
    const asked = (await t.connect()).request('/poll')
    const lost = expect(asked.response).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    await t.clock.advance(1)
    const report = await t.stop()
    expect(report).toMatchObject({ exitCode: 5, watches: { after: 1, cut: [{ name: 'GET /poll' }] } })
    expect(report.errors).toMatchObject([{ where: 'phase watch-drain', error: { message: expect.stringMatching(/^1 lost/) } }])
    expect(t.hasFired('Cut.requests'), 'the budget has cut nothing').toBe(false)
    await lost
  })
})
