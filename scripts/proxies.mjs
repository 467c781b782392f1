// @ts-check
// `npm run test:proxies`: three replicas behind a real nginx, a real HAProxy and a real Envoy,
// replaced one by one, again and again, under load by clients that never retry; what they lost. It
// fails when a request failed, or a stream ended otherwise than it should.
//
//   --rounds 10        each of the three is replaced so many times
//   --replaced 1       so many of the three are, and the others stay
//   --once             the proxy sends each request to one replica alone, and never again
//   --proxy haproxy    one of them alone
//   --mode refuse      one mode alone
//   --seed 123         the pauses of an earlier run, which printed its seed
//   --delay 500ms      from SIGTERM to the close, instead of what the proxy needs
//   --server 'server.close()'   replicas that end as node's documentation does it, instead of quiesce's
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { selfSigned } from '../build/src/tls/self-signed.js'
import { prepareEnvoy } from '../test/loss/envoy.mjs'
import { Load } from '../test/loss/load.mjs'
import { envoy, haproxy, nginx, nginxReloaded, nginxReloadedOnly } from '../test/loss/proxies.mjs'
import { freePort } from '../test/support/free-port.mjs'
import { withUs } from '../test/support/with-us.mjs'
import { givenArguments, wholeNumber } from './usage.mjs'

const REPLICAS = 3
/**
 * It finds out by itself, and needs the time for that: HAProxy and Envoy look each 100 ms, and
 * HAProxy each second over TLS or HTTP/2.
 */
const DELAY = '500ms'

/** @typedef {import('../test/loss/proxies.mjs').Place} Place @typedef {import('../test/loss/proxies.mjs').Proxy} Proxy @typedef {import('../test/loss/proxies.mjs').Inner} Inner */

/**
 * The replicas are spoken to by `inner`, or by HTTP/1.1; where that is over TLS, the clients speak
 * TLS, too. A reload of nginx closes idle connections of clients under their hands, whatever is
 * behind it: these are counted, beside what a reload alone loses, and not judged.
 */
/** @type {Record<string, { open: (place: Place) => Promise<Proxy>, isJudged: boolean, isRolled: boolean, prepare?: () => void, inner?: Inner, delay?: string }>} */
const PROXIES = {
  haproxy: { open: haproxy, isJudged: true, isRolled: true },
  nginx: { open: nginx, isJudged: true, isRolled: true },
  envoy: { open: envoy, isJudged: true, isRolled: true, prepare: prepareEnvoy },
  'envoy-h2c': { open: envoy, isJudged: true, isRolled: true, prepare: prepareEnvoy, inner: 'h2c' },
  'haproxy-h2c': { open: haproxy, isJudged: true, isRolled: true, inner: 'h2c', delay: '2500ms' },
  'haproxy-tls': { open: haproxy, isJudged: true, isRolled: true, inner: 'HTTPS', delay: '2500ms' },
  'haproxy-h2': { open: haproxy, isJudged: true, isRolled: true, inner: 'h2', delay: '2500ms' },
  'nginx-tls': { open: nginx, isJudged: true, isRolled: true, inner: 'HTTPS' },
  'nginx-reload': { open: nginxReloaded, isJudged: false, isRolled: true },
  'nginx-reload-only': { open: nginxReloadedOnly, isJudged: false, isRolled: false },
}
const PROGRAM = fileURLToPath(new URL('../test/loss/proxied-replica.mjs', import.meta.url))

const { values } = givenArguments({
  options: {
    rounds: { type: 'string', default: '10' },
    proxy: { type: 'string', multiple: true, default: Object.keys(PROXIES) },
    seed: { type: 'string', default: String(Math.trunc(Math.random() * 2 ** 31)) },
    server: { type: 'string', default: 'quiesce' },
    mode: { type: 'string', multiple: true, default: ['refuse', 'retry-after'] },
    delay: { type: 'string' },
    replaced: { type: 'string', default: String(REPLICAS) },
    once: { type: 'boolean', default: false },
  },
})

