// Profiles of an API server, where they are asked for. Fails when: they are there without, one does
// not end with the drain or with its client, what was counted is forgotten without leave.

import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { Session } from 'node:inspector/promises'
import { type AddressInfo, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { queryObjects } from 'node:v8'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Authorizer } from '#apiserver/index.ts'
import { completeConfig, createApiServer } from '#apiserver/index.ts'
import { systemClock } from '#src/base/clock.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { sendProfile } from '#src/endpoints/profiles.ts'
import { serveApi } from '../support/api-server.ts'

// A snapshot of this process would take seconds.
vi.mock('node:v8', async (original) => ({
  ...(await original<typeof import('node:v8')>()),
  getHeapSnapshot: () =>
    new Readable({
      read(size) {
        this.push('x'.repeat(size))
      },
    }),
}))

/** Profiles are for those who are allowed to have them. */
const ALLOWING: Authorizer = { authorize: () => ({ decision: 'allow' }) }

const served = (enableProfiling: boolean) =>
  serveApi({
    config: { enableProfiling, authorizer: ALLOWING },
    setUp: (server) => server.handle('/a', (_, response) => void response.end('a')),
  })

test('are not there unless they are asked for', async () => {
  const { ask } = await served(false)
  for (const path of ['/debug/pprof', '/debug/pprof/', '/debug/pprof/heap']) expect((await ask(path)).status).toBe(404)
  expect(await (await ask('/metrics', { method: 'DELETE' })).text()).toContain('# TYPE apiserver_connections gauge')
  expect(completeConfig({}).enableProfiling).toBe(false)
})

test('are listed, and what there is not is said', async () => {
  const { ask } = await served(true)
  const index = await ask('/debug/pprof/')
  expect([index.status, index.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(await index.text()).toContain('<a href="profile">')
  const answers = await Promise.all(['goroutine', 'profile?seconds=0', 'toString'].map((name) => ask(`/debug/pprof/${name}`)))
  expect(answers.map(({ status }) => status)).toEqual([404, 400, 404])
  const index2 = (await (await ask('/')).json()) as { paths: string[] }
  expect(index2.paths.filter((path) => path.startsWith('/debug'))).toEqual([])
})

test('one lasts until it is told to end, by a drain too, and what was taken by then is sent; there is one at a time', async () => {
  const { ask, life } = await served(true)
  const taken = ask('/debug/pprof/profile?seconds=600')
  await expect.poll(() => life.counts().watches).toBe(1)
  await expect.poll(async () => (await ask('/debug/pprof/profile?seconds=1')).status).toBe(409)
  const ended = life.stop('the profile has been taken')
  const answer = await taken
  expect([answer.status, answer.headers.get('content-disposition')]).toEqual([200, `attachment; filename="cpu.cpuprofile-${process.pid}"`])
  expect(await answer.json()).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) })
  await ended
})

test('a client that leaves while the profiler starts does not keep it from others', async () => {
  const { ask } = await served(true)
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  sendProfile('profile', '/debug/pprof/profile?seconds=600', response, systemClock)
  response.emit('close')
  await expect.poll(async () => (await ask('/debug/pprof/profile?seconds=0.01')).status).toBe(200)
})

test('a heap snapshot that is read slowly does not hold up a drain', async () => {
  // Where it does, the time of the test is over first.
  const { connect, life } = await serveApi({ config: { enableProfiling: true, authorizer: ALLOWING, deadline: '2m', watchGrace: 0 } })
  const client = await connect()
  client.request('GET', '/debug/pprof/heap')
  await client.until('the head', () => client.received.includes('\r\n\r\n'))
  client.socket.pause()
  expect(client.received).toMatch(/^HTTP\/1\.1 200 /)
  expect(client.received).toContain(`\r\nContent-Disposition: attachment; filename="heap.heapsnapshot-${process.pid}"\r\n`)
  expect(client.received).toContain('\r\nContent-Type: application/json\r\n')
  expect(await life.stop('enough')).toMatchObject({ exitCode: 0 })
})

