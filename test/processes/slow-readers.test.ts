import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startSpeaking } from '../support/process.ts'

/**
 * What a client has of a response at the moment in which the process that sent it has ended: a
 * container's network ends with it. The client's own system says what has arrived there, whether
 * the client has read it or not.
 */

/**
 * More than a client's system takes in while the client does not read, less than what the server's
 * takes over at once.
 */
const BODY_BYTES = 512 * 1024
/** A request whose body never comes to its end. */
const UPLOAD = 'POST /before HTTP/1.1\r\nContent-Length: 1000\r\nX-Sent-As:'
/**
 * The longest that a closing connection waits for a client that has everything, and something more.
 */
const LONGER_THAN_LINGERING_MS = 2500
/** Far above what a step takes on a loaded machine, far below the deadline. */
const PROMPT_MS = 10_000

/** What has arrived at this socket's system, read or not. */
function arrivedAt({ localPort = 0, remotePort = 0, bytesRead }: Socket): number {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')
  const line = readFileSync('/proc/net/tcp', 'latin1').match(new RegExp(`:${hex(localPort)} \\w+:${hex(remotePort)} \\w\\w \\w+:(\\w+)`))
  return bytesRead + Number.parseInt(line?.[1] ?? '0', 16)
}

/** A client that has asked, and does not read before it is told to. */
async function slowClient(path: string, options: object, head = `GET ${path}`) {
  const program = startSpeaking('large-response.mjs', [JSON.stringify(options), String(BODY_BYTES)])
  const socket = connect({ port: await program.serving(), host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  let arrived = 0
  program.child.once('exit', () => {
    arrived = arrivedAt(socket)
  })
  socket.write(`${head} HTTP/1.1\r\nHost: a\r\n\r\n`)
  await program.said(path === '/before' ? 'sent' : 'arrived')
  const toldAt = program.signal('SIGTERM')
  await program.said('sent')
  const ended = program.ended().then(({ code, at }) => ({ code, tookMs: at - toldAt, arrived, report: program.report() }))
  return { program, socket, ended }
}

/** Reads to the end, and says how much there was. */
async function readAll(socket: Socket): Promise<number> {
  socket.resume()
  await once(socket, 'end')
  return socket.bytesRead
}

describe.skipIf(process.platform !== 'linux')('a slow client', () => {
  test.each(['/before', '/during'])('has all of its response when the process ends: one answered %s the stop', async (path) => {
    const { socket, ended } = await slowClient(path, { deadline: '40s' })
    // Ends earlier when the rest is given up.
    await Promise.race([sleep(LONGER_THAN_LINGERING_MS), ended])
    const total = await readAll(socket)
    const { code, arrived, report } = await ended
    expect(arrived).toBe(total)
    expect(total).toBeGreaterThan(BODY_BYTES)
    expect(code).toBe(0)
    expect(report.connections).toMatchObject({ forced: 0, forcedNames: [] })
  })

  test.each([
    ['the deadline', { deadline: '3s' }],
    ['the connection timeout', { deadline: '40s', whileDraining: 'retry-after' }],
  ])('that stops reading is named at %s, with what it was not sent, and that costs exit code 5', async (_, options) => {
    const { socket, ended } = await slowClient('/during', options)
    const { code, arrived, report } = await ended
    expect(code).toBe(5)
    const name = `127.0.0.1:${socket.localPort}`
    expect(report.connections).toMatchObject({ forced: 1, forcedNames: [{ name, undeliveredBytes: expect.any(Number) }] })
    expect(arrived + (report.connections.forcedNames[0]?.undeliveredBytes ?? 0)).toBe(await readAll(socket))
  })

  test('has all of its response also while it still sends the body of its request, which is not waited for', async () => {
    const { socket, ended } = await slowClient('/before', { deadline: '40s' }, UPLOAD)
    await Promise.race([sleep(LONGER_THAN_LINGERING_MS), ended])
    const total = await readAll(socket)
    const { code, tookMs, arrived, report } = await ended
    expect({ code, arrived }).toEqual({ code: 0, arrived: total })
    expect(total).toBeGreaterThan(BODY_BYTES)
    expect(tookMs).toBeLessThan(LONGER_THAN_LINGERING_MS + PROMPT_MS)
    expect(report.connections).toMatchObject({ forced: 0, forcedNames: [] })
  })

  test('that does not read while it still sends is named, with what it was not sent, and that costs exit code 5', async () => {
    const { socket, ended } = await slowClient('/before', { deadline: '3s' }, UPLOAD)
    const { code, arrived, report } = await ended
    expect(code).toBe(5)
    expect(arrived + (report.connections.forcedNames[0]?.undeliveredBytes ?? 0)).toBe(await readAll(socket))
  })

  test('that has all of it and does not end its side holds nothing up', async () => {
    const { socket, ended } = await slowClient('/before', { deadline: '40s' })
    const total = await readAll(socket)
    const { code, tookMs, arrived, report } = await ended
    expect({ code, arrived }).toEqual({ code: 0, arrived: total })
    expect(tookMs).toBeLessThan(PROMPT_MS)
    expect(report.connections).toMatchObject({ idleUnnotified: 1, forced: 0 })
  })
})
