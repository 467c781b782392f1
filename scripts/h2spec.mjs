// @ts-check
// `npm run test:h2spec`: what h2spec, a conformance test of HTTP/2, finds at a server that quiesce
// creates, with TLS and without, and at a server of bare node with the same settings. It is built
// with Go from the versions that scripts/h2spec/go.mod pins (another h2spec: H2SPEC=...). Fails for a
// case that ours fails and bare node passes, or when ours has something outstanding afterwards where
// bare node has not (20 has with TLS: it does not see that a client has gone which made an error).
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer as createHttp2Server, createSecureServer } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** A case whose outcome depends on what is sent first is tried so often. */
const TRIES = 3
const RUN_MS_MAX = 180_000
/** In seconds. Most cases that fail do so by waiting for it. */
const CASE_TIMEOUT = '1'
/** Five of such headers are a frame that is larger than ours may be. */
const HEADER_BYTES = '64000'
/** So long it may take until it is known that a client has gone. */
const SETTLING_MS = 2_000

const quiesce = new URL('../dist/index.js', import.meta.url).href
/** @type {typeof import('../src/index.ts')} */
const { createServer } = await import(quiesce)

const folder = mkdtempSync(join(tmpdir(), 'quiesce-h2spec-'))
const file = (/** @type {string} */ name) => readFileSync(new URL(`../test/fixtures/tls/${name}`, import.meta.url), 'utf8')
const PAIR = { key: file('key.pem'), cert: file('cert.pem') }

/** @param {import('node:http2').Http2ServerRequest} request @param {import('node:http2').Http2ServerResponse} response */
function listener(request, response) {
  request.resume()
  response.setHeader('Content-Type', 'text/plain')
  response.end('hello\n')
}

function h2spec() {
  const { H2SPEC } = process.env
  if (H2SPEC !== undefined) return H2SPEC
  const built = join(folder, 'h2spec')
  const { error, status } = spawnSync('go', ['build', '-mod=readonly', '-o', built, 'github.com/summerwind/h2spec/cmd/h2spec'], {
    cwd: fileURLToPath(new URL('h2spec', import.meta.url)),
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: RUN_MS_MAX,
  })
  if (error || status !== 0) throw new Error(`h2spec was not run: go does not build it (${error?.message ?? `status ${status}`})`)
  return built
}

/** @param {boolean} tls */
async function ours(tls) {
  const life = createServer(
    { listener: /** @type {any} */ (listener) },
    { port: 0, host: '127.0.0.1', http2: true, ...(tls && { tls: PAIR }), logger: false, signals: [], lastCall: 0, exit: 'natural' },
  )
  await life.start()
  return { life, port: /** @type {{ port: number }} */ (life.addresses[0]).port }
}

/** What a server says to every client. @param {boolean} tls @param {number} port */
const settingsOf = (tls, port) =>
  new Promise((/** @type {(found: { settings: import('node:http2').Settings, window: number }) => void} */ resolve) => {
    const session = connect(`${tls ? 'https' : 'http'}://127.0.0.1:${port}`, { rejectUnauthorized: false })
    session.once('remoteSettings', () =>
      session.ping(() => {
        resolve({ settings: session.remoteSettings, window: session.state.remoteWindowSize ?? 0 })
        session.destroy()
      }),
    )
  })

/** @param {boolean} tls @param {{ settings: import('node:http2').Settings, window: number }} like */
async function bare(tls, { settings: { initialWindowSize, maxFrameSize, maxConcurrentStreams, maxHeaderListSize }, window }) {
  const settings = /** @type {import('node:http2').Settings} */ ({
    initialWindowSize,
    maxFrameSize,
    maxConcurrentStreams,
    maxHeaderListSize,
  })
  const server = tls ? createSecureServer({ ...PAIR, allowHTTP1: true, settings }, listener) : createHttp2Server({ settings }, listener)
  server.on('session', (session) => session.setLocalWindowSize(window))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  return {
    port: /** @type {import('node:net').AddressInfo} */ (server.address()).port,
    connections: () => new Promise((/** @type {(count: number) => void} */ resolve) => server.getConnections((_, count) => resolve(count))),
  }
}

