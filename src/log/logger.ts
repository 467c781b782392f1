import { Console } from 'node:console'
import { isPromiseLike } from '../base/records.ts'

/**
 * What the lifecycle needs of a logger; pino's shape, so that any pino logger is one. One that has
 * a function `lastFlushAgeMs` as well is asked how many milliseconds ago everything logged was
 * written, for the health check `log`; one that has `lostLines`, how many lines are lost, for the
 * report.
 */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /**
   * Tells, like pino's, whether lines of a level are written at all. What must not be missed is
   * said on standard error when they are not.
   */
  isLevelEnabled?(level: string): boolean
  /**
   * Calls back, like pino's, when everything logged so far is written, or given up. It has as long
   * as a hook (the option `hookTimeout`): after that, and with an error, lines may be lost.
   */
  flush?(callback?: (error?: Error) => void): void
  /**
   * Writes what is pending without giving way to anything else, for at most `ms`; returns the bytes
   * that were given up.
   */
  flushSync?(ms: number): unknown
}

/**
 * What a logger may say of itself besides. It is no part of {@link Logger}: where a logger is asked
 * for, `pino()` takes every member that is no pino's for the name of a level, and a level returns
 * nothing.
 */
export interface LoggerCounts {
  /**
   * Milliseconds since everything logged had been written; the health check `log` fails above two
   * minutes.
   */
  lastFlushAgeMs(): number
  /**
   * Lines that were logged and are lost. The report warns of them, and stderr at the end of the
   * life.
   */
  lostLines(): number
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/**
 * Writes one line. The logger is the user's: when it throws or rejects, the line is lost, which is
 * no reason to end differently.
 * @param lost is told why
 */
export function writeLine(
  logger: Logger,
  level: Exclude<LogLevel, 'silent'>,
  fields: object,
  message: string,
  lost: (thrown: unknown) => void,
): void {
  if (level === 'debug' && isConsole(logger)) return
  try {
    const answer: unknown = logger[level](fields, message)
    if (isPromiseLike(answer)) Promise.resolve(answer).catch(lost)
  } catch (thrown) {
    lost(thrown)
  }
}

/**
 * Whether it is a console, which prints every level and has no switch for any: of a quiet life that
 * would be some seventy lines.
 */
const isConsole = (logger: Logger): boolean => logger instanceof Console

/**
 * Resolves when a logger has written what it was given, and rejects when it says that it could not.
 * One that cannot say so is taken at its word; the caller bounds the wait.
 */
export const flushLogger = (logger: Logger): Promise<void> =>
  new Promise((resolve, reject) => {
    if (!logger.flush) return resolve()
    const answer: unknown = logger.flush((error) => (error ? reject(error) : resolve()))
    if (isPromiseLike(answer)) Promise.resolve(answer).then(() => resolve(), reject)
    // One that takes no callback and promises nothing has flushed, as pino before 9.
    else if (logger.flush.length === 0) resolve()
  })
