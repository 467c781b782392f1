// Fails when: a token is taken that its issuer has not signed, for us, for now; a good one is not;
// keys that were changed are not found; or an issuer that is away keeps the server from starting,
// or is asked for every request.
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, SignJWT } from 'jose'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { AuthenticationResult } from '#apiserver/authentication/authenticator.ts'
import { type OidcSettings, OidcTokens } from '#apiserver/authentication/oidc.ts'
import { checkClaims, claimsIn, userIn } from '#apiserver/authentication/oidc-claims.ts'
import { type ApiServerConfig, completeConfig, userOf } from '#apiserver/index.ts'
import { systemClock } from '#src/base/clock.ts'
import { serveApi } from '../../support/api-server.ts'
import { pairFor } from '../../support/certificates.ts'

const PAIR = pairFor({ names: ['localhost'] })
const KEYS = Array.from({ length: 2 }, () => generateKeyPairSync('rsa', { modulusLength: 2048 }))
const [FIRST, SECOND] = KEYS as [(typeof KEYS)[number], (typeof KEYS)[number]]

const folder = mkdtempSync(join(tmpdir(), 'quiesce-oidc-'))
const CA_FILE = join(folder, 'ca.pem')
writeFileSync(CA_FILE, PAIR.cert)
afterAll(() => rmSync(folder, { recursive: true }))

interface Issuer {
  readonly url: string
  /** Paths that were asked for. */
  readonly asked: string[]
  keys: readonly { readonly kid: string; readonly key: KeyObject }[]
  /** What its configuration has instead. */
  configuration: Readonly<Record<string, unknown>>
  status: number
  /** Of its keys alone. */
  keysStatus: number
}

