// Fails when: the server of a kubeconfig is reached in another way than it says, its files are not
// read again, a mistake in it is not named, or a server that is not the right one gets an answer.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttp, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttps, type ServerOptions } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { inspect } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { RemoteClient } from '#apiserver/webhook/client.ts'
import { remoteOfKubeconfig } from '#apiserver/webhook/kubeconfig.ts'
import type { Remote } from '#apiserver/webhook/remote.ts'
import { VirtualClock } from '#src/testing/index.ts'
import { clientOf, type PemPair, pairFor } from '../../support/certificates.ts'

let ca: PemPair
let serving: PemPair
let client: PemPair
beforeAll(() => {
  ca = pairFor({ commonName: 'ca' })
  serving = pairFor({ names: ['authz.example'] })
  client = clientOf(ca, 'me')
})

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'quiesce-kubeconfig-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

function written(files: Readonly<Record<string, string>>): (name: string) => string {
  const where = folder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(where, name), text)
  return (name) => join(where, name)
}

const CONFIG = (cluster: object, user: object = {}): string =>
  JSON.stringify({
    'current-context': 'here',
    contexts: [
      { name: 'there', context: { cluster: 'nowhere' } },
      { name: 'here', context: { cluster: 'one', user: 'me' } },
    ],
    clusters: [{ name: 'one', cluster }],
    users: [{ name: 'me', user }],
  })

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** What a server was asked; it says who came with which certificate. */
const answering =
  (asked: IncomingMessage[]): RequestListener =>
  (request, response) => {
    asked.push(request)
    const { getPeerCertificate } = request.socket as Partial<TLSSocket>
    request.resume().on('end', () => response.end(getPeerCertificate?.call(request.socket).subject?.CN ?? 'plain'))
  }

async function opened(remote: Remote | { readonly kubeconfig: string }, clock = new VirtualClock()): Promise<RemoteClient> {
  const made = new RemoteClient(remote, 30_000)
  await made.open(clock)
  onTestFinished(() => made.close())
  return made
}

const NEVER = new AbortController().signal

