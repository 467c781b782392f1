// Lives that are about the start, about what stops a server, and about health that does not stop it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { healthOf } from './health-of.mjs'
import { begin, HUNG_MS } from './lives.mjs'
import { ask, Client, Life, sleep, until, webSocket } from './observe.mjs'

const BASE = { graceMs: 2500, totalMs: 4000 }

/** Two hooks of the start, what is answered meanwhile, and what is known of it afterwards. */
export async function start(system) {
  const life = new Life(system, {
    ...BASE,
    muxMs: 1500,
    start: [
      { name: 'one', ms: 700 },
      { name: 'two', ms: 300 },
    ],
  })
  let early
  let earlyLive
  let missing
  await until(() => life.event('listening') ?? life.exit, 30_000, 5)
  const listenedBeforeHooks = life.event('listening') && !life.event('two ends')
  if (await life.listening()) {
    early = await healthOf(life, 'ready')
    earlyLive = await healthOf(life, 'live')
    missing = (await ask(life.port, '/not-there-yet')).what
  }
  await until(() => life.event('two ends'), 5000)
  const ready = await until(async () => ((await healthOf(life, 'ready')) === '200' ? '200' : undefined), 3000)
  await until(() => life.event('has been ready'), 1000)
  const timeline = life.controls?.includes('timeline') ? await life.do('timeline') : undefined
  life.signal()
  const end = await life.ended(HUNG_MS)
  const at = Object.fromEntries(life.events.map(({ event, at }) => [event, at]))
  const order = life.events.map(({ event }) => event).filter((event) => /^(one|two) /.test(event))
  return {
    listenedBeforeHooks,
    early,
    earlyLive,
    missing,
    ready,
    order,
    hasBeenReady: at['has been ready'] !== undefined,
    timeline: timeline?.body,
    report: life.event('report')?.report,
    end,
  }
}

/** The second hook of the start fails; then one that never ends; then SIGTERM while the first one runs. */
export async function failingStart(system) {
  const outcome = async (plan, stopAt) => {
    const life = new Life(system, { ...BASE, ...plan })
    const begun = Date.now()
    if (stopAt) {
      await until(() => life.event(stopAt) ?? life.exit, 30_000)
      await sleep(100)
      life.signal()
    } else {
      await until(() => life.event('one begins') ?? life.exit, 30_000)
      life.signalledAt = Date.now()
    }
    const end = await life.ended(6000)
    return { end, events: life.events.map(({ event }) => event), words: `${life.output}${life.errors}`.slice(-400), ms: Date.now() - begun }
  }
  const cleanup = [{ name: 'clean' }]
  return {
    failed: await outcome({
      start: [
        { name: 'one', undoes: true },
        { name: 'two', ms: 50, throws: true },
        { name: 'three', after: ['two'] },
      ],
      cleanup,
    }),
    never: await outcome({ hookMs: 1000, start: [{ name: 'one', never: true }], cleanup }),
    stopped: await outcome({ start: [{ name: 'one', ms: 1500 }, { name: 'two' }], cleanup }, 'one begins'),
  }
}

/** What stops it: each with a request under way, whose answer says whether the stop was graceful. */
export async function triggers(system) {
  const outcomes = {}
  const one = async (name, act, { how, plan } = {}) => {
    const life = await begin(system, { cleanup: [{ name: 'clean' }], ...plan }, how)
    const client = new Client(life.port)
    const pending = client.get('/slow?ms=700')
    await until(() => life.event('slow begins'), 5000)
    life.signalledAt = Date.now()
    const isThere = await act(life)
    if (isThere === false) {
      life.kill()
      client.end()
      outcomes[name] = { none: true }
      return
    }
    const answer = await pending
    client.end()
    const end = await life.ended(4500)
    const given = life.event('clean begins')?.given ?? life.event('told')?.given
    outcomes[name] = { answered: answer?.status === 200, end, given, words: `${life.output}${life.errors}`.slice(-200) }
  }
  const control = (name) => async (life) => (life.controls.includes(name) ? void (await life.do(name)) : false)
  await one('SIGTERM', (life) => void life.child.kill('SIGTERM'))
  await one('SIGINT', (life) => void life.child.kill('SIGINT'))
  await one('program', control('stop'))
  await one('AbortSignal', control('abort'))
  await one('exception', async (life) => void (await life.do('crash')))
  await one('rejection', async (life) => void (await life.do('reject')))
  await one('message', (life) => void life.child.send('shutdown'), { how: { ipc: true } })
  await one(
    'parent',
    (life) => {
      life.child.stdin.end()
      life.child.disconnect()
    },
    { how: { ipc: true } },
  )
  await one('uninstalled', async (life) => {
    if (!life.controls.includes('uninstall')) return false
    await life.do('uninstall')
    life.child.kill('SIGTERM')
  })
  return outcomes
}

/** Health that changes while it serves: by hand, a check that never ends, one check beside another. */
export async function health(system) {
  const life = await begin(system, { checkNever: true })
  const never = life.health ? await ask(life.health.port ?? life.port, life.health.never ?? life.health.ready, { ms: 4000 }) : undefined
  life.kill()
  const other = await begin(system)
  let byHand
  if (other.controls.includes('notReady')) {
    await other.do('notReady')
    const red = await healthOf(other, 'ready')
    const served = (await ask(other.port, '/')).what
    await other.do('ready')
    byHand = { red, served, back: await healthOf(other, 'ready') }
  }
  other.kill()
  const third = await begin(system, { leak: true })
  const port = third.health?.port ?? third.port
  const [a, b] = [await ask(port, third.health?.a ?? '/a'), await ask(port, third.health?.b ?? '/b')]
  third.kill()
  return { never: never?.what, byHand, leak: { a: a.body?.slice(0, 200), b: b.body?.slice(0, 200) } }
}

