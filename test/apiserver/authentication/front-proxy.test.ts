// Fails when: what a client says about itself is believed, although it is no front proxy; a proxy's
// own certificate is taken for a user, or a client's for a proxy; or the headers come to a handler.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { connect as connectH2 } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { headersOf, userFrom } from '#apiserver/authentication/front-proxy.ts'
import { type ApiServerConfig, completeConfig, type RequestHeaderOptions, userOf } from '#apiserver/index.ts'
import { serveApi } from '../../support/api-server.ts'
import { clientOf, intermediateOf, type PemPair, pairFor } from '../../support/certificates.ts'
import { answerOf } from '../../support/h2-client.ts'

type Headers = readonly (readonly [string, string])[]

const requestOf = (headers: Headers): IncomingMessage =>
  ({
    httpVersionMajor: 2,
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders: headers.flat(),
  }) as unknown as IncomingMessage

const ALL = {
  usernameHeaders: ['X-Remote-User'],
  uidHeaders: ['X-Remote-Uid'],
  groupHeaders: ['X-Remote-Group'],
  extraHeaderPrefixes: ['X-Remote-Extra-'],
}
const ann = (fields: object = {}) => ({ name: 'ann', groups: [], extra: {}, ...fields })
const EXTRA = 'X-Remote-Extra-'

// As headerrequest of k8s.io/apiserver 0.37.2 answered.
test.each<[string, Headers, Partial<typeof ALL>, object | undefined]>([
  ['the user', [['X-Remote-User', 'ann']], {}, ann()],
  [
    'names in any case',
    [
      ['x-remote-user', 'ann'],
      ['X-REMOTE-GROUP', 'a'],
      ['X-Remote-Group', 'b'],
    ],
    {},
    ann({ groups: ['a', 'b'] }),
  ],
  [
    'the first of two is empty',
    [
      ['X-Remote-User', ''],
      ['X-Remote-User', 'eve'],
    ],
    {},
    undefined,
  ],
  [
    'the first of two',
    [
      ['X-Remote-User', 'ann'],
      ['X-Remote-User', 'eve'],
    ],
    {},
    ann(),
  ],
  [
    'the second header, where the first is empty',
    [
      ['X-Other', 'ann'],
      ['X-Remote-User', ''],
    ],
    { usernameHeaders: ['X-Remote-User', 'X-Other'] },
    ann(),
  ],
  [
    'the first header, where both are there',
    [
      ['X-Other', 'eve'],
      ['X-Remote-User', 'ann'],
    ],
    { usernameHeaders: ['X-Remote-User', 'X-Other'] },
    ann(),
  ],
  ['no user', [['X-Remote-Group', 'a']], {}, undefined],
  [
    'groups as they are',
    [
      ['X-Remote-User', 'ann'],
      ['X-Remote-Group', ''],
      ['X-Remote-Group', 'a,b'],
      ['X-Remote-Group', 'a,b'],
    ],
    {},
    ann({ groups: ['a,b', 'a,b'] }),
  ],
  [
    'groups by header',
    [
      ['X-Remote-User', 'ann'],
      ['X-Remote-Group', 'a'],
      ['X-G', 'b'],
    ],
    { groupHeaders: ['X-G', 'X-Remote-Group'] },
    ann({ groups: ['b', 'a'] }),
  ],
  [
    'the first uid',
    [
      ['X-Remote-User', 'ann'],
      ['X-Remote-Uid', 'u1'],
      ['X-Remote-Uid', 'u2'],
    ],
    {},
    ann({ uid: 'u1' }),
  ],
  [
    'no uid',
    [
      ['X-Remote-User', 'ann'],
      ['X-Remote-Uid', 'u1'],
    ],
    { uidHeaders: [] },
    ann(),
  ],
  [
    'extra',
    [
      ['X-Remote-User', 'ann'],
      [`${EXTRA}Scopes`, 'a'],
      [`${EXTRA}scopes`, 'b'],
      [`${EXTRA}F`, 'c'],
    ],
    {},
    ann({ extra: { scopes: ['a', 'b'], f: ['c'] } }),
  ],
  [
    'extra with escapes',
    [
      ['X-Remote-User', 'ann'],
      [`${EXTRA}Acme.com%2FProject`, 'p'],
      [`${EXTRA}a%zz`, 'q'],
      [`${EXTRA}%C3%BC`, 'u'],
      [`${EXTRA}A%41`, 'x'],
      [`${EXTRA}a+b`, 'y'],
    ],
    {},
    ann({ extra: { 'acme.com/project': ['p'], 'a%zz': ['q'], ü: ['u'], aA: ['x'], 'a+b': ['y'] } }),
  ],
  [
    'extra without a key',
    [
      ['X-Remote-User', 'ann'],
      [EXTRA, 'p'],
      [`${EXTRA}E`, ''],
    ],
    {},
    ann({ extra: { '': ['p'], e: [''] } }),
  ],
  [
    'extra by prefix',
    [
      ['X-Remote-User', 'ann'],
      [`${EXTRA}Abc`, '1'],
    ],
    { extraHeaderPrefixes: [`${EXTRA}A`, EXTRA] },
    ann({ extra: { bc: ['1'], abc: ['1'] } }),
  ],
  [
    'extra by a prefix twice',
    [
      ['X-Remote-User', 'ann'],
      [`${EXTRA}A`, '1'],
    ],
    { extraHeaderPrefixes: [EXTRA, EXTRA] },
    ann({ extra: { a: ['1', '1'] } }),
  ],
  [
    'extra by names of an object',
    [
      ['X-Remote-User', 'ann'],
      [`${EXTRA}__proto__`, 'p'],
    ],
    {},
    ann({ extra: JSON.parse('{"__proto__":["p"]}') as object }),
  ],
  ['names with spaces around', [['X-Remote-User', 'ann']], { usernameHeaders: [' X-Remote-User '] }, ann()],
  [
    'UTF-8',
    [
      ['X-Remote-User', 'Ã¼'],
      ['X-Remote-Group', 'Ã¤'],
    ],
    {},
    ann({ name: 'ü', groups: ['ä'] }),
  ],
])('headers name a user: %s', (_what, headers, options, user) => {
  expect(userFrom(requestOf(headers), headersOf({ ...ALL, ...options }))).toEqual(user)
})

