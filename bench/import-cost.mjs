// @ts-check
// What it costs to import a library, in a process of its own: prints milliseconds of CPU as JSON.
// Arguments: one of the programs below, and how the process has loaded `node:http`, as every server
// has: `required`, as CommonJS does, or `imported`, which loads undici, too, from Node 22 on.
import { createRequire } from 'node:module'

const { createServer } = process.argv[3] === 'imported' ? await import('node:http') : createRequire(import.meta.url)('node:http')

const PROGRAMS = {
  'bare Hono': () => Promise.all([import('hono'), import('@hono/node-server')]),
  Express: () => import('express'),
  xstate: () => import('xstate'),
  attachLifecycle: () => import('../dist/index.js'),
  'attachLifecycle, attached and started': async () => {
    const { attachLifecycle } = await import('../dist/index.js')
    const server = createServer().listen(0, '127.0.0.1')
    await attachLifecycle(server).start()
    return server
  },
}

const before = process.cpuUsage()
const program = PROGRAMS[/** @type {keyof typeof PROGRAMS} */ (process.argv[2])]
await program()
const { user, system } = process.cpuUsage(before)
process.stdout.write(JSON.stringify({ cpuMs: (user + system) / 1000 }))
process.exit()