describe('a kubeconfig', () => {
  test('says where, with which certificates and which token', async () => {
    const asked: IncomingMessage[] = []
    const tls: ServerOptions = { ...serving, ca: ca.cert, requestCert: true, rejectUnauthorized: true }
    const port = await listening(createHttps(tls, answering(asked)))
    const at = written({
      'ca.crt': serving.cert,
      'me.crt': client.cert,
      'me.key': client.key,
      'config.yaml': `
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: one, user: me}}]
clusters:
- name: one
  cluster: {server: "https://127.0.0.1:${port}/here", certificate-authority: ca.crt, tls-server-name: authz.example}
users:
- name: me
  user: {client-certificate: me.crt, client-key: me.key, token: secret}
preferences: {}
`,
    })
    const byFile = await opened({ kubeconfig: at('config.yaml') })
    expect(await byFile.post('{}', NEVER)).toEqual({ status: 200, retryAfter: undefined, body: 'me' })
    expect([asked[0]?.url, asked[0]?.headers.authorization]).toEqual(['/here?timeout=30s', 'Bearer secret'])
    const data = (pem: string) => Buffer.from(pem).toString('base64')
    const cluster = {
      server: `https://127.0.0.1:${port}`,
      'certificate-authority-data': data(serving.cert),
      'tls-server-name': 'authz.example',
    }
    const user = { 'client-certificate-data': data(client.cert), 'client-key-data': data(client.key), username: 'u', password: 'p' }
    const other = written({ config: CONFIG(cluster, user) })
    const byData = await opened({ kubeconfig: other('config') })
    expect((await byData.post('{}', NEVER)).body).toBe('me')
    expect(asked[1]?.headers.authorization).toBe(`Basic ${data('u:p')}`)
  })

  test.each<[string, (ca: string) => Partial<Remote>, RegExp]>([
    ['that no CA vouches for', () => ({ serverName: 'authz.example' }), /self-signed certificate/],
    ['of another name', (text) => ({ ca: { text } }), /does not match certificate's altnames/],
  ])('a server %s is told nothing', async (_what, remote, message) => {
    const asked: IncomingMessage[] = []
    const port = await listening(createHttps(serving, answering(asked)))
    const mistaken = await opened({ url: `https://127.0.0.1:${port}`, ...remote(serving.cert) })
    await expect(mistaken.post('{}', NEVER)).rejects.toThrow(message)
    expect(asked).toEqual([])
  })

  test('may say that the certificate is of no interest', async () => {
    const port = await listening(createHttps(serving, answering([])))
    const at = written({ config: CONFIG({ server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true }) })
    expect((await (await opened({ kubeconfig: at('config') })).post('{}', NEVER)).status).toBe(200)
  })

  test.each([{ token: 'secret' }, { username: 'u', password: 'secret' }])('shows %j to no server of plain HTTP', async (user) => {
    const asked: IncomingMessage[] = []
    const port = await listening(createHttp(answering(asked)))
    const at = written({ config: CONFIG({ server: `http://127.0.0.1:${port}/a//b/?x=1` }, user) })
    await (await opened({ kubeconfig: at('config') })).post('{}', NEVER)
    expect([asked[0]?.url, asked[0]?.headers.authorization]).toEqual(['/a/b?x=1&timeout=30s', undefined])
  })

  test('is read again after a minute, with its files; one that cannot be used any more changes nothing', async () => {
    const asked: IncomingMessage[] = []
    const port = await listening(createHttps(serving, answering(asked)))
    const cluster = { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true }
    const at = written({ token: 'first\n', config: CONFIG(cluster, { tokenFile: 'token', token: 'other' }) })
    const clock = new VirtualClock()
    const posting = await opened({ kubeconfig: at('config') }, clock)
    const token = async () => {
      await posting.post('{}', NEVER)
      return asked.at(-1)?.headers.authorization
    }
    expect(await token()).toBe('Bearer first')
    writeFileSync(at('token'), 'second')
    await clock.advance('59s')
    expect(await token()).toBe('Bearer first')
    await clock.advance('1s')
    expect(await token()).toBe('Bearer second')
    rmSync(at('token'))
    await clock.advance('1m')
    expect(await token()).toBe('Bearer second')
    // The first two came over one connection; what it was told has changed since.
    expect(new Set(asked.slice(0, 2).map(({ socket }) => socket)).size).toBe(1)
  })

  const problemsOf = async (text: string): Promise<readonly string[]> => {
    const at = written({ config: text })
    const thrown = await remoteOfKubeconfig(at('config')).then(
      () => undefined,
      (error: Error) => error,
    )
    return (thrown?.message ?? '').replaceAll(`${at('config')}: `, '').split('\n')
  }

  test.each<[string, string[]]>([
    [CONFIG({}), ['clusters[0].cluster.server: got undefined, allowed: a URL of http or https']],
    [
      CONFIG(
        { server: 'ftp://a', 'proxy-url': 'http://p', 'certificate-authority-data': 'eA==' },
        { exec: { command: 'x' }, token: 1, 'client-certificate': 'a' },
      ),
      [
        'clusters[0].cluster.server: got "ftp://a", allowed: a URL of http or https',
        'clusters[0].cluster.proxy-url: got "http://p", allowed: none',
        'clusters[0].cluster.certificate-authority-data: got "eA==", allowed: PEM in base64',
        'users[0].user.exec: got a secret value, allowed: none: a token, a certificate or a password',
        'users[0].user.client-key: got undefined, allowed: one beside client-certificate',
        'users[0].user.token: got a secret value, allowed: text',
      ],
    ],
    [CONFIG({}).replace('"here"', '"away"'), ['current-context: got "away", allowed: "there", "here"']],
    [CONFIG({}).replace('"one"', '"two"'), ['contexts[1].context.cluster: got "two", allowed: "one"']],
    ['{}', ['current-context: got undefined, allowed: a name in contexts, which is empty']],
    ['[]', ['the whole: got [], allowed: an object with clusters']],
    ['{"current-context":"a","contexts":[{"name":"a"}]}', ['contexts[0].context: got undefined, allowed: an object']],
  ])('names everything that cannot be used: %s', async (text, problems) => {
    expect(await problemsOf(text)).toEqual(problems)
  })

  test('that is not there, or names what is not, is a failed start', async () => {
    await expect(opened({ kubeconfig: '/nowhere/config' })).rejects.toThrow('/nowhere/config: ENOENT')
    const at = written({ config: CONFIG({ server: 'https://127.0.0.1' }, { tokenFile: 'missing' }) })
    await expect(opened({ kubeconfig: at('config') })).rejects.toThrow(`${at('missing')}: ENOENT`)
    const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    await expect(opened({ url: 'https://a.example', cert: { text: pem }, key: { text: pem } })).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringMatching(/^https:\/\/a\.example: /),
    })
  })
})

