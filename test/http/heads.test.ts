// What a request says of itself, before anything decides on it. Fails when: a server that quiesce
// creates, of whichever kind, serves a request whose host or target another reader takes for
// something else, or one of whose headers has been left out; refuses one that says it properly; or
// an attached server serves a head that node has cut off.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type NetConnectOpts, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { parse } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serveApi } from '../support/api-server.ts'
import { H2Client } from '../support/h2-client.ts'
import { newAttachedLife, newLife } from '../support/life.ts'
import { temporaryFolder } from '../support/process.ts'

type Ask = (head: string) => Promise<string>

/** Says which host, target and headers its handler reads. */
const echo = (request: { headers: NodeJS.Dict<string | string[]>; rawHeaders: string[]; url?: string | undefined }): string =>
  `${String(request.headers['host'])} ${request.url} ${request.rawHeaders.length / 2}`

/** Everything that comes back on a connection of its own. */
async function exchange(open: () => Socket, head: string): Promise<string> {
  const socket = open()
  let got = ''
  socket.on('data', (bytes) => (got += bytes.toString('latin1')))
  socket.on('error', () => undefined)
  socket.write(Buffer.from(head, 'latin1'))
  await once(socket, 'close')
  const [status = ''] = got.split('\r\n', 1)
  return `${status.slice(9, 12)} ${got.slice(got.indexOf('\r\n\r\n') + 4).trim()}`
}

const asking =
  (to: NetConnectOpts): Ask =>
  (head) =>
    exchange(() => connect(to), head)

/** Each kind of server that speaks HTTP/1.1 and is ours. */
const KINDS: Readonly<Record<string, () => Promise<Ask>>> = {
  'plain HTTP': async () => asking({ port: (await created({})).port, host: '127.0.0.1' }),
  TLS: async () => askingTls((await created({ tls: 'self-signed' })).port),
  'TLS with HTTP/2 beside it': async () => askingTls((await created({ tls: 'self-signed', http2: true })).port),
  'an API server': async () => {
    const { port } = await serveApi({
      setUp: (server) => void server.handlePrefix('/', (request, response) => void response.end(echo(request))),
    })
    return asking({ port, host: '127.0.0.1' })
  },
  'the admin listener': async () => {
    const rig = newLife({ options: { admin: { port: 0, host: '127.0.0.1' } } })
    await rig.life.start()
    const admin = rig.events.find((event) => event.type === 'listening' && event.admin) as { readonly port: number }
    return asking({ port: admin.port, host: '127.0.0.1' })
  },
  'the debug socket': async () => {
    const path = join(temporaryFolder(), 'debug')
    await newLife({ options: { debugSocket: path } }).life.start()
    return asking({ path })
  },
}

async function created(listener: { readonly tls?: 'self-signed'; readonly http2?: boolean }): Promise<{ readonly port: number }> {
  const rig = newLife({
    listener: (request, response) => void response.end(echo(request)),
    options: { listeners: [{ port: 0, host: '127.0.0.1', ...listener }] },
  })
  await rig.life.start()
  return rig
}

const askingTls =
  (port: number): Ask =>
  (head) =>
    exchange(() => connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }), head)

const request = (host: string | undefined, target = '/livez', more = ''): string =>
  `GET ${target} HTTP/1.1\r\n${host === undefined ? '' : `Host: ${host}\r\n`}Connection: close\r\n${more}\r\n`

/** Hosts, and whether Go's net/http 1.26 serves them. */
const HOSTS: readonly (readonly [host: string, inGo: boolean])[] = [
  ['x', true],
  ['x:80', true],
  ['x:', true],
  ['X.Example.', true],
  ['a_b-c', true],
  ['[::1]', true],
  ['[::1]:8080', true],
  ['1.2.3.4:65535', true],
  ['a!$&()*+,=~b', true],
]

const NO_HOSTS: readonly (readonly [host: string, inGo: boolean])[] = [
  ['x/secret/key?', false],
  ['x/secret/key#', false],
  ['x\\secret\\key?', false],
  ['x?', false],
  ['x#', false],
  ['x@y', false],
  ['user:password@x', false],
  ['x y', false],
  ['\xc3\xa9', false],
  ['x"', false],
  ['x<', false],
  ['x|', false],
  ['x{', false],
  // Some readers of URLs begin the path at these.
  ['x;secret', true],
  ["x'secret", true],
  ['x%73ecret', true],
  ['x%2fsecret', true],
  ['a:b', true],
  ['x:80:90', true],
  ['x:65536', true],
  ['x:99999', true],
  ['x:+80', true],
  ['[::::]', true],
  ['[', true],
  ['[fe80::1%25en0]', true],
  ['', true],
  ['x'.repeat(2_000), true],
]

/** All answers differ by what they say; that of a host that is none does not. */
const isRefused = (answer: string): boolean => /^4(00|31)/.test(answer)

