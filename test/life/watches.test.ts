// What a whole life takes for a watch, and what becomes of it, judged by its clients and the exit
// code. Fails when: an ordinary request is cut as a watch because of its URL, of what its client
// accepts or of the type of its answer, a stream that is cut in its middle costs nothing although
// nothing has said that it is endless, or a watch that was lost costs nothing.
import type { IncomingMessage, RequestListener } from 'node:http'
import { describe, expect, test } from 'vitest'
import { kubernetesLongRunning } from '#apiserver/request/long-running.ts'
import { markRequest, markWatch, type Report, type ServerOptions, shutdownSignalOf } from '#src/index.ts'
import { whyNotGraceful } from '#src/report/why-not-graceful.ts'
import { type TestLife, testServer } from '#src/testing/index.ts'

const EVENTS = 'text/event-stream'
const GRACE_MS = 1_000
const OPTIONS: ServerOptions = { watchGrace: GRACE_MS, deadline: '30s', shutdownDelay: 0 }

const serving = (listener: (t: () => TestLife) => RequestListener, options: ServerOptions = {}): Promise<TestLife> => {
  let life: TestLife | undefined
  const made = testServer({ listener: listener(() => life as TestLife) }, { ...OPTIONS, ...options })
  return made.then((t) => (life = t))
}

/** How long the end has taken, in virtual time. */
const lasted = ({ endedAt, stopRequestedAt }: Report): number => Date.parse(endedAt) - Date.parse(stopRequestedAt as string)

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

describe('an event stream is one when its handler asks for its signal:', () => {
  test('it is told, and ends cleanly', async () => {
    await using t = await serving(() => (request, response) => {
      response.writeHead(200, { 'Content-Type': EVENTS }).write('data: 1\n\n')
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

  test('it is cut and named at the end of its grace when it goes on, which costs nothing', async () => {
    await using t = await serving(() => (request, response) => {
      shutdownSignalOf(request)
      response.writeHead(200, { 'Content-Type': EVENTS }).flushHeaders()
    })
    const asked = (await t.connect()).request({ method: 'POST', path: '/stream' })
    await asked.head
    const brokenOff = expect(asked.response).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    const report = await t.stop()
    expect(report).toMatchObject({
      exitCode: 0,
      errors: [],
      warnings: [],
      watches: { before: 1, after: 1, cut: [{ name: 'POST /stream' }] },
    })
    expect(lasted(report)).toBeLessThan(2 * GRACE_MS)
    await brokenOff
  })
})

describe('an answer that is streamed and ends by itself is a request:', () => {
  const TYPES = [EVENTS, `${EVENTS}; charset=utf-8`, 'application/x-ndjson', 'multipart/x-mixed-replace; boundary=b', undefined]
  const MODES: readonly ServerOptions[] = [
    { whileDraining: 'retry-after' },
    { shutdownDelay: '2s' },
    { longRunning: () => false },
    { longRunning: kubernetesLongRunning },
    { watchGrace: 0 },
  ]

  test.each([...TYPES.map((type) => [type, {}] as const), ...MODES.map((options) => [EVENTS, options] as const)])(
    '%s, with %o',
    async (type, options) => {
      await using t = await serving(
        (life) => (_, response) => {
          if (type !== undefined) response.setHeader('Content-Type', type)
          response.write('first ')
          life().clock.setTimeout(() => response.end('last'), 6 * GRACE_MS)
        },
        { deadline: '12s', ...options },
      )
      const asked = (await t.connect()).request({ method: 'POST', path: '/v1/chat/completions' })
      await asked.head
      expect(await t.stop()).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 }, watches: { before: 0 }, warnings: [] })
      expect(await asked.response).toMatchObject({ status: 200, body: 'first last' })
    },
  )

  test.each([
    ['markRequest(request)', (request: IncomingMessage) => markRequest(request), {}],
    ['longRunning returns false', (request: IncomingMessage) => shutdownSignalOf(request), { longRunning: () => false }],
  ] as const)('also when its handler hears its signal, said by %s', async (_, signalOf, options) => {
    await using t = await serving(
      (life) => (request, response) => {
        signalOf(request).addEventListener('abort', () => response.end('cut'))
        response.writeHead(200, { 'Content-Type': EVENTS }).write('first ')
        life().clock.setTimeout(() => response.end('last'), 6 * GRACE_MS)
      },
      options,
    )
    const asked = (await t.connect()).request({ method: 'POST', path: '/ask' })
    await asked.head
    expect(await t.stop()).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 }, watches: { before: 0 } })
    expect(await asked.response).toMatchObject({ body: 'first last' })
  })

  test('one that does not end is waited for until its cut, which costs exit code 5 and says what to do', async () => {
    await using t = await serving(() => (_, response) => response.writeHead(200, { 'Content-Type': EVENTS }).flushHeaders())
    const asked = (await t.connect()).request('/mcp')
    await asked.head
    const brokenOff = expect(asked.response).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    const report = await t.stop()
    expect(report).toMatchObject({
      exitCode: 5,
      requests: { before: 1, after: 1, cut: [{ name: 'GET /mcp', streaming: true }] },
      watches: { before: 0 },
      warnings: [
        {
          message: expect.stringMatching(/^answers were cut in the middle of their streams.*markWatch\(request\)/),
          details: { count: 1, streams: ['GET /mcp'] },
        },
      ],
    })
    expect(whyNotGraceful(report)[0]).toMatch(
      /: GET \/mcp; if the stream GET \/mcp never ends by itself, call markWatch\(request\) in its handler$/,
    )
    await brokenOff
  })

  test('and of one that was said to be a request there is nothing to say but that it was cut', async () => {
    await using t = await serving(() => (request, response) => {
      markRequest(request)
      response.writeHead(200, { 'Content-Type': EVENTS }).flushHeaders()
    })
    const asked = (await t.connect()).request('/ask')
    await asked.head
    const brokenOff = expect(asked.response).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    const report = await t.stop()
    expect(report).toMatchObject({ exitCode: 5, requests: { cut: [{ name: 'GET /ask' }] }, warnings: [] })
    expect(whyNotGraceful(report)[0]).toMatch(/: GET \/ask$/)
    await brokenOff
  })
})

test('while serving, a stream is counted as what it will be, as far as that is known', async () => {
  await using t = await serving(() => (request, response) => {
    if (request.url === '/heard') shutdownSignalOf(request).addEventListener('abort', () => response.end())
    response.writeHead(200, { 'Content-Type': EVENTS }).flushHeaders()
    if (request.url === '/said') markRequest(request)
  })
  for (const path of ['/heard', '/deaf', '/said']) await (await t.connect()).request(path).head
  expect(t.life.counts()).toMatchObject({ requests: 2, watches: 1 })
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
