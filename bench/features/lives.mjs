// What is observed of one system, a life of a server each. A life answers several rows; rows.mjs says
// what an observation means. Times are generous: a busy machine must not change an answer.
import { execFile } from 'node:child_process'
import { healthOf, verboseOf } from './health-of.mjs'
import { ask, Client, Life, sleep, until, webSocket } from './observe.mjs'

const GRACE_MS = 2500
const TOTAL_MS = 4000
/** When a process counts as one that never ends: it has had every grace and the whole budget. */
const HUNG_MS = 7000

const BASE = { graceMs: GRACE_MS, totalMs: TOTAL_MS }

async function begin(system, plan, how) {
  const life = new Life(system, { ...BASE, ...plan }, how)
  if (!(await life.listening())) {
    life.kill()
    throw new Error(`${system} did not start: ${life.errors.slice(-500)}`)
  }
  return life
}

/** A request is under way, a connection idle; what each of them and a late one gets. */
export async function drain(system) {
  const life = await begin(system, { admin: true })
  const [slow, idle] = [new Client(life.port), new Client(life.port)]
  const before = { live: await healthOf(life, 'live'), ready: await healthOf(life, 'ready'), verbose: await verboseOf(life) }
  const first = await idle.get('/')
  const pending = slow.get('/slow?ms=1200')
  await until(() => life.event('slow begins'), 5000)
  const health = []
  life.signal()
  await sleep(150)
  const poll = (async () => {
    while (!life.exit) {
      const [live, ready] = [await healthOf(life, 'live'), await healthOf(life, 'ready')]
      health.push({ at: Date.now() - life.signalledAt, live, ready })
      await sleep(100)
    }
  })()
  await sleep(500)
  const late = await ask(life.port, '/')
  const answer = await pending
  const next = answer && !slow.closedAt ? await slow.get('/', { ms: 1500 }) : undefined
  const end = await life.ended(9500)
  await poll
  const idleMs = idle.closedAt && idle.closedAt - life.signalledAt
  slow.end()
  idle.end()
  return {
    before,
    healthPort: life.health?.port,
    first,
    health,
    late,
    answer,
    answeredMs: answer && answer.at - life.signalledAt,
    next,
    idleMs,
    end,
    output: life.output,
    errors: life.errors,
  }
}

/** A request comes late where the system can be told to answer such: on a new and on an open connection. */
export async function late(system) {
  const life = await begin(system, { late: true })
  const [slow, other] = [new Client(life.port), new Client(life.port)]
  await other.get('/')
  const pending = slow.get('/slow?ms=1500')
  await until(() => life.event('slow begins'), 5000)
  const third = new Client(life.port)
  const thirdPending = third.get('/slow?ms=1500')
  life.signal()
  await sleep(500)
  const fresh = await ask(life.port, '/')
  const free = await ask(life.port, '/free')
  const spoofed = await ask(life.port, '/', { headers: 'User-Agent: kube-apiserver/v1.30\r\n' })
  const old = other.closedAt ? undefined : await other.get('/', { ms: 1000 })
  const live = await healthOf(life, 'live')
  const [answer] = await Promise.all([pending, thirdPending])
  const end = await life.ended(HUNG_MS)
  for (const client of [slow, other, third]) client.end()
  return { fresh, free, spoofed, old, live, answer, end }
}

/** A connection that sends nothing, and then a request whose body never ends. */
export async function stuck(system) {
  const silent = await begin(system)
  const client = new Client(silent.port)
  await client.opened()
  await sleep(100)
  silent.signal()
  const ofSilent = await silent.ended(HUNG_MS)
  client.end()
  const stalled = await begin(system)
  const poster = new Client(stalled.port)
  await poster.opened()
  poster.write('POST /body HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\nsome')
  await sleep(200)
  stalled.signal()
  const ofStalled = await stalled.ended(HUNG_MS)
  poster.end()
  return { ofSilent, ofStalled, errors: stalled.errors, report: stalled.event('report')?.report }
}

