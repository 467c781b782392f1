// Profiles of an API server, where they are asked for. Fails when: they are there without, one does
// not end with the drain or with its client, what was counted is forgotten without leave.
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { completeConfig, createApiServer } from '#src/apiserver/index.ts'
import { systemClock } from '#src/base/clock.ts'
import { sendProfile } from '#src/lifecycle/profiles.ts'
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

const served = (enableProfiling: boolean) =>
  serveApi({ config: { enableProfiling }, setUp: (server) => server.handle('/a', (_, response) => void response.end('a')) })

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

test('a target that is no URL is none to fail about', async () => {
  const { connect, lines } = await served(true)
  const client = await connect()
  expect(await client.ask('GET', 'http://debug:999999/debug/pprof/')).toMatchObject({ status: 200 })
  expect(await client.ask('GET', 'http://debug:999999/debug/pprof/profile?seconds=0')).toMatchObject({ status: 400 })
  expect(lines.filter(({ level }) => level === 'error')).toEqual([])
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
  const { connect, life } = await serveApi({ config: { enableProfiling: true, deadline: '2m', watchGrace: 0 } })
  const client = await connect()
  client.request('GET', '/debug/pprof/heap')
  await client.until('the head', () => client.received.startsWith('HTTP/1.1 200'))
  client.socket.pause()
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
    }),
  )
  server.handle('/a', (_, response) => void response.end('a'))
  const { life } = server.prepare()
  await life.start()
  const ask = async (path: string, method = 'GET') => (await fetch(`${life.addresses[0]?.url}${path}`, { method })).text()
  await ask('/a')
  const counted = async () => (await ask('/metrics')).includes('subresource="/a"')
  await expect.poll(counted).toBe(true)
  expect(await ask('/metrics', 'DELETE')).toBe('metrics reset\n')
  expect(await counted()).toBe(false)
  await life.stop({ now: true })
})
