import type { ServerResponse } from 'node:http'
import type { ReadableJournal, Reader } from '../reading.ts'

/**
 * A journal as server-sent events. The only buffer is the response's own: once that is full, the
 * stream goes on reading the journal when it has drained. A client that is so slow that what it
 * needs next is not kept any more is cut off; it comes back by itself, with the number of the last
 * entry that it has.
 */
export class EventStream implements Reader {
  readonly #response: ServerResponse
  readonly #journal: ReadableJournal
  /** The number of the last entry that was sent; undefined before the first. */
  #sent: number | undefined
  readonly #resumeAfter: number
  #isFull = false

  constructor(response: ServerResponse, journal: ReadableJournal, session: object, resumeAfter: number) {
    this.#response = response
    this.#journal = journal
    this.#resumeAfter = resumeAfter
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
    response.write(`event: session\ndata: ${JSON.stringify(session)}\n\n`)
  }

  /** Streams until the client leaves or the journal ends. */
  start(): void {
    const attached = this.#journal.attach(this)
    this.#response.on('drain', () => {
      this.#isFull = false
      this.more()
    })
    this.#response.once('close', () => attached[Symbol.dispose]())
    if (this.#journal.isOver) void this.end()
  }

  more(): void {
    if (this.#sent !== undefined && !this.#journal.isComplete(this.#sent)) this.#response.destroy()
    else if (!this.#isFull) this.#send()
  }

  /**
   * Sends whatever is left to the socket in this step, full or not. Resolves when the system has
   * taken all of it, or the client is gone.
   */
  end(): Promise<void> {
    const response = this.#response
    return new Promise((resolve) => {
      response.once('finish', resolve)
      response.once('close', resolve)
      if (response.closed) resolve()
      this.#send()
      response.end('event: end\ndata: {}\n\n')
    })
  }

  #send(): void {
    this.#sent ??= this.#journal.canResume(this.#resumeAfter) ? this.#resumeAfter : 0
    const lines = this.#journal.after(this.#sent)
    if (lines.length === 0) return
    this.#sent = (lines.at(-1) as { n: number }).n
    this.#isFull = !this.#response.write(lines.map(({ n, text }) => `id: ${n}\ndata: ${text}\n\n`).join(''))
  }
}
