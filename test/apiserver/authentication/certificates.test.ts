// Fails when: a client is taken for the user of a certificate that it has not shown, that does not
// lead to the client CA or that is not valid now; or one with a good certificate is not known, over
// whichever protocol it comes.
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectH2 } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { authenticatedBy, clientCertificateAuthenticator } from '#apiserver/authentication/client-certificate.ts'
import { PeerTrust } from '#apiserver/authentication/peer-certificate.ts'
import { TrustPaths } from '#apiserver/authentication/trust-paths.ts'
import { type ApiServerConfig, userOf } from '#apiserver/index.ts'
import { serveApi } from '../../support/api-server.ts'
import { clientOf, type PemPair, pairFor } from '../../support/certificates.ts'
import { answerOf } from '../../support/h2-client.ts'

const CA = pairFor({ commonName: 'the client CA' })
const SERVER = pairFor({ names: ['localhost'] })
const ANN = clientOf(CA, 'ann/O=dev/O=ops/userUid=u7')
const STRANGER = clientOf(pairFor({ commonName: 'another CA' }), 'ann/O=system:masters')
const NAMELESS = clientOf(CA, '/O=dev')
const SELF_MADE = pairFor({ commonName: 'ann' })

const idOf = ({ cert }: PemPair): string => `X509SHA256=${new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()}`

const USER = {
  name: 'ann',
  uid: 'u7',
  groups: ['dev', 'ops', 'system:authenticated'],
  extra: { 'authentication.kubernetes.io/credential-id': [idOf(ANN)] },
}

async function served(config: ApiServerConfig = {}) {
  return serveApi({
    config: { tls: { ...SERVER, clientCa: CA.cert }, ...config },
    setUp: (server) => server.handle('/whoami', (request, response) => response.end(JSON.stringify(userOf(request) ?? null))),
  })
}

interface Connected {
  readonly maxVersion?: 'TLSv1.2'
  readonly session?: Buffer
  readonly pair?: PemPair | undefined
}

/** One request on a connection, with what the server has answered and the session that it gave. */
function ask(
  port: number,
  { pair, ...given }: Connected = {},
): Promise<{ status: number; user: unknown; session: Buffer | undefined; isReused: boolean }> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({
      port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca: SERVER.cert,
      ALPNProtocols: ['http/1.1'],
      ...pair,
      ...given,
    })
    let received = ''
    let session: Buffer | undefined
    socket.on('session', (latest) => {
      session = latest
    })
    socket.on('data', (chunk) => {
      received += String(chunk)
    })
    socket.once('error', reject)
    socket.once('end', () => {
      const [head = '', body = ''] = received.split('\r\n\r\n')
      const status = Number(head.split(' ')[1])
      resolve({
        status,
        user: status === 200 ? JSON.parse(body) : undefined,
        session: session ?? socket.getSession(),
        isReused: socket.isSessionReused(),
      })
    })
    socket.write('GET /whoami HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  })
}

