// @ts-check
// What it costs to have a library, in a process of its own: prints milliseconds and bytes as JSON.
// Argument: one of the programs below.
import { createServer } from 'node:http'

const PROGRAMS = {
  nothing: () => {},
  hono: () => import('hono'),
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
const begun = performance.now()
await PROGRAMS[/** @type {keyof typeof PROGRAMS} */ (process.argv[2])]()
const ms = performance.now() - begun
const { user, system } = process.cpuUsage(before)
globalThis.gc?.()
const { rss, heapUsed } = process.memoryUsage()
process.stdout.write(JSON.stringify({ ms, cpuMs: (user + system) / 1000, rss, heapUsed }))
process.exit()
