// What the watch drain does with one request, row by row of upstream's contract (FT), as its
// handler and its client see it. Fails when: an ordinary request is taken for a watch, or told; a
// watch that comes too late reaches its handler; one that is open is not counted once, not told by
// its signal, or does not end with its 200.
//
// Not claimed here: FT-01 and FT-05 are of a filter that is built without what it needs, which a
// life always has; they come with the filter chain. FT-08 is that of WebSockets.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { loopbackHeaders, shutdownSignalOf } from '#src/index.ts'
import type { ServerOptions } from '#src/options/options.ts'
import { row } from '../support/row.ts'
import { POLL } from '../support/upstream-client.ts'
import { DELAY_MS, serveUpstream } from '../support/upstream-server.ts'

const RESOURCE = '/apis/watches.group/v1/things'
const WATCHED = `${RESOURCE}?watch=true`

/** A server whose requests for the resource are held, to be answered by the test. */
async function holding(options: ServerOptions = {}) {
  const held: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly signal: AbortSignal }[] = []
  const take = (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    held.push({ request, response, signal: shutdownSignalOf(request) })
    return new Promise((resolve) => response.once('close', resolve))
  }
  const server = await serveUpstream({ options: { whileDraining: 'retry-after', ...options }, routes: { [RESOURCE]: take }, hook: false })
  const asked = async (path: string) => {
    const [count, answer] = [held.length, server.client().get(path)]
    answer.catch(() => undefined)
    await expect.poll(() => held.length, POLL).toBe(count + 1)
    return { answer, ...(held.at(-1) as (typeof held)[number]) }
  }
  const notAccepting = async (): Promise<void> => {
    server.stop()
    await server.clock.advance(DELAY_MS)
    await server.fired('NotAcceptingNewRequest')
  }
  return { server, held, asked, notAccepting }
}

row('FT-02', 'a get is answered, is no watch, and its signal is not that of the shutdown (V20)', async () => {
  const { server, asked, notAccepting } = await holding()
  const { answer, response, signal } = await asked(RESOURCE)
  expect(server.life.counts()).toMatchObject({ requests: 1, watches: 0 })
  await notAccepting()
  await server.fired('WatchesDrained')
  expect(signal.aborted).toBe(false)
  response.end('done')
  expect(await answer).toMatchObject({ status: 200, body: 'done' })
})

row('FT-03', 'a watch that comes while the drain waits is refused with 503, and its handler is not called', async () => {
  const { server, held, asked, notAccepting } = await holding()
  const { response } = await asked(WATCHED)
  await notAccepting()
  expect(await server.fresh(WATCHED, loopbackHeaders())).toMatchObject({
    status: 503,
    headers: { 'retry-after': '1', 'content-type': 'application/json', 'x-content-type-options': 'nosniff' },
  })
  expect(held).toHaveLength(1)
  expect(server.life.counts()).toMatchObject({ watches: 1 })
  response.end()
})

row('FT-04', 'a watch is counted once and back to none, and has one signal, its own (V20)', async () => {
  const { server, asked } = await holding()
  const first = await asked(WATCHED)
  expect(server.life.counts()).toMatchObject({ requests: 0, watches: 1 })
  expect(shutdownSignalOf(first.request)).toBe(first.signal)
  const second = await asked(WATCHED)
  expect(second.signal).not.toBe(first.signal)
  for (const { response } of [first, second]) response.end('done')
  for (const { answer } of [first, second]) expect(await answer).toMatchObject({ status: 200, body: 'done' })
  await expect.poll(() => server.life.counts().watches, POLL).toBe(0)
})

row('FT-07', 'a watch over HTTP ends cleanly with its 200 when its turn has come (V20)', async () => {
  const { server, asked } = await holding()
  const { answer, response, signal } = await asked(WATCHED)
  response.write('{"type":"ADDED"}\n')
  signal.addEventListener('abort', () => response.end('{"type":"BOOKMARK"}\n'))
  server.stop()
  await server.clock.advance(DELAY_MS - 1)
  expect(signal.aborted).toBe(false)
  await server.clock.advance(1)
  await server.fired('NotAcceptingNewRequest')
  while (!signal.aborted) await server.clock.advance(1)
  expect(await answer).toMatchObject({ status: 200, body: '{"type":"ADDED"}\n{"type":"BOOKMARK"}\n' })
  expect(await server.endNow()).toMatchObject({ exitCode: 0, watches: { before: 1, after: 0, cut: [] } })
})
