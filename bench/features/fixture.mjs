// One server of the feature probes, in a process of its own: `fixture.mjs SYSTEM PLAN`. The system's
// adapter (systems/) does what the system's documentation says; what is served and what the hooks do
// is the same for all. What happens inside is told on file descriptor 3, a line of JSON each, so that
// standard output is left to the system.
import { writeSync } from 'node:fs'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketServer } from 'ws'

const [, , system = '', planText = '{}'] = process.argv
const plan = JSON.parse(planText)

const note = (event, more = {}) => void writeSync(3, `${JSON.stringify({ at: Date.now(), event, ...more })}\n`)

/** Something of the program that keeps the event loop busy, as an open socket would. */
const forever = () => new Promise(() => setInterval(() => {}, 1000))

/** What a hook of the plan does: `{ name, ms, throws, never, calls, logBytes }`. */
const hook = (spec) => async (given) => {
  note(`${spec.name} begins`, { given: describe(given) })
  if (spec.calls) note(`${spec.name} called`, { status: await ownStatus() })
  if (spec.ms) await sleep(spec.ms)
  if (spec.logBytes) process.stdout.write(`${'x'.repeat(spec.logBytes - 1)}\n`)
  if (spec.never) await forever()
  if (spec.throws) throw new Error(`${spec.name} has failed`)
  note(`${spec.name} ends`)
}

/** What a system tells a hook about the reason. */
const describe = (given) => {
  try {
    return JSON.stringify(given)?.slice(0, 300)
  } catch {
    return String(given)
  }
}

let own
/** On a connection of its own, which is closed: one that is kept alive would hold the server. */
function ownStatus() {
  return new Promise((resolve) => {
    const asked = get({ port: own.port, host: '127.0.0.1', headers: own.loopback?.() ?? {}, agent: false, timeout: 5000 }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    asked.on('timeout', () => asked.destroy(new Error('no answer')))
    asked.on('error', (error) => resolve(error.code ?? error.message))
  })
}

const handler = async (request, response, context = {}) => {
  const url = new URL(request.url, 'http://here')
  const text = (body, status = 200) => {
    response.statusCode = status
    response.setHeader('content-type', 'text/plain')
    response.end(body)
  }
  if (url.pathname === '/slow') {
    note('slow begins')
    await sleep(Number(url.searchParams.get('ms')))
    note('slow ends')
    return text('done')
  }
  if (url.pathname === '/body') {
    for await (const _ of request);
    return text('read')
  }
  if (url.pathname === '/stream') {
    response.setHeader('content-type', 'text/event-stream')
    response.write('data: begin\n\n')
    const timer = setInterval(() => response.write('data: more\n\n'), 100)
    request.once('close', () => clearInterval(timer))
    response.once('close', () => clearInterval(timer))
    context.onShutdown?.(request, () => {
      clearInterval(timer)
      response.end('data: bye\n\n')
    })
    return
  }
  if (url.pathname.startsWith('/do/')) {
    const does = own?.controls?.[url.pathname.slice('/do/'.length)] ?? common[url.pathname.slice('/do/'.length)]
    if (!does) return text('no such control', 404)
    try {
      const answer = await does(request)
      return text(JSON.stringify(answer) ?? 'ok')
    } catch (error) {
      return text(String(error), 500)
    }
  }
  return url.pathname === '/' ? text('hello') : text('not found', 404)
}

/** What a program may do to itself. */
const common = {
  crash: () =>
    void setTimeout(() => {
      throw new Error('a crash')
    }, 20),
  reject: () => void setTimeout(() => void Promise.reject(new Error('a rejection')), 20),
}

/** WebSockets are those of the package ws, which most use. */
function webSockets(server) {
  if (!plan.webSockets) return
  new WebSocketServer({ server, path: '/ws' }).on('connection', (socket) => socket.send('hello'))
}

const tls = async () => {
  const { readFileSync } = await import('node:fs')
  const of = (name) => readFileSync(new URL(`../../test/fixtures/tls/${name}`, import.meta.url))
  return { cert: of('cert.pem'), key: of('key.pem'), allowHTTP1: true }
}

/** The node server that most adapters use. */
async function createServer(listener) {
  if (plan.http2) return (await import('node:http2')).createSecureServer(await tls(), listener)
  return (await import('node:http')).createServer(listener)
}

const tools = {
  note,
  handler,
  hook,
  createServer,
  webSockets,
  hooks: (kind) => (plan[kind] ?? []).map((spec) => ({ ...spec, run: hook(spec) })),
  /** A server that listens. */
  async listen() {
    const server = await createServer((request, response) => handler(request, response, own?.context))
    webSockets(server)
    await new Promise((resolve) => server.listen(plan.port ?? 0, '127.0.0.1', () => resolve()))
    return { server, port: server.address().port }
  },
  pause: () => (plan.delayMs > 0 ? sleep(plan.delayMs) : undefined),
}

const adapter = await import(new URL(`systems/${system}.mjs`, import.meta.url).href)
note('loaded')
own = {}
if (plan.misuse) {
  try {
    await adapter.misuse(tools)
    note('misused', { error: null })
  } catch (error) {
    note('misused', { error: String(error.message) })
  }
  process.exit()
}
try {
  await adapter.start(plan, tools, (ready) => {
    Object.assign(own, ready)
    note('listening', {
      port: ready.port,
      health: ready.health,
      controls: Object.keys(ready.controls ?? {}),
      isDisposable: typeof ready.handle?.[Symbol.asyncDispose] === 'function',
    })
  })
} catch (error) {
  note('start failed', { error: String(error) })
  throw error
}
