// @ts-check
// `npm run test:pm2`: a cluster of a real PM2, which is installed into a temporary folder without
// its install scripts, reloaded again and again while clients send requests on kept connections.
// Fails when one request fails, or a replaced worker did not end in order. Prints what it saw.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '../test/support/free-port.mjs'

const VERSION = '7.0.4'
const RELOADS = 3
const CLIENTS = 20
const WARM_REQUESTS = 200
const PROGRAM_TIMEOUT_MS = 180_000

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'quiesce-pm2-'))
const pm2 = join(folder, 'node_modules/.bin/pm2')
const quiesce = fileURLToPath(new URL('../dist/index.js', import.meta.url))

/** @param {string} file @param {readonly string[]} args */
const program = (file, ...args) =>
  run(file, args, { cwd: folder, timeout: PROGRAM_TIMEOUT_MS, env: { ...process.env, PM2_HOME: join(folder, 'home') } })

/** @param {number} port */
function load(port) {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  /** @type {{ answered: number, failed: string[] }} */
  const seen = { answered: 0, failed: [] }
  let isOver = false
  const request = () =>
    new Promise((/** @type {(value: void) => void} */ resolve) => {
      const failed = (/** @type {string} */ why) => {
        seen.failed.push(why)
        resolve()
      }
      const asked = get({ host: '127.0.0.1', port, agent }, (response) => {
        response.resume().on('error', (error) => failed(error.message))
        response.on('end', () => {
          if (response.statusCode !== 200) return failed(`status ${response.statusCode}`)
          seen.answered++
          resolve()
        })
      })
      asked.on('error', (error) => failed(error.message))
    })
  const client = async () => {
    while (!isOver) await request()
  }
  const clients = Array.from({ length: CLIENTS }, client)
  const answered = async (/** @type {number} */ count) => {
    while (seen.answered < count && seen.failed.length === 0) await request()
  }
  const end = async () => {
    isOver = true
    await Promise.all(clients)
    agent.destroy()
  }
  return { seen, answered, end }
}

/** @param {boolean} shutdownWithMessage */
async function reload(shutdownWithMessage) {
  const port = await freePort()
  const reports = mkdtempSync(join(folder, 'reports-'))
  writeFileSync(
    join(folder, 'app.mjs'),
    `import { createServer } from ${JSON.stringify(quiesce)}
const listener = (_, response) => setTimeout(() => response.end('hello'), 20)
const reportFile = ${JSON.stringify(reports)} + '/' + process.pid
await createServer({ listener }, { port: ${port}, host: '127.0.0.1', logger: false, reportFile }).run()
`,
  )
  const app = { name: 'app', script: join(folder, 'app.mjs'), exec_mode: 'cluster', instances: 2, wait_ready: true, listen_timeout: 20_000 }
  writeFileSync(
    join(folder, 'app.config.cjs'),
    `module.exports = ${JSON.stringify({ apps: [{ ...app, kill_timeout: 5_000, shutdown_with_message: shutdownWithMessage }] })}`,
  )
  await program(pm2, 'start', 'app.config.cjs')
  const { seen, answered, end } = load(port)
  for (let n = 0; n < RELOADS; n++) {
    await answered(seen.answered + WARM_REQUESTS)
    await program(pm2, 'reload', 'app')
  }
  await answered(seen.answered + WARM_REQUESTS)
  await end()
  await program(pm2, 'delete', 'app')
  const ends = readdirSync(reports).map((name) => JSON.parse(readFileSync(join(reports, name), 'utf8')))
  const inOrder = ends.filter(({ exitCode, forced, requests }) => exitCode === 0 && forced === null && requests.after === 0)
  const reasons = [...new Set(ends.map(({ reason }) => reason.signal ?? reason.kind))].join(' and ')
  console.log(
    `shutdown_with_message ${shutdownWithMessage}: ${seen.answered} requests answered, ${seen.failed.length} failed ${seen.failed.slice(0, 5)}; ${inOrder.length} of ${ends.length} workers ended in order, by ${reasons}`,
  )
  // Those that were replaced, and the two that were there at the end.
  return seen.failed.length === 0 && inOrder.length === ends.length && ends.length === 2 * (RELOADS + 1)
}

try {
  await program('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=optional', `pm2@${VERSION}`)
  const held = [await reload(false), await reload(true)]
  if (held.includes(false)) process.exitCode = 1
} finally {
  await program(pm2, 'kill').catch(() => {})
  rmSync(folder, { recursive: true, force: true })
}
