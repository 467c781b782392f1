import type { HostProcess } from '../actors/host.ts'
import type { Clock } from '../base/clock.ts'
import { sharedByCopies } from '../base/shared-by-copies.ts'
import { sayWithCode } from '../log/terminal.ts'
import { type ExitCode, moreSevere } from '../machines/exit-codes.ts'
import type { StopSignal } from '../options/rows/stop-signals.ts'
import { onStopSignal } from './os-signals.ts'
import { onProcessExit } from './process-exit.ts'

/** How one life left the process. */
export interface LifeExit {
  readonly exitCode: ExitCode
  /** Whether something meant "now": nothing is waited for. */
  readonly isForced: boolean
  /** `natural` leaves the end of the process to whatever else keeps it alive. */
  readonly exit: 'explicit' | 'natural'
  /** The signals that ended it, or could have. */
  readonly signals: ReadonlySet<StopSignal>
  /** How long the process may live on, if this is the last life. */
  readonly graceMs: number
  readonly clock: Clock
  /** Learns that the process exits after this life, if it is the last. */
  readonly exits: () => void
}

/**
 * The end of a process, which the lives that run in it have in common: the last one ends it, so
 * that none is ended in the middle of its drain because another one was quicker, and the most
 * severe of their exit codes is the process's.
 */
export class ProcessEnd {
  static readonly #ends = sharedByCopies('ends', () => new WeakMap<HostProcess, ProcessEnd>())
  readonly #process: HostProcess
  #running = 0
  #exitCode: ExitCode = 0
  /** The exit code as we left it; one that other code has set stays. */
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

  /** Whether no other life runs. */
  get isLast(): boolean {
    return this.#running === 1
  }

  /** A life goes on, and leaves the process to the other code in it. */
  withdraw(): void {
    this.#running--
  }

  leave(life: LifeExit): void {
    const { exitCode, isForced, exit } = life
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
    else if (exit === 'explicit') this.#endAfterGrace(life)
  }

  /**
   * The process ends by itself when nothing keeps it alive. What still does is named on stderr when
   * its time is over, and overruled; with no time at all, in a step of its own, so that code that
   * awaits `run()` comes first.
   */
  #endAfterGrace({ graceMs, clock, signals: stopSignals, exits }: LifeExit): void {
    const process = this.#process
    const allowedMs = Math.round(graceMs)
    // A channel to the parent is no work: in a cluster worker it is open as long as the process
    // lives.
    process.channel?.unref()
    const end = (): void => {
      const still = allowedMs === 0 ? 'out of time, and still alive' : `but still alive after ${allowedMs} ms`
      sayWithCode(process.stderr, 'WARN_STILL_ALIVE', `ended, ${still} because of: ${whatKeeps(process)}; exiting`)
      process.exit(process.exitCode)
    }
    // What we have just destroyed is closed in the next turns of the event loop, however long one
    // takes: a process that nothing else keeps alive ends by itself then, with nothing to say.
    let timer = wait(clock, Math.max(allowedMs, CLOSED_MS), () => {
      timer = wait(clock, 0, () => {
        timer = wait(clock, 0, end)
      })
    })
    // A signal that comes now finds the end already there; without a listener it would kill, and
    // the exit code with it.
    const signals = onStopSignal(process, stopSignals, () => process.exit(process.exitCode))
    const exit = onProcessExit(process, exits)
    this.#cancelGrace = () => {
      clock.clearTimeout(timer)
      exit[Symbol.dispose]()
      signals[Symbol.dispose]()
    }
  }
}

/** The only timers that must not keep the process alive: they are there to end it. */
function wait(clock: Clock, ms: number, then: () => void): unknown {
  const timer = clock.setTimeout(then, ms)
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}

/**
 * The time in milliseconds until sockets that were destroyed are closed, also when there is no time
 * left.
 */
const CLOSED_MS = 10

/** Node lists standard streams and the channel to the parent, although they keep nothing alive. */
const KEEPS_NOTHING = ['PipeWrap', 'TTYWrap']

/** Runs within the turn in which it is listed; most are of node's own streams, or ours. */
const MOMENTARY = 'Immediate'

const whatKeepsAlive = (process: HostProcess): readonly string[] =>
  process.getActiveResourcesInfo().filter((name) => name !== MOMENTARY && !KEEPS_NOTHING.includes(name))

const whatKeeps = (process: HostProcess): string =>
  whatKeepsAlive(process).join(', ') || 'what node does not name, such as a worker thread or a loop of setImmediate()'
