// Rows in which only ours has something to run: each is a program of some lines in a process of its
// own, and says what it has seen. What fails is a no, with the error.
import { execFile, spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { begin } from './lives.mjs'
import { ask } from './observe.mjs'
import { no, partly, yes } from './verdicts.mjs'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const run = (args, { input, ms = 60_000 } = {}) =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, args, { cwd: ROOT, timeout: ms, encoding: 'utf8' }, (error, stdout, stderr) => {
      resolve({ stdout, stderr, code: error ? (error.code ?? 1) : 0 })
    })
    if (input) child.stdin.end(input)
  })

/** A program, which prints what it has seen as JSON on its last line. */
async function seen(program) {
  const { stdout, stderr } = await run(['--input-type=module', '-e', program])
  const line = stdout.trim().split('\n').at(-1)
  try {
    return JSON.parse(line)
  } catch {
    throw new Error(stderr.slice(0, 400) || `it printed ${line}`)
  }
}

const SERVER = `import { createServer } from 'node:http'
import { attachLifecycle } from 'quiesce'
const server = createServer((request, response) => response.end('hello')).listen(0, '127.0.0.1')
const life = attachLifecycle(server, { logger: false })
`

/** Two API servers in a row; the one behind has its routes complete after a while. */
const behindEachOther = () =>
  seen(`
import { completeConfig, createApiServer, notFoundDelegate } from '@quiesce/apiserver'
const config = completeConfig({ port: 0, host: '127.0.0.1', logger: false })
const behind = createApiServer(config, { name: 'behind', delegate: notFoundDelegate() })
behind.addMuxCompleteSignal('behind', new Promise((resolve) => setTimeout(resolve, 4000)))
const front = createApiServer(config, { name: 'front', delegate: behind })
front.addMuxCompleteSignal('front', Promise.resolve())
const prepared = front.prepare()
const { life } = prepared
void prepared.run()
const fired = (name) => new Promise((resolve) => (life.signal(name).aborted ? resolve() : life.signal(name).addEventListener('abort', resolve)))
await fired('Serving')
const first = life.signal('MuxAndDiscoveryComplete').aborted
const ask = () => fetch('http://127.0.0.1:' + life.addresses[0].port + '/not-there-yet').then(({ status }) => status)
const early = await ask()
await fired('MuxAndDiscoveryComplete')
console.log(JSON.stringify({ first, early, later: await ask() }))
process.exit()`)