/**
 * Every case by its section and its words, and whether it passed. One that was skipped is none.
 * @param {string} program @param {string} name @param {boolean} tls @param {number} port
 * @param {readonly string[]} sections default: all
 * @returns {Promise<Map<string, boolean>>}
 */
async function run(program, name, tls, port, sections = []) {
  const junit = join(folder, `${name}.xml`)
  const flags = ['--strict', '--host=127.0.0.1', `--port=${port}`, `--timeout=${CASE_TIMEOUT}`, `--max-header-length=${HEADER_BYTES}`]
  const args = [...sections, ...flags, `--junit-report=${junit}`, ...(tls ? ['--tls', '--insecure'] : [])]
  await new Promise((resolve) => execFile(program, args, { timeout: RUN_MS_MAX, maxBuffer: 2 ** 26 }, resolve))
  const cases = readFileSync(junit, 'utf8').matchAll(/<testcase package="([^"]*)" classname="([^"]*)"[^>]*>([\s\S]*?)<\/testcase>/g)
  const outcomes = new Map()
  for (const [, section, words, outcome = ''] of cases) {
    if (!outcome.includes('<skipped')) outcomes.set(`${section}: ${words}`, !/<(?:failure|error)/.test(outcome))
  }
  if (outcomes.size === 0) throw new Error(`h2spec found nothing to say about ${name}`)
  return outcomes
}

/** @param {string} program @param {boolean} tls */
async function compare(program, tls) {
  const name = tls ? 'tls' : 'h2c'
  const created = await ours(tls)
  const node = await bare(tls, await settingsOf(tls, created.port))
  const both = (/** @type {readonly string[]} */ sections) =>
    Promise.all([run(program, `${name}-ours`, tls, created.port, sections), run(program, `${name}-bare`, tls, node.port, sections)])
  const [first, second] = await both([])
  /** @param {Map<string, boolean>} mine @param {Map<string, boolean>} its */
  const onlyOurs = (mine, its) => [...mine].filter(([one, passed]) => !passed && its.get(one) !== false).map(([one]) => one)
  let worse = onlyOurs(first, second)
  for (let count = 1; count < TRIES && worse.length > 0; count++) {
    const [mine, its] = await both([...new Set(worse.map((one) => one.slice(0, one.indexOf(':'))))])
    const again = onlyOurs(mine, its)
    worse = worse.filter((one) => again.includes(one))
  }
  const failed = [...first].filter(([, passed]) => !passed)
  console.log(`${name}: ${first.size - failed.length} of ${first.size} passed; ${failed.length - worse.length} fail at bare node, too`)
  for (const [one] of failed) console.log(`  ${worse.includes(one) ? 'FAILED, and passes at bare node:' : 'as bare node:'} ${one}`)
  const left = await atLast(() => created.life.counts().connections.open, 0)
  const leftAtBare = await atLast(() => node.connections(), 0)
  const { exitCode, requests, connections } = await created.life.stop()
  const endsInOrder = exitCode === 0 && requests.before === 0 && connections.forced === 0
  if (left > 0) console.log(`  ${left} connections stay of clients that have gone; ${leftAtBare} at bare node`)
  else if (!endsInOrder) console.log(`  FAILED: did not end in order: ${JSON.stringify({ exitCode, requests, connections })}`)
  return worse.length === 0 && (left > 0 ? leftAtBare > 0 : endsInOrder)
}

/**
 * What it is when it is `wanted`, or after all the time that this may take.
 * @param {() => number | Promise<number>} look @param {number} wanted
 */
async function atLast(look, wanted) {
  for (const end = Date.now() + SETTLING_MS; Date.now() < end; await sleep(20)) if ((await look()) === wanted) break
  return look()
}

try {
  const program = h2spec()
  const outcomes = await Promise.all([compare(program, false), compare(program, true)])
  process.exitCode = outcomes.every(Boolean) ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true })
}
// Servers of bare node close only when their clients do.
process.exit()
