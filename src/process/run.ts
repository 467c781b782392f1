import { isMainThread } from 'node:worker_threads'
import type { Observable } from 'rxjs/internal/Observable'
import type { Host, HostProcess } from '../actors/host.ts'
import { disposedTogether } from '../base/disposables.ts'
import { QuiesceError } from '../base/errors.ts'
import { CRASH_EVENTS, type CrashEvent, errorRecord, type LifecycleEvent, type LifecycleFact, type StopReason } from '../base/events.ts'
import type { Warning, WarningCode } from '../base/warnings.ts'
import { sayOnStandardError, sayWithCode } from '../log/terminal.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import type { ResolvedOptions } from '../options/options.ts'
import { chosenSignals, type StopSignal } from '../options/rows/stop-signals.ts'
import { onStopRequest, whyUnstoppable } from '../platforms/platforms.ts'
import { commandLineOf } from '../platforms/script-shell.ts'
import type { Report } from '../report/report.ts'
import { whyNotGraceful } from '../report/why-not-graceful.ts'
import { onCrash, othersListenToCrashes } from './crashes.ts'
import { onStopSignal, othersListen } from './os-signals.ts'
import { ProcessEnd } from './process-end.ts'

/** A life that is shown. */
interface Presented {
  /** Whether what it shows says why the end was not graceful, to those who read standard error. */
  readonly saysWhy: boolean
  /** Shows its end. */
  end(report: Report): void
}

/** What `run()` needs of a life. */
export interface RunnableLife {
  readonly host: Host
  readonly options: ResolvedOptions
  readonly record: (fact: LifecycleFact) => void
  readonly events$: Observable<LifecycleEvent>
  readonly ended: Promise<Report>
  /** How long the process may live on when the life has ended, in milliseconds. */
  readonly exitGraceMs: number
  /** Whether nothing is logged, so that a crash has to be said on standard error. */
  readonly isSilent: boolean
  /** What was registered and has no effect; known once it has begun. */
  readonly startWarnings?: readonly Warning[]
  /** What to do when it could not start, if that is known. */
  readonly startAdvice?: string | undefined
  begin(): void
  start(): Promise<unknown>
  requestStop(reason: StopReason): void
  signalled(signal: string): void
  crashed(origin: CrashEvent, thrown: unknown): void
  /** Shows the life to people; undefined where it is not to be shown. */
  present(endsBySignal: (signal: StopSignal) => boolean): Promise<Presented> | undefined
  /**
   * Says on standard error, when the process exits, by how much the deadline was missed, unless
   * that was said.
   */
  sayIfLate(): void
}

/**
 * Runs a life as the main job of the process: OS signals, crashes, the IPC message `shutdown` and
 * the lost primary of a cluster stop it, and the process ends with the report's exit code. See
 * `Life.run` for the contract.
 *
 * @param released aborted, the process is the program's own again; the life goes on
 */
export async function runLifecycle(life: RunnableLife, released: AbortSignal): Promise<Report> {
  const { host, options } = life
  if (host.process === process && !isMainThread) {
    throw new QuiesceError(
      'ERR_WORKER_THREAD',
      'run() owns the process and works in the main thread only; use start() and stop() in a worker',
    )
  }
  const processEnd = ProcessEnd.of(host.process)
  outliveStandardError(host.process)
  const signals = chosenSignals(options.signals, host.process.platform)
  // First of all: until something listens, a signal ends the process in the middle of this
  // function.
  const listening = onStopSignal(host.process, signals, (signal) => life.signalled(signal))
  try {
    life.begin()
  } catch (error) {
    listening[Symbol.dispose]()
    throw error
  }
  processEnd.join()
  const owned = [
    listening,
    warnOfOtherSignals(life, signals),
    ownCrashes(life),
    onStopRequest(host.process, (reason) => life.requestStop(reason)),
  ]
  warnIfUnreachableBySignal(life)
  // The log has them from the beginning of the life.
  for (const warning of [...life.options.warnings, ...(life.startWarnings ?? [])]) say(life, warning)
  // What cannot be shown is no reason to end differently.
  const presented = life.present((signal) => !released.aborted && signals.has(signal))?.catch(() => undefined)
  const giveBack = (): void => {
    for (const disposable of owned.splice(0)) disposable[Symbol.dispose]()
  }
  const release = (): void => {
    giveBack()
    processEnd.withdraw()
  }
  released.addEventListener('abort', release)
  let isForced = false
  const watching = life.events$.subscribe((event) => {
    if (event.type === 'forced') isForced = true
  })
  try {
    // A failed start ends the life like every other failure does, and stands in its report. Nor is
    // it waited for: the end of a life that is stopped while it starts does not have to wait for
    // what has not been loaded yet.
    life.start().catch(() => {})
    const report = await life.ended
    const exitCode = report.exitCode as ExitCode
    const shown = presented && (await presented)
    if (!shown?.saysWhy) sayWhyNotGraceful(life, report)
    sayStartAdvice(life)
    shown?.end(report)
    if (!released.aborted)
      processEnd.leave({
        exitCode,
        isForced,
        exit: options.exit,
        signals,
        graceMs: life.exitGraceMs,
        clock: host.clock,
        exits: () => life.sayIfLate(),
      })
    return report
  } finally {
    // This life has left the process: it cannot leave it again, or others that run would not be
    // waited for.
    released.removeEventListener('abort', release)
    watching.unsubscribe()
    giveBack()
  }
}