/** Work that is not HTTP; and two things that block the end: what does it say about them meanwhile? */
export async function work(system) {
  const life = await begin(system)
  const canHold = life.controls.includes('hold')
  if (canHold) await life.do('hold')
  life.signal()
  const end = await life.ended(HUNG_MS)
  const blocked = await begin(system, { graceMs: 1500, totalMs: 3000, logger: true }, { env: { ROARR_LOG: 'true', DEBUG: '*' } })
  const clients = [new Client(blocked.port), new Client(blocked.port)]
  for (const client of clients) void client.get('/slow?ms=20000')
  await until(() => blocked.events.filter(({ event }) => event === 'slow begins').length > 1, 5000)
  const counts = blocked.controls.includes('counts') ? (await blocked.do('counts'))?.body : undefined
  const [outputBefore, errorsBefore] = [blocked.output.length, blocked.errors.length]
  blocked.signal()
  const ofBlocked = await blocked.ended(HUNG_MS)
  for (const client of clients) client.end()
  const words = `${blocked.output.slice(outputBefore)}${blocked.errors.slice(errorsBefore)}${JSON.stringify(blocked.events.filter(({ event }) => event === 'log'))}`
  return {
    canHold,
    end,
    counts,
    ofBlocked,
    named: /GET \/slow/.test(words) || /\/slow/.test(JSON.stringify(blocked.event('report') ?? '')),
    report: blocked.event('report')?.report,
    logged: blocked.events.filter(({ event }) => event === 'log').length,
    words: words.slice(0, 200),
  }
}

/** 150 WebSockets: how their ends are spread over time. */
export async function many(system) {
  const life = await begin(system, { webSockets: true, totalMs: 9000, graceMs: 6000 })
  const sockets = await Promise.all(Array.from({ length: 150 }, () => webSocket(life.port)))
  life.signal()
  const end = await life.ended(10_000)
  await sleep(200)
  const at = sockets
    .map(({ closedAt }) => closedAt && closedAt - life.signalledAt)
    .filter(Boolean)
    .sort((a, b) => a - b)
  for (const { socket } of sockets) socket.terminate()
  const codes = [...new Set(sockets.map(({ code }) => code))]
  const spread = at.length > 10 ? at[Math.floor(at.length * 0.95)] - at[Math.floor(at.length * 0.05)] : undefined
  return { closed: at.length, spread, codes, end }
}

/** 40 clients over a link of 15 ms each way, a request every 65 ms, and no delay: how many lose a request. */
export async function load(system) {
  const { Link } = await import('../../test/loss/link.mjs')
  const { Agent, request } = await import('node:http')
  const life = await begin(system)
  let lost = 0
  let answers = 0
  let told = 0
  const client = async (index) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    agent.createConnection = () => new Link({ port: life.port, delayMs: 15 })
    await sleep(index * 1.6)
    for (;;) {
      const result = await new Promise((resolve) => {
        const asked = request({ agent, port: life.port, path: '/' }, (answer) => {
          answer.resume()
          answer.on('end', () => resolve(answer))
        })
        asked.on('error', resolve)
        asked.setTimeout(3000, () => asked.destroy(new Error('no answer')))
        asked.end()
      })
      if (result instanceof Error) {
        // A client that was refused has lost nothing: it goes elsewhere, and its request was not sent.
        if (result.code !== 'ECONNREFUSED') lost++
        break
      }
      answers++
      if (result.headers.connection === 'close') {
        told++
        break
      }
      await sleep(35)
      if (life.signalledAt && Date.now() - life.signalledAt > 4000) break
    }
    agent.destroy()
  }
  const clients = Array.from({ length: 40 }, (_, index) => client(index))
  await sleep(900)
  life.signal()
  await Promise.all(clients)
  const end = await life.ended(HUNG_MS)
  return { lost, told, answers, end }
}

/** A service of systemd: what it is told on NOTIFY_SOCKET, with a watchdog and a drain of some seconds. */
export async function systemd(system) {
  const folder = mkdtempSync(join(tmpdir(), 'features-'))
  const path = join(folder, 'notify')
  const manager = spawn('python3', [fileURLToPath(new URL('../../test/processes/notify-socket.py', import.meta.url)), path], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const lines = createInterface({ input: manager.stdout })
  await once(lines, 'line')
  const said = {}
  lines.on('line', (line) => Object.assign(said, JSON.parse(line).fields))
  try {
    const life = await begin(system, {}, { env: { NOTIFY_SOCKET: path, WATCHDOG_USEC: '1000000' } })
    const client = new Client(life.port)
    void client.get('/slow?ms=1500')
    await until(() => life.event('slow begins'), 5000)
    await until(() => said.WATCHDOG, 2000)
    life.signal()
    await life.ended(HUNG_MS)
    await sleep(300)
    client.end()
    return { said }
  } finally {
    manager.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A wrong option, and whether what the system gives can be disposed of by `await using`. */
export async function misuse(system) {
  const life = new Life(system, { ...BASE, misuse: true })
  const event = await until(() => life.event('misused') ?? life.exit, 30_000)
  life.kill()
  const other = await begin(system)
  other.kill()
  return {
    error: life.event('misused') ? life.event('misused').error : `exit code ${event?.code}`,
    what: life.event('misused')?.what,
    isDisposable: other.event('listening').isDisposable,
  }
}

export const LIVES_OF_START = { start, failingStart, triggers, health, work, many, load, systemd, misuse }