const seed = wholeNumber('--seed', values.seed)
const rounds = wholeNumber('--rounds', values.rounds, 1)
const replaced = wholeNumber('--replaced', values.replaced)
console.log(`seed ${seed}`)

/** @param {number} port @param {object} options */
async function replica(port, options) {
  const child = withUs(spawn(process.execPath, [PROGRAM, JSON.stringify({ port, ...options })], { stdio: ['ignore', 'pipe', 'inherit'] }))
  const exit = once(child, 'exit')
  await Promise.race([
    once(child.stdout, 'data'),
    exit.then(([code]) => Promise.reject(new Error(`a replica ended with ${code} before it listened`))),
  ])
  return {
    /** @returns {Promise<number | string>} how it ended */
    async end() {
      child.kill('SIGTERM')
      const [code, signal] = await exit
      return signal ?? code
    },
  }
}

/** @param {string} which @param {string} mode @returns {Promise<number>} how much was lost */
async function roll(which, mode) {
  const { open, isJudged, isRolled, prepare, inner, delay = DELAY } = /** @type {(typeof PROXIES)[string]} */ (PROXIES[which])
  prepare?.()
  const isEncrypted = inner === 'HTTPS' || inner === 'h2'
  const folder = await mkdtemp(join(tmpdir(), 'quiesce-proxies-'))
  const pair = isEncrypted ? join(folder, 'pair.pem') : undefined
  if (pair !== undefined) {
    const { key, cert } = selfSigned(['localhost'], Date.now())
    await writeFile(pair, `${cert}\n${key}`)
  }
  const options = { shutdownDelay: values.delay ?? delay, mode, server: values.server, inner, pair }
  const [port, http2Port, ...ports] = /** @type {[number, number, ...number[]]} */ (
    await Promise.all(Array.from({ length: REPLICAS + 2 }, freePort))
  )
  const replicas = await Promise.all(ports.map((replicaPort) => replica(replicaPort, options)))
  const proxy = await open({
    folder,
    port,
    http2Port,
    replicas: ports,
    isOnce: values.once,
    ...(inner && { inner }),
    ...(pair && { pair }),
  })
  /** @type {Map<number | string, number>} */
  const exits = new Map()
  try {
    for (const at of ports.keys()) await proxy.putBack(at)
    const load = new Load({ port, http2Port, seed, isEncrypted, hasWebSockets: inner !== 'h2c' })
    load.begin()
    for (let round = 0; round < rounds; round++) {
      for (const [at, replicaPort] of ports.slice(0, replaced).entries()) {
        await proxy.takeOut(at)
        if (isRolled) {
          const exit = await /** @type {(typeof replicas)[number]} */ (replicas[at]).end()
          exits.set(exit, (exits.get(exit) ?? 0) + 1)
          replicas[at] = await replica(replicaPort, options)
        }
        await proxy.putBack(at)
      }
    }
    await load.end()
    console.log(
      `\n${proxy.name}${inner ? `, ${inner} to the replicas` : ''}, ${mode}, ${options.shutdownDelay}, ${values.server}${values.once ? ', once' : ''}, ${rounds} rounds of ${replaced} of ${REPLICAS} replicas; exit codes ${[...exits].map(([code, count]) => `${count} times ${code}`).join(', ')}`,
    )
    let lost = [...exits].reduce((sum, [code, count]) => sum + (code === 0 ? 0 : count), 0)
    for (const [kind, { answered, ended, failed }] of Object.entries(load.tallies)) {
      console.log(`  ${kind}: ${answered > 0 ? `${answered} answered` : `${ended} ended`}, ${failed.length} failed`)
      for (const why of new Set(failed)) console.log(`    ${failed.filter((one) => one === why).length} times: ${why}`)
      lost += failed.length
    }
    return isJudged ? lost : 0
  } finally {
    await proxy.end()
    await Promise.all(replicas.map((one) => one.end()))
    await rm(folder, { recursive: true })
  }
}

let lost = 0
for (const which of values.proxy) for (const mode of values.mode) lost += await roll(which, mode)
console.log(`\n${lost} lost`)
process.exitCode = lost === 0 ? 0 : 1
