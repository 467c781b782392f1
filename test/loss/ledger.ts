import { generator } from '../support/random.mjs'
import { RawClient } from '../support/raw-client.ts'

/**
 * What the clients know, and nobody else: what each of them wrote, and what came back. A request is **lost** when it was
 * written on a connection that the server had accepted and no complete answer came. Connections that were refused, or reset
 * before the server ever had them, are another matter and counted apart: their client knows that nothing was done.
 */
export interface Ledger {
  sent: number
  /** By a complete response with the right body. */
  answered: number
  /** By a complete response that says no: 429 or 503. */
  rejected: number
  readonly lost: Loss[]
  /** Written on a connection that the server never accepted. */
  neverAccepted: number
  /** Connections that could not be made. */
  refused: number
  /** Clients that moved because a response said that its connection closes. */
  told: number
  /** Clients that moved because their connection was closed while they had nothing to ask. */
  closedIdle: number
  /** Requests that were answered with something else than what was asked for. */
  readonly wrong: string[]
}

export interface Loss {
  readonly client: number
  readonly request: string
  readonly clientPort: number
  readonly why: string
}

/** Where clients send: to the first until they are told to leave or find it closed, then to the second, for good. */
export interface Target {
  readonly port: number
  hasAccepted(clientPort: number): boolean
}

export interface CrowdOptions {
  readonly clients: number
  /** Longest pause between an answer and the next request. */
  readonly gapMs: number
  /** Delay of the link, each way. */
  readonly linkMs: number
  readonly seed: number
  readonly targets: readonly [Target, Target]
}

/** Clients that keep their connection, never retry, and go on until they are told to stop. */
export class Crowd {
  readonly ledger: Ledger = { sent: 0, answered: 0, rejected: 0, lost: [], neverAccepted: 0, refused: 0, told: 0, closedIdle: 0, wrong: [] }
  readonly #options: CrowdOptions
  readonly #done: Promise<unknown>
  readonly #failed: { readonly target: Target; readonly loss: Loss }[] = []
  #isOver = false
  #served = 0
  #allServed: () => void = () => {}

  /** Resolves when every client has had an answer. */
  readonly allServed = new Promise<void>((resolve) => (this.#allServed = resolve))

  constructor(options: CrowdOptions) {
    this.#options = options
    this.#done = Promise.all(Array.from({ length: options.clients }, (_, client) => this.#run(client)))
  }

  /** Closes the books. To be called when the first target has ended, which then has said which connections it had. */
  settle(): Ledger {
    for (const { target, loss } of this.#failed.splice(0)) {
      if (target.hasAccepted(loss.clientPort)) this.ledger.lost.push(loss)
      else this.ledger.neverAccepted++
    }
    return this.ledger
  }

  /** Resolves when every client has finished what it has begun. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#done
  }

  async #run(client: number): Promise<void> {
    const { gapMs, linkMs, seed, targets } = this.#options
    const { ledger } = this
    const random = generator(seed + client)
    let target = targets[0]
    let connection: RawClient | undefined
    const move = (): void => {
      connection?.abort()
      connection = undefined
      target = targets[1]
    }

    for (let count = 0; !this.#isOver; count++) {
      await pause(random() * gapMs)
      if (connection && connection.state !== 'open') {
        ledger.closedIdle++
        move()
      }
      try {
        connection ??= await RawClient.open({ port: target.port, linkMs })
      } catch {
        ledger.refused++
        move()
        continue
      }
      const request = newRequest(count, random)
      ledger.sent++
      const { localPort = 0 } = connection.socket
      try {
        const response = await connection.ask(...request.sent)
        if (response.status === 200 && response.body === request.answer) ledger.answered++
        else if (response.status === 429 || response.status === 503) ledger.rejected++
        else ledger.wrong.push(`client ${client}: ${request.sent[1]}: ${response.status} ${response.body}`)
        if (count === 0 && ++this.#served === this.#options.clients) this.#allServed()
        if (response.headers['connection'] === 'close') {
          ledger.told++
          move()
        }
      } catch (error) {
        const why = `${connection.state} after ${connection.received.length} bytes of answer: ${(error as Error).message.slice(0, 80)}`
        this.#failed.push({ target, loss: { client, request: request.sent[1], clientPort: localPort, why } })
        move()
      }
    }
    connection?.abort()
  }
}

/** Mostly quick, some that take a while, some with a body. */
function newRequest(count: number, random: () => number) {
  const ms = random() < 0.25 ? Math.trunc(random() * 30) : 0
  const bytes = random() < 0.25 ? Math.trunc(random() * 20_000) : 0
  const path = `/echo?n=${count}&ms=${ms}`
  const sent: Parameters<RawClient['ask']> = bytes > 0 ? ['POST', path, { body: 'x'.repeat(bytes) }] : ['GET', path]
  return { sent, answer: `${count} ${bytes}` }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
