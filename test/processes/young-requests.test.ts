// V8's minor collections find what a request leaves in memory. Fails when something on the way of a
// request keeps it until a major collection, as a closure does that is assigned to its response.
import { expect, test } from 'vitest'
import { startProgram, temporaryFolder } from '../support/process.ts'

/** As many before it is looked at as after: all that is loaded and compiled on the way is there. */
const REQUESTS = 1_000
/** One that is kept costs more than four kilobytes; some hundred bytes are V8's own notes. */
const BYTES_PER_REQUEST_MAX = 1_024
/**
 * Over HTTP/2 node keeps each stream until then, with the head of its answer: beyond what it keeps
 * of a server without quiesce.
 */
const BYTES_PER_STREAM_MAX = 1_536

const SERVERS = [
  ['attachLifecycle', '/'],
  ['createServer', '/'],
  ['an API server', '/'],
  ['an API server', '/apis/young.example/v1/namespaces/default/things/a'],
] as const

test.each(SERVERS)('requests to %s for %s die young', async (server, path) => {
  expect(await leftBy({ server, path, overHttp2: false })).toBeLessThan(BYTES_PER_REQUEST_MAX)
})

test.each(SERVERS)('requests to %s for %s die young over HTTP/2', async (server, path) => {
  const ofNode = await leftBy({ server: 'node alone', path: '/', overHttp2: true })
  expect((await leftBy({ server, path, overHttp2: true })) - ofNode).toBeLessThan(BYTES_PER_STREAM_MAX)
})

/** Bytes for each request. */
async function leftBy(asked: { readonly server: string; readonly path: string; readonly overHttp2: boolean }): Promise<number> {
  const plan = { ...asked, requests: REQUESTS, folder: temporaryFolder() }
  // Optimized code keeps none: what counts is the time until then. A major collection in between
  // would find what is looked for.
  const nodeOptions = ['--expose-gc', '--no-opt', '--initial-old-space-size=512']
  const program = startProgram('young-requests.mjs', plan, { nodeOptions })
  const left = Number(await program.said('left'))
  expect((await program.ended()).code).toBe(0)
  return left
}