describe('a certificate of the client CA', () => {
  test('names user, groups and uid, over each version of TLS', async () => {
    const { port } = await served()
    expect(await ask(port, { pair: ANN })).toMatchObject({ status: 200, user: USER })
    expect(await ask(port, { pair: ANN, maxVersion: 'TLSv1.2' })).toMatchObject({ status: 200, user: USER })
  })

  test('does so over HTTP/2', async () => {
    const { port } = await served({ http2: true })
    const statusAndUser = async (pair?: PemPair) => {
      const session = connectH2(`https://localhost:${port}`, { ca: SERVER.cert, ...pair, host: '127.0.0.1' } as object)
      onTestFinished(() => session.destroy())
      session.on('error', () => {})
      const { status, body } = await answerOf(session.request({ ':path': '/whoami' }).on('error', () => {}))
      return [status, status === 200 ? JSON.parse(body) : undefined]
    }
    expect(await statusAndUser(ANN)).toEqual([200, USER])
    expect(await statusAndUser(STRANGER)).toEqual([401, undefined])
    expect(await statusAndUser()).toEqual([401, undefined])
  })

  test('is shown by curl', async () => {
    const { port } = await served()
    const folder = mkdtempSync(join(tmpdir(), 'quiesce-curl-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const shown = ({ cert, key }: PemPair) => ['--cert', write('cert', cert), '--key', write('key', key)]
    const curl = async (...args: readonly string[]) =>
      (
        await promisify(execFile)('curl', [
          '-s',
          '--noproxy',
          '*',
          '--cacert',
          write('ca', SERVER.cert),
          '-w',
          ' %{http_code}',
          ...args,
          `https://localhost:${port}/whoami`,
        ])
      ).stdout
    for (const version of ['--http1.1', '--http2']) expect(await curl(version, ...shown(ANN))).toBe(`${JSON.stringify(USER)} 200`)
    expect(await curl(...shown(STRANGER))).toMatch(/"code": 401\n} 401$/)
    expect(await curl()).toMatch(/ 401$/)
  })

  test('is wanted by the handshake where that is said', async () => {
    const { port } = await served({ tls: { ...SERVER, clientCa: CA.cert, clientCertificates: 'require' } })
    expect(await ask(port, { pair: ANN })).toMatchObject({ status: 200, user: USER })
    await expect(ask(port, { maxVersion: 'TLSv1.2' })).rejects.toThrow()
  })

  test('is known of the listener that asked for it, and of no other', async () => {
    const { life } = await served({
      port: undefined,
      host: undefined,
      tls: undefined,
      listeners: [
        { port: 0, host: '127.0.0.1', tls: { ...SERVER, clientCa: CA.cert } },
        { port: 0, host: '127.0.0.1', tls: SERVER },
      ],
    })
    const statuses = await Promise.all(life.addresses.map(async ({ port }) => (await ask(port, { pair: ANN })).status))
    expect(statuses).toEqual([200, 401])
  })
})

describe('a client is not known', () => {
  test.each<[string, PemPair | undefined]>([
    ['without a certificate', undefined],
    ['with one of another CA', STRANGER],
    ['with one that it has signed itself', SELF_MADE],
    ['with one that names no user', NAMELESS],
  ])('%s', async (_, pair) => {
    const { port } = await served()
    expect((await ask(port, { pair })).status).toBe(401)
    expect((await ask(port, { pair, maxVersion: 'TLSv1.2' })).status).toBe(401)
  })

  // Node calls a resumed session of TLS 1.3 authorized, whether or not there was a certificate.
  test('without a certificate, when it resumes its session', async () => {
    const { port } = await served()
    const { session } = await ask(port)
    const resumed = await ask(port, { session: session as Buffer })
    expect([resumed.isReused, resumed.status]).toEqual([true, 401])
    const known = await ask(port, { pair: ANN })
    const again = await ask(port, { pair: ANN, session: known.session as Buffer })
    expect([again.isReused, again.status, again.user]).toEqual([true, 200, USER])
  })

  test('with a wrong certificate for none', async () => {
    const { port } = await served({ anonymousAuth: true })
    expect((await ask(port)).user).toMatchObject({ name: 'system:anonymous' })
    expect((await ask(port, { pair: STRANGER })).status).toBe(401)
  })

  test('by a certificate before and after its time, also on a connection that goes on', () => {
    const certificate = new X509Certificate(ANN.cert)
    const socket = { getPeerX509Certificate: () => certificate, authorized: true }
    let now = Date.parse(certificate.validFrom)
    const { authenticate } = clientCertificateAuthenticator(() => now, new PeerTrust(new TrustPaths(), () => now))
    const ask = () => authenticate({ socket } as never, undefined as never)
    expect(ask()).toMatchObject({ user: { name: 'ann' } })
    now = Date.parse(certificate.validTo) + 1
    expect(ask).toThrow('expired or is not yet valid')
    now = Date.parse(certificate.validFrom) - 1
    expect(ask).toThrow('expired or is not yet valid')
  })
})

test.each([
  ['the last of several names', { CN: ['a', 'b'] }, { name: 'b', groups: [] }],
  ['no name', { O: 'x' }, undefined],
  ['an empty name', { CN: '' }, undefined],
  ['one group', { CN: 'a', O: 'x' }, { name: 'a', groups: ['x'] }],
])('%s', (_, subject, user) => {
  const certificate = { toLegacyObject: () => ({ subject }), fingerprint256: 'AA:BB' } as unknown as X509Certificate
  expect(authenticatedBy(certificate)?.user).toEqual(
    user && { ...user, extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=aabb'] } },
  )
})

test('several uids are none', () => {
  const certificate = {
    toLegacyObject: () => ({ subject: { CN: 'a', '1.3.6.1.4.1.57683.2': ['1', '2'] } }),
    fingerprint256: '',
  } as unknown as X509Certificate
  expect(() => authenticatedBy(certificate)).toThrow('uid')
})
