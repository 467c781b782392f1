// @ts-check
// What the fuzzer sends: one function for each kind of hostile request. Each is given numbers that
// the seed decides and a secret of its own, and says which answers are right.
import { frame, headersFrame, PREFACE } from './frames.mjs'

/**
 * @typedef {object} Attack
 * @property {'h1' | 'h2'} on which listener
 * @property {readonly (string | Buffer)[]} chunks what is written, one after the other; text as latin1
 * @property {readonly number[]} allowed statuses of the first final answer; 0: none, and the connection ends
 * @property {string} [method] of the first request, where it is not GET: the answer to HEAD has no body
 * @property {boolean} [isOver] the connection cannot serve another request after it
 * @property {boolean} [leaves] its client breaks the connection off when all is written
 * @property {boolean} [stalls] its client waits, whatever is missing, so that the server's own timeout has to end it
 * @property {RegExp} [body] what the answer's body says
 * @property {boolean} [leaks] node 20 keeps such a connection for ever: it sends GOAWAY, neither closes it nor hears its end [measured; not 22.23, not 24.21]
 *
 * @typedef {object} Dice
 * @property {() => number} random from 0 up to 1
 * @property {(max: number) => number} below a whole number from 0 up to it
 * @property {<T>(values: readonly T[]) => T} of one of several
 * @property {(length: number) => Buffer} bytes any
 */

/** @param {() => number} random @returns {Dice} */
export function diceOf(random) {
  const below = (/** @type {number} */ max) => Math.trunc(random() * max)
  return {
    random,
    below,
    of: (values) => /** @type {any} */ (values[below(values.length)]),
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  }
}

/** Of the one user that there is. */
export const TOKEN = 'token-of-the-fuzzer'
export const ECHO = '/api/v1/pods'
export const PRIVATE = '/private/x'

/** A request as it should be, or nearly. @param {string} secret @param {{ method?: string, target?: string, version?: string, headers?: readonly string[], body?: string, isAnonymous?: boolean }} [parts] */
export const requestText = (
  secret,
  { method = 'GET', target = ECHO, version = 'HTTP/1.1', headers = [], body = '', isAnonymous = false } = {},
) =>
  [
    `${method} ${target} ${version}`,
    'Host: localhost',
    `X-Secret: ${secret}`,
    ...(isAnonymous ? [] : [`Authorization: Bearer ${TOKEN}`]),
    ...headers,
    '',
    body,
  ].join('\r\n')

const h1 = /** @type {const} */ ('h1')
const h2 = /** @type {const} */ ('h2')
/** What a server may answer to what it cannot read, or close on. */
const REFUSED = [0, 400]
const ok = { on: h1, allowed: [200] }

/** One request over HTTP/1.1, and what may be answered. @param {string} secret @param {Parameters<typeof requestText>[1] & {}} parts @param {readonly number[]} allowed */
const ask = (secret, parts, allowed) => ({
  on: h1,
  chunks: [requestText(secret, parts)],
  allowed,
  ...(parts.method !== undefined && { method: parts.method }),
})

/** One GET of a target. @param {string} secret @param {string} target @param {readonly number[]} allowed */
const get = (secret, target, allowed) => ask(secret, { target }, allowed)

/** One with these headers. @param {string} secret @param {readonly string[]} headers @param {readonly number[]} allowed */
const withHeaders = (secret, headers, allowed) => ask(secret, { headers }, allowed)

/** The headers of one over HTTP/2. @param {string} secret */
const fields = (secret) => ({
  ':method': 'GET',
  ':scheme': 'http',
  ':authority': 'localhost',
  ':path': ECHO,
  'x-secret': secret,
  authorization: `Bearer ${TOKEN}`,
})

/** A request that asks for what must not be reached, inside of another one's body. @param {string} secret */
const smuggled = (secret) => requestText(secret, { target: `${PRIVATE}?smuggled` })

