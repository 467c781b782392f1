// V8's minor collections find what a request leaves in memory. Fails when something on the way of a
// request keeps it until a major collection, as a closure does that is assigned to its response.
import { expect, test } from 'vitest'
import { startProgram, temporaryFolder } from '../support/process.ts'

/** As many before it is looked at as after: all that is loaded and compiled on the way is there. */
const REQUESTS = 1_000
/** One that is kept costs more than four kilobytes; some hundred bytes are V8's own notes. */
const BYTES_PER_REQUEST_MAX = 1_024

// Over HTTP/1.1: node itself keeps each stream of HTTP/2 until then, and all that hangs on it.
test.each([
  ['attachLifecycle', '/'],
  ['createServer', '/'],
  ['an API server', '/'],
  ['an API server', '/apis/young.example/v1/namespaces/default/things/a'],
])('requests to %s for %s die young', async (server, path) => {
  const plan = { server, path, requests: REQUESTS, folder: temporaryFolder() }
  // Optimized code keeps none: what counts is the time until then.
  const program = startProgram('young-requests.mjs', plan, { nodeOptions: ['--expose-gc', '--no-opt'] })
  const left = Number(await program.said('left'))
  expect((await program.ended()).code).toBe(0)
  expect(left).toBeLessThan(BYTES_PER_REQUEST_MAX)
})
