// @ts-check
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withUs } from '../support/with-us.mjs'
import { ENVOY, envoyConfiguration } from './envoy.mjs'

/**
 * A proxy in front of three replicas, with the settings that docs/proxies.md explains.
 * @typedef {object} Proxy
 * @property {string} name with its version
 * @property {(at: number) => Promise<void>} takeOut resolves when a replica gets nothing new; where the proxy finds that out by itself, at once
 * @property {(at: number) => Promise<void>} putBack resolves when it may get requests again
 * @property {() => Promise<void>} end
 *
 * @typedef {object} Place
 * @property {string} folder
 * @property {number} port
 * @property {number} http2Port
 * @property {readonly number[]} replicas
 * @property {Inner} [inner] what the replicas are spoken to by; HTTP/1.1 if nothing is said
 * @property {string} [pair] the file with certificate and key, where clients and replicas speak TLS
 * @property {boolean} [isOnce] whether it sends each request to one replica alone, and never again
 *
 * @typedef {'HTTP/1.1' | 'HTTPS' | 'h2' | 'h2c'} Inner
 */

const LOOK_MS = 20
const PATIENCE_MS = 10_000

/**
 * HAProxy looks at /readyz by itself: nothing has to be told.
 * @param {Place} place @returns {Promise<Proxy>}
 */
export async function haproxy({ folder, port, http2Port, replicas, inner, pair, isOnce }) {
  const outer = pair ? ` ssl crt ${pair} alpn h2,http/1.1` : ''
  // `timeout check` begins behind the handshake of a look, whose own time is the interval.
  const looks = pair || inner === 'h2c' ? 'inter 1s' : 'inter 100ms fastinter 50ms'
  // A WebSocket goes by HTTP/1.1, whatever else does.
  const encrypted = pair ? ` ssl verify none check-alpn http/1.1${inner === 'h2' ? ' alpn h2 ws h1' : ''}` : ''
  const spoken = inner === 'h2c' ? ' proto h2' : encrypted
  // Over HTTP/2 a look without a host breaks off, and the replica is down.
  const look =
    inner === 'h2c' ? 'option httpchk\n  http-check send meth GET uri /readyz ver HTTP/1.1 hdr host replicas' : 'option httpchk GET /readyz'
  const file = join(folder, 'haproxy.cfg')
  const admin = join(folder, 'haproxy.sock')
  await writeFile(
    file,
    `global
  stats socket ${admin} mode 600 level admin
defaults
  mode http
  timeout connect 2s
  timeout check 2s
  timeout client 60s
  timeout server 60s
  timeout tunnel 60s
  timeout http-keep-alive 60s
  option http-keep-alive
  http-reuse safe${isOnce ? '\n  retries 0' : ''}
frontend http1
  bind 127.0.0.1:${port}${outer}
  default_backend replicas
frontend http2
  bind 127.0.0.1:${http2Port}${outer || ' proto h2'}
  default_backend replicas
backend replicas
  ${look}
  http-check expect status 200
  default-server ${looks} fall 1 rise 1
${replicas.map((replica, at) => `  server replica${at} 127.0.0.1:${replica} check${spoken}`).join('\n')}
`,
  )
  const child = await started('haproxy', ['-db', '-f', file], port)
  return {
    name: versionOf('haproxy', ['-v'], /version (\S+?)[-+ ]/),
    takeOut: () => Promise.resolve(),
    putBack: (at) =>
      until(`replica${at} is up`, async () => new RegExp(`^replicas,replica${at},.*,UP,`, 'm').test(await ask(admin, 'show stat'))),
    end: () => ended(child),
  }
}

/**
 * nginx finds out by what it is answered: a replica that refuses connections or answers with a
 * refusal is passed over, and the request goes to the next, a POST too: docs/proxies.md says when that is
 * safe.
 * @param {Place} place @returns {Promise<Proxy>}
 */
export async function nginx(place) {
  const { name, end } = await openNginx(place)
  return { name, end, takeOut: () => Promise.resolve(), putBack: () => Promise.resolve() }
}

/**
 * A script takes each replica out of nginx's upstreams before its signal, and reloads nginx.
 * @param {Place} place @returns {Promise<Proxy>}
 */
export async function nginxReloaded(place) {
  const { name, end, reload } = await openNginx(place)
  /** @type {Set<number>} */
  const out = new Set()
  return {
    name: `${name}, reloaded for each change`,
    end,
    takeOut: (at) => reload(out.add(at)),
    putBack: (at) => {
      out.delete(at)
      return reload(out)
    },
  }
}

/** As often as there is a change otherwise, although there is none: what nginx loses by itself. @param {Place} place @returns {Promise<Proxy>} */
export async function nginxReloadedOnly(place) {
  const { name, end, reload } = await openNginx(place)
  return { name: `${name}, reloaded and nothing else`, end, takeOut: () => reload(new Set()), putBack: () => reload(new Set()) }
}

