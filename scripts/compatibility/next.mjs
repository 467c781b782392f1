// @ts-check
// Next.js with a custom server as docs/frameworks.md has it. Its build takes more than everything
// else here, so that there is one for all cells.
import { cpSync } from 'node:fs'
import { join } from 'node:path'

const ROUTE = `import { after } from 'next/server'

export const dynamic = 'force-dynamic'

export async function GET() {
  after(async () => {
    await new Promise((resolve) => setTimeout(resolve, 1500))
    console.log('after() ended with the pool ' + globalThis.pool)
  })
  await new Promise((resolve) => setTimeout(resolve, 1000))
  return new Response('done')
}
`
const LAYOUT = `export default function Layout({ children }) {
  return children
}
`
const SERVER = `import { createServer } from 'node:http'
import next from 'next'
import { attachLifecycle } from 'quiesce'

globalThis.pool = 'open'
const app = next({ dev: false })
await app.prepare()
const handle = app.getRequestHandler()
const server = createServer((request, response) => {
  if (request.url === '/crash') setTimeout(() => Promise.reject(new Error('on purpose')))
  return handle(request, response)
})
server.listen(0, '127.0.0.1', () => console.log('PORT ' + server.address().port))
const life = attachLifecycle(server, { deadline: '8s' })
life.addPhase('next', () => app.close(), { after: ['InFlightRequestsDrained'] })
life.addDestroy('pool', () => {
  globalThis.pool = 'closed'
  console.log('the pool is closed')
})
await life.run()
`

const ENV = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' }

/** @type {Promise<string> | undefined} */
let built

/** The folder of the first cell that asks. @param {import('../compatibility.mjs').Cell} cell */
async function build({ folder, modules, write, run }) {
  write('package.json', '{ "private": true, "type": "module" }')
  write('next.config.mjs', 'export default {}\n')
  write('app/api/route.js', ROUTE)
  write('app/layout.js', LAYOUT)
  await run([process.execPath, join(modules, 'next/dist/bin/next'), 'build'], ENV)
  return folder
}

/** @param {import('../compatibility.mjs').Cell} cell @param {import('../compatibility.mjs').Drain} drain */
export async function checkNext(cell, drain) {
  built ??= build(cell)
  const folder = await built
  if (folder !== cell.folder)
    for (const name of ['package.json', 'next.config.mjs', 'app', '.next'])
      cpSync(join(folder, name), join(cell.folder, name), { recursive: true })
  const server = cell.write('server.mjs', SERVER)
  return cell.drains([...cell.runtime(cell.variant), server], { path: '/api', env: ENV, ...drain })
}