test.each<[string, string]>([
  ['X-Remote-User', 'a\xff'],
  ['X-Remote-Uid', 'a\xff'],
  ['X-Remote-Group', 'a\xff'],
  [`${EXTRA}A`, 'a\xff'],
  [`${EXTRA}%FF`, 'a'],
])('bytes that are no UTF-8 name none: %s', (name, value) => {
  const headers: Headers = [...(name === 'X-Remote-User' ? [] : [['X-Remote-User', 'ann'] as const]), [name, value]]
  expect(() => userFrom(requestOf(headers), headersOf(ALL))).toThrow('not UTF-8')
})

const CLIENTS = pairFor({ commonName: 'the client CA' })
const PROXIES = pairFor({ commonName: 'the front proxy CA' })
const SERVER = pairFor({ names: ['localhost'] })
const PROXY = clientOf(PROXIES, 'front-proxy-client')
const EVE = clientOf(CLIENTS, 'eve/O=dev')
const STRANGER = clientOf(pairFor({ commonName: 'another CA' }), 'front-proxy-client')
const SUB = intermediateOf(PROXIES, 'a part of the front proxy CA')
const SUB_PROXY = clientOf(SUB, 'front-proxy-client')
const CHAINED = { cert: SUB_PROXY.cert + SUB.cert, key: SUB_PROXY.key }