/** @param {Place} place */
async function openNginx({ folder, port, http2Port, replicas, pair, isOnce }) {
  const file = join(folder, 'nginx.conf')
  const pid = join(folder, 'nginx.pid')
  const write = (/** @type {ReadonlySet<number>} */ out) =>
    writeFile(
      file,
      `pid ${pid};
daemon off;
worker_processes 1;
error_log ${join(folder, 'error.log')};
events {}
http {
  access_log off;
  client_body_temp_path ${folder};
  proxy_temp_path ${folder};
  fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder};
  scgi_temp_path ${folder};
  keepalive_timeout 75s;
  keepalive_requests 1000000;
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  upstream replicas {
    ${replicas.map((replica, at) => `server 127.0.0.1:${replica} max_fails=0${out.has(at) ? ' down' : ''};`).join(' ')}
    keepalive 16;
    keepalive_requests 1000000;
  }
  server {
    listen 127.0.0.1:${port}${pair ? ' ssl' : ''};
    listen 127.0.0.1:${http2Port}${pair ? ' ssl' : ''} http2;
    ${pair ? `ssl_certificate ${pair}; ssl_certificate_key ${pair};` : ''}
    location / {
      proxy_pass ${pair ? 'https' : 'http'}://replicas;
      proxy_http_version 1.1;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header Upgrade $http_upgrade;
      proxy_buffering off;
      proxy_next_upstream ${isOnce ? 'off' : 'error http_429 http_503 non_idempotent'};
      proxy_read_timeout 60s;
    }
  }
}
`,
    )
  await write(new Set())
  const child = await started('nginx', ['-p', folder, '-c', file], port)
  const reload = async (/** @type {ReadonlySet<number>} */ out) => {
    await write(out)
    const before = workersOf(child)
    child.kill('SIGHUP')
    await until('nginx has a new worker', async () => workersOf(child).some((worker) => !before.includes(worker)))
  }
  return {
    name: versionOf('nginx', ['-v'], /nginx\/(\S+)/),
    reload,
    end: () => ended(child),
  }
}

/**
 * Envoy looks at /readyz by itself, by the very configuration that docs/proxies.md has.
 * @param {Place} place @returns {Promise<Proxy>}
 */
export async function envoy(place) {
  const { folder, port, replicas } = place
  const file = join(folder, 'envoy.yaml')
  const admin = join(folder, 'envoy.sock')
  await writeFile(file, envoyConfiguration(place))
  const ofTheTest = JSON.stringify({ admin: { address: { pipe: { path: admin } } } })
  const args = ['-c', file, '--config-yaml', ofTheTest, '--disable-hot-restart', '--concurrency', '2', '-l', 'critical']
  const child = await started(ENVOY, args, port, 'inherit')
  return {
    name: versionOf('envoy', ['--version'], /\/(\d+\.\d+\.\d+)\//, ENVOY),
    takeOut: () => Promise.resolve(),
    putBack: (at) =>
      until(`replica${at} is healthy`, async () =>
        (await get(admin, '/clusters')).includes(`replicas::127.0.0.1:${replicas[at]}::health_flags::healthy`),
      ),
    end: () => ended(child),
  }
}

/** @param {import('node:child_process').ChildProcess} child */
const workersOf = (child) =>
  spawnSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter(Boolean)

/**
 * @param {string} command @param {string[]} args @param {number} port
 * @param {'ignore' | 'inherit'} errors what becomes of those that it says
 */
async function started(command, args, port, errors = 'ignore') {
  const child = withUs(spawn(command, args, { stdio: ['ignore', 'ignore', errors] }))
  let failed = ''
  child.on('error', (error) => (failed = error.message))
  child.on('exit', (code) => (failed = `${command} ended with ${code}`))
  await until(`${command} listens`, async () => {
    if (failed !== '') throw new Error(failed)
    return connects(port)
  })
  return child
}

/** @param {import('node:child_process').ChildProcess} child */
async function ended(child) {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

/** @param {number} port @returns {Promise<boolean>} */
const connects = (port) =>
  new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1')
    socket.on('connect', () => socket.destroy()).on('error', () => resolve(false))
    socket.on('close', (hadError) => resolve(!hadError))
  })

/** What a proxy's own socket answers. @param {string} path @param {string} question @returns {Promise<string>} */
async function ask(path, question) {
  const socket = createConnection(path)
  socket.end(`${question}\n`)
  let answer = ''
  for await (const chunk of socket.setEncoding('utf8')) answer += chunk
  return answer
}

/**
 * What a proxy's own socket answers by HTTP.
 * @param {string} socketPath @param {string} path @returns {Promise<string>}
 */
const get = (socketPath, path) =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, agent: false }, async (response) => {
      let answer = ''
      for await (const chunk of response.setEncoding('utf8')) answer += chunk
      resolve(answer)
    })
    asked.on('error', reject).end()
  })

/** @param {string} what @param {() => Promise<boolean>} holds */
async function until(what, holds) {
  for (const begun = performance.now(); !(await holds()); await sleep(LOOK_MS)) {
    if (performance.now() - begun > PATIENCE_MS) throw new Error(`waited ${PATIENCE_MS} ms in vain until ${what}`)
  }
}

/** @param {string} name @param {string[]} args @param {RegExp} version @param {string} command */
function versionOf(name, args, version, command = name) {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  return `${name} ${version.exec(stdout + stderr)?.[1]}`
}