describe.each(Object.entries(KINDS))('%s', (_, serve) => {
  test('has one host', async () => {
    const ask = await serve()
    const served = await Promise.all(HOSTS.map(async ([host]) => [host, isRefused(await ask(request(host)))]))
    expect(served.filter(([, refused]) => refused)).toEqual([])
    const refused = await Promise.all(NO_HOSTS.map(async ([host]) => [host, isRefused(await ask(request(host)))]))
    expect(refused.filter(([, isIt]) => !isIt)).toEqual([])
    expect(await ask('GET /livez HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(/^400/)
    expect(await ask(request(undefined))).toMatch(/^400/)
    expect(await ask('GET /livez HTTP/1.0\r\n\r\n')).toMatch(/^[25]/)
    expect(await ask('GET /livez HTTP/1.0\r\nHost: x/y\r\n\r\n')).toMatch(/^400/)
  })

  test('has all headers of a request, or none', async () => {
    const ask = await serve()
    for (const count of [900, 1_050, 3_000]) {
      const answer = await ask(request('x', '/echo', `${'a:\r\n'.repeat(count)}Last: 1\r\n`))
      expect(answer).not.toMatch(/^431/)
      if (answer.startsWith('200')) expect(answer).toBe(`200 x /echo ${count + 3}`)
    }
    expect(await ask(request('x', '/livez', `Accept: ${'a'.repeat(5_000)}\r\n`))).toMatch(/^431/)
  })

  test('has targets of the forms that there are, and their own host wins', async () => {
    const ask = await serve()
    const answers = async (targets: readonly string[]) =>
      Object.fromEntries(await Promise.all(targets.map(async (target) => [target, (await ask(request('x', target))).slice(0, 3)] as const)))
    const none = ['*', 'ftp://y/livez', 'http:///livez', 'http://y#f', 'http://u@y/livez', 'http://y\\livez', 'http://y;z/livez', 'foo:bar']
    expect(await answers(none)).toEqual(Object.fromEntries(none.map((target) => [target, '400'])))
    const some = ['http://y/livez', 'HTTP://Y:81/livez?a', 'https://y', '//livez']
    expect(Object.entries(await answers(some)).filter(([, status]) => status === '400')).toEqual([])
    const echoed = await ask(request('x', 'http://y:81/echo'))
    if (echoed.startsWith('200')) expect(echoed).toBe('200 y:81 http://y:81/echo 2')
  })
})

test('what is a host here, is one to each reader of URLs, and leaves the path as it is', () => {
  for (const [host] of HOSTS) {
    const url = `http://${host}/public/a`
    expect([host, new URL(url).pathname, parse(url).pathname]).toEqual([host, '/public/a', '/public/a'])
  }
  for (const [host, inGo] of NO_HOSTS) {
    if (!inGo || host.length > 1_000) continue
    const url = `http://${host}/public/a`
    const paths = [readBy((text) => new URL(text), url), readBy(parse, url)]
    expect([host, paths]).not.toEqual([host, ['/public/a', '/public/a']])
  }
})

function readBy(reader: (url: string) => { readonly pathname: string | null }, url: string): string | null {
  try {
    return reader(url).pathname
  } catch {
    return 'no URL'
  }
}

describe('HTTP/2', () => {
  async function serve(tls: boolean): Promise<H2Client> {
    const { port } = await created({ http2: true, ...(tls && { tls: 'self-signed' }) })
    return H2Client.open(`${tls ? 'https' : 'http'}://127.0.0.1:${port}`)
  }

  test.each([false, true])('has one host; TLS: %s', async (tls) => {
    const client = await serve(tls)
    const statusOf = async (headers: Record<string, string>): Promise<number> => {
      const { status, code } = await client.get('/', headers)
      return status ?? code
    }
    for (const [host] of HOSTS) expect([host, await statusOf({ ':authority': host })]).toEqual([host, 200])
    for (const [host] of NO_HOSTS) {
      // A value that no stream begins with.
      if (/[^\x21-\x7e]/.test(host) || host === '') continue
      // 1 is PROTOCOL_ERROR: node has refused it.
      expect([host, await statusOf({ ':authority': host })]).toEqual([host, expect.toBeOneOf([1, 400, 431])])
      // A header that is none to node is left out: the handler reads the authority alone.
      const { status, body } = await client.get('/', { ':authority': 'x', host })
      expect([host, status === 200 ? body : 'refused']).toEqual([host, expect.toBeOneOf(['refused', 'undefined / 4'])])
    }
    const { body } = await client.get('/', { ':authority': 'x', host: 'y' })
    expect(body).toMatch(/^x \/ /)
  })

  test.each([false, true])('has room for the groups of a user, and for a thousand headers more; TLS: %s', async (tls) => {
    const client = await serve(tls)
    for (const count of [131, 1_100]) {
      const { body } = await client.get('/', { group: Array.from({ length: count }, () => 'g') })
      expect(Number(body.split(' ')[2])).toBeGreaterThan(count)
    }
    expect(await client.get('/', { accept: 'a'.repeat(5_000) })).toMatchObject({ status: 431 })
  })
})

describe('a server of its own owner', () => {
  async function serve(maxHeadersCount: number | null): Promise<{ readonly ask: Ask; readonly seen: readonly string[] }> {
    const seen: string[] = []
    const server = createServer((request, response) => {
      seen.push(echo(request))
      response.end('served')
    })
    server.maxHeadersCount = maxHeadersCount
    const rig = newAttachedLife(server)
    server.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await rig.life.start()
    return { ask: asking({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }), seen }
  }

  test('has whole heads: 431 for one that node has cut off, or may have', async () => {
    const { ask, seen } = await serve(null)
    const lines = (count: number): string => request('x', '/', `${'a:\r\n'.repeat(count)}Last: 1\r\n`)
    expect([await ask(lines(900)), await ask(lines(1_100)), await ask(lines(3_000))]).toEqual(
      ['200 served', '431 ', '431 '].map((answer) => expect.stringMatching(new RegExp(`^${answer.trim()}`))),
    )
    expect(seen).toHaveLength(1)
  })

  test('has the limit that its owner sets', async () => {
    const few = await serve(10)
    expect(await few.ask(request('x', '/', 'a:\r\n'.repeat(20)))).toMatch(/^431/)
    const all = await serve(0)
    expect(await all.ask(request('x', '/', 'a:\r\n'.repeat(3_000)))).toMatch(/^200/)
  })

  test('has its own rules for hosts and targets', async () => {
    const { ask, seen } = await serve(null)
    expect(await ask(request('x/y?', '/'))).toMatch(/^200/)
    expect(seen).toHaveLength(1)
  })
})
