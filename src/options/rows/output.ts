import type { AuditBackend } from '../../actors/audit.ts'
import { type InspectOption, isInspect } from '../../actors/inspection.ts'
import type { Logger } from '../../log/logger.ts'
import { defineOptions, option } from '../kit/define.ts'
import { file, isRecord, onOffAuto, value } from '../kit/kinds.ts'

const hasMethods = (given: unknown, ...names: readonly string[]): boolean =>
  isRecord(given) && names.every((name) => typeof given[name] === 'function')

/** Whether those of these that are given are functions. */
const mayHaveMethods = (given: unknown, ...names: readonly string[]): boolean =>
  isRecord(given) && names.every((name) => given[name] === undefined || typeof given[name] === 'function')

/** Where it is said what happens. */
export const OUTPUT_OPTIONS = defineOptions({
  /**
   * Gets what the life's actors emit, from the first to the last: a function or an observer, as
   * xstate's own option `inspect`, or what has one, as `createBrowserInspector()` of
   * `@statelyai/inspect` returns. It is called in the middle of each step, so it should be quick;
   * one that throws is an error in the report, once.
   * @default none
   */
  inspect: option(value<InspectOption>('a function, an observer with next, or an inspector with inspect', isInspect), {
    defaultWords: 'none',
    meaning: 'Gets what the actors of the life emit: a function, an observer, or an inspector of @statelyai/inspect',
  }),
  /**
   * Everything that happens is written here, an entry per line, and is there to the last on every
   * path that can still write.
   * @default none
   */
  journal: option(file(), {
    flag: 'journal',
    defaultWords: 'none',
    meaning: 'File for everything that happens in the life, an entry per line, to be shown by quiesce inspect',
  }),
  /**
   * Gets events about requests, and has delivered them before the end.
   * @default none
   */
  audit: option(
    value<AuditBackend>(
      'an object with the functions run and shutdown; processEvents, counts and actors are optional functions',
      (given) => hasMethods(given, 'run', 'shutdown') && mayHaveMethods(given, 'processEvents', 'counts', 'actors'),
    ),
    {
      defaultWords: 'none',
      meaning: 'Audit backend: run before the first request, shut down after the last',
      upstream: 'AuditBackend',
    },
  ),
  /**
   * Pino-compatible, or false for silence, on standard error too. A console is told nothing at
   * debug. At the end its `flush` has the time of a hook (`hookTimeout`).
   * @default pino on standard output for createServer, none for attachLifecycle; on a terminal see
   * pretty
   */
  logger: option(
    value<Logger | false>(
      'an object with the functions debug, info, warn and error (a pino logger), or false; isLevelEnabled, flush and flushSync are optional functions',
      (given) =>
        given === false ||
        (hasMethods(given, 'debug', 'info', 'warn', 'error') && mayHaveMethods(given, 'isLevelEnabled', 'flush', 'flushSync')),
    ),
    {
      defaultWords: 'pino on standard output for createServer, none for attachLifecycle; on a terminal see pretty',
      meaning: 'Where the lifecycle logs to',
    },
  ),
  /**
   * How standard output is written. On a terminal `'auto'` shows people what goes on: log lines to
   * read, under `run()` what a drain waits for, and a timeline at the end; elsewhere, in a CI, and
   * in workers of a cluster, the log is JSON lines. `true` is for people everywhere, `false`
   * nowhere. The lines are those of the built-in logger, which every life under `run()` has on a
   * terminal; a logger of your own keeps its lines and its destination, and has the view and the
   * timeline beside it only with `true`. With `logger: false` nothing is shown.
   * @default auto: on a terminal, unless it is a CI's or a logger is given
   */
  pretty: option(onOffAuto(), {
    flag: 'pretty',
    default: 'auto',
    defaultWords: (auto) => `${auto}: on a terminal, unless it is a CI's or a logger is given`,
    meaning: 'Log for people, show on a terminal what a drain waits for, and print a timeline at the end',
  }),
  /**
   * The report is written here, as JSON, on every path that can still write: also when something
   * else calls `process.exit()`, or the process ends because nothing keeps it alive (`forced` is
   * `process-exit` then). What was there stays until the new one is whole. A place where none could
   * be written is refused at the start: ERR_REPORT_WRITE, exit code 3.
   * @default none
   */
  reportFile: option(file(), {
    flag: 'report-file',
    defaultWords: 'none',
    meaning: 'File for the report of the run, as JSON',
  }),
})
