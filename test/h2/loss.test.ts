// Forty clients that never retry, two requests at a time each, over a link with a delay: what they
// ask while their server ends is answered whole, or they know that nothing was done about it, and
// ask the other one. Fails when a request is lost by the clients' own record; the control shows
// that the record finds losses.
import { type ClientHttp2Session, connect as connectHttp2, constants, createServer, type Http2Server } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Link } from '../loss/link.mjs'
import { newAttachedLife } from '../support/life.ts'

const CLIENTS = 40
/** Before the stop, and after the end. */
const AROUND_MS = 100

interface Ledger {
  asked: number
  answered: number
  /** Sent again elsewhere, because nothing was done about it. */
  retried: number
  readonly lost: string[]
}

const echo = (): Http2Server =>
  createServer(async (request, response) => {
    let bytes = 0
    for await (const chunk of request) bytes += (chunk as Buffer).length
    if (request.url.includes('slow')) await new Promise((resolve) => setTimeout(resolve, 20))
    response.end(`${request.url} ${bytes}`)
  })

const listen = (server: Http2Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))

/** One request on one connection: its answer, or why there is none. */
function ask(session: ClientHttp2Session, lastStream: () => number, method: string, path: string, body: string): Promise<string | 'retry'> {
  return new Promise((resolve, reject) => {
    if (session.closed || session.destroyed) return resolve('retry')
    const stream = session.request({ ':method': method, ':path': path }, { endStream: method === 'GET' })
    let received = ''
    let hasEnded = false
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => (received += text))
    stream.on('end', () => (hasEnded = true))
    stream.on('error', () => undefined)
    stream.on('close', () => {
      const { id, rstCode } = stream
      // RFC 9113, section 8.7, and what was never written.
      if (rstCode === constants.NGHTTP2_REFUSED_STREAM || id === undefined || id > lastStream()) resolve('retry')
      else if (hasEnded && rstCode === constants.NGHTTP2_NO_ERROR) resolve(received)
      else reject(new Error(`stream ${id} ended with ${rstCode} after ${received.length} characters`))
    })
    if (method === 'POST') stream.end(body)
  })
}

class Crowd {
  readonly ledger: Ledger = { asked: 0, answered: 0, retried: 0, lost: [] }
  readonly #ports: readonly [number, number]
  readonly #linkMs: number
  readonly #method: string
  #isOver = false
  readonly #done: Promise<unknown>

  constructor(ports: readonly [number, number], linkMs: number, method: string) {
    this.#ports = ports
    this.#linkMs = linkMs
    this.#method = method
    this.#done = Promise.all(Array.from({ length: CLIENTS }, (_, index) => this.#client(index)))
  }

  async stop(): Promise<Ledger> {
    this.#isOver = true
    await this.#done
    return this.ledger
  }

  async #client(index: number): Promise<void> {
    let isMoved = false
    let connection = this.#open(this.#ports[0])
    const worker = async (slot: number): Promise<void> => {
      for (let count = 0; !this.#isOver; count++) {
        await new Promise((resolve) => setTimeout(resolve, (index * 7 + slot * 13 + count * 11) % 40))
        const path = `/${index}-${slot}-${count}${count % 4 === 0 ? '-slow' : ''}`
        const body = this.#method === 'POST' ? 'x'.repeat(5_000) : ''
        this.ledger.asked++
        for (;;) {
          const used = connection
          try {
            const answer = await ask(used.session, used.lastStream, this.#method, path, body)
            if (answer === `${path} ${body.length}`) this.ledger.answered++
            else if (answer === 'retry') {
              this.ledger.retried++
              if (connection === used) connection = this.#open(this.#ports[1])
              isMoved = true
              continue
            } else this.ledger.lost.push(`${path}: answered ${answer}`)
          } catch (error) {
            this.ledger.lost.push(`${path}: ${(error as Error).message}`)
          }
          // Told, or closed: on to the other one.
          if (connection === used && (used.session.closed || used.session.destroyed)) {
            connection = this.#open(this.#ports[1])
            isMoved = true
          }
          break
        }
      }
    }
    await Promise.all([worker(0), worker(1)])
    expect(isMoved).toBe(true)
    connection.session.destroy()
  }

  #open(port: number) {
    const link = new Link({ port, delayMs: this.#linkMs })
    const session = connectHttp2('http://localhost', { createConnection: () => link as unknown as Socket })
    let last = Number.POSITIVE_INFINITY
    session.on('error', () => undefined)
    session.on('goaway', (_code, lastStream) => (last = Math.min(last, lastStream)))
    onTestFinished(() => {
      session.destroy()
      link.destroy()
    })
    return { session, lastStream: () => last }
  }
}

const second = async (): Promise<number> => {
  const server = echo()
  onTestFinished(() => void server.close())
  return listen(server)
}

describe.each(['refuse', 'retry-after'] as const)('a termination loses nothing: %s', (whileDraining) => {
  test.each([1, 15, 50].flatMap((linkMs) => ['GET', 'POST'].map((method) => ({ linkMs, method }))))(
    '$method over a link of $linkMs ms each way',
    async ({ linkMs, method }) => {
      const server = echo()
      const t = newAttachedLife(server, { options: { whileDraining, shutdownDelay: 300, deadline: '20s', lastCall: 300 } })
      const port = await listen(server)
      await t.life.start()
      const crowd = new Crowd([port, await second()], linkMs, method)
      await expect.poll(() => crowd.ledger.answered).toBeGreaterThan(3 * CLIENTS)
      await new Promise((resolve) => setTimeout(resolve, AROUND_MS))
      const report = await t.end()
      await new Promise((resolve) => setTimeout(resolve, AROUND_MS + 2 * linkMs))
      const { asked, answered, lost } = await crowd.stop()
      expect(lost).toEqual([])
      expect(answered).toBe(asked)
      expect(report).toMatchObject({ exitCode: 0, connections: { told: CLIENTS, forced: 0, idleUntold: 0 } })
    },
  )
})

test('the record finds what a server loses that closes its connections', async () => {
  const server = echo()
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  const crowd = new Crowd([await listen(server), await second()], 15, 'GET')
  await expect.poll(() => crowd.ledger.answered).toBeGreaterThan(3 * CLIENTS)
  server.close()
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => setTimeout(resolve, 2 * AROUND_MS))
  const { lost } = await crowd.stop()
  expect(lost.length).toBeGreaterThan(0)
})