export const ROWS = {
  async 6() {
    const { early, later } = await behindEachOther()
    const evidence = `an unknown path of an API server (@quiesce/apiserver): ${early} until the routes are complete, then ${later}; of any other server: 404`
    return early === 503 && later === 404 ? partly(evidence) : no(evidence)
  },
  async 7() {
    const { first } = await behindEachOther()
    return first === false
      ? yes('of two API servers in a row, the signal of the one in front waits for that of the one behind')
      : no('the server in front does not wait for the one behind')
  },
  async 70() {
    const { exit } = await seen(`${SERVER.replace('{ logger: false }', "{ logger: false, exit: 'natural' }")}
const real = process.exit
let called = 0
process.exit = (code) => { called++; real.call(process, code) }
void life.run()
await new Promise((resolve) => life.signal('Serving').addEventListener('abort', resolve))
process.kill(process.pid, 'SIGTERM')
await life.ended
setTimeout(() => console.log(JSON.stringify({ exit: called })), 1500)`)
    return exit === 0
      ? partly("with exit: 'natural' it never calls process.exit(); by default it does after a second")
      : no("it calls process.exit() with exit: 'natural'")
  },
  async 74() {
    const life = await begin('quiesce', {})
    const { body } = await ask(life.port, '/metrics')
    life.kill()
    const families = new Set(body?.match(/^# TYPE \S+/gm))
    return families.size > 3 ? yes(`/metrics has ${families.size} families`) : no('/metrics has none')
  },
  async 75() {
    const { names } = await seen(`${SERVER}
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { traceLifecycle } from 'quiesce/opentelemetry'
const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
traceLifecycle(life, { tracer: provider.getTracer('probe') })
await life.start()
await life.stop()
console.log(JSON.stringify({ names: exporter.getFinishedSpans().map(({ name }) => name) }))`)
    return names.length > 3 ? yes(`${names.length} spans of one life, such as ${names.slice(0, 2).join(', ')}`) : no('no spans')
  },
  async 76() {
    const { heard } = await seen(`${SERVER}
import { subscribe } from 'node:diagnostics_channel'
const heard = []
for (const name of ['stop-requested', 'ended', 'signal']) subscribe('quiesce:' + name, () => heard.push(name))
await life.start()
await life.stop()
console.log(JSON.stringify({ heard }))`)
    return heard.length > 1 ? yes(`messages on quiesce:${[...new Set(heard)].join(', quiesce:')}`) : no('no messages')
  },
  async 77() {
    const folder = mkdtempSync(join(tmpdir(), 'features-'))
    const { stdout, stderr, code } = await run(['dist/cli.js', 'diagram', '--out', folder])
    rmSync(folder, { recursive: true, force: true })
    return code === 0
      ? yes('quiesce diagram draws the lifecycle and its machines')
      : no(`quiesce diagram: ${(stdout + stderr).slice(0, 100)}`)
  },
  async 78() {
    const { stdout, code } = await run(['dist/cli.js', 'check', '--outside', 'stop'])
    const [states] = /[\d,. ]+ states/.exec(stdout) ?? []
    return code === 0 && states
      ? yes(`quiesce check:${states.replace(/^[,.]/, '')} explored, all properties hold`)
      : no(`quiesce check: exit code ${code}`)
  },
  async 79() {
    const { exitCode, ms } = await seen(`
import { testServer } from 'quiesce/testing'
const begun = Date.now()
const t = await testServer(() => new Response('hello'), { shutdownDelay: '10s', deadline: '25s' })
t.process.signal('SIGTERM')
const { exitCode } = await t.end()
console.log(JSON.stringify({ exitCode, ms: Date.now() - begun }))`)
    return exitCode === 0 && ms < 8000
      ? yes(`a life with a delay of 10 s ends within ${ms} ms, with a clock, signals and connections of its own`)
      : no(`exit code ${exitCode} after ${ms} ms`)
  },
  async 80() {
    const { ends, code } = await seen(`
import { createServer } from 'quiesce'
const life = createServer(() => new Response('hello'), { listeners: [{ port: 0, host: '127.0.0.1' }, { port: 0, host: '127.0.0.1' }], logger: false })
await life.start()
const ports = life.addresses.map(({ port }) => port)
const before = await Promise.all(ports.map((port) => fetch('http://127.0.0.1:' + port).then(({ status }) => status)))
const report = await life.stop()
const after = await Promise.all(ports.map((port) => fetch('http://127.0.0.1:' + port).then(() => 'served', () => 'refused')))
console.log(JSON.stringify({ ends: [...before, ...after], code: report.exitCode }))
process.exit()`)
    return ends.join() === '200,200,refused,refused' && code === 0
      ? yes('two listeners of one life serve and end together')
      : no(ends.join(', '))
  },
  async 81() {
    const { answered, code } = await seen(`
import cluster from 'node:cluster'
import { once } from 'node:events'
import { writeFileSync, mkdtempSync } from 'node:fs'
const file = process.cwd() + '/build/features-worker-' + process.pid + '.mjs'
writeFileSync(file, \`import { createServer } from 'node:http'
import { attachLifecycle } from 'quiesce'
const server = createServer((request, response) => { process.send('begun'); setTimeout(() => response.end('done'), 700) })
server.listen(0, '127.0.0.1')
await attachLifecycle(server, { logger: false }).run()\`)
cluster.setupPrimary({ exec: file, execArgv: [] })
const worker = cluster.fork()
const [{ port }] = await once(worker, 'listening')
const pending = fetch('http://127.0.0.1:' + port).then((answer) => answer.text())
await once(worker, 'message')
const exited = once(worker, 'exit')
worker.disconnect()
const answered = await pending.catch(() => 'lost')
const [code] = await exited
await import('node:fs').then(({ rmSync }) => rmSync(file))
console.log(JSON.stringify({ answered, code }))`)
    return answered === 'done' && code === 0
      ? yes('a worker that is disconnected answers its request and ends with exit code 0')
      : no(`request: ${answered}, exit code ${code}`)
  },
  async 82() {
    // systemd's protocol: a socket as file descriptor 3, which the next process gets, too.
    const program = `import os, signal, socket, sys, time, urllib.request
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen(64)
port = listener.getsockname()[1]
def start():
    pid = os.fork()
    if pid == 0:
        os.environ['LISTEN_PID'] = str(os.getpid())
        os.environ['LISTEN_FDS'] = '1'
        if listener.fileno() == 3: os.set_inheritable(3, True)
        else: os.dup2(listener.fileno(), 3)
        os.execv(sys.argv[1], [sys.argv[1], '--input-type=module', '-e', sys.argv[2]])
    return pid
def end(pid):
    os.kill(pid, signal.SIGTERM)
    return os.waitpid(pid, 0)[1]
def ask():
    return urllib.request.urlopen('http://127.0.0.1:%d' % port, timeout=30).read().decode()
first = start()
one = ask()
second = start()
time.sleep(2)
ended = end(first)
two = ask()
print(ended == 0 and end(second) == 0 and one != two and one.startswith('pid') and two.startswith('pid'))`
    const server = `import { createServer } from 'quiesce'
await createServer(() => new Response('pid ' + process.pid), { listeners: [{ fd: 3 }], logger: false }).run()`
    const output = await new Promise((resolve) => {
      const child = spawn('python3', ['-c', program, process.execPath, server], { cwd: ROOT })
      let text = ''
      child.stdout.on('data', (chunk) => (text += chunk))
      child.stderr.on('data', (chunk) => (text += chunk))
      child.on('close', () => resolve(text.trim()))
      setTimeout(() => child.kill('SIGKILL'), 45_000).unref()
    })
    return output.endsWith('True')
      ? partly('a listening socket that the process is passed serves on in the next process; it starts no successor itself')
      : no(output.slice(-200))
  },
  async 83() {
    const folder = mkdtempSync(join(tmpdir(), 'features-'))
    const pair = (name) =>
      run([
        '-e',
        `require('node:child_process').execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=${name}', '-keyout', '${folder}/${name}.key', '-out', '${folder}/${name}.crt'], { stdio: 'ignore' })`,
      ])
    await pair('first')
    await pair('second')
    for (const end of ['crt', 'key']) copyFileSync(join(folder, `first.${end}`), join(folder, `now.${end}`))
    const { names } = await seen(`
import { createServer } from 'quiesce'
import { connect } from 'node:tls'
import { copyFileSync } from 'node:fs'
const folder = ${JSON.stringify(folder)}
const life = createServer(() => new Response('hello'), { port: 0, host: '127.0.0.1', logger: false, tls: { certFile: folder + '/now.crt', keyFile: folder + '/now.key' } })
await life.start()
const name = () => new Promise((resolve) => {
  const socket = connect({ port: life.addresses[0].port, host: '127.0.0.1', rejectUnauthorized: false }, () => { resolve(socket.getPeerCertificate().subject.CN); socket.destroy() })
  socket.on('error', () => resolve('error'))
})
const names = [await name()]
for (const end of ['crt', 'key']) copyFileSync(folder + '/second.' + end, folder + '/now.' + end)
for (let n = 0; n < 100 && names.at(-1) !== 'second'; n++) { await new Promise((resolve) => setTimeout(resolve, 200)); names[1] = await name() }
await life.stop()
console.log(JSON.stringify({ names }))`)
    rmSync(folder, { recursive: true, force: true })
    return names.join() === 'first,second'
      ? yes('a changed file of a certificate is served to the next connection')
      : no(`it serves ${names.join(', then ')}`)
  },
  async 86() {
    const life = await begin('quiesce', { logger: true, options: { killAfter: 3000 } })
    life.kill()
    const warned = life.events.some(
      ({ event, level, given }) => event === 'log' && level === 'warn' && /3s|kill/i.test(JSON.stringify(given)),
    )
    return warned
      ? partly('told by an option how long the platform waits, it warns of a deadline that is longer; it cannot read the pod')
      : no('no warning of a deadline that is longer than the platform waits')
  },
  async 87() {
    const life = await begin('quiesce', {})
    const { what } = await ask(life.port, '/quiesce')
    life.kill()
    return no(`no path begins a stop, so that preStop could ask for one (an unknown path: ${what})`)
  },
}

/** @returns {Promise<Record<string, { verdict: string, evidence: string }>>} */
export async function own(system) {
  if (system !== 'quiesce') return {}
  const found = {}
  for (const [row, look] of Object.entries(ROWS)) found[row] = await look().catch((error) => no(`the probe failed: ${error.message}`))
  return found
}