/** An open WebSocket, and an open event stream. */
export async function streams(system) {
  const life = await begin(system, { webSockets: true })
  const socket = await webSocket(life.port)
  life.signal()
  const ofSocket = await life.ended(HUNG_MS)
  await until(() => socket.closedAt, 500)
  socket.socket.terminate()
  const other = await begin(system)
  const client = new Client(other.port)
  await client.opened()
  client.write('GET /stream HTTP/1.1\r\nHost: here\r\n\r\n')
  await until(() => client.received.includes('begin'), 5000)
  other.signal()
  const ofStream = await other.ended(HUNG_MS)
  await sleep(50)
  const endedMs = client.closedAt && client.closedAt - other.signalledAt
  const isWhole = client.received.endsWith('0\r\n\r\n')
  client.end()
  return { code: socket.code, ofSocket, ofStream, isWhole, said: client.received.includes('bye'), endedMs }
}

/** A second signal while a request is under way that takes long; where SIGTERM does nothing, SIGINT. */
export async function again(system) {
  const endOf = async (second) => {
    const life = await begin(system, { graceMs: 6000, totalMs: 7000 })
    const client = new Client(life.port)
    void client.get('/slow?ms=20000')
    await until(() => life.event('slow begins'), 5000)
    life.signal()
    await sleep(900)
    life.signal(second)
    const end = await life.ended(4000)
    client.end()
    return end
  }
  const end = await endOf('SIGTERM')
  return { end, ofInterrupt: end.hung ? await endOf('SIGINT') : undefined }
}

/** Hooks: order, what they are told, what they may do, and when they run. */
export async function order(system) {
  const hook = (name, more = {}) => ({ name, ms: 300, ...more })
  const life = await begin(system, {
    totalMs: 8000,
    before: [hook('first', { calls: true }), hook('second'), hook('beside', { after: [] })],
    cleanup: [hook('one'), hook('two'), hook('three')],
  })
  const client = new Client(life.port)
  const pending = client.get('/slow?ms=900')
  await until(() => life.event('slow begins'), 5000)
  life.signal()
  await pending
  client.end()
  const end = await life.ended(HUNG_MS)
  const at = Object.fromEntries(life.events.map(({ event, at }) => [event, at - life.signalledAt]))
  const given = Object.fromEntries(life.events.filter(({ given }) => given).map(({ event, given }) => [event, given]))
  return {
    at,
    given,
    called: life.event('first called')?.status,
    end,
    signals: life.events.filter(({ event }) => event === 'signal').map(({ name }) => name),
    report: life.event('report'),
    output: `${life.output}${life.errors}`,
  }
}

/** The first hook throws; and in another life a hook never ends, with and without a limit of its own. */
export async function faults(system) {
  const thrown = await begin(system, { cleanup: [{ name: 'one', throws: true }, { name: 'two' }] })
  thrown.signal()
  const ofThrown = await thrown.ended(HUNG_MS)
  const hung = await begin(system, { cleanup: [{ name: 'one', never: true }, { name: 'two' }], logger: true })
  hung.signal()
  const ofHung = await hung.ended(HUNG_MS)
  const limited = await begin(system, { totalMs: 7000, hookMs: 500, before: [{ name: 'one', never: true }, { name: 'two' }] })
  limited.signal()
  const ofLimited = await limited.ended(HUNG_MS)
  return {
    ofThrown,
    secondRan: thrown.event('two ends') !== undefined,
    words: `${thrown.output}${thrown.errors}`.slice(0, 1000),
    ofHung,
    names: /\bone\b/.test(`${hung.output}${hung.errors}${JSON.stringify(hung.event('report')?.report?.phases ?? '')}`),
    ofLimited,
    limitedAt: limited.at('two ends'),
  }
}

