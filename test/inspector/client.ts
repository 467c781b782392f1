import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { onTestFinished } from 'vitest'
import type { JournalEntry, Session } from '#src/inspector/protocol.ts'

export interface Reply {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/**
 * A request, with nothing of its own in the headers: a browser's and an attacker's are the test's
 * to write.
 */
export async function ask(
  url: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const response = await responseOf(request(url, { method, headers, agent: false }).end())
  let body = ''
  for await (const chunk of response.setEncoding('utf8')) body += chunk as string
  return { status: response.statusCode as number, headers: response.headers, body }
}

/** A stream of the inspector, as a browser reads it. */
export class StreamReader {
  session: Session | undefined
  readonly headers: IncomingMessage['headers']
  readonly entries: JournalEntry[] = []
  /** It was told that nothing comes any more. */
  hasEnded = false
  /** Settles when the connection is over, however. */
  readonly closed: Promise<void>
  readonly #request: ClientRequest
  readonly #waiting = new Set<() => void>()
  #rest = ''

  static async open(url: string, headers: Record<string, string> = {}): Promise<StreamReader> {
    const sent = request(`${url}events`, { headers, agent: false }).end()
    onTestFinished(() => void sent.destroy())
    const response = await responseOf(sent)
    if (response.statusCode !== 200) throw new Error(`got ${response.statusCode}`)
    return new StreamReader(sent, response)
  }

  private constructor(sent: ClientRequest, response: IncomingMessage) {
    this.#request = sent
    this.headers = response.headers
    response.setEncoding('utf8').on('data', (text: string) => this.#read(text))
    response.on('error', () => {})
    this.closed = new Promise((resolve) => response.once('close', resolve))
  }

  /** Resolves with the first entry that is like this, already there or yet to come. */
  async until(is: (entry: JournalEntry) => boolean): Promise<JournalEntry> {
    for (;;) {
      const found = this.entries.find(is)
      if (found) return found
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  get signals(): string[] {
    return this.entries.flatMap((entry) => (entry.kind === 'fact' && entry.event.type === 'signal' ? [entry.event.name] : []))
  }

  leave(): void {
    this.#request.destroy()
  }

  #read(text: string): void {
    const events = `${this.#rest}${text}`.split('\n\n')
    this.#rest = events.pop() as string
    for (const event of events) {
      const fields = new Map(event.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]))
      const data = JSON.parse(fields.get('data') as string) as JournalEntry & Session
      if (fields.get('event') === 'session') this.session = data
      else if (fields.get('event') === 'end') this.hasEnded = true
      else {
        if (String(data.n) !== fields.get('id')) throw new Error(`entry ${data.n} came as ${fields.get('id')}`)
        this.entries.push(data)
      }
    }
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}

export const isSignal =
  (name: string) =>
  (entry: JournalEntry): boolean =>
    entry.kind === 'fact' && entry.event.type === 'signal' && entry.event.name === name

async function responseOf(sent: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}