/** Lists of values of the header Authorization, none of which is anyone's. @param {Dice} dice */
const CREDENTIALS = (dice) => [
  [''],
  ['Bearer'],
  ['Bearer '],
  ['Bearer  '],
  ['bearer x'],
  ['Bearer x y'],
  ['Bearer x,Bearer y'],
  ['Bearer \u00ff\u00fe'],
  ['Bearer null'],
  ['Bearer undefined'],
  ['Bearer __proto__'],
  ['Bearer ..'],
  [`Bearer ${dice.bytes(40).toString('base64')}`],
  [`Bearer ${'x'.repeat(9000)}`],
  ['Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.'],
  ['Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.AAAA'],
  ['Bearer a.b.c'],
  ['Bearer ....'],
  ['Basic YWRtaW46YWRtaW4='],
  ['Basic \u00e9'],
  ['Negotiate'],
  ['Digest username="admin"'],
  ['Bearer x', 'Bearer y'],
  ['\tBearer x'],
]

const CUPS = '/apis/tea.example/v1/namespaces/default/cups'
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
/** What may be answered to a request for objects, as it should be or not. 0: it cannot be read. */
const OF_OBJECTS = [0, 200, 201, 400, 401, 404, 405, 406, 409, 410, 413, 414, 415, 422, 431, 500, 504]

/** Bodies of objects, some of which are none. @param {Dice} dice */
const objectBody = (dice) => {
  const name = dice.of(['a', 'b', 'c', '', '..', 'A', '__proto__', 'x'.repeat(300)])
  const metadata = dice.of([
    { name },
    { name, labels: { a: 'b', '': 'x', constructor: 'y' } },
    { name, finalizers: ['tea.example/x'] },
    { name, resourceVersion: dice.of(['0', '1', '-1', 'x', '99999999999999999999']) },
    { generateName: name, ownerReferences: [{}], annotations: { a: 'x'.repeat(dice.below(2_000)) } },
    { name: 7 },
    null,
    [],
  ])
  const spec = dice.of([{ size: 3 }, { size: 10 }, { size: 'x' }, { of: 'a'.repeat(5_000) }, { of: null, sugar: [[[{}]]] }, 'x', null, []])
  return dice.of([
    JSON.stringify({ apiVersion: 'tea.example/v1', kind: 'Cup', metadata, spec }),
    JSON.stringify({ metadata, spec, status: { size: 1 } }),
    JSON.stringify([
      {
        op: dice.of(['add', 'remove', 'replace', 'move', 'copy', 'test', 'x']),
        path: dice.of(['/spec/size', '/spec', '', '/__proto__/x', '/metadata/labels/-', 'x']),
        from: '/spec',
        value: spec,
      },
    ]),
    JSON.stringify({ spec: { resourceAttributes: spec, nonResourceAttributes: metadata } }),
    `{"kind":"Cup","kind":"Cup","__proto__":{"a":1},"metadata":${JSON.stringify(metadata)}}`,
    '['.repeat(dice.below(3_000)),
    `a: &a [${'*a,'.repeat(dice.below(20))}]`,
    `k8s\u0000${dice.bytes(dice.below(60)).toString('latin1')}`,
    dice.bytes(dice.below(100)).toString('latin1'),
    '',
  ])
}