test('DELETE forgets what was counted', async () => {
  const server = createApiServer(
    completeConfig({
      port: 0,
      host: '127.0.0.1',
      logger: false,
      lastCall: 0,
      platform: 'unknown',
      shutdownDelay: 0,
      enableProfiling: true,
      authorizer: ALLOWING,
      audit: { run: () => {}, processEvents: () => true, shutdown: () => {} } as never,
      auditPolicy: { rules: [{ level: 'Metadata', nonResourceURLs: ['/a'] }] },
    }),
  )
  server.handle('/a', (_, response) => void response.end('a'))
  const { life } = server.prepare()
  await life.start()
  const ask = async (path: string, method = 'GET') => (await fetch(`${life.addresses[0]?.url}${path}`, { method })).text()
  await ask('/a')
  const counted = async () => (await ask('/metrics')).includes('subresource="/a"')
  const audited = async () => /^apiserver_audit_event_total (\d+)$/m.exec(await ask('/metrics'))?.[1]
  await expect.poll(counted).toBe(true)
  expect(await audited()).toBe('2')
  expect(await ask('/metrics', 'DELETE')).toBe('metrics reset\n')
  expect([await counted(), await audited()]).toEqual([false, '0'])
  await life.stop({ now: true })
})

/** A response whose client a test is. */
const unsent = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()))

/** Asks for a profile of virtual time, over a socket. */
async function profiled(signal?: AbortSignal) {
  const clock = new VirtualClock()
  const server = createServer((request, response) => sendProfile('profile', request.url ?? '', response, clock, signal))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const ask = (query: string) => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${query}`)
  return { clock, ask }
}

test('one takes thirty seconds unless it is told otherwise', async () => {
  const { clock, ask } = await profiled()
  let status: number | undefined
  const answer = ask('').then((response) => {
    status = response.status
    return response.json()
  })
  await expect.poll(() => clock.pending).toBe(1)
  await clock.advance(29_999)
  expect(status).toBeUndefined()
  await clock.advance(1)
  expect(await answer).toMatchObject({ nodes: expect.any(Array) })
  expect(status).toBe(200)
})

test('one that is asked for when a drain has begun is over at once, and leaves no timer', async () => {
  const { clock, ask } = await profiled(AbortSignal.abort())
  expect((await ask('?seconds=600')).status).toBe(200)
  expect(clock.pending).toBe(0)
})

test('what is refused keeps nobody from the profiler, and disturbs nobody who has it', async () => {
  const clock = new VirtualClock()
  const ask = (seconds: string) => {
    const response = unsent()
    sendProfile('profile', `/?seconds=${seconds}`, response, clock)
    return response
  }
  expect(ask('601').statusCode).toBe(400)
  expect(ask('long').statusCode).toBe(400)
  const taking = ask('600')
  expect([taking.statusCode, taking.headersSent]).toEqual([200, false])
  expect(ask('600').statusCode).toBe(409)
  await expect.poll(() => clock.pending).toBeGreaterThan(0)
  await clock.advance(1)
  expect(clock.pending).toBe(1)
  taking.emit('close')
  await expect.poll(() => clock.pending).toBe(0)
})

test('a heap snapshot that is being sent leaves the profiler to others', async () => {
  const [heap, { ask }] = [unsent(), await profiled(AbortSignal.abort())]
  const stop = new AbortController()
  sendProfile('heap', '/', heap, systemClock, stop.signal)
  expect((await ask('?seconds=1')).status).toBe(200)
  stop.abort()
})

test('clients that have left are written nothing, and no sessions of the inspector pile up', async () => {
  const clock = new VirtualClock()
  const responses: ServerResponse[] = []
  const ask = (): number => {
    const response = unsent()
    sendProfile('profile', '/?seconds=600', response, clock)
    responses.push(response)
    return response.statusCode
  }
  const TIMES = 4
  for (let at = 0; at < TIMES; at++) {
    await expect.poll(ask).toBe(200)
    await expect.poll(() => clock.pending).toBe(1)
    const taken = responses.pop()
    taken?.emit('close')
    await expect.poll(() => clock.pending).toBe(0)
    expect(taken?.headersSent).toBe(false)
  }
  // Once, as each look goes through all that the process has.
  await expect.poll(() => queryObjects(Session, { format: 'count' })).toBeLessThan(TIMES)
})
