// Fails when: the server's own client does not reach its server over what that listens on, trusts
// or is trusted by more than that server, waits for a server that does not listen, or gives away
// what it is known by.
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ApiServer } from '#apiserver/api-server.ts'
import { createApiServerOn } from '#apiserver/api-server.ts'
import { type ApiServerConfig, completeConfig } from '#apiserver/config.ts'
import { LOOPBACK_DAYS, LOOPBACK_NAME, Loopback } from '#apiserver/loopback/loopback.ts'
import { loopbackHost } from '#apiserver/loopback/target.ts'
import { systemHost } from '#src/actors/host.ts'
import { systemClock } from '#src/base/clock.ts'
import type { TlsOptions } from '#src/options/rows/tls.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import { type PemPair, pairFor } from '../support/certificates.ts'
import { row } from '../support/row.ts'

const DAY_MS = 86_400_000

const pairs = new Map<string, PemPair>()

/** One pair for each list of names in this file. */
function pair(...names: string[]): PemPair {
  const made = pairs.get(names.join()) ?? pairFor({ names })
  pairs.set(names.join(), made)
  return made
}

async function served(config: ApiServerConfig, setUp?: (server: ApiServer) => void): Promise<ServedApi & { readonly server: ApiServer }> {
  let made: ApiServer | undefined
  const api = await serveApi({
    config,
    setUp: (server) => {
      made = server
      server.handle('/echo', async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk as Buffer)
        response.setHeader('X-Asked', `${request.method} ${String(request.headers['x-own'])}`)
        response.end(Buffer.concat(chunks))
      })
      server.handle('/headers', (request, response) => response.end(JSON.stringify(request.headers)))
      setUp?.(server)
    },
  })
  return { ...api, server: made as ApiServer }
}

describe('where the own client connects to', () => {
  const loopback = { internal: true }
  const INTERFACES = {
    eth0: [{ address: '10.0.0.5', family: 'IPv4' as const, internal: false }],
    lo: [
      { address: '127.0.0.1', family: 'IPv4' as const, ...loopback },
      { address: '::1', family: 'IPv6' as const, ...loopback },
    ],
  }

  row('SS-05', 'the address of IPv4 that is bound, or a loopback one for all of them', () => {
    expect(loopbackHost('1.2.3.4', INTERFACES)).toBe('1.2.3.4')
    expect(loopbackHost('0.0.0.0', INTERFACES)).toBe('127.0.0.1')
  })

  row('SS-06', 'the address of IPv6 that is bound, or a loopback one for all of them', () => {
    expect(loopbackHost('ff06::c3', INTERFACES)).toBe('ff06::c3')
    expect(loopbackHost('::', INTERFACES)).toBe('::1')
  })

  test('localhost where no interface of that family is a loopback one', () => {
    expect(loopbackHost('::', { eth0: INTERFACES.eth0 })).toBe('localhost')
  })
})