/** @type {Readonly<Record<string, (dice: Dice, secret: string) => Attack>>} */
export const ATTACKS = {
  'an object of any kind': (dice, secret) => {
    const body = objectBody(dice)
    const method = dice.of(['POST', 'PUT', 'PATCH', 'DELETE', 'GET'])
    const path = dice.of([
      CUPS,
      `${CUPS}/a`,
      `${CUPS}/b`,
      `${CUPS}/a/status`,
      `${CUPS}/a/scale`,
      `${CUPS}/..%2fa`,
      `${CUPS}/a%00`,
      '/apis/tea.example/v1/cups',
      REVIEWS,
    ])
    const query = dice.of([
      '',
      '?dryRun=All',
      '?dryRun=x',
      '?fieldValidation=Strict',
      '?fieldValidation=x',
      '?pretty=1',
      '?propagationPolicy=Foreground',
      '?force=true',
    ])
    const type = dice.of([
      'application/json',
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
      'application/yaml',
      'application/vnd.kubernetes.protobuf',
      'x/y',
      '',
    ])
    const headers = [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body, 'latin1')}`]
    return ask(secret, { method, target: `${path}${query}`, headers, body }, OF_OBJECTS)
  },
  'a list of objects by anything': (dice, secret) => {
    const selector = dice.of([
      'a',
      'a=b',
      'a in (b,c)',
      '!a',
      'a>1',
      '(((',
      ',,',
      'a'.repeat(5_000),
      'a=b,'.repeat(500),
      '\u00e9',
      '%',
      'x notin (',
      'metadata.name=a',
      'metadata.name!=\\',
      'spec.size=1',
    ])
    const query = [
      `labelSelector=${encodeURIComponent(selector)}`,
      `fieldSelector=${encodeURIComponent(selector)}`,
      `limit=${dice.of(['1', '-1', '0', 'x', '99999999999999999999'])}`,
      `continue=${dice.of(['x', 'e30', Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"x/\u0000"}').toString('base64url'), 'A'.repeat(4_000)])}`,
      `resourceVersion=${dice.of(['0', '1', 'x', '-1', '999999999999999'])}&resourceVersionMatch=${dice.of(['Exact', 'NotOlderThan', 'x'])}`,
    ]
    const accept = dice.of([
      'application/json',
      'application/yaml',
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      'application/json;as=x;g=;v=',
    ])
    return ask(
      secret,
      { target: `${CUPS}?${dice.of(query)}&${dice.of(query)}`, headers: [`Accept: ${accept}`, 'Accept-Encoding: gzip'] },
      OF_OBJECTS,
    )
  },
  'a watch from anywhere': (dice, secret) => ({
    ...get(
      secret,
      `${CUPS}?watch=true&timeoutSeconds=${dice.of(['1', '0.1', '-1', 'x'])}&resourceVersion=${dice.of(['', '0', '1', 'x', '999999999999999'])}&allowWatchBookmarks=${dice.of(['true', '0'])}${dice.of(['', '&sendInitialEvents=true', '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'])}`,
      OF_OBJECTS,
    ),
    isOver: true,
  }),
  'a request as it should be': (dice, secret) => {
    const body = dice.bytes(dice.below(2000)).toString('latin1')
    const method = dice.of(['GET', 'POST', 'PUT', 'DELETE', 'PATCH'])
    return { ...ok, chunks: [requestText(secret, { method, headers: [`Content-Length: ${body.length}`], body })] }
  },
  'an encoding that is none': (dice, secret) =>
    get(
      secret,
      dice.of([
        `${ECHO}%`,
        `${ECHO}%zz`,
        '/%c0%ae%c0%ae/x',
        '/api/v1/%00',
        '/%ff%fe',
        `${ECHO}?a=%`,
        '/api%2fv1%2fpods',
        '/\u00ff\u00fe',
        `${ECHO}%20`,
      ]),
      [0, 200, 400, 403, 404],
    ),
  traversal: (dice, secret) => {
    const up = dice.of(['..', '%2e%2e', '%2E.', '.%2e', '..;', '..%00', '%252e%252e', '..%5c', '..\\', '...', '.'])
    const before = dice.of([
      '/api/v1/',
      '/',
      '//',
      '/apis/shop.example/',
      '\\',
      '/api/v1//',
      '/%2f',
      '/readyz/',
      'http://localhost/api/',
      'http://private/',
    ])
    return get(
      secret,
      `${before}${`${up}/`.repeat(1 + dice.below(4))}${dice.of(['private/x', 'private%2fx', 'Private/x', 'private//x', '/private/x'])}`,
      [0, 400, 401, 403, 404],
    )
  },
  'a private path by its name': (dice, secret) =>
    get(
      secret,
      dice.of([
        PRIVATE,
        '/private/',
        '/priv%61te/x',
        '/private%2fx',
        'http://localhost/private/x',
        'http://a:b@c/private/x?y',
        `${PRIVATE}#z`,
        `${PRIVATE}?/api/v1/pods`,
      ]),
      [0, 400, 401, 403],
    ),
  'headers twice': (dice, secret) => {
    const name = dice.of([
      'Host',
      'Authorization',
      'Accept',
      'User-Agent',
      'X-Forwarded-For',
      'Audit-ID',
      'Origin',
      'Connection',
      'Cookie',
      'Expect',
    ])
    const value = () => dice.of(['a', '', 'close', '*/*', 'x'.repeat(300), '127.0.0.1', '"', '\u00e9', 'null'])
    return {
      ...withHeaders(
        secret,
        Array.from({ length: 1 + dice.below(4) }, () => `${name}: ${value()}`),
        [0, 200, 400, 401, 403, 417],
      ),
      isOver: true,
    }
  },
  'a timeout that is none': (dice, secret) => ({
    ...get(
      secret,
      `${ECHO}?timeout=${dice.of(['abc', '1', '1x', '1e9s', '.s', '%d9%a3s', 's', '-', '+', '9999999999999999999h', '0x1s', '1s1', '1%20s', '--1s', '1.1.1s', `${'9'.repeat(2000)}s`])}`,
      [400],
    ),
    body: /invalid timeout specified in the request URL/,
  }),
  'a timeout': (dice, secret) =>
    get(
      secret,
      `${ECHO}?${dice.of(['', 'timeout=%zz&', 'timeout&', ';&'])}timeout=${dice.of(['1ns', '1ms', '10s', '-1s', '0', '1h1m1s', '1.5s', '%2b5s', '1000000h'])}`,
      [200, 504],
    ),
  'a handler that never answers': (dice, secret) => ({
    ...get(secret, `/api/v1/never?timeout=${dice.of(['10ms', '100ms', '1h', ''])}`, [504]),
    stalls: true,
    isOver: true,
  }),
  'a body that stops': (dice, secret) => ({
    on: h1,
    chunks: [
      requestText(secret, {
        method: 'POST',
        target: `${ECHO}?timeout=${dice.of(['50ms', '300ms', '1h'])}`,
        headers: [dice.of(['Content-Length: 100', 'Transfer-Encoding: chunked'])],
      }),
      dice.of(['', '5\r\nabcde\r\n', '5', '5\r\nab']),
    ],
    allowed: [0, 400, 504],
    stalls: true,
    isOver: true,
  }),
  'a body that comes slowly': (dice, secret) => {
    const body = 'x'.repeat(1 + dice.below(30))
    return { ...ok, chunks: [requestText(secret, { method: 'POST', headers: [`Content-Length: ${body.length}`] }), ...body] }
  },
  'framing that contradicts itself': (dice, secret) => {
    const body = smuggled(secret)
    const lengths = dice.of([
      [`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: chunked', 'Content-Length: 4'],
      ['Content-Length: 0', `Content-Length: ${body.length}`],
      [`Content-Length: ${body.length}`, 'Content-Length: 0'],
      [`Content-Length: 0, ${body.length}`],
      ['Content-Length: +5'],
      ['Content-Length: -1'],
      ['Content-Length: 0x10'],
      ['Content-Length: 5 5'],
      ['Content-Length: 99999999999999999999'],
      ['Content-Length:'],
      ['Transfer-Encoding: chunked, identity'],
      ['Transfer-Encoding: identity', 'Content-Length: 3'],
      ['Transfer-Encoding: xchunked'],
      ['Transfer-Encoding : chunked'],
      ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
      ['Transfer-Encoding:\u000bchunked'],
      ['Transfer-Encoding: gzip'],
      [' Content-Length: 5'],
      ['Content-Length\u0000: 5'],
      ['X: y\nContent-Length: 5'],
      ['X: y\rTransfer-Encoding: chunked'],
    ])
    return {
      on: h1,
      method: 'POST',
      chunks: [requestText(secret, { method: 'POST', headers: lengths }), `0\r\n\r\n${body}`],
      allowed: REFUSED,
      isOver: true,
    }
  },
  'chunks that are none': (dice, secret) => {
    const chunk = dice.of([
      'zz\r\nabc\r\n',
      'ffffffffffffffffff\r\nabc\r\n',
      '-1\r\nabc\r\n',
      '3\r\nabcd\r\n',
      '3\nabc\n0\n\n',
      `3;${'x'.repeat(20_000)}\r\nabc\r\n`,
      ' 3\r\nabc\r\n',
      '0x3\r\nabc\r\n',
      '3\r\nabc0\r\n\r\n',
      '\r\n',
      `0\r\n${smuggled(secret)}`,
      '0\r\nContent-Length: 5\r\nX-Secret\r\n\r\n',
    ])
    return {
      on: h1,
      chunks: [requestText(secret, { method: 'POST', headers: ['Transfer-Encoding: chunked'] }), chunk, smuggled(secret)],
      allowed: [0, 200, 400, 413, 431, 504],
      stalls: true,
      isOver: true,
    }
  },
  'a body that is no UTF-8': (dice, secret) => {
    const body = Buffer.concat([dice.bytes(20), Buffer.from([0xc0, 0xff, 0xed, 0xa0, 0x80])])
    const type = dice.of(['application/json', 'application/yaml', 'text/plain; charset=utf-16', ';;;', ''])
    return {
      ...ok,
      chunks: [requestText(secret, { method: 'POST', headers: [`Content-Length: ${body.length}`, `Content-Type: ${type}`] }), body],
    }
  },
  'a target of another form': (dice, secret) => ({
    ...get(
      secret,
      dice.of([
        'http://localhost/api/v1/pods',
        'https://other:1/api/v1/pods',
        'HTTP://x/api/v1/pods?a',
        'localhost:80',
        '*',
        'a',
        '//localhost/api/v1/pods',
        'http://',
        'http:///api/v1/pods',
        'ftp://x/y',
        '?',
        '',
        ' ',
        '/a b',
        'http://[::1/x',
      ]),
      [0, 200, 400, 401, 403, 404, 501],
    ),
    isOver: true,
  }),
  'a method of another kind': (dice, secret) => {
    const method = dice.of([
      'FOO',
      'get',
      'TRACE',
      'PROPFIND',
      'CONNECT',
      'OPTIONS',
      'HEAD',
      'PURGE',
      'M-SEARCH',
      'QUERY',
      'PRI',
      'G\u00c9T',
      '\u0000',
    ])
    const target = method === 'CONNECT' ? 'localhost:443' : ECHO
    return { ...ask(secret, { method, target }, [0, 200, 204, 400, 401, 403, 405, 501]), isOver: true }
  },
  'a version of another time': (dice, secret) => {
    const version = dice.of(['HTTP/0.9', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.2', 'HTTP/11', 'HTP/1.1', '', 'http/1.1'])
    return { ...ask(secret, { version }, [0, 200, 400, 505]), isOver: true }
  },
  'an upgrade that is none': (dice, secret) => ({
    ...withHeaders(
      secret,
      dice.of([
        ['Upgrade: websocket'],
        ['Connection: Upgrade', 'Upgrade: websocket'],
        ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 99', 'Sec-WebSocket-Key: x'],
        ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
        ['Connection: upgrade', 'Upgrade: SPDY/3.1', 'X-Stream-Protocol-Version: v4.channel.k8s.io'],
        ['Connection: Upgrade', 'Upgrade: x', 'Content-Length: 5'],
        ['Connection: Upgrade', `Upgrade: ${'x'.repeat(4000)}`],
        ['Connection: Upgrade', 'Upgrade: ,'],
        ['Connection: Upgrade', 'Upgrade: websocket', 'Transfer-Encoding: chunked'],
      ]),
      [0, 200, 400, 504],
    ),
    stalls: true,
    isOver: true,
  }),
  'an upgrade of a private path': (dice, secret) => {
    const target = dice.of([PRIVATE, '/private/../private/x', 'http://x/private/x'])
    return { ...ask(secret, { target, headers: ['Connection: Upgrade', 'Upgrade: websocket'] }, [0, 400, 401, 403, 404]), isOver: true }
  },
  'an expectation': (dice, secret) => ({
    ...withHeaders(
      secret,
      [`Expect: ${dice.of(['100-continue', '200-ok', '100-continue, x', '', '100-CONTINUE'])}`, dice.of(['Content-Length: 0', 'X: y'])],
      [200, 400, 417],
    ),
    isOver: true,
  }),
  'headers that are too large': (dice, secret) => ({
    ...withHeaders(
      secret,
      dice.of([
        [`X: ${'x'.repeat(70_000)}`],
        Array.from({ length: 3000 }, (_, at) => `X-${at}: ${'y'.repeat(20)}`),
        [`${'x'.repeat(20_000)}: y`],
      ]),
      [0, 400, 431],
    ),
    isOver: true,
  }),
  'a target that is too long': (dice, secret) => ({
    ...get(
      secret,
      `${ECHO}${dice.of(['?', '/', '#'])}${dice.of(['x', '%61', '/', '../', '&a=b', ';'])}`.concat(
        dice.of(['a', '/', '%2f', '..']).repeat(8000),
      ),
      [0, 200, 400, 403, 404, 414, 431],
    ),
    isOver: true,
  }),
  'headers that are none': (dice, secret) => ({
    ...withHeaders(
      secret,
      [
        dice.of([
          'no colon',
          ': no name',
          'a b: c',
          'X: \u0000',
          'X: a\u0001b',
          'X:\u007f',
          '\tfolded',
          'X: a\r\n folded',
          'X: \u00ff\u00fe',
          '{}: x',
          'X-\u00e9: y',
        ]),
      ],
      [0, 200, 400],
    ),
    isOver: true,
  }),
  'headers of negotiation': (dice, secret) =>
    get(
      secret,
      dice.of([
        '/version',
        '/apis',
        '/none',
        '/api/v1/pods?timeout=x',
        '/readyz',
        '/healthz?verbose',
        '/',
        '/livez/x',
        '/metrics',
        '/index.html',
      ]),
      [200, 400, 401, 403, 404, 406],
    ),
  'an Accept of any kind': (dice, secret) =>
    ask(
      secret,
      {
        target: dice.of(['/version', '/apis', '/none', `${ECHO}?timeout=x`]),
        headers: [
          `Accept: ${dice.of(['*/*', 'application/yaml', 'application/json;as=Table;g=meta.k8s.io;v=v1', 'text/html', ';;;', ','.repeat(500), 'a/b;q=nan', '\u00ff', 'application/json;q=-1,*/*;q=2', `${'a/b,'.repeat(500)}*/*`])}`,
        ],
      },
      [200, 400, 401, 403, 404, 406],
    ),
  'an Origin of any kind': (dice, secret) =>
    ask(
      secret,
      {
        method: 'OPTIONS',
        headers: [
          `Origin: ${dice.of(['null', 'https://www.example.com', 'https://www.example.com.evil.org', 'x'.repeat(3000), 'https://www.example.com\u00ff', 'http://evil//www.example.com', 'file://'])}`,
        ],
      },
      [200, 204, 401, 403, 431],
    ),
  'an id of its own': (dice, secret) =>
    withHeaders(secret, [`Audit-ID: ${dice.of(['x', '\u00e9'.repeat(50), 'x'.repeat(5000), '"', '<script>', '\t', 'a: b'])}`], [200]),
  'addresses of its own': (dice, secret) =>
    withHeaders(
      secret,
      [
        `X-Forwarded-For: ${dice.of(['1.2.3.4', '::1', 'x', ','.repeat(1000), '1.2.3.4,'.repeat(300), '\u00ff', '999.1.1.1'])}`,
        `X-Real-Ip: ${dice.of(['1.2.3.4', '', '::ffff:1.2.3.4', '[::1]:80'])}`,
      ],
      [200],
    ),
  'credentials that are none': (dice, secret) => {
    const target = dice.of([ECHO, PRIVATE, '/version', '/metrics', '/none'])
    const headers = dice.of(CREDENTIALS(dice)).map((value) => `Authorization: ${value}`)
    return { ...ask(secret, { isAnonymous: true, target, headers }, [400, 401, 403, 431]), isOver: true }
  },
  'no credentials': (dice, secret) =>
    ask(
      secret,
      {
        isAnonymous: true,
        target: dice.of([ECHO, PRIVATE, '/version', '/metrics', '/none', '/healthz/../api/v1/pods', '/readyz/../private/x']),
        headers: dice.of([
          [],
          ['X-Remote-User: fuzzer', 'X-Remote-Group: system:masters'],
          [`Cookie: token=${TOKEN}`],
          [`Proxy-Authorization: Bearer ${TOKEN}`],
          [`X-Authorization: Bearer ${TOKEN}`],
          [`Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.${Buffer.from(TOKEN).toString('base64url')}, x`],
          ['Impersonate-User: fuzzer'],
        ]),
      },
      [401, 403],
    ),
  'another user than it is': (dice, secret) =>
    withHeaders(
      secret,
      dice.of([
        ['Impersonate-User: system:masters'],
        ['Impersonate-User: admin', 'Impersonate-Group: system:masters'],
        ['Impersonate-Group: system:masters'],
        ['Impersonate-Uid: 1'],
        ['Impersonate-User:'],
        ['Impersonate-User: a', 'Impersonate-User: b'],
        ['impersonate-user: \u00ff'],
        ['Impersonate-User: a', 'Impersonate-Extra-%zz: x'],
        ['Impersonate-Extra-: x'],
        ['Impersonate-User: system:serviceaccount:a:b:c'],
        ['Impersonate-User: a', ...Array.from({ length: 200 }, (_, at) => `Impersonate-Group: g${at}`)],
        [`Impersonate-User: ${'x'.repeat(5000)}`],
        // Node has only the first thousand in `headers`.
        [...Array.from({ length: 1000 }, () => 'a:'), 'Impersonate-User: admin'],
      ]),
      // Node 26 takes so many headers for too large.
      [400, 403, 431],
    ),
  'a handler that fails': (_dice, secret) => ({
    ...get(secret, '/api/v1/panics', [500]),
    body: /^This request caused apiserver to panic\. Look in the logs for details\.\n$/,
    isOver: true,
  }),
  'a handler that fails late': (_dice, secret) => ({ ...get(secret, '/api/v1/late', [0]), isOver: true }),
  'lines that end otherwise': (dice, secret) => ({
    on: h1,
    chunks: [requestText(secret).replaceAll('\r\n', dice.of(['\n', '\r', '\r\n\r\n', '\r\r\n', '\n\r\n']))],
    allowed: [0, 200, 400, 401, 403],
    isOver: true,
  }),
  'a client that leaves': (dice, secret) => {
    const whole = requestText(secret, {
      method: 'POST',
      target: dice.of([ECHO, '/api/v1/never', '/api/v1/late', '/none']),
      headers: ['Content-Length: 1000'],
      body: 'x'.repeat(1000),
    })
    return { on: h1, chunks: [whole.slice(0, dice.below(whole.length))], allowed: [0, 200, 400, 404, 500, 504], leaves: true }
  },
  'several at once, the last one broken': (dice, secret) => ({
    on: h1,
    chunks: [
      `${requestText(secret)}${requestText(secret, { target: '/version' })}${dice.of(['\u0000\u0001', 'GET\r\n\r\n', 'POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n'])}`,
    ],
    // Node refuses what it cannot read before the first of them is answered, and then ends.
    allowed: [200, 400],
    isOver: true,
  }),
  'one byte at a time': (_dice, secret) => ({ ...ok, chunks: [...requestText(secret)] }),
  'noise in a request': (dice, secret) => {
    const bytes = Buffer.from(requestText(secret, { method: 'POST', headers: ['Content-Length: 5'], body: 'abcde' }), 'latin1')
    for (let left = 1 + dice.below(6); left > 0; left--) bytes[dice.below(bytes.length)] = dice.below(256)
    return {
      on: h1,
      chunks: [bytes],
      allowed: [0, 200, 204, 400, 401, 403, 404, 405, 408, 413, 417, 431, 501, 504, 505],
      stalls: true,
      isOver: true,
    }
  },
  noise: (dice) => ({ on: h1, chunks: [dice.bytes(1 + dice.below(500)), '\r\n\r\n'], allowed: [0, 400], isOver: true }),
  'noise over HTTP/2': (dice) => ({
    on: h2,
    chunks: [dice.of([PREFACE, '']), dice.bytes(1 + dice.below(500))],
    allowed: [0],
    isOver: true,
  }),
  'frames of nonsense': (dice, secret) => ({
    on: h2,
    leaks: true,
    chunks: [
      PREFACE,
      frame(4),
      headersFrame(fields(secret), 1),
      ...Array.from({ length: 1 + dice.below(20) }, () =>
        frame(dice.below(14), {
          flags: dice.below(256),
          stream: dice.of([0, 1, 2, 3, 5, 2 ** 31 - 1]),
          payload: dice.bytes(dice.of([0, 1, 4, 5, 6, 8, 9, 100])),
        }),
      ),
    ],
    allowed: [0],
    isOver: true,
  }),
  'headers of HTTP/2 that are none': (dice, secret) => {
    const odd = dice.of([
      { ':path': PRIVATE },
      { ':path': '' },
      { ':path': '*' },
      { ':path': 'private/x' },
      { ':path': '/api/v1/../../private/x' },
      { ':method': 'CONNECT' },
      { ':method': 'G T' },
      { ':scheme': '' },
      { ':authority': 'a\u0000b' },
      { ':unknown': 'x' },
      { Upper: 'x' },
      { connection: 'close' },
      { 'transfer-encoding': 'chunked' },
      { 'content-length': '5' },
      { te: 'gzip' },
      { host: 'other' },
      { 'x-large': 'x'.repeat(15_000) },
      { 'x-nul': 'a\u0000b' },
      { 'x-line': 'a\r\nb: c' },
      { '': 'x' },
    ])
    return { on: h2, chunks: [PREFACE, frame(4), headersFrame({ ...fields(secret), ...odd }, 1)], allowed: [0], isOver: true }
  },
}
