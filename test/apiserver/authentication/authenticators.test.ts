// Fails when: credentials are taken that are not exactly the right ones, wrong ones pass for none,
// or an authenticator that fails in any way lets a request through.
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { anonymousAuthenticator } from '#apiserver/authentication/anonymous.ts'
import type {
  Authenticated,
  AuthenticationContext,
  AuthenticationResult,
  Authenticator,
  TokenAuthenticator,
} from '#apiserver/authentication/authenticator.ts'
import { bearerTokenAuthenticator } from '#apiserver/authentication/bearer-token.ts'
import { takeCredentials } from '#apiserver/authentication/credential-headers.ts'
import { withAuthenticatedGroup } from '#apiserver/authentication/group-adder.ts'
import { loopbackToken } from '#apiserver/authentication/loopback-token.ts'
import { usersIn } from '#apiserver/authentication/token-file.ts'
import { unionAuthenticator, unionTokens } from '#apiserver/authentication/union.ts'
import { webSocketTokenAuthenticator } from '#apiserver/authentication/websocket-token.ts'
import { requestInfo } from '#apiserver/request/request-info.ts'

const ANN: Authenticated = { user: { name: 'ann', groups: [], extra: {} } }
const BOB: Authenticated = { user: { name: 'bob', groups: ['system:unauthenticated'], extra: {} } }

/** As node makes it of what came over the wire. */
function requestWith(...rawHeaders: readonly string[]): IncomingMessage {
  const request = new IncomingMessage(new Socket()) as IncomingMessage & {
    _addHeaderLines(headers: readonly string[], count: number): void
  }
  request._addHeaderLines([...rawHeaders], rawHeaders.length)
  return request
}

const contextOf = (path: string): AuthenticationContext => ({ info: requestInfo('GET', path), signal: new AbortController().signal })
const ask = (authenticator: Authenticator, request = requestWith(), path = '/') =>
  Promise.resolve().then(() => authenticator.authenticate(request, contextOf(path)))

/** One of them is what bytes that are no UTF-8 are read as. */
const KNOWN = ['good', 'gutà', 'gut\uFFFD']
const tokens: TokenAuthenticator = { authenticateToken: (token) => (KNOWN.includes(token) ? ANN : undefined) }

/** The bytes of a text, as node has them in a header. */
const asHeader = (text: string): string => Buffer.from(text).toString('latin1')

describe('a bearer token', () => {
  const bearer = bearerTokenAuthenticator(tokens)

  test.each<[readonly string[], AuthenticationResult]>([
    [[], undefined],
    [['Authorization', 'Bearer good'], ANN],
    [['authorization', '  bEaReR good  '], ANN],
    [['Authorization', 'Bearer good and more'], ANN],
    [['Authorization', asHeader('Bearer gutà')], ANN],
    [['Authorization', asHeader(' bearer gutà')], ANN],
    [['Authorization', asHeader('Bearer good\u00A0')], ANN],
    [['Authorization', asHeader('\u0085bearer good')], ANN],
    [['Authorization', asHeader('\uFEFFBearer good')], undefined],
    [['Authorization', 'Bearer'], undefined],
    [['Authorization', 'Bearer  good'], undefined],
    [['Authorization', 'Basic good'], undefined],
    [['Authorization', ''], undefined],
  ])('%j', async (headers, result) => {
    expect(await ask(bearer, requestWith(...headers))).toEqual(result)
  })

  test.each([
    [['Authorization', 'Bearer bad']],
    [['Authorization', 'Bearer good,']],
    [['Authorization', 'Bearer goo']],
    [['Authorization', `Bearer ${'x'.repeat(15_000)}`]],
    [['Authorization', 'Bearer __proto__']],
    [['Authorization', 'Bearer gutà']],
    [['Authorization', ' bearer gutà']],
    [['Authorization', asHeader('Bearer good\uFEFF')]],
    [['Authorization', asHeader('\u0085Bearer bad')]],
  ])('%j is wrong', async (headers) => {
    await expect(ask(bearer, requestWith(...headers))).rejects.toThrow(/^invalid bearer token$/)
  })

  test('that none knows after a while is wrong as well', async () => {
    await expect(
      ask(bearerTokenAuthenticator({ authenticateToken: async () => undefined }), requestWith('Authorization', 'Bearer x')),
    ).rejects.toThrow('invalid bearer token')
  })
})

