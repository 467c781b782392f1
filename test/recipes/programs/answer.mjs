// What servers of node's own answer, whatever they speak.

import { writeSync } from 'node:fs'
import { markWatch, shutdownSignalOf } from '../../../dist/index.js'
import { slow } from './slow.mjs'

export async function answer(request, response) {
  if (request.url === '/slow') response.end(await slow())
  else if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('retry: 50\n\ndata: first\n\n')
    shutdownSignalOf(request).addEventListener('abort', () => response.end('event: last\ndata: bye\n\n'))
  } else if (request.url === '/chunks') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"type":"ADDED"}\n')
    markWatch(request).addEventListener('abort', () => response.end('{"type":"BOOKMARK"}\n'))
  } else if (request.url === '/poll') {
    // As a client reads it that asks again: there was nothing.
    writeSync(2, 'polls\n')
    markWatch(request).addEventListener('abort', () => response.writeHead(204).end())
  } else response.end('hello')
}
