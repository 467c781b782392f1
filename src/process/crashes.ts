import { systemClock } from '../base/clock.ts'
import { CRASH_EVENTS, type CrashEvent, isCrashEvent } from '../base/events.ts'
import { sharedByCopies } from '../base/shared-by-copies.ts'
import { SharedListeners } from '../base/shared-listeners.ts'
import { ProcessExit } from '../base/thrown-exit.ts'
import { isThenable } from '../http/emit-gate.ts'

/** Emitted before each uncaught exception, also before one that no listener gets. */
const MONITOR = 'uncaughtExceptionMonitor'

type Listener = (...args: readonly unknown[]) => unknown

/** Where crashes are heard: the process. */
export interface CrashSource {
  on(event: CrashEvent, listener: Listener): unknown
  off(event: CrashEvent, listener: Listener): unknown
  emit(event: string | symbol, ...args: unknown[]): boolean
  rawListeners(event: string): readonly unknown[]
  hasUncaughtExceptionCaptureCallback?(): boolean
}

/** What a life hears of the crashes of its process. */
export interface CrashListener {
  crashed(origin: CrashEvent, thrown: unknown): void
  /** Another listener of a crash has failed itself, which is no further crash. */
  listenerFailed(event: string, thrown: unknown): void
  /** So many have come in this turn of the event loop that no more of it are told. */
  endless(): void
  /** An uncaught exception goes to a capture callback, and to no listener. */
  captured(): void
}

/**
 * What reports a crash may fail itself, in a next tick, and that is the next crash: for ever, as no
 * timer and no promise comes in between. One defect makes as many as it has requests to fail.
 */
const IN_A_TURN_MAX = 100

const crashes = sharedByCopies(
  'crashes',
  () =>
    new SharedListeners<CrashSource, [notify: (listener: CrashListener) => void]>((source, notify) => {
      const gate = new CrashGate(source, (hear) => notify(hear))
      return () => gate.close()
    }),
)

/**
 * Calls `listener` for every crash until disposed, before the other listeners of the program, which
 * all run too: a reporter that decides by the number of listeners whether to end the process finds
 * one, and one that fails keeps no other from running. See docs/decisions/0044.
 */
export function onCrash(source: CrashSource, listener: CrashListener): Disposable {
  return crashes.listen(source, (hear) => hear(listener))
}

/** Listeners that record a crash and leave the end of the process to others. */
const LEAVE_THE_END = new Set([
  // Of node itself, when domains are used.
  'domainUncaughtExceptionClear',
  // Sentry's, in its default mode.
  'sendUnhandledPromise',
])

/** Sentry's listener of exceptions bears this mark, and ends the process when it finds no other. */
const leavesTheEnd = (listener: Listener & { readonly _errorHandler?: unknown }): boolean =>
  listener._errorHandler === true || LEAVE_THE_END.has(listener.name)

/** The events to which the rest of the program listens as well, and may end the process. */
export const othersListenToCrashes = (source: CrashSource, events: Iterable<CrashEvent>): CrashEvent[] =>
  [...events].filter((event) => source.rawListeners(event).some((listener) => !isOurs(listener) && !leavesTheEnd(listener as Listener)))

const ours = sharedByCopies('crash listeners', () => new WeakSet<object>())
const isOurs = (listener: unknown): boolean => ours.has(listener as object)

/**
 * One listener for each kind of crash, and an `emit` of the process's own around all of them: node
 * ends the process at once, with exit code 7, when a listener of an uncaught exception throws.
 */
class CrashGate {
  readonly #source: CrashSource
  readonly #notify: (hear: (listener: CrashListener) => void) => void
  readonly #ownEmit: CrashSource['emit'] | undefined
  readonly #emit: CrashSource['emit']
  #isOpen = true
  #inThisTurn = 0
  /** A crash that node will emit once more, under another name, in the step that it is in. */
  #again: { readonly event: CrashEvent; readonly thrown: unknown } | undefined