async function served(requestHeader: RequestHeaderOptions = {}, config: ApiServerConfig = {}) {
  const ca = requestHeader.clientCaFile === undefined ? { clientCa: PROXIES.cert } : {}
  return serveApi({
    config: { tls: { ...SERVER, clientCa: CLIENTS.cert }, requestHeader: { ...ca, ...requestHeader }, anonymousAuth: true, ...config },
    setUp: (server) =>
      server.handle('/whoami', (request, response) => {
        const left = Object.keys(request.headers).filter((name) => name.startsWith('x-'))
        response.end(JSON.stringify({ user: userOf(request), left, raw: request.rawHeaders.filter((each) => /^x-/i.test(each)) }))
      }),
  })
}

interface Asked {
  readonly pair?: PemPair
  readonly headers?: Headers
  readonly session?: Buffer | undefined
}

const AS_ROOT: Headers = [
  ['X-Remote-User', 'root'],
  ['X-Remote-Group', 'system:masters'],
  ['X-Remote-Extra-Scopes', 'all'],
  ['X-Remote-Uid', '0'],
]

/** One request; the answer, and the session that came with it. */
function ask(
  port: number,
  { pair, headers = AS_ROOT, session }: Asked = {},
): Promise<{ status: number; user: unknown; left: unknown; session?: Buffer }> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: SERVER.cert, ...pair, session })
    let received = ''
    let latest: Buffer | undefined
    socket.on('session', (given) => {
      latest = given
    })
    socket.on('data', (chunk) => {
      received += String(chunk)
    })
    socket.once('error', reject)
    socket.once('end', () => {
      const [head = '', body = ''] = received.split('\r\n\r\n')
      const status = Number(head.split(' ')[1])
      const { user, left, raw } = (status === 200 ? JSON.parse(body) : {}) as { user?: { name: string }; left?: string[]; raw?: string[] }
      const isReused = socket.isSessionReused()
      resolve({ status, user, left: left && [...left, ...(raw ?? [])], ...(latest && { session: latest }), ...(isReused && { isReused }) })
    })
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    socket.write(`GET /whoami HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${lines}\r\n`)
  })
}

const ROOT = { name: 'root', groups: ['system:masters', 'system:authenticated'], extra: { scopes: ['all'] } }

