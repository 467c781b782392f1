// A fixture in a process of its own, and clients that never help: no retry, no second connection.
// Whatever is waited for has a bound; what did not come is `undefined`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { fileURLToPath } from 'node:url'

const FIXTURE = fileURLToPath(new URL('fixture.mjs', import.meta.url))
/** Programs that are not of Node, by system. */
export const COMMANDS = new Map()
/** Ports that speak TLS only. */
const TLS_PORTS = new Set()
const fixtures = fileURLToPath(new URL('../../test/fixtures/tls/', import.meta.url))
/** A start is slow on a busy machine. */
const START_MS = 30_000

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const within = (promise, ms) => Promise.race([promise, sleep(ms)])

export async function until(condition, ms, everyMs = 15) {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(everyMs)) {
    const found = await condition()
    if (found) return found
  }
  return undefined
}

export class Life {
  events = []
  output = ''
  errors = ''
  signalledAt = 0
  exit

  /** @param {string} system @param {object} plan @param {{ env?: object, ipc?: boolean, slowOutput?: boolean, command?: string[] }} how */
  constructor(system, plan, { env = {}, ipc = false, slowOutput = false, command } = {}) {
    this.system = system
    const [program, ...args] = command ?? COMMANDS.get(system) ?? [process.execPath, FIXTURE, system]
    this.child = spawn(program, [...args, JSON.stringify(plan)], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        TMPDIR: process.env.TMPDIR,
        CERT: `${fixtures}cert.pem`,
        KEY: `${fixtures}key.pem`,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe', 'pipe', ...(ipc ? ['ipc'] : [])],
    })
    let rest = ''
    this.child.stdio[3].setEncoding('utf8').on('data', (chunk) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()
      for (const line of lines) this.events.push(JSON.parse(line))
    })
    this.child.stderr.setEncoding('utf8').on('data', (chunk) => {
      this.errors += chunk
    })
    if (!slowOutput)
      this.child.stdout.setEncoding('utf8').on('data', (chunk) => {
        this.output += chunk
      })
    this.exited = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => {
        this.exit = { code, signal, at: Date.now() }
        resolve(this.exit)
      })
    })
    this.child.once('error', () => {})
  }

  /** Resolves with whether it listens. */
  async listening() {
    const event = await until(() => this.event('listening') ?? this.exit, START_MS)
    if (event?.event !== 'listening') return false
    this.port = event.port
    if (event.tls) TLS_PORTS.add(event.port)
    else TLS_PORTS.delete(event.port)
    this.health = event.health
    this.controls = event.controls
    return true
  }

  event(name) {
    return this.events.find(({ event }) => event === name)
  }

  /** When it happened, in milliseconds after the signal. */
  at(name) {
    const event = this.event(name)
    return event && event.at - this.signalledAt
  }

  signal(name = 'SIGTERM') {
    this.signalledAt ||= Date.now()
    this.child.kill(name)
  }

  /** How it ended within the time, as text and in parts; what is left is killed. */
  async ended(ms) {
    const exit = await within(this.exited, Math.max(0, this.signalledAt + ms - Date.now()))
    if (!exit) {
      this.child.kill('SIGKILL')
      await this.exited
      await sleep(20)
      return { hung: true, text: `still there after ${(ms / 1000).toFixed(1)} s` }
    }
    // What it wrote last is on its way.
    await sleep(30)
    const afterMs = exit.at - this.signalledAt
    return { ...exit, hung: false, afterMs, text: `${exit.signal ?? `exit code ${exit.code}`} after ${(afterMs / 1000).toFixed(1)} s` }
  }

  kill() {
    this.child.kill('SIGKILL')
  }

  async do(control) {
    const client = new Client(this.port)
    const answer = await client.get(`/do/${control}`)
    client.end()
    return answer
  }
}

/** One connection of HTTP/1.1. */
export class Client {
  openedAt
  closedAt
  error
  #received = ''

  constructor(port) {
    const isTls = TLS_PORTS.has(port)
    this.socket = isTls
      ? connectTls({ port, host: '127.0.0.1', noDelay: true, rejectUnauthorized: false })
      : connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.setEncoding('latin1')
    this.socket.on(isTls ? 'secureConnect' : 'connect', () => {
      this.openedAt = Date.now()
    })
    this.socket.on('data', (chunk) => {
      this.#received += chunk
    })
    this.socket.on('error', (error) => {
      this.error = error.code
    })
    this.socket.on('close', () => {
      this.closedAt = Date.now()
    })
  }

  async opened() {
    await until(() => this.openedAt || this.closedAt, 5000, 5)
    return this.openedAt !== undefined
  }

  write(text) {
    if (this.socket.writable) this.socket.write(text)
  }

  get received() {
    return this.#received
  }

  /** The next answer with a length or in chunks, or undefined when there is none. */
  async get(path, { ms = 15_000, method = 'GET', headers = '' } = {}) {
    this.#received = ''
    this.write(`${method} ${path} HTTP/1.1\r\nHost: here\r\n${headers}\r\n`)
    return this.answer(ms)
  }

  async answer(ms = 15_000) {
    await until(() => parsed(this.#received) ?? this.closedAt, ms, 5)
    return parsed(this.#received)
  }

  end() {
    this.socket.destroy()
  }
}

function parsed(text) {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [line = '', ...fields] = text.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 1).trim()]),
  )
  const body = text.slice(end + 4)
  const length = headers['content-length']
  if (length !== undefined ? body.length < Number(length) : headers['transfer-encoding'] === 'chunked' && !body.endsWith('0\r\n\r\n'))
    return undefined
  return { status: Number(line.split(' ')[1]), headers, body, at: Date.now(), told: headers.connection?.toLowerCase() === 'close' }
}

/** What a new connection gets: refused, reset, or an answer. */
export async function ask(port, path, { ms = 1500, headers = '' } = {}) {
  const client = new Client(port)
  if (!(await client.opened())) return { what: client.error === 'ECONNREFUSED' ? 'refused' : `failed: ${client.error}` }
  const answer = await client.get(path, { ms, headers })
  const what = answer ? String(answer.status) : client.error === 'ECONNRESET' ? 'reset' : client.closedAt ? 'closed' : 'no answer'
  client.end()
  return { what, ...answer }
}

/** A WebSocket that only hears how it ends. */
export async function webSocket(port) {
  const { WebSocket } = await import('ws')
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`)
  const state = { socket, code: undefined, closedAt: undefined }
  socket.on('close', (code) => {
    state.code = code
    state.closedAt = Date.now()
  })
  socket.on('error', () => {})
  await Promise.race([once(socket, 'open').catch(() => {}), sleep(5000)])
  return state
}