/**
 * Says why the end was not graceful: without a logger of the user's there may be no log at all, and
 * with one it may be read elsewhere.
 */
function sayWhyNotGraceful({ host, options }: RunnableLife, report: Report): void {
  if (options.logger === false) return
  for (const line of whyNotGraceful(report)) sayOnStandardError(host.process.stderr, `quiesce: ${line}\n`)
}

/** Says what to do about a start that has failed, where that is known. */
function sayStartAdvice({ host, options, startAdvice }: RunnableLife): void {
  if (startAdvice === undefined || options.logger === false) return
  sayOnStandardError(host.process.stderr, `quiesce: ${startAdvice}\n`)
}

let isWarned = false

/** Warns once in a process, for those who look why their requests are cut. */
function warnIfUnreachableBySignal(life: RunnableLife): void {
  if (life.host.process !== process || isWarned) return
  const { facts, platform } = life.options
  const { ppid } = process
  const why = whyUnstoppable(platform.name, { ...facts, ppid, parent: commandLineOf(ppid) })
  if (why === undefined) return
  isWarned = true
  warn(life, { code: 'WARN_SIGNAL_LOST', message: why })
}

/**
 * Warns in the log, and on standard error too: there may be no log, or one that is read elsewhere.
 */
function warn(life: RunnableLife, { code, message }: Warning): void {
  life.record({ type: 'warning', message, details: { code } })
  say(life, { code, message })
}

function say({ host, options }: RunnableLife, { code, message }: Warning): void {
  if (options.logger !== false) sayWithCode(host.process.stderr, code, message)
}

const warnOfOtherSignals = (life: RunnableLife, signals: ReadonlySet<StopSignal>): Disposable =>
  warnOfOthers(life, 'signals', signals, (unnamed) => othersListen(life.host.process, unnamed))

/**
 * Says which of the events have other listeners. They are looked for twice: those that listen
 * already, and at the stop those that came later.
 */
function warnOfOthers<Event extends string>(
  life: RunnableLife,
  what: 'signals' | 'crashes',
  events: Iterable<Event>,
  look: (unnamed: ReadonlySet<Event>) => readonly Event[],
): Disposable {
  const unnamed = new Set(events)
  const warnOf = (): void => {
    const others = look(unnamed)
    if (others.length === 0) return
    for (const event of others) unnamed.delete(event)
    life.record({ type: 'warning', message: othersWarning(others), details: { code: OTHERS, [what]: others } })
  }
  warnOf()
  const stopping = life.events$.subscribe((event) => {
    if (event.type === 'signal' && event.name === 'StopRequested') warnOf()
  })
  return { [Symbol.dispose]: () => stopping.unsubscribe() }
}

const OTHERS: WarningCode = 'WARN_OTHER_LISTENERS'

const othersWarning = (events: readonly string[]): string =>
  `${events.join(', ')}: the program has a listener of its own, which runs too; if it ends the process, requests are cut and the end is not run`

/**
 * A standard error without a reader is no crash of its own: what is said about a crash would be the
 * next crash, for ever, and faster than any promise settles. It stays so until the end of the
 * process.
 */
function outliveStandardError({ stderr }: HostProcess): void {
  if (stderr.listenerCount('error') === 0) stderr.on('error', () => {})
}

function ownCrashes(life: RunnableLife): Disposable {
  const { process } = life.host
  let isCaptureSaid = false
  const captured = (): void => {
    if (isCaptureSaid) return
    isCaptureSaid = true
    warn(life, { code: 'WARN_CRASHES_TAKEN', message: CAPTURED })
  }
  const crashes = onCrash(process, {
    crashed: (origin, thrown) => {
      const error = errorRecord(thrown)
      // Also when the life is ending already, for another reason: nothing else reports it.
      life.record({ type: 'error', where: origin, error })
      if (life.isSilent) sayOnStandardError(process.stderr, `quiesce: ${origin}: ${error.stack ?? error.message}\n`)
      life.crashed(origin, thrown)
    },
    listenerFailed: (event, thrown) => {
      life.record({ type: 'error', where: `listener of ${event}`, error: errorRecord(thrown) })
    },
    endless: () => warn(life, { code: 'WARN_CRASH_LOOP', message: ENDLESS }),
    captured,
  })
  if (process.hasUncaughtExceptionCaptureCallback?.()) captured()
  const warning = warnOfOthers(life, 'crashes', CRASH_EVENTS, (unnamed) => othersListenToCrashes(process, unnamed))
  return disposedTogether([warning, crashes])
}

const CAPTURED =
  'process.setUncaughtExceptionCaptureCallback() or a domain takes uncaught exceptions before run() sees them: after one, the server goes on'

const ENDLESS =
  'a hundred crashes came before the event loop went on: what reports them fails itself, such as a logger or a subscriber of quiesce:error. Until the event loop goes on, further crashes are not reported'
