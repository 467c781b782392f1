import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import { QuiesceError } from '../../base/errors.ts'
import type { JournalEntry } from '../protocol.ts'
import type { ReadableJournal, Reader } from '../reading.ts'
import { OfficialTranslator } from './official.ts'

/** "Going away": the server is. @see RFC 6455 section 7.4.1 */
const GOING_AWAY = 1001
/**
 * What the other side sends is kept until its message is whole, and then dropped: it had better be
 * short. In bytes.
 */
const UNREAD_MAX = 16 * 1024

/**
 * The journal for the official inspector of xstate, over WebSocket: text frames, one message each;
 * what the other side sends is not read.
 */
export class OfficialSockets {
  readonly #journal: ReadableJournal
  readonly #definitionOf: (machine: string) => string | undefined
  #server: Promise<WebSocketServer> | undefined

  constructor(journal: ReadableJournal, definitionOf: (machine: string) => string | undefined) {
    this.#journal = journal
    this.#definitionOf = definitionOf
  }

  /**
   * Answers the upgrade of a request that may have it.
   * @throws QuiesceError ERR_DEPENDENCY_MISSING when the package `ws` is not installed
   */
  async accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#server ??= webSocketServer()
    const server = await this.#server
    server.handleUpgrade(request, socket, head, (client) => {
      const reader = new OfficialReader(client, this.#journal, new OfficialTranslator(this.#definitionOf))
      reader.start()
    })
  }
}

/** The only buffer is one batch: the next is read when the socket has taken it. */
class OfficialReader implements Reader {
  readonly #client: WebSocket
  readonly #journal: ReadableJournal
  readonly #translator: OfficialTranslator
  #sent = 0
  #isBusy = false

  constructor(client: WebSocket, journal: ReadableJournal, translator: OfficialTranslator) {
    this.#client = client
    this.#journal = journal
    this.#translator = translator
  }

  start(): void {
    const attached = this.#journal.attach(this)
    this.#client.once('close', () => attached[Symbol.dispose]())
    // A connection that breaks is closed as well, which is all there is to know.
    this.#client.on('error', () => {})
    if (this.#journal.isOver) void this.end()
  }

  more(): void {
    if (this.#sent > 0 && !this.#journal.isComplete(this.#sent)) this.#client.terminate()
    else if (!this.#isBusy) this.#send()
  }

  end(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#client.readyState === this.#client.CLOSED) return resolve()
      this.#client.once('close', () => resolve())
      this.#send()
      this.#client.close(GOING_AWAY)
    })
  }

  #send(): void {
    const lines = this.#journal.after(this.#sent)
    this.#sent = lines.at(-1)?.n ?? this.#sent
    const messages = lines.flatMap(({ text }) => this.#translator.messages(JSON.parse(text) as JournalEntry))
    const last = messages.pop()
    if (!last) return
    for (const message of messages) this.#client.send(JSON.stringify(message))
    this.#isBusy = true
    this.#client.send(JSON.stringify(last), (error) => {
      this.#isBusy = false
      if (!error) this.more()
    })
  }
}

async function webSocketServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws').catch((cause: unknown) => {
    throw new QuiesceError(
      'ERR_DEPENDENCY_MISSING',
      'the official inspector needs the package "ws": npm install ws',
      { package: 'ws' },
      cause,
    )
  })
  return new WebSocketServer({ noServer: true, clientTracking: false, maxPayload: UNREAD_MAX })
}