describe('a request with headers of a front proxy', () => {
  test('is that of its client when the proxy sends it, and of no other', async () => {
    const { port, lines } = await served()
    expect(await ask(port, { pair: PROXY })).toMatchObject({ status: 200, user: ROOT, left: [] })
    // A client with a certificate of its own is who that says.
    expect(await ask(port, { pair: EVE })).toMatchObject({
      status: 200,
      user: { name: 'eve', groups: ['dev', 'system:authenticated'] },
      left: [],
    })
    // One of another CA is none, and neither is one whose proxy says nothing.
    expect(await ask(port, { pair: STRANGER })).toMatchObject({ status: 401 })
    expect(await ask(port, { pair: PROXY, headers: [] })).toMatchObject({ status: 401 })
    expect(await ask(port, { pair: PROXY, headers: [['X-Remote-Group', 'system:masters']] })).toMatchObject({ status: 401 })
    expect(await ask(port)).toMatchObject({ status: 200, user: { name: 'system:anonymous' }, left: [] })
    expect(JSON.stringify(lines)).toContain('was not issued by the CA of the proxy')
  })

  test('is that of its client over HTTP/2, and without a CA for clients', async () => {
    const { port } = await served({}, { http2: true, tls: SERVER })
    const userAndStatus = async (pair?: PemPair) => {
      const session = connectH2(`https://localhost:${port}`, { ca: SERVER.cert, ...pair, host: '127.0.0.1' } as object)
      onTestFinished(() => session.destroy())
      session.on('error', () => {})
      const headers = { ':path': '/whoami', 'x-remote-user': 'root', 'x-remote-group': 'system:masters' }
      const { status, body } = await answerOf(session.request(headers).on('error', () => {}))
      return [status, status === 200 ? (JSON.parse(String(body)) as { user: { name: string } }).user.name : undefined]
    }
    expect(await userAndStatus(PROXY)).toEqual([200, 'root'])
    expect(await userAndStatus(EVE)).toEqual([401, undefined])
    expect(await userAndStatus()).toEqual([200, 'system:anonymous'])
  })

  test('comes from a proxy whose certificate was signed further down, which the CA file says', async () => {
    const { port } = await served({ clientCa: PROXIES.cert + SUB.cert })
    expect(await ask(port, { pair: SUB_PROXY })).toMatchObject({ status: 200, user: ROOT })
  })

  // Later versions of Node 24 do not show what a client sends behind its certificate.
  test.skipIf(process.version.startsWith('v24.'))('comes from a proxy that says so itself, on a resumed session, too', async () => {
    const { port } = await served()
    const { session, ...first } = await ask(port, { pair: CHAINED })
    expect(first).toMatchObject({ status: 200, user: ROOT })
    expect(session).toBeDefined()
    expect(await ask(port, { pair: CHAINED, session })).toMatchObject({ status: 200, user: ROOT, isReused: true })
  })

  test('comes from a proxy of an allowed name', async () => {
    const { port, lines } = await served({ allowedNames: ['aggregator', 'front-proxy-client'] })
    expect(await ask(port, { pair: PROXY })).toMatchObject({ status: 200, user: ROOT })
    expect(await ask(port, { pair: clientOf(PROXIES, 'other') })).toMatchObject({ status: 401 })
    expect(JSON.stringify(lines)).toContain('not among the allowed names')
  })

  test('may have other names, which come to no handler in any case', async () => {
    const { port } = await served({
      usernameHeaders: ['X-User'],
      groupHeaders: ['X-Groups'],
      extraHeaderPrefixes: ['X-More-'],
      uidHeaders: ['X-Remote-Uid', 'X-Id'],
    })
    const headers: Headers = [...AS_ROOT, ['X-User', 'ann'], ['x-groups', 'g'], ['X-More-A', '1'], ['X-Id', 'u'], ['X-Other', 'kept']]
    const kept = ['x-other', 'X-Other']
    expect(await ask(port, { pair: PROXY, headers })).toMatchObject({
      user: { name: 'ann', uid: '0', groups: ['g', 'system:authenticated'], extra: { a: ['1'] } },
      left: kept,
    })
    expect(await ask(port, { pair: EVE, headers })).toMatchObject({ user: { name: 'eve' }, left: kept })
    expect(await ask(port, { headers })).toMatchObject({ user: { name: 'system:anonymous' }, left: kept })
  })
})

test('a CA that is replaced is that of the next request', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-front-proxy-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'ca.crt')
  writeFileSync(file, CLIENTS.cert)
  const { port } = await served({ clientCaFile: file }, { tls: SERVER })
  expect(await ask(port, { pair: PROXY })).toMatchObject({ status: 401 })
  writeFileSync(file, PROXIES.cert)
  await expect.poll(async () => (await ask(port, { pair: PROXY })).status).toBe(200)
  expect(await ask(port, { pair: EVE })).toMatchObject({ status: 401 })
})

test('options that cannot be used are named', () => {
  const wrong =
    (requestHeader: unknown, tls: ApiServerConfig['tls'] = 'self-signed') =>
    () =>
      completeConfig({ tls, requestHeader } as ApiServerConfig)
  expect(wrong({})).toThrow('requestHeader.clientCaFile: got undefined, allowed: a file name, or clientCa')
  expect(wrong({ clientCaFile: 'a', clientCa: PROXIES.cert })).toThrow('requestHeader.clientCa')
  expect(wrong({ clientCaFile: 'a', usernameHeaders: [' '] })).toThrow('requestHeader.usernameHeaders')
  expect(wrong({ clientCaFile: 'a', groupHeaders: ['a b'] })).toThrow('requestHeader.groupHeaders')
  expect(wrong({ clientCaFile: 'a', uidHeaders: ['X-Id'] })).toThrow('requestHeader.uidHeaders')
  expect(wrong({ clientCaFile: 'a', uidHeaders: ['x-remote-uid', 'X-Id'] })).not.toThrow()
  expect(() => completeConfig({ requestHeader: { clientCaFile: 'a' } })).toThrow(
    'a front proxy is recognised by its certificate, which needs TLS',
  )
})
