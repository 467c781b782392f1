// The programs of examples/, as processes. Fails when: one does not start or serve, loses what is
// under way when SIGTERM comes, does not exit with 0, is too long to be pasted, imports a file
// beside it, or is not started here.
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { parse } from 'yaml'
import { freePort } from '../support/free-port.mjs'
import { TestProcess } from '../support/process.ts'

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url))

/** Work of a client that is under way; `end` resolves with what came of it. */
type UnderWay = (url: string, program: TestProcess) => Promise<{ readonly end: Promise<string> }>

/** A response whose beginning has come. */
const streamed =
  (path: string): UnderWay =>
  async (url) => {
    const response = await fetch(`${url}${path}`)
    expect(response.status).toBe(200)
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = (await reader?.read())?.value ?? ''
    const rest = async (): Promise<string> => {
      for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) text += part.value
      return text
    }
    return { end: rest() }
  }

const ordered: UnderWay = async (url, program) => {
  const response = await fetch(`${url}/orders`, { method: 'POST' })
  expect(await response.text()).toBe('order 1 taken\n')
  return { end: program.ended().then(() => program.stdout) }
}

const working: UnderWay = async (_url, program) => {
  await program.said('job-1 taken')
  const taken = (): string[] => program.lines.filter((line) => line.endsWith(' taken')).map((line) => line.replace(' taken', ''))
  return { end: program.ended().then(() => `not done: ${taken().filter((job) => !program.lines.includes(`${job} done`))}`) }
}

const chatting: UnderWay = async (url) => {
  const socket = new WebSocket(url.replace('http', 'ws'))
  const messages: string[] = []
  socket.on('message', (data) => messages.push(String(data)))
  const closed = once(socket, 'close').then(([code]) => `${messages.join(', ')}, ${code}`)
  await expect.poll(() => messages).toEqual(['welcome'])
  return { end: closed }
}

const watching: UnderWay = async (url, program) => {
  const teas = `${url}/apis/shop.example/v1/namespaces/default/teas`
  const tea = { apiVersion: 'shop.example/v1', kind: 'Tea', metadata: { name: 'assam' }, spec: { origin: 'India' } }
  const created = await fetch(teas, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(tea) })
  expect(created.status).toBe(201)
  return streamed('/apis/shop.example/v1/namespaces/default/teas?watch=true')(url, program)
}

const CASES: readonly (readonly [file: string, underWay: UnderWay, end: RegExp])[] = [
  ['express.mjs', streamed('/export'), /^first row\nlast row\n$/],
  ['fastify.mjs', streamed('/export'), /^first row\nlast row\n$/],
  ['nest.mjs', streamed('/export'), /^first row\nlast row\n$/],
  ['hono.mjs', ordered, /mail sent for order 1\n/],
  ['worker.mjs', working, /^not done: $/],
  ['event-stream.mjs', streamed('/events'), /^event: tick\n[\s\S]*event: last\ndata: come back\n\n$/],
  ['web-socket.mjs', chatting, /^welcome, goodbye, 1001$/],
  ['model-stream.mjs', streamed('/v1/chat/completions'), /"The"[\s\S]*" whole"[\s\S]*data: \[DONE\]\n\n$/],
  ['api-server.mjs', watching, /"name":"assam"/],
]

/** `api-servers.mjs` is started by test/processes/api-servers.test.ts. */
const ELSEWHERE = ['api-servers.mjs', 'kubernetes.yaml', 'README.md']

const statusOf = async (url: string): Promise<number> => {
  try {
    const { status } = await fetch(url)
    return status
  } catch {
    return 0
  }
}

async function started(command: readonly string[], env: Readonly<Record<string, string>>): Promise<{ program: TestProcess; url: string }> {
  const port = await freePort()
  const program = new TestProcess(command, { env: { ...env, PORT: String(port) }, speaksOn: 'stdout' }, '')
  const url = `http://127.0.0.1:${port}`
  await expect.poll(() => (program.child.exitCode === null ? statusOf(`${url}/readyz`) : program.stderr)).toBe(200)
  return { program, url }
}

test.each(CASES)('%s serves, finishes what is under way at SIGTERM, and exits with 0', async (file, underWay, expected) => {
  const { program, url } = await started([process.execPath, join(EXAMPLES, file)], {})
  const { end } = await underWay(url, program)
  program.signal('SIGTERM')
  expect(await end).toMatch(expected)
  expect({ ...(await program.ended()), at: 0, isSaid: program.stderr.includes('exit code') }).toEqual({
    code: 0,
    signal: null,
    at: 0,
    isSaid: false,
  })
})

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: number }
}

test('kubernetes.yaml starts a program of this folder, whose probes and grace period hold', async () => {
  const { spec } = parse(readFileSync(join(EXAMPLES, 'kubernetes.yaml'), 'utf8'))
  const { terminationGracePeriodSeconds, containers } = spec.template.spec
  const [{ command, env, ports, readinessProbe, livenessProbe }] = containers
  const [node, file] = command as readonly string[]
  expect(node).toBe('node')
  const { program, url } = await started([process.execPath, join(EXAMPLES, String(file))], { KUBERNETES_SERVICE_HOST: '10.0.0.1' })
  const probes = [readinessProbe, livenessProbe] as readonly Probe[]
  expect(new Set([env[0].value, ...probes.map(({ httpGet }) => String(httpGet.port))])).toEqual(new Set([String(ports[0].containerPort)]))
  const probed = (): Promise<number[]> => Promise.all(probes.map(({ httpGet }) => statusOf(`${url}${httpGet.path}`)))
  expect(await probed()).toEqual([200, 200])
  const at = program.signal('SIGTERM')
  await expect.poll(probed).toEqual([500, 200])
  expect(await statusOf(url)).toBe(200)
  const ended = await program.ended()
  expect({ code: ended.code, isInTime: ended.at - at < terminationGracePeriodSeconds * 1_000 }).toEqual({ code: 0, isInTime: true })
})

test('each file is started by a test, and can be pasted whole', () => {
  const files = readdirSync(EXAMPLES)
  expect([...files].sort()).toEqual([...CASES.map(([file]) => file), ...ELSEWHERE].sort())
  const programs = files.filter((file) => file.endsWith('.mjs')).map((file) => [file, readFileSync(join(EXAMPLES, file), 'utf8')] as const)
  expect(
    programs.filter(([, text]) => /from '\.|import '\./.test(text) || !/from '(?:@quiesce|quiesce)\b/.test(text)).map(([file]) => file),
  ).toEqual([])
  const lines = programs.filter(([file]) => !ELSEWHERE.includes(file)).map(([file, text]) => [file, text.split('\n').length - 1] as const)
  expect(lines.filter(([, count]) => count < 10 || count > 30)).toEqual([])
  expect(files.filter((file) => file !== 'README.md' && !readFileSync(join(EXAMPLES, 'README.md'), 'utf8').includes(`(${file})`))).toEqual(
    [],
  )
})
