// Fails when: the processor time of a request grows faster than what its client sends, in a header
// or a parameter that quiesce reads, in the path, or in the number of headers; or when quiesce
// reads a header or a parameter that is in none of the tables, which are what is tried.
import { connect, createServer as createHttp2Server, type OutgoingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import ts from 'typescript'
import { describe, expect, onTestFinished, test } from 'vitest'
import { webSocketTokenAuthenticator } from '#apiserver/authentication/websocket-token.ts'
import { apiGroup, bearerTokenAuthenticator, defineResource, memoryStorage } from '#apiserver/index.ts'
import { HEADER_BOUNDS } from '#src/http/header-bounds.ts'
import { Sink } from '../apiserver/audit/sink.ts'
import { serveApi } from '../support/api-server.ts'
import { cpuOf, hasGrown } from '../support/cost.ts'
import { answerOf } from '../support/h2-client.ts'
import { newAttachedLife } from '../support/life.ts'
import { productSources } from '../tidy/expressions.ts'
import { parse, type Source, walk } from '../tidy/sources.ts'

/** Headers that a stream of HTTP/2 may not have, or that node reads before us. */
const OF_THE_PROTOCOL: ReadonlySet<string> = new Set(['connection', 'content-length', 'host', 'transfer-encoding', 'upgrade'])
const HEADERS = [...HEADER_BOUNDS.keys()].filter((name) => !name.startsWith(':') && !OF_THE_PROTOCOL.has(name))

const PARAMETERS = [
  'access_token',
  'allowWatchBookmarks',
  'continue',
  'dryRun',
  'exclude',
  'fieldManager',
  'fieldSelector',
  'fieldValidation',
  'force',
  'gracePeriodSeconds',
  'hash',
  'includeObject',
  'labelSelector',
  'limit',
  'orphanDependents',
  'pretty',
  'propagationPolicy',
  'resourceVersion',
  'resourceVersionMatch',
  'seconds',
  'sendInitialEvents',
  'timeout',
  'timeoutSeconds',
  'uid',
  'verbose',
  'watch',
]
/** Of the inspector, whose heads have no more than 16 KiB; Hono reads them. */
const OF_THE_INSPECTOR = ['after', 'token']

const PATHS = ['/', '/readyz', '/metrics', '/apis', '/api/v1/pods', '/api/v1/namespaces/a/pods', '/api/v1/watch/', '/handled/']

/** What a text can be made of so that something runs along it again and again. */
const PIECES = ['0', ',', ';', ' ', '+', '%20', '%3D', '?', '"', 'a=', '/', '/../', '&', '\\', 'a in (', 'a/b;q=0']

/** Half of what one header of HTTP/2 has room for. */
const LENGTH = 32_000
const TIMES = 4
/** A linear reader takes a few milliseconds for all of it; one that is not, seconds. */
const ALLOWED_MS = 150
const LOOKS = 3

const textOf = (piece: string, length: number): string => `${piece.repeat(length / piece.length)}\u0021`

const boundsOf = (name: string): number => HEADER_BOUNDS.get(name) ?? 8_192

/**
 * What costs too much: more than is allowed for the longer text, and more than twice its share of
 * what the shorter one costs. A collection of garbage may fall into any measurement, and not into
 * each of several, which what grows too fast is in.
 */
async function excess(what: string, work: (length: number) => unknown): Promise<string[]> {
  const costs: string[] = []
  for (let look = 0; look < LOOKS; look++) {
    const long = await cpuOf(() => work(LENGTH))
    if (long < ALLOWED_MS) return []
    const short = await cpuOf(() => work(LENGTH / TIMES))
    if (!hasGrown({ whole: long, part: short, times: TIMES, allowed: ALLOWED_MS })) return []
    costs.push(`${short} ms for ${LENGTH / TIMES} characters, ${long} ms for ${LENGTH}`)
  }
  return [`${what}: ${costs.join('; ')}`]
}

interface Server {
  ask(headers: OutgoingHttpHeaders): Promise<unknown>
}

async function clientOf(port: number): Promise<Server> {
  const open = () => {
    const session = connect(`http://127.0.0.1:${port}`, { maxSendHeaderBlockLength: 2 ** 24 })
    session.on('error', () => undefined)
    return session
  }
  let session = open()
  onTestFinished(() => session.destroy())
  return {
    ask: (headers) => {
      // Those who are not known are told to come anew.
      if (session.closed || session.destroyed) session = open()
      const stream = session.request(headers, { endStream: true })
      stream.on('error', () => undefined)
      return answerOf(stream)
    },
  }
}

/** With everything on that reads a request. */
async function apiServer(): Promise<Server> {
  const tokens = bearerTokenAuthenticator({ authenticateToken: () => ({ user: { name: 'root', groups: ['system:masters'], extra: {} } }) })
  const { port } = await serveApi({
    config: {
      http2: true,
      anonymousAuth: true,
      authenticators: [tokens],
      authorizer: { authorize: () => ({ decision: 'allow' }) },
      auditPolicy: { rules: [{ level: 'RequestResponse' }] },
      audit: new Sink(),
      corsAllowedOrigins: [String.raw`//a\.example$`],
    },
    setUp: (server) => {
      server.handlePrefix('/handled/', (request, response) => response.end(request.headers['impersonate-user'] ?? 'handled'))
      const definition = { group: '', kind: 'Pod', plural: 'pods', scope: 'Namespaced', versions: { v1: { schema: {} } } } as const
      const memory = memoryStorage().resource()
      // Without watches, which would last.
      const pods = { resource: defineResource(definition), storage: { list: memory.list.bind(memory) } }
      server.installLegacyApiGroup('/api', apiGroup({ group: '', versions: { v1: [pods] } }))
    },
  })
  return clientOf(port)
}

/** A server of its owner's bounds no header. */
async function attachedServer(): Promise<Server> {
  const server = createHttp2Server({ settings: { maxHeaderListSize: 2 ** 20 } }, (_, response) => response.end())
  const rig = newAttachedLife(server, { options: { metrics: true, health: true, whileDraining: 'retry-after' } })
  server.listen(0, '127.0.0.1')
  await rig.life.start()
  return clientOf((server.address() as AddressInfo).port)
}

describe.each([
  ['an API server', apiServer],
  ['an attached server', attachedServer],
])('%s takes no more time than grows with', (_, serve) => {
  test('all headers together', async () => {
    const { ask } = await serve()
    const over: string[] = []
    const all = [...HEADERS, 'cookie', 'anything']
    const isOfUser = (name: string): boolean => name === 'authorization' || name.startsWith('impersonate-')
    for (const piece of PIECES) {
      const textFor = (name: string, length: number): string =>
        textOf(piece, Math.min(length, boundsOf(name) - name.length - piece.length - 1))
      const each = (names: readonly string[], length: number) => Object.fromEntries(names.map((name) => [name, textFor(name, length)]))
      const tried: Readonly<Record<string, (length: number) => OutgoingHttpHeaders>> = {
        'of somebody': (length) => ({
          ':path': '/api/v1/pods?watch',
          ...each(
            all.filter((name) => !isOfUser(name)),
            length,
          ),
        }),
        'of a list of metrics': (length) => ({ ':path': '/metrics', ...each(['accept', 'accept-encoding'], length) }),
        'of a token': (length) => ({ ':path': '/metrics', authorization: `Bearer ${textFor('authorization', length)}` }),
        'of credentials': (length) => ({ ':path': '/metrics', ...each(['authorization'], length) }),
        'of impersonation': (length) => ({
          ':path': '/handled/',
          authorization: 'Bearer x',
          'impersonate-user': 'ann',
          ...each(['impersonate-group', 'impersonate-uid', 'impersonate-extra-a'], length),
        }),
      }
      for (const [what, headers] of Object.entries(tried))
        over.push(...(await excess(`${what} of ${piece}`, (length) => ask(headers(length)))))
    }
    expect(over).toEqual([])
  })

  test('a parameter, or a path', async () => {
    const { ask } = await serve()
    const over: string[] = []
    for (const piece of PIECES.map((one) => (one === ' ' ? '%09' : one))) {
      const tried = [
        ...PARAMETERS.map((name) => [name, (text: string) => `/api/v1/pods?${name}=${text}`] as const),
        ['labelSelector behind a key', (text: string) => `/api/v1/pods?labelSelector=a%3D${text}`] as const,
        ['the query', (text: string) => `/readyz?${text}`] as const,
        ...PATHS.map((path) => [path, (text: string) => `${path}${text}`] as const),
      ]
      for (const [what, target] of tried)
        over.push(...(await excess(`${what} of ${piece}`, (length) => ask({ ':path': target(textOf(piece, length)) }))))
    }
    expect(over).toEqual([])
  })

  test('the number of headers', async () => {
    const { ask } = await serve()
    const names: Readonly<Record<string, (at: number) => string>> = {
      'of impersonation, each another': (at) => `impersonate-extra-${at}`,
      'of impersonation, by one key in many forms': (at) =>
        `impersonate-extra-${[...at.toString(2)].map((bit) => (bit === '1' ? 'a' : '%61')).join('')}`,
      'of a proxy in front': (at) => `x-remote-extra-${at}`,
      'of any name': (at) => `x-${at}`,
    }
    const over: string[] = []
    for (const [what, nameAt] of Object.entries(names)) {
      const ofLength = (length: number): OutgoingHttpHeaders =>
        Object.fromEntries(Array.from({ length: length / 5 }, (_none, at) => [nameAt(at), 'x']))
      const first = { ':path': '/handled/', authorization: 'Bearer x', 'impersonate-user': 'ann' }
      over.push(...(await excess(what, (length) => ask({ ...first, ...ofLength(length) }))))
    }
    for (const name of ['impersonate-group', 'x-forwarded-for', 'accept', 'cookie', 'audit-id']) {
      const values = (length: number) => Array.from({ length: length / 5 }, (_none, at) => `a${at}`)
      over.push(
        ...(await excess(`times ${name}`, (length) => ask({ ':path': '/handled/', 'impersonate-user': 'ann', [name]: values(length) }))),
      )
    }
    expect(over).toEqual([])
  })
})

test('a token among the protocols of a WebSocket takes no more time than grows with it', async () => {
  const { authenticate } = webSocketTokenAuthenticator({ authenticateToken: () => undefined })
  const ask = (value: string): unknown => {
    const headers = { upgrade: 'websocket', connection: 'upgrade', 'sec-websocket-protocol': value }
    try {
      return authenticate({ headers, rawHeaders: Object.entries(headers).flat() } as never, {} as never)
    } catch {
      return undefined
    }
  }
  const over: string[] = []
  for (const piece of PIECES)
    for (const prefix of ['', 'base64url.bearer.authorization.k8s.io.'])
      over.push(...(await excess(`${prefix}${piece}`, (length) => ask(prefix + textOf(piece, length)))))
  expect(over).toEqual([])
})

/** Reads the answers of other servers, or writes heads itself. */
const OF_ANSWERS =
  /^src\/(?:testing|cli|diagram|example|terminal)\/|\/webhook\/client\.ts$|trusted-fetch|\/loopback\/|\/h1\/connection-close\.ts$|\/h2\/(?:response-head|exchange-objects)\.ts$|^packages\/(?:model|inspector-page)\//

/** The text of an argument, or of the constant that it names. */
function textIn(node: ts.Node | undefined, { ast }: Source): string | undefined {
  if (node === undefined) return undefined
  if (ts.isStringLiteralLike(node)) return node.text
  if (!ts.isIdentifier(node)) return undefined
  let found: string | undefined
  walk(ast, (each) => {
    if (
      ts.isVariableDeclaration(each) &&
      each.name.getText(ast) === node.text &&
      each.initializer &&
      ts.isStringLiteralLike(each.initializer)
    )
      found = each.initializer.text
  })
  return found
}

const READERS: ReadonlySet<string> = new Set(['firstHeader', 'headerValues', 'occurrences', 'only'])
const isHeaders = (node: ts.Node, ast: ts.SourceFile): boolean => /(?:^|\.)headers$/.test(node.getText(ast))

/** Names of headers that a file reads of a request. */
function headersReadIn(source: Source): string[] {
  const { ast } = source
  const found: (string | undefined)[] = []
  walk(ast, (node) => {
    if (ts.isPropertyAccessExpression(node) && isHeaders(node.expression, ast)) found.push(node.name.text)
    else if (ts.isElementAccessExpression(node) && isHeaders(node.expression, ast)) found.push(textIn(node.argumentExpression, source))
    else if (ts.isCallExpression(node) && READERS.has(node.expression.getText(ast))) found.push(textIn(node.arguments[1], source))
    else if (ts.isCallExpression(node) && /\.req\.header$/.test(node.expression.getText(ast))) found.push(textIn(node.arguments[0], source))
    else if (ts.isVariableDeclaration(node) && node.initializer && isHeaders(node.initializer, ast) && ts.isObjectBindingPattern(node.name))
      for (const { propertyName, name } of node.name.elements) found.push((propertyName ?? name).getText(ast).replaceAll(/^'|'$/g, ''))
    else if (ts.isBindingElement(node) && node.propertyName?.getText(ast) === 'headers' && ts.isObjectBindingPattern(node.name))
      for (const { propertyName, name } of node.name.elements) found.push((propertyName ?? name).getText(ast).replaceAll(/^'|'$/g, ''))
  })
  return found.flatMap((name) => name?.toLowerCase() ?? [])
}

/** Names of parameters that a file reads of a query. */
function parametersReadIn(source: Source): string[] {
  const found: (string | undefined)[] = []
  walk(source.ast, (node) => {
    if (!ts.isCallExpression(node)) return
    const called = node.expression.getText(source.ast)
    if (/^(?:queryValue|queryTexts|textValue|flag|wholeNumber)$/.test(called)) found.push(textIn(node.arguments[1], source))
    else if (/queryOf\(\w+\)\.get$|\.req\.query$|\.query\.get$|^rest\.(?:query|queries)$/.test(called))
      found.push(textIn(node.arguments[0], source))
  })
  return found.flatMap((name) => name ?? [])
}

/** Not headers, or those of the first line, which the tests of heads try. */
const NO_HEADERS: ReadonlySet<string> = new Set([':method', ':path', 'etag', 'set', 'length'])

describe('what is tried is what is read:', () => {
  const read = productSources().filter(({ path }) => !OF_ANSWERS.test(path))

  test('headers', () => {
    const unknown = read.flatMap((source) =>
      headersReadIn(source)
        .filter((name) => !HEADER_BOUNDS.has(name) && !NO_HEADERS.has(name))
        .map((name) => `${source.path}: ${name}`),
    )
    expect(unknown).toEqual([])
  })

  test('parameters', () => {
    const names = new Set(read.flatMap(parametersReadIn))
    expect([...names].sort()).toEqual([...PARAMETERS, ...OF_THE_INSPECTOR].sort())
  })

  test('a new one is seen', () => {
    const source = parse(
      'src/http/x.ts',
      `const NAME = 'x-c'
       const { 'x-a': a } = request.headers
       const all = [a, request.headers['x-b'], request.headers[NAME], firstHeader(request, 'x-d'), queryValue(url, 'e')]`,
    )
    expect(headersReadIn(source)).toEqual(['x-a', 'x-b', 'x-c', 'x-d'])
    expect(parametersReadIn(source)).toEqual(['e'])
  })
})