async function issuer(): Promise<Issuer> {
  const server = createServer(PAIR, async (request, response) => {
    it.asked.push(request.url ?? '')
    response.statusCode = it.status
    const isKeys = request.url === '/keys'
    if (isKeys) response.statusCode = it.keysStatus
    const jwks = async () => ({
      keys: await Promise.all(it.keys.map(async ({ kid, key }) => ({ ...(await exportJWK(key)), kid }))),
    })
    response.end(JSON.stringify(isKeys ? await jwks() : { issuer: it.url, jwks_uri: `${it.url}/keys`, ...it.configuration }))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  const it: Issuer = {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    asked: [],
    keys: [{ kid: 'first', key: FIRST.publicKey }],
    configuration: {},
    status: 200,
    keysStatus: 200,
  }
  return it
}

interface Token {
  readonly claims?: Readonly<Record<string, unknown>>
  /** Null: it does not say. */
  readonly kid?: string | null
  readonly key?: KeyObject | Uint8Array
  readonly alg?: string
  readonly iss?: string
  readonly aud?: string | string[]
  readonly expiresIn?: number
}

function tokenOf(
  { url }: Issuer,
  { claims = {}, kid = 'first', key = FIRST.privateKey, alg = 'RS256', iss = url, aud = 'api', expiresIn = 60 }: Token = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const header = kid === null ? { alg } : { alg, kid }
  const token = new SignJWT({ sub: 'ann', ...claims }).setProtectedHeader(header).setIssuer(iss).setAudience(aud).setIssuedAt(now)
  return token.setExpirationTime(now + expiresIn).sign(key)
}

const settingsOf = (url: string): OidcSettings => ({
  issuerUrl: url,
  clientId: 'api',
  usernameClaim: 'sub',
  usernamePrefix: undefined,
  groupsClaim: 'groups',
  groupsPrefix: 'oidc:',
  requiredClaims: {},
  signingAlgs: ['RS256'],
  clockSkewMs: 10_000,
  caFile: CA_FILE,
  jwksFile: undefined,
})

async function opened(of: Issuer, given: Partial<OidcSettings> = {}, clock = systemClock) {
  const tokens = new OidcTokens({ ...settingsOf(of.url), ...given })
  await tokens.open({ clock, random: () => 0, warn: () => {} })
  return async (token: string | Promise<string>): Promise<AuthenticationResult> => tokens.authenticateToken(await token)
}

describe('a token of the issuer', () => {
  test('may leave out which of its keys it is signed with', async () => {
    const it = await issuer()
    it.keys = [
      { kid: 'first', key: FIRST.publicKey },
      { kid: 'second', key: SECOND.publicKey },
    ]
    const ask = await opened(it)
    for (const { privateKey } of [FIRST, SECOND]) expect(await ask(tokenOf(it, { kid: null, key: privateKey }))).toBeDefined()
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    await expect(ask(tokenOf(it, { kid: null, key: privateKey }))).rejects.toThrow('oidc: signature verification failed')
    await expect(ask(tokenOf(it, { kid: null, expiresIn: -60 }))).rejects.toThrow('oidc: claim exp: the token has expired')
  })

  test('is that of its user, by a server', async () => {
    const it = await issuer()
    const config: ApiServerConfig = { oidc: { issuerUrl: it.url, clientId: 'api', groupsClaim: 'groups', caFile: CA_FILE } }
    const { ask } = await serveApi({
      config,
      setUp: (server) => server.handle('/whoami', (request, response) => response.end(JSON.stringify(userOf(request)))),
    })
    const asked = async (token: string) => ask('/whoami', { headers: { Authorization: `Bearer ${token}` } })
    const answer = await asked(await tokenOf(it, { claims: { groups: ['dev'], jti: 'j1' } }))
    expect(await answer.json()).toEqual({
      name: `${it.url}#ann`,
      groups: ['dev', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=j1'] },
    })
    expect((await asked(`${await tokenOf(it)}x`)).status).toBe(401)
    expect(it.asked).toEqual(['/.well-known/openid-configuration', '/keys'])
  })

  test('is taken for one of several audiences, and a little after its time', async () => {
    const it = await issuer()
    const ask = await opened(it)
    expect(await ask(tokenOf(it, { aud: ['other', 'api'] }))).toMatchObject({ user: { name: `${it.url}#ann` } })
    expect(await ask(tokenOf(it, { expiresIn: -5 }))).toMatchObject({ user: { name: `${it.url}#ann` } })
  })

  const attacks: [string, (it: Issuer) => Promise<string> | string][] = [
    ['signed with another key', (it) => tokenOf(it, { key: SECOND.privateKey })],
    ['of a key that is not known', (it) => tokenOf(it, { kid: 'other', key: SECOND.privateKey })],
    ['for another audience', (it) => tokenOf(it, { aud: 'other' })],
    ['for a part of the audience', (it) => tokenOf(it, { aud: ['ap', 'apis'] })],
    ['that has expired', (it) => tokenOf(it, { expiresIn: -11 })],
    ['not yet valid', (it) => tokenOf(it, { claims: { nbf: Math.floor(Date.now() / 1000) + 70 } })],
    [
      'signed with the public key as a secret',
      (it) => tokenOf(it, { alg: 'HS256', key: Buffer.from(String(FIRST.publicKey.export({ type: 'spki', format: 'pem' }))) }),
    ],
    ['signed in a way that is not allowed', (it) => tokenOf(it, { alg: 'PS256' })],
    [
      'without a signature',
      (it) =>
        `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ iss: it.url, aud: 'api', sub: 'ann', exp: 9e9 })).toString('base64url')}.`,
    ],
    [
      'whose claims were changed',
      async (it) =>
        (await tokenOf(it)).replace(
          /\.[^.]+\./,
          `.${Buffer.from(JSON.stringify({ iss: it.url, aud: 'api', sub: 'root', exp: 9e9 })).toString('base64url')}.`,
        ),
    ],
    ['whose user is no text', (it) => tokenOf(it, { claims: { sub: undefined } })],
    ['whose groups are no texts', (it) => tokenOf(it, { claims: { groups: [1] } })],
  ]
  test.each(attacks)('is wrong when it is one %s', async (_, make) => {
    const it = await issuer()
    const ask = await opened(it)
    await expect(ask(make(it))).rejects.toThrow(/^oidc: /)
  })

  test('needs an end', async () => {
    const it = await issuer()
    const ask = await opened(it)
    const endless = new SignJWT({ sub: 'ann' })
      .setProtectedHeader({ alg: 'RS256', kid: 'first' })
      .setIssuer(it.url)
      .setAudience('api')
      .sign(FIRST.privateKey)
    await expect(ask(endless)).rejects.toThrow('exp')
  })

  test('in base64 that is padded is none of its', async () => {
    const it = await issuer()
    const ask = await opened(it)
    const [header = '', claims = '', signature = ''] = (await tokenOf(it, { claims: { pad: 'x' } })).split('.')
    const padded = [`${header}==`, claims, signature].join('.')
    expect(await ask(padded)).toBeUndefined()
    expect(await ask([header, `${claims}=`, signature].join('.'))).toBeUndefined()
    expect(it.asked).toEqual([])
  })

  test.each(['', 'x', 'a.b.c', '..', `${'x'.repeat(5_000)}.y.z`, 'e30.e30.e30'])('%j is none of its', async (token) => {
    const it = await issuer()
    const ask = await opened(it)
    expect(await ask(token)).toBeUndefined()
    expect(it.asked).toEqual([])
  })

  test('of another issuer is none of its', async () => {
    const it = await issuer()
    const ask = await opened(it)
    for (const iss of ['https://other.test', `${it.url}/`, it.url.toUpperCase()]) expect(await ask(tokenOf(it, { iss }))).toBeUndefined()
  })
})

describe('claims', () => {
  const settings = settingsOf('https://issuer.test')
  const NOW = 1_000_000
  const good = { iss: 'https://issuer.test', aud: 'api', sub: 'ann', exp: NOW + 60 }
  const checked = (claims: object) => () => checkClaims(claims as Record<string, unknown>, settings, NOW * 1_000)

  // As upstream's own plugin answered; beside it, in words, where we are stricter.
  test.each<[string, object, RegExp | undefined]>([
    ['as they are', {}, undefined],
    ['an end as text', { exp: String(NOW + 60) }, undefined],
    ['an end with a fraction', { exp: NOW + 0.5 }, undefined],
    ['an end in the notation of large numbers', { exp: '1.1e6' }, undefined],
    ['an end a little ago', { exp: NOW - 10 }, undefined],
    ['an end that is over', { exp: NOW - 11 }, /exp: the token has expired/],
    ['an end that is over, as text', { exp: String(NOW - 11) }, /exp: the token has expired/],
    ['no end', { exp: undefined }, /exp is missing/],
    ['an end of null', { exp: null }, /exp is not a time/],
    ['an end in words', { exp: 'tomorrow' }, /exp is not a time/],
    ['an end as an empty text', { exp: '' }, /exp is not a time/],
    ['an end that is true', { exp: true }, /exp is not a time/],
    ['an end in a list', { exp: [NOW + 60] }, /exp is not a time/],
    ['an end in hexadecimal', { exp: '0xfffffff' }, /exp is not a time/],
    ['a beginning within a minute', { nbf: NOW + 60 }, undefined],
    ['a beginning within a minute, as text', { nbf: String(NOW + 60) }, undefined],
    ['a later beginning', { nbf: NOW + 61 }, /nbf: the token is not valid yet/],
    ['a beginning of null', { nbf: null }, undefined],
    ['a beginning in words', { nbf: 'now' }, /nbf is not a time/],
    ['a time of issue in the future', { iat: NOW + 3_600 }, undefined],
    ['a time of issue in words', { iat: 'now' }, /iat is not a time/],
    ['another issuer', { iss: 'https://issuer.test/' }, /iss names another issuer/],
    ['several audiences', { aud: ['a', 'api'] }, undefined],
    ['another audience', { aud: 'apis' }, /aud names another audience/],
    ['an end that 64 bits cannot hold', { exp: 1e300 }, /exp is not a time/],
    ['an audience among what is none', { aud: ['api', 1] }, /aud names another audience/],
    ['a subject that is no text, although another claim names the user', { sub: 5 }, /sub is not text/],
    ['a nonce of null', { nonce: null }, undefined],
    ['a nonce that is no text', { nonce: 5 }, /nonce is not text/],
    ['sources in words', { _claim_names: { x: 's' }, _claim_sources: { s: 'x' } }, /_claim_sources/],
    ['no audience', { aud: undefined }, /aud names another audience/],
    ['claims elsewhere', { _claim_names: { x: 's' }, _claim_sources: { s: { endpoint: 'https://a.test' } } }, undefined],
    ['claims nowhere', { _claim_names: { x: 's' } }, /_claim_sources/],
    ['claims at a place that an object has anyhow', { _claim_names: { x: 'toString' }, _claim_sources: {} }, /_claim_sources/],
    ['claims at a place without a name', { _claim_names: { x: '' }, _claim_sources: { '': {} } }, /_claim_sources/],
    ['claims elsewhere in a list', { _claim_names: ['x'] }, /_claim_sources/],
  ])('are checked: %s', (_what, given, refused) => {
    if (refused) expect(checked({ ...good, ...given })).toThrow(refused)
    else expect(checked({ ...good, ...given })).not.toThrow()
  })

  test.each<[string, object, readonly string[] | RegExp]>([
    ['a list', { groups: ['a', 'b'] }, ['oidc:a', 'oidc:b']],
    ['a text', { groups: 'a' }, ['oidc:a']],
    ['null', { groups: null }, []],
    ['not there', {}, []],
    ['an empty list', { groups: [] }, []],
    ['null in a list', { groups: [null] }, /groups is not a list of groups/],
    ['an object', { groups: { a: true } }, /groups is not a list of groups/],
    ['elsewhere', { _claim_names: { groups: 's' }, _claim_sources: { s: {} } }, /has to be fetched from another server/],
    ['nowhere', { _claim_names: null }, /needs _claim_sources/],
    ['here, and elsewhere', { groups: null, _claim_names: { groups: 's' }, _claim_sources: { s: {} } }, []],
    ['not elsewhere, as another claim', { _claim_names: { roles: 's' }, _claim_sources: { s: {} } }, []],
  ])('say which groups: %s', (_what, given, groups) => {
    const named = () => userIn({ sub: 'ann', ...given }, settings).groups
    if (groups instanceof RegExp) expect(named).toThrow(groups)
    else expect(named()).toEqual(groups)
  })

  test('elsewhere are not missed where groups are not read', () => {
    const given = { sub: 'ann', _claim_names: { groups: 's' }, _claim_sources: { s: {} } }
    expect(userIn(given, { ...settings, groupsClaim: undefined }).groups).toEqual([])
  })

  test('are an object, and nothing of them is shown', () => {
    const read = (text: string) => () => claimsIn(Buffer.from(text, 'latin1'))
    expect(read('{"sub":"ann"}')()).toEqual({ sub: 'ann' })
    for (const text of ['', '{', 'secret', '\xef\xbb\xbf{}', '[]', 'null', '"secret"', '{"sub":"\xff"}']) {
      expect(read(text)).toThrow(/^the claims are not (a )?JSON/)
      expect(read(text)).not.toThrow(/secret/)
    }
  })

  test('name user and groups, with prefixes', () => {
    expect(userIn({ sub: 'ann', groups: 'dev' }, settings)).toEqual({ name: 'https://issuer.test#ann', groups: ['oidc:dev'], extra: {} })
    expect(userIn({ sub: 'ann' }, { ...settings, usernamePrefix: '-', groupsClaim: undefined })).toEqual({
      name: 'ann',
      groups: [],
      extra: {},
    })
    expect(userIn({ sub: 'ann' }, { ...settings, usernamePrefix: 'x:' }).name).toBe('x:ann')
    const email = { ...settings, usernameClaim: 'email' }
    expect(userIn({ email: 'ann@a.test' }, email).name).toBe('ann@a.test')
    expect(userIn({ email: 'ann@a.test', email_verified: true }, email).name).toBe('ann@a.test')
    for (const verified of [false, 'true', null])
      expect(() => userIn({ email: 'ann@a.test', email_verified: verified }, email)).toThrow('email not verified')
  })

  test('that are required have to be there', () => {
    const strict = { ...settings, requiredClaims: { hd: 'a.test' } }
    expect(userIn({ sub: 'ann', hd: 'a.test' }, strict).name).toContain('ann')
    for (const hd of ['b.test', undefined, ['a.test']]) expect(() => userIn({ sub: 'ann', hd }, strict)).toThrow('required claim hd')
    expect(() => userIn({ sub: 'ann' }, { ...settings, requiredClaims: { toString: 'x' } })).toThrow('required claim toString')
  })
})

describe('keys', () => {
  test('are found when they change, without a token of unknown keys asking for them each time', async () => {
    let now = 0
    const it = await issuer()
    const ask = await opened(it, {}, { ...systemClock, now: () => now })
    await ask(tokenOf(it))
    it.keys = [{ kid: 'second', key: SECOND.publicKey }]
    // The old one goes on until the keys are asked for again, in the background.
    expect(await ask(tokenOf(it))).toBeDefined()
    now += 600_001
    expect(await ask(tokenOf(it))).toBeDefined()
    await expect.poll(() => it.asked.filter((path) => path === '/keys').length).toBe(2)
    await expect.poll(async () => ask(tokenOf(it, { kid: 'second', key: SECOND.privateKey })).then(Boolean, () => false)).toBe(true)
    await expect(ask(tokenOf(it))).rejects.toThrow('no applicable key')
    const { length } = it.asked
    for (let times = 0; times < 5; times++) await expect(ask(tokenOf(it, { kid: `unknown ${times}` }))).rejects.toThrow('no applicable key')
    expect(it.asked.length - length).toBeLessThanOrEqual(1)
  })

  test('that cannot be had are not asked for by every token', async () => {
    let now = 0
    const it = await issuer()
    it.keysStatus = 503
    const ask = await opened(it, {}, { ...systemClock, now: () => now })
    for (let times = 0; times < 5; times++) await expect(ask(tokenOf(it))).rejects.toThrow(`${it.url}/keys: answered 503`)
    expect(it.asked).toEqual(['/.well-known/openid-configuration', '/keys'])
    it.keysStatus = 200
    now += 5_000
    expect(await ask(tokenOf(it))).toBeDefined()
  })

  test('of a file need no issuer', async () => {
    const it = await issuer()
    const file = join(folder, 'jwks.json')
    writeFileSync(file, JSON.stringify({ keys: [{ ...(await exportJWK(FIRST.publicKey)), kid: 'first', alg: 'RS256' }] }))
    const ask = await opened(it, { jwksFile: file })
    expect(await ask(tokenOf(it))).toBeDefined()
    await expect(ask(tokenOf(it, { key: SECOND.privateKey }))).rejects.toThrow('oidc: signature')
    expect(it.asked).toEqual([])
    for (const [text, message] of [
      ['{', 'is not JSON'],
      ['{"keys":[]}', 'is not a key set'],
      ['[]', 'is not a key set'],
    ] as const) {
      writeFileSync(file, text)
      await expect(opened(it, { jwksFile: file })).rejects.toMatchObject({
        code: 'ERR_OPTION_INVALID',
        message: expect.stringContaining(message),
      })
    }
  })
})

describe('an issuer', () => {
  test.each<[string, Partial<Issuer>, string]>([
    ['that fails', { status: 503 }, 'answered 503'],
    ['of another name', { configuration: { issuer: 'https://other.test' } }, 'another issuer, "https://other.test"'],
    ['whose keys come without TLS', { configuration: { jwks_uri: 'http://other.test/keys' } }, 'no https URL of keys'],
  ])('%s is said, and asked again after a while', async (_, wrong, message) => {
    let now = 0
    const it = await issuer()
    const { status, configuration } = it
    const ask = await opened(it, {}, { ...systemClock, now: () => now })
    Object.assign(it, wrong)
    for (let times = 0; times < 3; times++) await expect(ask(tokenOf(it))).rejects.toThrow(message)
    expect(it.asked).toHaveLength(1)
    Object.assign(it, { status, configuration })
    await expect(ask(tokenOf(it))).rejects.toThrow(message)
    now += 5_000
    expect(await ask(tokenOf(it))).toBeDefined()
  })

  test('that is not trusted, or not there, is no reason not to start', async () => {
    const it = await issuer()
    const untrusting = await opened(it, { caFile: undefined })
    await expect(untrusting(tokenOf(it))).rejects.toThrow(/certificate|self/)
    const away = await opened({ ...it, url: 'https://localhost:1' })
    await expect(away(tokenOf({ ...it, url: 'https://localhost:1' }))).rejects.toThrow(
      'https://localhost:1/.well-known/openid-configuration',
    )
  })

  test('that goes on with another protocol has given no answer', async () => {
    const answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
    const server = createServer(PAIR).on('secureConnection', (socket) => void socket.write(answer))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    onTestFinished(() => void server.close())
    const it = { ...(await issuer()), url: `https://localhost:${(server.address() as AddressInfo).port}` }
    await expect((await opened(it))(tokenOf(it))).rejects.toThrow('answered 101')
  })

  test('is named without mistakes', () => {
    const wrong = (oidc: unknown) => () => completeConfig({ oidc } as ApiServerConfig)
    expect(wrong({ issuerUrl: 'http://a.test', clientId: 'x' })).toThrow('oidc.issuerUrl: got "http://a.test", allowed: a URL of https')
    expect(wrong({ issuerUrl: 'https://a.test' })).toThrow('oidc.clientId')
    expect(wrong({ issuerUrl: 'https://a.test', clientId: 'x', signingAlgs: ['none'] })).toThrow('oidc.signingAlgs')
  })
})