describe('the own client of a server', () => {
  test.each<[string, ApiServerConfig]>([
    ['HTTP', {}],
    ['HTTPS', { tls: 'self-signed' }],
    ['HTTPS with HTTP/2', { tls: 'self-signed', http2: true }],
    ['HTTP/2 alone', { http2: true }],
    ['HTTPS that asks for certificates', { tls: { selfSigned: true, clientCa: pair('ca').cert } }],
    ['HTTPS that wants certificates', { tls: { selfSigned: true, clientCa: pair('ca').cert, clientCertificates: 'require' } }],
  ])('asks it over %s', async (_, config) => {
    const { server } = await served(config)
    const version = await server.loopback.fetch('/version')
    expect(await version.json()).toMatchObject({ gitVersion: 'v0.0.0' })
    const echo = await server.loopback.fetch('/echo?a=b', { method: 'POST', body: 'a body', headers: { 'X-Own': 'yes' } })
    expect([echo.status, echo.headers.get('x-asked'), await echo.text()]).toEqual([200, 'POST yes', 'a body'])
    expect(await (await server.loopback.fetch('/echo', { method: 'DELETE', body: 'which ones' })).text()).toBe('which ones')
    const head = await server.loopback.fetch('/nothing', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([404, ''])
  })

  test('asks it over a Unix socket', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quiesce-loopback-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const { server } = await served({ port: undefined, host: undefined, listeners: [{ path: join(folder, 'api.sock') }] })
    expect(await (await server.loopback.fetch('/version')).json()).toMatchObject({ gitVersion: 'v0.0.0' })
  })

  test('sends a body as it comes, and no token where none is known', async () => {
    const { server } = await served({})
    const body = new Blob(['x'.repeat(100_000)]).stream()
    expect(await (await server.loopback.fetch('/echo', { method: 'PUT', body } as RequestInit)).text()).toHaveLength(100_000)
    expect(await (await server.loopback.fetch('/headers')).json()).not.toHaveProperty('authorization')
  })

  test.each<[string, ApiServerConfig]>([
    ['HTTP', {}],
    ['HTTP/2 alone', { http2: true }],
  ])('asks over %s for a path as fetch writes it, without what may not stand in one', async (_, config) => {
    const { server } = await served(config, (own) => own.handlePrefix('/path/', (request, response) => response.end(request.url)))
    const answer = await server.loopback.fetch('/path/a b/ä😀%20\r\nX-Own: yes?q=ü#fragment')
    expect([answer.status, await answer.text()]).toEqual([200, '/path/a%20b/%C3%A4%F0%9F%98%80%20%0D%0AX-Own:%20yes?q=%C3%BC'])
  })

  test('leaves no connection behind for a status that no Response can have', async () => {
    const { server, life } = await served({}, (own) =>
      own.handle('/odd', (_, response) => {
        response.statusCode = 700
        response.end('x'.repeat(10_000_000))
      }),
    )
    await expect(server.loopback.fetch('/odd')).rejects.toThrow(RangeError)
    await expect.poll(() => life.counts().connections.open).toBe(0)
  })

  test('stops asking when it is told to', async () => {
    const { server } = await served({}, (own) => own.handle('/never', () => new Promise(() => {})))
    const reason = new Error('not wanted')
    await expect(server.loopback.fetch('/never', { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ name: 'TimeoutError' })
    await expect(server.loopback.fetch('/never', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  test('says that nothing listens: before the server is prepared, before it listens, and when it has ended', async () => {
    const server = createApiServerOn(
      systemHost,
      completeConfig({ port: 0, logger: false, lastCall: 0, platform: 'unknown', shutdownDelay: 0 }),
    )
    const asked = () => server.loopback.fetch('/version')
    await expect(asked()).rejects.toMatchObject({ code: 'ERR_NOT_LISTENING', message: expect.stringContaining('not been prepared') })
    const { life } = server.prepare()
    await expect(asked()).rejects.toMatchObject({ code: 'ERR_NOT_LISTENING', message: expect.stringContaining('does not listen yet') })
    await life.start()
    expect((await asked()).status).toBe(200)
    await life.stop()
    await expect(asked()).rejects.toMatchObject({ code: 'ERR_NOT_LISTENING' })
  })

  test('takes paths, and nothing else', async () => {
    const { server } = await served({})
    for (const path of ['http://other.test/', 'version', '', undefined])
      await expect(server.loopback.fetch(path as string)).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
    // Two slashes are no host.
    expect((await server.loopback.fetch('//other.test/version')).status).toBe(404)
  })
})

describe('the own client is there for hooks', () => {
  test('before readiness, of each server in a row, and while others are refused', async () => {
    const heard: string[] = []
    const config = { whileDraining: 'retry-after', hookTimeout: '10s' } as const
    const completed = completeConfig(config)
    const inner = createApiServerOn(systemHost, completed, { name: 'inner' })
    inner.addPostStartHook('inner', async ({ loopback }) => void heard.push(`inner ${(await loopback.fetch('/readyz')).status}`))
    let server: ApiServer | undefined
    let release = (): void => {}
    const isHeld = new Promise<void>((held) => {
      release = held
    })
    const api = await serveApi({
      config,
      delegate: inner,
      setUp: (outer) => {
        server = outer
        outer.handle('/held', async (_request, response) => {
          await isHeld
          response.end('held')
        })
        outer.addPreShutdownHook('outer', async ({ loopback }) => void heard.push(`outer ${(await loopback.fetch('/version')).status}`))
      },
    })
    const held = api.ask('/held')
    const refusals = new Promise<void>((resolve) => {
      api.life.signal('NotAcceptingNewRequest').addEventListener('abort', () => resolve())
    })
    // It is in flight: what follows is asked while the server waits for it.
    await expect.poll(() => api.life.status.gauges().requests).toBe(1)
    const ended = api.life.stop()
    await refusals
    expect((await api.ask('/version')).status).toBe(429)
    expect((await (server as ApiServer).loopback.fetch('/version')).status).toBe(200)
    expect((await inner.loopback.fetch('/version')).status).toBe(200)
    release()
    expect(await (await held).text()).toBe('held')
    await ended
    expect(heard).toEqual(['inner 500', 'outer 200'])
  })

  test('a hook that is no function is refused by its name', () => {
    const server = createApiServerOn(systemHost, completeConfig())
    expect(() => server.addPreShutdownHook('x', 1 as never)).toThrow(expect.objectContaining({ code: 'ERR_FUNCTION_MISSING' }))
  })
})

/** Of the certificate that a client gets which asks for a name. */
const certificateFor = (port: number, servername: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, servername })
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
  })

const fingerprint = ({ cert }: PemPair): string => new X509Certificate(cert).fingerprint256

describe('whatever certificates a server has, its own client knows it', () => {
  const localhost = pair('localhost')
  const both = pair('localhost', 'test.com')
  const test1 = pair('test.com')
  const own = pair(LOOPBACK_NAME)

  test.each<[string, TlsOptions]>([
    ['SN-01', localhost],
    ['SN-02', both],
    ['SN-03', { ...localhost, sni: [pairFor({ names: ['localhost'] })] }],
    ['SN-04', { ...localhost, sni: [test1] }],
    ['SN-05', { ...localhost, sni: [{ ...test1, names: ['test.com', '10.0.0.1'] }] }],
    ['SN-06', { ...localhost, sni: [pair('test.com', '*.test.com')] }],
  ])('those of %s', async (_, tls) => {
    const { server } = await served({ tls })
    expect((await server.loopback.fetch('/version')).status).toBe(200)
  })

  row(['SS-09', 'SN-07'], 'one for another name, and one by name', async () => {
    const { server, port } = await served({ tls: { ...test1, sni: [localhost] } })
    expect(await certificateFor(port, 'localhost')).toBe(fingerprint(localhost))
    expect((await server.loopback.fetch('/version')).status).toBe(200)
  })

  row('SN-08', 'one for the name of the own client', async () => {
    const { server, port } = await served({ tls: { ...own, sni: [localhost] } })
    expect(await certificateFor(port, 'localhost')).toBe(fingerprint(localhost))
    expect((await server.loopback.fetch('/version')).status).toBe(200)
  })

  row('SN-09', 'one by the name of the own client, whose own comes first', async () => {
    const { server, port } = await served({ tls: { ...localhost, sni: [{ ...own, names: [LOOPBACK_NAME] }] } })
    expect(await certificateFor(port, 'localhost')).toBe(fingerprint(localhost))
    expect(await certificateFor(port, LOOPBACK_NAME)).not.toBe(fingerprint(own))
    expect((await server.loopback.fetch('/version')).status).toBe(200)
  })

  row('SN-10', 'on all addresses', async () => {
    const { server, port } = await served({ host: '0.0.0.0', tls: localhost })
    expect(await certificateFor(port, 'localhost')).toBe(fingerprint(localhost))
    expect((await server.loopback.fetch('/version')).status).toBe(200)
  })

  test('and it trusts no other', async () => {
    const { server } = await served({ tls: localhost })
    const other = new Loopback(systemClock, false)
    await other.pair()
    const { port } = await served({ tls: localhost })
    other.opened([
      { address: () => ({ address: '127.0.0.1', port, family: 'IPv4' }), listening: true, setSecureContext: () => {} } as never,
    ])
    await expect(other.fetch('/version')).rejects.toThrow(/certificate/)
    expect((await server.loopback.fetch('/version')).status).toBe(200)
  })
})

row('SS-04', 'the check of its certificate passes as long as it is valid, on healthz and livez', async () => {
  let now = Date.now()
  const loopback = new Loopback({ ...systemClock, wall: () => now } as typeof systemClock, false)
  expect(() => loopback.check()).not.toThrow()
  const { cert } = await loopback.pair()
  const { validTo, subjectAltName } = new X509Certificate(cert)
  expect(subjectAltName).toBe(`DNS:${LOOPBACK_NAME}`)
  expect(Math.abs(Date.parse(validTo) - now - LOOPBACK_DAYS * DAY_MS)).toBeLessThan(1_000)
  now += LOOPBACK_DAYS * DAY_MS
  expect(() => loopback.check()).not.toThrow()
  now += 1
  expect(() => loopback.check()).toThrow('loopback serving certificate is expired')
  const { server } = await served({ tls: 'self-signed' })
  const statusOf = async (path: string) => (await server.loopback.fetch(path)).status
  const name = 'loopback-serving-certificate'
  expect(await Promise.all(['healthz', 'livez', 'readyz'].map((endpoint) => statusOf(`/${endpoint}/${name}`)))).toEqual([200, 200, 404])
})
