import type { IncomingMessage } from 'node:http'
import { markWatch, shutdownSignalOf } from '#src/index.ts'

/**
 * A place where a handler waits until the test lets it go on, and the test until a handler is
 * there.
 */
export class Gate {
  readonly #opened: Promise<void>
  #open: () => void = () => {}
  readonly #reached: Promise<void>
  #reach: () => void = () => {}

  constructor() {
    this.#opened = new Promise((resolve) => (this.#open = resolve))
    this.#reached = new Promise((resolve) => (this.#reach = resolve))
  }

  /** Resolves when somebody waits here, or did. */
  get reached(): Promise<void> {
    return this.#reached
  }

  /** Lets through whoever is here or will come. */
  open(): void {
    this.#open()
  }

  pass(): Promise<void> {
    this.#reach()
    return this.#opened
  }
}

/**
 * What the routes do, the same in every framework; each application only says it in its framework's
 * own way. Where a route waits, the test says for how long.
 */
export class Stage {
  /** `GET /slow` waits here before it answers. */
  readonly slow = new Gate()
  /** `GET /stream` waits here after its first chunk. */
  readonly stream = new Gate()
  /** How many handlers have begun, by path. */
  readonly begun: Record<string, number> = {}

  begin(path: string): void {
    this.begun[path] = (this.begun[path] ?? 0) + 1
  }

  async *streamed(): AsyncGenerator<string> {
    this.begin('/stream')
    yield 'one\n'
    await this.stream.pass()
    yield 'two\n'
  }

  /** Breaks after its head and first chunk have been sent. */
  async *broken(): AsyncGenerator<string> {
    yield 'one\n'
    await this.stream.pass()
    throw new Error('broken')
  }

  /** `GET /watch`: lasts until it is told to end, and says goodbye. */
  watched(request: IncomingMessage): AsyncGenerator<string> {
    return untilTold(shutdownSignalOf(request))
  }

  /** `GET /marked`: the same, but nobody can know before the handler says so. */
  marked(request: IncomingMessage): AsyncGenerator<string> {
    return untilTold(markWatch(request))
  }

  async slowly(): Promise<string> {
    this.begin('/slow')
    await this.slow.pass()
    return 'done\n'
  }

  failing(): never {
    this.begin('/throws')
    throw new Error('thrown on purpose')
  }

  async rejecting(): Promise<never> {
    this.begin('/rejects')
    await Promise.resolve()
    throw new Error('rejected on purpose')
  }
}

async function* untilTold(signal: AbortSignal): AsyncGenerator<string> {
  yield 'data: begun\n\n'
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  yield 'data: last\n\n'
}

/** Bytes of a body, chunk by chunk. */
export async function countBytes(body: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0
  for await (const chunk of body) bytes += chunk.length
  return bytes
}
