import type { HostProcess } from '../actors/host.ts'
import { type Clock, ownTimers } from '../base/clock.ts'
import { exitGraceMs } from '../options/budget.ts'

/**
 * Work that no request stands for, as node sees it: what keeps the process alive until it is over.
 * A server, a socket, a pipe or a message port is no work: it may be open for ever.
 */
const WORK = /^(Timeout|Immediate|ProcessWrap|FSReq\w*|GetAddrInfo\w*|GetNameInfo\w*|QueryReqWrap|\w+Job)$/
/**
 * What is over so soon only winds up: pools and adapters of frameworks close with timers of up to
 * half a second.
 */
const WINDING_UP_MS = 600
const LOOK_MS = 20

/** What was still under way when the destroy functions had run. */
export interface WorkLeft {
  /** `2 Timeout, 1 ProcessWrap`, in node's words. */
  readonly what: string
  /** 4: it has ended since. 5: the process ends before it. */
  readonly exitCode: 4 | 5
  readonly afterMs: number
}

/**
 * Looks for work that goes on after everything that the life knows of is over: a handler that has
 * answered and goes on, in a framework that hides its promise; an event of a message broker. It may
 * use what the destroy functions have taken away, and ends with the process. What was there when
 * serving began, such as an interval of the application's, is no such work; and when it never
 * began, there is none.
 */
export class UnseenWork {
  readonly #process: HostProcess
  readonly #clock: Clock
  /** Undefined as long as no request can have left any. */
  #before: ReadonlyMap<string, number> | undefined

  constructor(process: HostProcess, clock: Clock) {
    this.#process = process
    this.#clock = clock
  }

  /** What is there now is no work of requests. A second call replaces the first. */
  servingBegins(): void {
    this.#before = this.#all()
  }

  /**
   * Waits until none is left, at once when there is none, and no longer than the process may live
   * on when its life has ended: that is the time which it would have had after the report.
   * @param leftMs until the process has to be gone
   */
  async over(leftMs: number, signal: AbortSignal): Promise<WorkLeft | undefined> {
    const before = this.#before
    if (before === undefined) return undefined
    const begun = this.#clock.now()
    const graceMs = exitGraceMs(leftMs)
    let what = ''
    for (;;) {
      const found = this.#since(before)
      const afterMs = this.#clock.now() - begun
      if (found === '') return afterMs < WINDING_UP_MS ? undefined : { what, exitCode: 4, afterMs }
      what = found
      if (signal.aborted || afterMs >= graceMs) return { what, exitCode: 5, afterMs }
      await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, LOOK_MS))
    }
  }

  #since(before: ReadonlyMap<string, number>): string {
    return [...this.#all()]
      .map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')
  }

  #all(): Map<string, number> {
    const all = new Map<string, number>([['Timeout', -ownTimers()]])
    for (const name of this.#process.getActiveResourcesInfo()) if (WORK.test(name)) all.set(name, (all.get(name) ?? 0) + 1)
    return all
  }
}