describe('a token among the protocols of a WebSocket', () => {
  const asking = webSocketTokenAuthenticator(tokens)
  const encoded = (token: string | Buffer) => `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
  const upgrade = (...protocols: readonly string[]) =>
    requestWith(
      'Connection',
      'keep-alive, Upgrade',
      'Upgrade',
      'WebSocket',
      ...protocols.flatMap((each) => ['Sec-WebSocket-Protocol', each]),
    )

  test('is taken out, and the others stay', async () => {
    const request = upgrade(`v4.channel.k8s.io, ${encoded('good')}`, 'v5.channel.k8s.io')
    expect(await ask(asking, request)).toEqual(ANN)
    expect(request.headers['sec-websocket-protocol']).toBe('v4.channel.k8s.io,v5.channel.k8s.io')
    expect(request.rawHeaders.slice(0, 2)).toEqual(['Sec-WebSocket-Protocol', 'v4.channel.k8s.io,v5.channel.k8s.io'])
    expect(request.headersDistinct['sec-websocket-protocol']).toEqual(['v4.channel.k8s.io,v5.channel.k8s.io'])
    expect(JSON.stringify(request.rawHeaders)).not.toContain('bearer')
    const read = upgrade('a', encoded('good'))
    expect(read.headersDistinct['sec-websocket-protocol']).toHaveLength(2)
    await ask(asking, read)
    expect(read.headersDistinct['sec-websocket-protocol']).toEqual(['a'])
  })

  test('is none of a request for something else', async () => {
    expect(await ask(asking, requestWith('Sec-WebSocket-Protocol', `a, ${encoded('good')}`))).toBeUndefined()
    expect(await ask(asking, upgrade('a'))).toBeUndefined()
    expect(await ask(asking, upgrade('a', encoded('')))).toBeUndefined()
    expect(await ask(asking, upgrade(encoded('')))).toBeUndefined()
    const later = ['Upgrade', 'h2c', 'Upgrade', 'websocket', 'Connection', 'Upgrade', 'Sec-WebSocket-Protocol', `a, ${encoded('good')}`]
    expect(await ask(asking, requestWith(...later))).toBeUndefined()
  })

  test.each([
    ['the first of two upgrades is a WebSocket', ['Upgrade', 'websocket', 'Upgrade', 'h2c', 'Connection', 'Upgrade']],
    ['the connection has the word in another one', ['Upgrade', 'websocket', 'Connection', 'xupgrade']],
    ['two headers say it', ['Upgrade', 'websocket', 'Connection', 'keep-alive', 'Connection', 'upgrade']],
  ])('counts where %s', async (_, headers) => {
    expect(await ask(asking, requestWith(...headers, 'Sec-WebSocket-Protocol', `a, ${encoded('good')}`))).toEqual(ANN)
    await expect(ask(asking, requestWith(...headers, 'Sec-WebSocket-Protocol', `a, ${encoded('bad')}`))).rejects.toThrow()
  })

  test('may have bits left at its end', async () => {
    expect(await ask(asking, upgrade('a', 'base64url.bearer.authorization.k8s.io.Z29vZB'))).toEqual(ANN)
  })

  test.each([
    ['invalid bearer token', ['a', encoded('bad')]],
    ['missing additional subprotocol', [encoded('good')]],
    ['multiple base64.bearer.authorization tokens specified', ['a', encoded('good'), encoded('good')]],
    ['invalid base64.bearer.authorization token encoding', ['a', `${encoded('good')}=`]],
    ['invalid base64.bearer.authorization token encoding', ['a', `${encoded('goo')}Z`]],
    ['invalid base64.bearer.authorization token encoding', ['a', `${encoded('good')}+/`]],
    ['invalid base64.bearer.authorization token', ['a', encoded(Buffer.from([0xff, 0xfe]))]],
  ])('%s', async (message, protocols) => {
    const request = upgrade(...protocols)
    await expect(ask(asking, request)).rejects.toThrow(message)
    expect(request.headers['sec-websocket-protocol']).toContain('base64url.bearer')
  })
})

describe('a file of tokens', () => {
  const read = (text: string) => {
    const warnings: string[] = []
    return { users: Object.fromEntries(usersIn(text, 'tokens.csv', (message) => warnings.push(message))), warnings }
  }

  test('has a user for each', () => {
    const text = '\uFEFFt1,ann,1\r\n\nt2,bob,,"dev,ops"\n"t""3","c, d",3,one,ignored\n'
    expect(read(text).users).toEqual({
      t1: { name: 'ann', uid: '1', groups: [], extra: {} },
      t2: { name: 'bob', groups: ['dev', 'ops'], extra: {} },
      't"3': { name: 'c, d', uid: '3', groups: ['one'], extra: {} },
    })
    expect(read('t1,ann,1').users).toHaveProperty('t1')
    expect(read('').users).toEqual({})
  })

  test('warns of tokens that are empty, and of those that are there twice', () => {
    const { users, warnings } = read('t,ann,1\n,nameless,2\nt,bob,3\n')
    expect(users).toEqual({ t: { name: 'bob', uid: '3', groups: [], extra: {} } })
    expect(warnings).toEqual([
      expect.stringContaining('record 2 has an empty token'),
      expect.stringContaining('record 3 has the same token'),
    ])
    expect(warnings.join()).not.toContain('bob')
  })

  test('has no token of bytes that are no UTF-8: others would be read as the same', () => {
    const { users, warnings } = read(`${Buffer.from([0xe9, 0xff]).toString()},ann,1\nt,bob,3\n`)
    expect(Object.keys(users)).toEqual(['t'])
    expect(warnings).toEqual([expect.stringContaining('record 1 has a token that is not UTF-8, and is left out')])
  })

  test.each([
    ['secret,ann', 'record 1 has 2 columns'],
    ['t,ann,1\nsecret,,2', 'record 2 names no user'],
    ['secret,"ann,1', 'record 1 has a quote'],
    ['secret,a"nn,1', 'record 1 has a quote'],
  ])('%j cannot be used, and what stands in it is not said', (text, message) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', message: expect.stringContaining(message) }))
    expect(() => read(text)).not.toThrow(/secret/)
  })
})

describe('several authenticators', () => {
  const knows = (result: AuthenticationResult): Authenticator => ({ authenticate: () => result })
  const knowsLate = (result: AuthenticationResult): Authenticator => ({ authenticate: async () => result })
  const failing: Authenticator = {
    authenticate: () => {
      throw new Error('one')
    },
  }
  const failingLate: Authenticator = { authenticate: () => Promise.reject(new Error('two')) }

  test.each<[string, readonly Authenticator[], AuthenticationResult]>([
    ['none', [], undefined],
    ['the first that knows', [knows(undefined), knows(ANN), knows(BOB)], ANN],
    ['the first that knows, however late', [knowsLate(undefined), knowsLate(ANN), knows(BOB)], ANN],
    ['one that knows behind those that fail', [failing, failingLate, knows(ANN)], ANN],
  ])('%s', async (_, all, result) => {
    expect(await ask(unionAuthenticator(all))).toEqual(result)
  })

  test('what some have thrown counts when none knows', async () => {
    await expect(ask(unionAuthenticator([failing, knows(undefined)]))).rejects.toThrow('one')
    await expect(ask(unionAuthenticator([failing, knowsLate(undefined), failingLate]))).rejects.toThrow('[one, two]')
  })

  test('or at once', async () => {
    await expect(ask(unionAuthenticator([failing, knows(ANN)], { failOnError: true }))).rejects.toThrow('one')
    await expect(ask(unionAuthenticator([failingLate, knows(ANN)], { failOnError: true }))).rejects.toThrow('two')
    await expect(ask(unionAuthenticator([knowsLate(undefined), failing, knows(ANN)], { failOnError: true }))).rejects.toThrow('one')
  })

  test.each([
    null,
    true,
    'ann',
    {},
    { user: 'ann' },
    { user: { name: 'ann' } },
    { user: { name: '', groups: [], extra: {} } },
    { user: { name: 'ann', groups: 'system:masters', extra: {} } },
    { user: { name: 'ann', groups: [1], extra: {} } },
    { user: { name: 'ann', groups: [], extra: { a: 'b' } } },
    { user: { name: 'ann', uid: 1, groups: [], extra: {} } },
    { user: { name: 'ann', groups: [], extra: {} }, audiences: 'x' },
  ])('%j is no user', async (answer) => {
    const odd: Authenticator = { authenticate: () => answer as never }
    const oddLate: Authenticator = { authenticate: async () => answer as never }
    for (const each of [odd, oddLate]) await expect(ask(unionAuthenticator([each]))).rejects.toThrow('an authenticator returned')
  })

  test('are opened and closed, each in its turn', async () => {
    const heard: string[] = []
    const living = (name: string): Authenticator & TokenAuthenticator => ({
      authenticate: () => undefined,
      authenticateToken: () => undefined,
      open: async () => void heard.push(`open ${name}`),
      close: () => void heard.push(`close ${name}`),
    })
    const world = { clock: undefined as never, random: () => 0, warn: () => {} }
    const all = unionAuthenticator([living('a'), withAuthenticatedGroup(bearerTokenAuthenticator(unionTokens([living('b')])))])
    await all.open?.(world)
    all.close?.()
    expect(heard).toEqual(['open a', 'open b', 'close a', 'close b'])
  })

  test('may be objects of classes, alone or among others', async () => {
    class Kept implements Authenticator, TokenAuthenticator {
      readonly heard: string[] = []
      readonly #user = ANN
      async open(): Promise<void> {
        this.heard.push('open')
      }
      close(): void {
        this.heard.push('close')
      }
      authenticate(): AuthenticationResult {
        return this.#user
      }
      authenticateToken(token: string): AuthenticationResult {
        return token === 'good' ? this.#user : undefined
      }
    }
    const request = (): IncomingMessage => requestWith('Authorization', 'Bearer good')
    const world = { clock: undefined as never, random: () => 0, warn: () => {} }
    const ways: ((kept: Kept) => Authenticator)[] = [
      (kept) => unionAuthenticator([kept]),
      (kept) => withAuthenticatedGroup(kept),
      (kept) => bearerTokenAuthenticator(kept),
      (kept) => bearerTokenAuthenticator(unionTokens([kept])),
      (kept) => bearerTokenAuthenticator(unionTokens([{ authenticateToken: () => undefined }, kept])),
    ]
    for (const way of ways) {
      const kept = new Kept()
      const authenticator = way(kept)
      await authenticator.open?.(world)
      expect((await ask(authenticator, request()))?.user.name).toBe('ann')
      authenticator.close?.()
      expect(kept.heard).toEqual(['open', 'close'])
    }
  })
})

describe('groups', () => {
  const groupsOf = async (result: AuthenticationResult) =>
    (await ask(withAuthenticatedGroup({ authenticate: async () => result })))?.user.groups

  test('a user that is known is one of the known', async () => {
    expect(await groupsOf(ANN)).toEqual(['system:authenticated'])
    expect(await groupsOf({ user: { ...ANN.user, groups: ['a', 'system:authenticated'] } })).toEqual(['a', 'system:authenticated'])
    expect(await groupsOf(BOB)).toEqual(['system:unauthenticated'])
    expect(await groupsOf({ user: { name: 'system:anonymous', groups: [], extra: {} } })).toEqual([])
    expect(await groupsOf(undefined)).toBeUndefined()
  })
})

describe('anonymous requests', () => {
  test('everywhere, or on exactly some paths', async () => {
    expect((await ask(anonymousAuthenticator(), requestWith(), '/x'))?.user).toMatchObject({
      name: 'system:anonymous',
      groups: ['system:unauthenticated'],
    })
    const some = anonymousAuthenticator(['/healthz'])
    const isIn = async (path: string) => (await ask(some, requestWith(), path)) !== undefined
    expect(await isIn('/healthz?verbose')).toBe(true)
    expect(await isIn('/%68ealthz')).toBe(true)
    for (const path of ['/', '/healthz/', '/healthz/ping', '/healthz/../x', '//healthz', '/HEALTHZ']) expect(await isIn(path)).toBe(false)
  })
})

test('the own client is known by all of its token', () => {
  const own = loopbackToken('abc')
  const name = (token: string) => (own.authenticateToken(token, contextOf('/')) as AuthenticationResult)?.user.name
  expect([name('abc'), name('abd'), name('ab'), name(''), name('ab\u00e9')]).toEqual([
    'system:apiserver',
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('credentials are taken out of a request in every form', () => {
  const request = requestWith(
    'Host',
    'x',
    'Authorization',
    'Bearer secret',
    'X-Remote-User',
    'secret',
    'X-Remote-Extra-Scopes',
    'secret',
    'X-Other',
    'stays',
  )
  expect(request.headersDistinct['authorization']).toEqual(['Bearer secret'])
  takeCredentials(request)
  expect(JSON.stringify([request.headers, request.rawHeaders, request.headersDistinct])).not.toContain('secret')
  expect(request.headers).toEqual({ host: 'x', 'x-other': 'stays' })
  expect(request.rawHeaders).toEqual(['Host', 'x', 'X-Other', 'stays'])
  expect(Object.keys(request.headersDistinct)).toEqual(['host', 'x-other'])
  // Read for the first time behind it.
  const unread = requestWith('Authorization', 'Bearer secret', 'X-Other', 'stays')
  takeCredentials(unread)
  expect(unread.headersDistinct).toEqual({ 'x-other': ['stays'] })
})
