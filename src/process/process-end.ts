import type { Clock } from '../actors/clock.ts'
import type { HostProcess } from '../actors/host.ts'
import { onStopSignal } from '../actors/os-signals.ts'
import { sayOnStandardError } from '../actors/terminal.ts'
import { type ExitCode, moreSevere } from '../machines/exit-codes.ts'
import type { StopSignal } from '../options/stop-signals.ts'

/** A process that is still alive this long after the end of its last life is told on and ended. */
const EXIT_GRACE_MS = 1_000

/** How one life left the process. */
export interface Leaving {
  readonly exitCode: ExitCode
  /** Something meant "now": nothing is waited for. */
  readonly isForced: boolean
  /** `natural` leaves the end of the process to whatever else keeps it alive. */
  readonly exit: 'explicit' | 'natural'
  /** Those that ended it, or could have. */
  readonly signals: ReadonlySet<StopSignal>
  readonly clock: Clock
}

/**
 * The end of a process, which the lives that run in it have in common: the last one ends it, so that none is ended in the
 * middle of its drain because another one was quicker, and the most severe of their exit codes is the process's.
 */
export class ProcessEnd {
  static readonly #ends = new WeakMap<HostProcess, ProcessEnd>()
  readonly #process: HostProcess
  #running = 0
  #exitCode: ExitCode = 0
  /** As we left it; a code that somebody else has set stays. */
  #exitCodeSet: HostProcess['exitCode']
  #isForced = false
  #cancelGrace: (() => void) | undefined

  static of(process: HostProcess): ProcessEnd {
    const known = ProcessEnd.#ends.get(process)
    if (known) return known
    const end = new ProcessEnd(process)
    ProcessEnd.#ends.set(process, end)
    return end
  }

  private constructor(process: HostProcess) {
    this.#process = process
  }

  /** A life runs; the process must not end before it leaves. */
  join(): void {
    this.#running++
    this.#cancelGrace?.()
    this.#cancelGrace = undefined
  }

  /** A life goes on, and leaves the process to whoever else runs in it. */
  withdraw(): void {
    this.#running--
  }

  leave({ exitCode, isForced, exit, signals, clock }: Leaving): void {
    this.#running--
    this.#exitCode = moreSevere(this.#exitCode, exitCode)
    this.#isForced ||= isForced
    const process = this.#process
    if (process.exitCode === undefined || process.exitCode === this.#exitCodeSet) {
      process.exitCode = this.#exitCode
      this.#exitCodeSet = this.#exitCode
    }
    if (this.#running > 0) return
    if (this.#isForced) process.exit(this.#exitCode)
    else if (exit === 'explicit') this.#endAfterGrace(clock, signals)
  }

  /** The process ends by itself when nothing keeps it alive. What still does is named on stderr after a second and overruled. */
  #endAfterGrace(clock: Clock, stopSignals: ReadonlySet<StopSignal>): void {
    const process = this.#process
    const timer = clock.setTimeout(() => {
      sayOnStandardError(
        process.stderr,
        `quiesce: ended, but still alive after ${EXIT_GRACE_MS} ms because of: ${whatKeeps(process)}; exiting\n`,
      )
      process.exit(process.exitCode)
    }, EXIT_GRACE_MS)
    // A signal that comes now finds the end already there; without a listener it would kill, and the exit code with it.
    const signals = onStopSignal(process, stopSignals, () => process.exit(process.exitCode))
    this.#cancelGrace = () => {
      clock.clearTimeout(timer)
      signals[Symbol.dispose]()
    }
    // The only timer that must not keep the process alive: it is there to end it.
    ;(timer as { unref?: () => void }).unref?.()
  }
}

/** Node lists standard streams although they keep nothing alive; they are named only when there is nothing else to name. */
const STANDARD_STREAMS = ['PipeWrap', 'TTYWrap']

function whatKeeps(process: HostProcess): string {
  const all = process.getActiveResourcesInfo()
  const others = all.filter((name) => !STANDARD_STREAMS.includes(name))
  return (others.length > 0 ? others : all).join(', ') || 'nothing that node knows of'
}
