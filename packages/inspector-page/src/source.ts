import { later, now } from './clock.ts'
import type { SourceStatus } from './core/life-status.ts'
import type { JournalEntry, Session } from './quiesce.ts'

/** What a source sends the page. */
export interface SourceListener {
  readonly session: (session: Session) => void
  readonly entry: (entry: JournalEntry) => void
  readonly link: (link: SourceStatus) => void
}

const RETRY_MS = 1_000
const RETRY_MS_MAX = 5_000

/** An address below the page's own, with the page's query: a token, when one is needed. */
export function route(path: string, query: Readonly<Record<string, string>> = {}): string {
  const url = new URL(path, location.href)
  url.search = location.search
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.href
}

/**
 * The server's stream of entries. Reconnects until all has been received: a life whose connection
 * is lost may still be there. After the end there is nothing to come back to, unless the user asks
 * for it.
 */
export class EntrySource {
  readonly #listener: SourceListener
  #stream: EventSource | undefined
  #mode: Session['mode'] = 'live'
  #attempts = 0
  #last = 0

  constructor(listener: SourceListener) {
    this.#listener = listener
  }

  connect(): void {
    this.#stream?.close()
    // The browser itself knows where it was, but only as long as it does the reconnecting.
    const stream = new EventSource(route('events', this.#last > 0 ? { after: String(this.#last) } : {}))
    this.#stream = stream
    stream.addEventListener('session', ({ data }: MessageEvent<string>) => {
      const session = JSON.parse(data) as Session
      this.#attempts = 0
      this.#mode = session.mode
      this.#listener.session(session)
      this.#listener.link({ kind: 'live' })
    })
    stream.addEventListener('message', ({ data }: MessageEvent<string>) => {
      const entry = JSON.parse(data) as JournalEntry
      this.#last = entry.n
      this.#listener.entry(entry)
      if (entry.kind === 'report') this.#close()
    })
    stream.addEventListener('end', () => this.#close())
    stream.addEventListener('error', () => this.#lost(stream))
  }

  #close(): void {
    this.#stream?.close()
    this.#stream = undefined
    this.#listener.link({ kind: 'closed', source: this.#mode })
  }

  /**
   * The browser tries again by itself, but not after every kind of failure, and more and more
   * rarely.
   */
  #lost(stream: EventSource): void {
    if (this.#stream !== stream) return
    stream.close()
    this.#attempts++
    this.#listener.link({ kind: 'lost', attempts: this.#attempts })
    later(
      () => {
        if (this.#stream === stream) this.connect()
      },
      Math.min(RETRY_MS * this.#attempts, RETRY_MS_MAX),
    )
  }
}

/**
 * What time it is in the life, as milliseconds since it began. A life that idles writes nothing, so
 * that its time is known from the session; later entries only ever show that it is later than
 * thought.
 */
export class LifeTime {
  #ahead = Number.NEGATIVE_INFINITY

  heard(at: number): void {
    this.#ahead = Math.max(this.#ahead, at - now())
  }

  forget(): void {
    this.#ahead = Number.NEGATIVE_INFINITY
  }

  now(): number {
    return Number.isFinite(this.#ahead) ? now() + this.#ahead : 0
  }
}
