import { QuiesceError, toError } from '../base/errors.ts'
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
  readonly load?: () => Promise<Pick<typeof import('pino'), 'pino'>>
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
 * @throws QuiesceError ERR_DEPENDENCY_MISSING when pino cannot be loaded, as in a bundle of ES
 * modules without a `require`
 */
export async function createDefaultLogger({
  level = 'info',
  format,
  destination = stdoutDestination(),
  stallMs = () => RESERVES_DEFAULT_MS.flush,
  load = () => import('pino'),
}: DefaultLoggerOptions = {}): Promise<Required<Logger> & LoggerCounts> {
  const { pino } = await load().catch((cause: unknown) => {
    throw new QuiesceError(
      'ERR_DEPENDENCY_MISSING',
      `nothing is logged, because the package "pino" cannot be loaded (${toError(cause).message}): give the option logger; a bundle of ES modules needs a require, or pino beside it`,
      { package: 'pino' },
      cause,
    )
  })
  const logger = pino({ level }, { write: (line: string) => destination.write((format ?? withoutControls)(line)) })
  return Object.assign(logger, {
    flush: (callback?: (error?: Error) => void) => void destination.flushBounded(stallMs()).then(() => callback?.()),
    flushSync: (ms: number) => destination.flushSync(ms),
    lastFlushAgeMs: () => destination.blockedMs,
    lostLines: () => destination.lostLines,
  })
}
