import { toError } from '../base/errors.ts'
import type { LifecycleEvent } from '../base/events.ts'
import { logEvents } from './log-events.ts'
import type { LogContext } from './log-lines.ts'
import { flushLogger, type Logger, type LoggerCounts, writeLine } from './logger.ts'

/**
 * The log of a life. Its logger may take a moment to open (pino is loaded when it is needed), so
 * events that come before are kept and written first.
 */
export class EventLog {
  readonly #openLogger: () => Promise<Logger | false>
  readonly #context: LogContext
  readonly #kept: LifecycleEvent[] = []
  #logger: Logger | false = false
  /** What is kept is written when this has settled. */
  #opening: Promise<void> = Promise.resolve()
  #write: ((event: LifecycleEvent) => void) | undefined
  #hasFailed = false
  /** Lines that its logger did not take. */
  #refusals = 0
  #whyRefused: string | undefined

  constructor(openLogger: () => Promise<Logger | false>, context: LogContext) {
    this.#openLogger = openLogger
    this.#context = context
  }

  /**
   * Whether a level is enabled: there is a logger, by now, and it does not leave that level out.
   */
  writes(level: 'debug' | 'info' | 'error'): boolean {
    if (!this.#logger) return false
    try {
      return this.#logger.isLevelEnabled?.(level) ?? true
    } catch {
      // The user's logger cannot say.
      return true
    }
  }

  /** A sink of events. */
  readonly write = (event: LifecycleEvent): void => {
    if (this.#write) this.#write(event)
    else this.#kept.push(event)
  }

  /**
   * Opens the logger and writes what was kept, in a turn of its own: a life listens for signals
   * before anything is loaded. Rejects when it cannot be opened; the life goes on in silence then.
   */
  open(): Promise<void> {
    this.#opening = Promise.resolve().then(() => this.#open())
    return this.#opening
  }

  async #open(): Promise<void> {
    try {
      this.#logger = await this.#openLogger()
    } catch (error) {
      this.#hasFailed = true
      throw error
    } finally {
      const write = this.#logger ? logEvents(this.#logger, this.#context, this.#lost) : () => {}
      for (const event of this.#kept.splice(0)) write(event)
      this.#write = write
    }
  }

  /** Whether its logger could not be opened. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  debug(fields: object, message: string): void {
    if (this.#logger) writeLine(this.#logger, 'debug', fields, message, this.#lost)
  }

  /** Writes a line for what is no event, because it must not stand in a report. */
  info(fields: object, message: string): void {
    if (this.#logger) writeLine(this.#logger, 'info', fields, message, this.#lost)
  }

  warn(fields: object, message: string): void {
    if (this.#logger) writeLine(this.#logger, 'warn', fields, message, this.#lost)
  }

  error(fields: object, message: string): void {
    if (this.#logger) writeLine(this.#logger, 'error', fields, message, this.#lost)
  }

  lastFlushAgeMs(): number {
    return this.#numberOf('lastFlushAgeMs')
  }

  lostLines(): number {
    return this.#refusals + this.#numberOf('lostLines')
  }

  /** Why its logger did not take the first of the lines that it refused. */
  get whyRefused(): string | undefined {
    return this.#whyRefused
  }

  readonly #lost = (thrown: unknown): void => {
    this.#refusals++
    this.#whyRefused ??= toError(thrown).message
  }

  /**
   * Resolves when everything logged so far is written, or given up, and rejects when its logger
   * says that it could not write. A stop may come while the logger is still being opened.
   */
  async flush(): Promise<void> {
    // The caller of open() has got the failure.
    await this.#opening.catch(() => {})
    if (this.#logger) await flushLogger(this.#logger)
  }

  /** What the user's logger says of itself; 0 where it cannot say. */
  #numberOf(what: keyof LoggerCounts): number {
    try {
      const logger: (Logger & Partial<LoggerCounts>) | false = this.#logger
      const said = logger ? logger[what]?.() : undefined
      return typeof said === 'number' && said > 0 ? said : 0
    } catch {
      return 0
    }
  }

  /** Writes what it can within `ms` without giving way to anything else. */
  flushNow(ms: number): void {
    try {
      if (this.#logger) this.#logger.flushSync?.(ms)
    } catch {
      // The user's logger, in the last step before the end: what it could not write is lost either
      // way.
    }
  }
}
