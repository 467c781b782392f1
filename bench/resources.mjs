// @ts-check
// `npm run bench:resources`: what requests for objects cost a server, in its own CPU: a get, lists of 500 and of 10 000, a create, an update; and
// watches: CPU for each event and watcher, memory for each that waits, and how long it takes from a write to the last of them. The server is a
// process of its own with every default and objects in memory; other work on the machine changes times, and CPU little. `-- quick` for a tenth.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { givenArguments, refuseUsage } from '../scripts/usage.mjs'

const WIDGETS = '/apis/bench.example/v1/namespaces/default/widgets'
const { positionals } = givenArguments({ allowPositionals: true })
const [what = ''] = positionals
// `serve` is what it starts itself with.
if (positionals.length > 1 || !['', 'quick', 'serve'].includes(what))
  refuseUsage(`got ${JSON.stringify(positionals.join(' '))}, allowed: quick, or nothing`)
const isQuick = what === 'quick'
const scaled = (/** @type {number} */ count) => (isQuick ? Math.ceil(count / 10) : count)
const LANES = 8
const WRITES = 5

/** @param {number} at */
const widget = (at, size = 1) => ({
  apiVersion: 'bench.example/v1',
  kind: 'Widget',
  metadata: { name: `w${String(at).padStart(5, '0')}`, labels: { app: 'bench', number: String(at) } },
  spec: { size, color: 'green', note: 'as many characters as a short sentence has, so that it is like others' },
})

if (what === 'serve') await serve()
else await bench()

async function serve() {
  const { apiGroup, completeConfig, createApiServer, defineResource, memoryStorage } = await import('../packages/apiserver/dist/index.js')
  const text = { type: 'string' }
  const widgets = defineResource({
    group: 'bench.example',
    kind: 'Widget',
    plural: 'widgets',
    scope: 'Namespaced',
    versions: {
      v1: {
        schema: {
          type: 'object',
          properties: { spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer' }, color: text, note: text } } },
        },
      },
    },
  })
  const config = completeConfig({ port: 0, host: '127.0.0.1', logger: false, platform: 'unknown', maxRequestsInFlight: 0 })
  const server = createApiServer(config)
  const storage = memoryStorage().resource()
  server.installApiGroups(apiGroup({ group: 'bench.example', versions: { v1: [{ resource: widgets, storage }] } }))
  const { life } = server.prepare()
  await life.start()
  process.on('message', () => {
    globalThis.gc?.()
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuUs: user + system, rss: process.memoryUsage().rss })
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ port: life.addresses[0]?.port })
}

async function bench() {
  const child = fork(fileURLToPath(import.meta.url), ['serve'], { execArgv: ['--expose-gc'] })
  const [{ port }] = /** @type {[{ port: number }]} */ (await once(child, 'message'))
  const agent = new Agent({ keepAlive: true, maxSockets: LANES })
  /** @returns {Promise<{ cpuUs: number, rss: number }>} */
  const usage = async () => {
    const answer = once(child, 'message')
    child.send('usage')
    return (await answer)[0]
  }
  /** @param {string} method @param {string} path @param {object} [body] @returns {Promise<void>} */
  const ask = (method, path, body) =>
    new Promise((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', method, path, agent, headers: { 'Content-Type': 'application/json' } }, (answer) => {
        if ((answer.statusCode ?? 500) >= 300) reject(new Error(`${method} ${path}: ${answer.statusCode}`))
        answer.resume().on('end', resolve)
      })
      sent.on('error', reject).end(body && JSON.stringify(body))
    })
  /** @param {number} count @param {(at: number) => Promise<void>} one */
  const all = async (count, one) => {
    let next = 0
    const lane = async () => {
      for (let at = next++; at < count; at = next++) await one(at)
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  }
  /** Microseconds of the server's CPU for each. @param {string} name @param {number} count @param {(at: number) => Promise<void>} one */
  const measure = async (name, count, one) => {
    const before = await usage()
    await all(count, one)
    const { cpuUs } = await usage()
    console.log(`| ${name} | ${count} | ${((cpuUs - before.cpuUs) / count).toFixed(0)} µs |`)
  }
  console.log(`node ${process.versions.node}\n\n| request | how many | CPU for each |\n|---|---|---|`)
  await all(200, (at) => ask('POST', WIDGETS, widget(90_000 + at)))
  await all(200, (at) => ask('DELETE', `${WIDGETS}/w${90_000 + at}`))
  await measure('create', 500, (at) => ask('POST', WIDGETS, widget(at)))
  const path = (/** @type {number} */ at) => `${WIDGETS}/${widget(at % 500).metadata.name}`
  await all(scaled(2_000), (at) => ask('GET', path(at)))
  await measure('get', scaled(20_000), (at) => ask('GET', path(at)))
  await measure('update', scaled(10_000), (at) => ask('PUT', path(at), widget(at % 500, at + 2)))
  await measure('list of 500', scaled(300), () => ask('GET', WIDGETS))
  await measure('create, with 500 to 10 000 there', 9_500, (at) => ask('POST', WIDGETS, widget(at + 500)))
  await measure('list of 10 000', scaled(20), () => ask('GET', WIDGETS))

  console.log('\n| watchers | memory for each | CPU for each event and watcher | from a write to the last |\n|---|---|---|---|')
  for (const watchers of [1_000, scaled(10_000)]) {
    const before = await usage()
    let bytes = 0
    let ended = 0
    let heard = () => {}
    const version = await newest(port)
    const sockets = []
    for (let at = 0; at < watchers; at++) {
      const socket = connect(port, '127.0.0.1')
      socket.on('data', (chunk) => {
        bytes += chunk.length
        // One write of the server for each event.
        if (chunk.includes('"MODIFIED"')) {
          ended++
          heard()
        }
      })
      socket.write(`GET ${WIDGETS}?watch=true&resourceVersion=${version} HTTP/1.1\r\nHost: bench\r\n\r\n`)
      await once(socket, 'data')
      sockets.push(socket)
    }
    const open = await usage()
    const times = []
    for (let write = 0; write < WRITES; write++) {
      ended = 0
      const begun = performance.now()
      const last = new Promise((resolve) => {
        heard = () => ended === watchers && resolve(undefined)
      })
      await ask('PUT', path(0), widget(0, 1_000_000 + watchers + write))
      await last
      times.push(performance.now() - begun)
    }
    const after = await usage()
    for (const socket of sockets) socket.destroy()
    const [most] = times.sort((a, b) => b - a)
    console.log(
      `| ${watchers} | ${((open.rss - before.rss) / watchers / 1024).toFixed(1)} KiB | ${((after.cpuUs - open.cpuUs) / WRITES / watchers).toFixed(1)} µs | ${times[times.length >> 1]?.toFixed(0)} ms, ${most?.toFixed(0)} ms at most |`,
    )
    if (bytes === 0) throw new Error('no watcher has heard anything')
  }
  child.disconnect()
  agent.destroy()
}

/** The version of the list: watches begin behind it. @param {number} port @returns {Promise<string>} */
async function newest(port) {
  const answer = await fetch(`http://127.0.0.1:${port}${WIDGETS}?limit=1`)
  const list = /** @type {{ metadata: { resourceVersion: string } }} */ (await answer.json())
  return list.metadata.resourceVersion
}
