import { RESERVES_DEFAULT_MS } from '../base/stop-profile.ts'
import type { LineDestination } from './line-destination.ts'
import { stdoutDestination } from './log-destination.ts'
import type { Logger, LoggerCounts, LogLevel } from './logger.ts'

export interface DefaultLoggerOptions {
  /** Default `info`. */
  readonly level?: LogLevel | undefined
  /** Turns a JSON line into what is written instead. Default: as it is, with controls escaped. */
  readonly format?: (jsonLine: string) => string
  /** Default: standard output. */
  readonly destination?: LineDestination
  /**
   * How long `flush` waits for a reader that takes nothing, asked when it begins. Default: the
   * flush reserve, 500 ms.
   */
  readonly stallMs?: () => number
}

const CONTROLS = /[\u007f-\u009f]/g

/**
 * JSON escapes the controls of ASCII only; those of Latin-1, which a path of HTTP/2 may have, are
 * commands to some terminals as well. In a JSON line they stand in texts alone.
 */
const withoutControls = (jsonLine: string): string =>
  jsonLine.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * The logger of servers that were given none: pino, loaded only now, on standard output, as JSON
 * lines. It never blocks the process: a slow reader costs memory, and one that stalls costs
 * `stallMs` at the end.
 */
export async function createDefaultLogger({
  level = 'info',
  format,
  destination = stdoutDestination(),
  stallMs = () => RESERVES_DEFAULT_MS.flush,
}: DefaultLoggerOptions = {}): Promise<Required<Logger> & LoggerCounts> {
  const { pino } = await import('pino')
  const logger = pino({ level }, { write: (line: string) => destination.write((format ?? withoutControls)(line)) })
  return Object.assign(logger, {
    flush: (callback?: (error?: Error) => void) => void destination.flushBounded(stallMs()).then(() => callback?.()),
    flushSync: (ms: number) => destination.flushSync(ms),
    lastFlushAgeMs: () => destination.blockedMs,
    lostLines: () => destination.lostLines,
  })
}