test.each([
  ['a key that is no PEM', CONFIG({ server: 'http://x' }, { 'client-key-data': 'c3VwZXI=s3cret' })],
  ['a token that is no text', CONFIG({ server: 'http://x' }, { token: ['s3cret'] })],
  ['what this does not know', CONFIG({ server: 'http://x' }, { 'auth-provider': { config: { 'id-token': 's3cret' } } })],
  ['JSON that is none', '{"users":[{"user":{"token": s3cret}}]}'],
  ['YAML that is none', 'users:\n- user: { token: s3cret: x\n'],
])('a mistake in a kubeconfig is told without its secrets: %s', async (_what, text) => {
  const error: unknown = await remoteOfKubeconfig(written({ config: text })('config')).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID' })
  expect(inspect(error, { depth: 9 })).not.toContain('s3cret')
})

describe('a post', () => {
  test('tells the server how long it is waited for, beside what its URL asks for', async () => {
    const asked: IncomingMessage[] = []
    const port = await listening(createHttp(answering(asked)))
    for (const path of ['', '/a%2fb/?x&y=a%20b', '/?timeout=5s'])
      await (await opened({ url: `http://127.0.0.1:${port}${path}` })).post('{}', NEVER)
    expect(asked.map(({ url, headers }) => [url, headers.accept])).toEqual([
      ['/?timeout=30s', 'application/json, */*'],
      ['/a%2fb/?x&y=a%20b&timeout=30s', 'application/json, */*'],
      ['/?timeout=5s', 'application/json, */*'],
    ])
  })

  test('to a server that goes on with another protocol is over', async () => {
    const answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
    const port = await listening(createHttp().on('connection', (socket) => void socket.write(answer)))
    const { status } = await (await opened({ url: `http://127.0.0.1:${port}` })).post('{}', NEVER)
    expect(status).toBe(101)
  })

  test('is by HTTPS, however its URL is written', async () => {
    const port = await listening(createHttps(serving, answering([])))
    const { status } = await (await opened({ url: ` HTTPS://127.0.0.1:${port}`, insecure: true })).post('{}', NEVER)
    expect(status).toBe(200)
  })

  test('over a kept connection that has been closed meanwhile is sent again', async () => {
    const asked: IncomingMessage[] = []
    const sockets = new Set<unknown>()
    const server = createHttp((request, response) => {
      asked.push(request)
      // The second request on a connection finds it closed.
      if (sockets.has(request.socket)) return void request.socket.resetAndDestroy()
      sockets.add(request.socket)
      request.resume().on('end', () => response.end('x'))
    })
    const posting = await opened({ url: `http://127.0.0.1:${await listening(server)}` })
    expect((await posting.post('{}', NEVER)).body).toBe('x')
    expect((await posting.post('{}', NEVER)).body).toBe('x')
    expect(asked.length).toBe(3)
  })

  test('that is broken off or aborted rejects; of an answer without end the status is known', async () => {
    const server = createHttp((request, response) => {
      if (request.url?.startsWith('/resets')) return void request.socket.resetAndDestroy()
      if (request.url?.startsWith('/hangs')) return
      // Node 26 says that a part is written before it has heard of anything else.
      const more = (): void => void (response.destroyed || response.write(Buffer.alloc(65_536), () => setImmediate(more)))
      more()
    })
    const base = `http://127.0.0.1:${await listening(server)}`
    const posting = async (path: string, signal = NEVER) => (await opened({ url: base + path })).post('{}', signal)
    await expect(posting('/resets')).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(await posting('/endless')).toEqual({ status: 200, retryAfter: undefined, body: undefined })
    const gone = new AbortController()
    const hanging = posting('/hangs', gone.signal)
    await expect.poll(() => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))).toBeGreaterThan(0)
    gone.abort(new Error('left'))
    await expect(hanging).rejects.toThrow('left')
    await expect(posting('/hangs', gone.signal)).rejects.toThrow('left')
  })
})
