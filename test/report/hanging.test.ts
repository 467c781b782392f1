// Handlers that never answer, on every kind of server and in every end. Fails when: an async
// handler whose promise never settles is not among the stragglers of the report: its request while
// that is there, and the handler itself in any case.
import { createServer } from 'node:http'
import { createServer as createHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import type { AttachableServer } from '#src/attach.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { createServerOn } from '#src/create-server.ts'
import { H2Client } from '../support/h2-client.ts'
import { LifeRig, newAttachedLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'
import { POLL } from '../support/upstream-client.ts'

const hang = async (): Promise<never> => new Promise(() => {})

const OPTIONS = { platform: 'unknown', exit: 'natural', shutdownDelay: 0, deadline: '5s' } as const

async function attached(server: AttachableServer) {
  server.listen(0, '127.0.0.1')
  const t = newAttachedLife(server, { clock: new VirtualClock(), options: OPTIONS })
  await t.life.start()
  return { t, port: (server.address() as AddressInfo).port }
}

const SERVERS = {
  'a created one with Hono': async () => {
    const app = new Hono().get('/hang', hang)
    const options = { ...OPTIONS, port: 0, host: '127.0.0.1' }
    const t = new LifeRig({ clock: new VirtualClock() }, (host, logger) => createServerOn(host, app, { ...options, logger }))
    await t.life.start()
    return { t, port: t.port }
  },
  'an attached one of node:http': () => attached(createServer(hang)),
  'an attached one of node:http2': () => attached(createHttp2(hang)),
} as const

/** Asks, and returns how to leave without an answer. */
async function ask(port: number, isHttp2: boolean): Promise<() => void> {
  if (isHttp2) {
    const stream = (await H2Client.open(`http://127.0.0.1:${port}`)).stream({ ':path': '/hang' }, true)
    return () => stream.close(8)
  }
  const client = await RawClient.open({ port })
  client.request('GET', '/hang')
  return () => client.abort()
}

describe.each(Object.keys(SERVERS) as (keyof typeof SERVERS)[])('of %s', (kind) => {
  test.each([
    { end: 'in order', client: 'waits' },
    { end: 'in order', client: 'has left' },
    { end: 'by force', client: 'waits' },
    { end: 'by force', client: 'has left' },
  ])('is named when the end is $end and its client $client', async ({ end, client }) => {
    const { t, port } = await SERVERS[kind]()
    const leave = await ask(port, kind.endsWith('http2'))
    await expect.poll(() => t.life.counts().requests, POLL).toBe(1)
    if (client === 'has left') {
      leave()
      await expect.poll(() => t.life.counts().requests, POLL).toBe(0)
    }
    const report = await t.end(t.life.stop({ now: end === 'by force' }))
    expect(report.exitCode).toBe(end === 'by force' ? 1 : 5)
    const hanging = [expect.objectContaining({ name: 'GET /hang', protocol: kind.endsWith('http2') ? 'HTTP/2' : 'HTTP/1.1', tls: 'none' })]
    expect(report.handlers).toEqual(hanging)
    expect(report.requests.cut).toEqual(client === 'waits' ? hanging : [])
    // A session outlives its stream, and an end by force comes before it is told to leave.
    const isSessionLeft = kind.endsWith('http2') && end === 'by force'
    const left = isSessionLeft ? [expect.stringMatching(/^127\.0\.0\.1:\d+$/)] : []
    expect(report.connections.forcedNames.map(({ name }) => name)).toEqual(
      client === 'waits' ? [expect.stringMatching(/^127\.0\.0\.1:\d+ GET \/hang$/)] : left,
    )
  })
})