  constructor(source: CrashSource, notify: (hear: (listener: CrashListener) => void) => void) {
    this.#source = source
    this.#notify = notify
    for (const listener of Object.values(this.#listeners)) ours.add(listener)
    for (const event of CRASH_EVENTS) source.on(event, this.#listeners[event])
    this.#ownEmit = Object.hasOwn(source, 'emit') ? source.emit : undefined
    this.#emit = (event, ...args) => {
      if (this.#isOpen && (event === MONITOR || isCrashEvent(event))) return this.#deliver(event, args)
      return this.#inheritedEmit().call(source, event, ...args)
    }
    source.emit = this.#emit
  }

  close(): void {
    this.#isOpen = false
    for (const event of CRASH_EVENTS) this.#source.off(event, this.#listeners[event])
    // Code that has wrapped our `emit` since keeps it; it lets everything through now.
    if (this.#source.emit !== this.#emit) return
    if (this.#ownEmit) this.#source.emit = this.#ownEmit
    else delete (this.#source as Partial<CrashSource>).emit
  }

  readonly #listeners: Readonly<Record<CrashEvent, Listener>> = {
    uncaughtException: (thrown, origin) => {
      const isRejection = origin === 'unhandledRejection'
      if (this.#isAgain('uncaughtException', thrown)) return
      // With --unhandled-rejections=strict, which emits the rejection itself after it.
      if (isRejection) this.#again = { event: 'unhandledRejection', thrown }
      this.#crashed(isRejection ? 'unhandledRejection' : 'uncaughtException', thrown)
    },
    unhandledRejection: (thrown) => {
      if (!this.#isAgain('unhandledRejection', thrown)) this.#crashed('unhandledRejection', thrown)
    },
  }

  #crashed(origin: CrashEvent, thrown: unknown): void {
    // Not by an immediate: after a crash, node runs the next ticks in one, before any timer
    // [measured].
    if (this.#inThisTurn === 0) systemClock.setTimeout(() => (this.#inThisTurn = 0), 0)
    this.#inThisTurn++
    if (this.#inThisTurn === IN_A_TURN_MAX) this.#notify((listener) => listener.endless())
    if (this.#inThisTurn >= IN_A_TURN_MAX) return
    this.#notify((listener) => listener.crashed(origin, thrown))
  }

  #isAgain(event: CrashEvent, thrown: unknown): boolean {
    const again = this.#again
    this.#again = undefined
    if (again?.event !== event) return false
    // What is no error is wrapped into one by node.
    return again.thrown === thrown || (again.thrown as { code?: unknown } | undefined)?.code === 'ERR_UNHANDLED_REJECTION'
  }

  /**
   * Ours first: another one may end the process. What a listener throws ends nothing, except that
   * of a rejection, which node makes an uncaught exception of: that goes to its listeners as well.
   */
  #deliver(event: CrashEvent | typeof MONITOR, args: readonly unknown[]): boolean {
    if (event === MONITOR && this.#source.hasUncaughtExceptionCaptureCallback?.()) this.#notify((listener) => listener.captured())
    const listeners = this.#source.rawListeners(event) as Listener[]
    const thrown: unknown[] = []
    for (const listener of [...listeners.filter(isOurs), ...listeners.filter((one) => !isOurs(one))]) {
      try {
        const returned = listener.apply(this.#source, args as unknown[])
        if (isThenable(returned)) Promise.resolve(returned).catch((late: unknown) => this.#failed(event, late, args))
      } catch (error) {
        if (error instanceof ProcessExit) throw error
        thrown.push(error)
        this.#failed(event, error, args)
      }
    }
    if (event === 'unhandledRejection' && thrown.length > 0) {
      this.#again = { event: 'uncaughtException', thrown: thrown[0] }
      throw thrown[0]
    }
    return listeners.length > 0
  }

  /** Reports a listener that failed; one that throws what it has heard says nothing new. */
  #failed(event: string, error: unknown, [heard]: readonly unknown[]): void {
    if (error !== heard) this.#notify((listener) => listener.listenerFailed(event, error))
  }

  /** Looked up each time: other code may patch the prototype whenever it is loaded. */
  readonly #inheritedEmit = (): CrashSource['emit'] => this.#ownEmit ?? (Object.getPrototypeOf(this.#source) as CrashSource).emit
}