/** A delay in which everything is served; what is told, and when. */
export async function delay(system) {
  const life = await begin(system, { delayMs: 2000, totalMs: 12_000 })
  const clients = Array.from({ length: 20 }, () => new Client(life.port))
  await Promise.all(clients.map((client) => client.get('/')))
  const before = await healthOf(life, 'ready')
  life.signal()
  const told = []
  const statuses = []
  const health = []
  const fresh = []
  const asking = clients.map(async (client) => {
    while (!client.closedAt && !life.exit && Date.now() - life.signalledAt < 1300) {
      const answer = await client.get('/', { ms: 1000 })
      if (answer) statuses.push(answer.status)
      if (answer?.told) {
        told.push(answer.at - life.signalledAt)
        break
      }
      await sleep(60)
    }
  })
  await sleep(200)
  for (let round = 0; round < 4; round++) {
    health.push({ live: await healthOf(life, 'live'), ready: await healthOf(life, 'ready') })
    fresh.push((await ask(life.port, '/', { ms: 800 })).what)
    await sleep(150)
  }
  await Promise.all(asking)
  const end = await life.ended(HUNG_MS)
  for (const client of clients) client.end()
  return { before, told: told.sort((a, b) => a - b), statuses: [...new Set(statuses)], answers: statuses.length, health, fresh, end }
}

/** A delay and a hook, each of 2 s. */
export async function delayAndHook(system) {
  const life = await begin(system, { delayMs: 2000, before: [{ name: 'hook', ms: 2000 }], totalMs: 12_000 })
  life.signal()
  return { end: await life.ended(HUNG_MS) }
}

/** Where the platform decides: in a pod of Kubernetes and outside of one. */
export async function platform(system) {
  const outside = await begin(system, { byPlatform: true })
  outside.signal()
  const ofOutside = await outside.ended(12_000)
  const inside = await begin(system, { byPlatform: true }, { env: { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' } })
  inside.signal()
  const ofInside = await inside.ended(12_000)
  return { ofOutside, ofInside }
}

/** A last line of the log of 1 MiB, to a pipe that is read slowly. */
export async function log(system) {
  const bytes = 2 ** 20
  const life = await begin(system, { totalMs: 8000, cleanup: [{ name: 'log', logBytes: bytes }] }, { slowOutput: true })
  let read = 0
  const reading = (async () => {
    for await (const chunk of life.child.stdout) {
      read += chunk.length
      await sleep(40)
    }
  })()
  life.signal()
  const end = await life.ended(15_000)
  await Promise.race([reading, sleep(8000)])
  return { share: Math.min(1, read / bytes), end }
}

/** Two streams of HTTP/2 under way, over TLS. */
export async function http2(system) {
  const { connect } = await import('node:http2')
  const life = await begin(system, { http2: true })
  const session = connect(`https://127.0.0.1:${life.port}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  let goaways = 0
  session.on('goaway', () => goaways++)
  const request = () =>
    new Promise((resolve) => {
      const stream = session.request({ ':path': '/slow?ms=1000' })
      let status
      let body = ''
      stream.on('response', (headers) => (status = headers[':status']))
      stream.on('data', (chunk) => (body += chunk))
      stream.on('error', () => {})
      stream.on('close', () => resolve(status === 200 && body === 'done'))
    })
  const both = [request(), request()]
  await until(() => life.events.filter(({ event }) => event === 'slow begins').length > 1, 5000)
  life.signal()
  const end = await life.ended(HUNG_MS)
  const done = (await Promise.all(both)).filter(Boolean).length
  session.destroy()
  return { done, goaways, end, ofCurl: done < 2 ? await http2OfCurl(system) : undefined }
}

/** How many of two streams finish where the client answers no GOAWAY, as that of Node does. */
async function http2OfCurl(system) {
  const life = await begin(system, { http2: true })
  const request = () =>
    new Promise((resolve) => {
      const args = ['--silent', '--insecure', '--http2', '--max-time', '9', '--write-out', ' %{http_version}']
      execFile('curl', [...args, `https://127.0.0.1:${life.port}/slow?ms=1000`], (_, body) => resolve(body === 'done 2'))
    })
  const both = [request(), request()]
  await until(() => life.events.filter(({ event }) => event === 'slow begins').length > 1, 5000)
  life.signal()
  const done = (await Promise.all(both)).filter(Boolean).length
  await life.ended(HUNG_MS)
  return done
}

export const LIVES_OF_DRAIN = { drain, late, stuck, streams, again, order, faults, delay, delayAndHook, platform, log, http2 }
export { begin, GRACE_MS, HUNG_MS, TOTAL_MS }
