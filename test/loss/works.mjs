// @ts-check
// The kinds of work that a loss run gives to a server, and how a server in JavaScript does those
// that are more than an echo. Servers in other languages do the same: go/main.go and
// uvicorn_app.py.
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketServer } from 'ws'

/**
 * `upload` is a POST of 5 MB that takes two seconds; `events` an event stream that never ends and
 * can be resumed; `stream` the answer of a model, which ends by itself after six seconds;
 * `websocket` an echo.
 */
export const WORKS = /** @type {const} */ (['GET', 'POST', 'upload', 'events', 'stream', 'websocket'])
/** @typedef {(typeof WORKS)[number]} Work */

export const UPLOAD = { bytes: 5_000_000, pieces: 40, everyMs: 50 }
/** What is sent every so often, by events and streams. */
export const TICK_MS = 100
export const TOKENS = 60
export const LAST_TOKEN = '[DONE]'
export const GOING_AWAY = 1001

/** The newest event: all servers have the same log, in which one is written every tick. */
const newestEvent = () => Math.floor(Date.now() / TICK_MS)

/**
 * Whatever came after the event that the client names, and then what comes, until the signal.
 * @param {import('node:http').IncomingMessage} request @param {AbortSignal} end
 */
export function eventsAfter(request, end) {
  return Readable.from(events(Number(request.headers['last-event-id'] ?? newestEvent()), end))
}

/** @param {number} last @param {AbortSignal} end */
async function* events(last, end) {
  // A head without an event is not sent by every server.
  yield ': events\n\n'
  while (!end.aborted) {
    while (last < newestEvent()) yield `id: ${++last}\ndata: ${last}\n\n`
    await sleep(TICK_MS, undefined, { signal: end }).catch(() => {})
  }
}

export const answerOfModel = () => Readable.from(tokens())

async function* tokens() {
  for (let token = 1; token <= TOKENS; token++) {
    yield `data: ${token}\n\n`
    await sleep(TICK_MS)
  }
  yield `data: ${LAST_TOKEN}\n\n`
}

/** WebSockets that echo. @param {import('node:http').Server} server @returns {() => void} tells all of them that the server goes away */
export function echoSockets(server) {
  const sockets = new WebSocketServer({ server, path: '/ws' })
  sockets.on('connection', (socket) => {
    socket.on('message', (data) => socket.send(String(data)))
    socket.on('error', () => {})
  })
  return () => {
    for (const socket of sockets.clients) socket.close(GOING_AWAY)
  }
}
