import type { Server } from 'node:net'
import { isBeforeClose, nameOfDestroying } from '../actors/before-close.ts'
import { osSignalOf } from '../base/events.ts'
import type { Life } from '../lifecycle/life.ts'
import { chosenSignals, type SignalsOption } from '../options/rows/stop-signals.ts'

/** An app of Nest, as far as it is closed. */
export interface ClosableApp {
  close(signal?: string): Promise<void>
  getHttpServer?(): unknown
}

/** Nest has this method for itself, so its type does not show it. */
interface SubscribedApp extends ClosableApp {
  unsubscribeFromProcessSignals?(): void
}

type Close = ClosableApp['close']

/** The name of the destroy function in which Nest closes. */
const NAME = 'nest'

/**
 * Makes the app's `close()` a stop of the life, like that of a server: by itself Nest runs its
 * shutdown hooks first, while requests are answered that use what the hooks end, and the life would
 * run them once more. Nest closes once, among what is destroyed; the promise of `close()` settles
 * when the life has ended, and rejects with the error of a hook that has failed.
 * @param signals which OS signals end the life, and so no longer the app
 * @throws QuiesceError as `addDestroy`; the app is as it was then
 */
export function closeWithLife(app: ClosableApp, life: Pick<Life, 'addDestroy' | 'stop'>, signals?: SignalsOption): void {
  const closeOfNest = closeOf(app)
  let given: string | undefined
  let closing: Promise<void> | undefined
  let failure: { readonly thrown: unknown } | undefined
  let stopped: Promise<void> | undefined
  const closeOnce = (signal: string | undefined): Promise<void> => {
    closing ??= Promise.resolve(closeOfNest.call(app, signal)).catch((thrown: unknown) => {
      failure = { thrown }
      throw thrown
    })
    return closing
  }
  const stop = async (): Promise<void> => {
    await life.stop('app.close()')
    if (failure) throw failure.thrown
  }
  const close: Close = (signal) => {
    if (isBeforeClose()) return closedAlready(app)
    // The end of the life waits for the code that calls.
    const destroying = nameOfDestroying()
    if (destroying === NAME) return Promise.resolve()
    if (destroying !== undefined) return closeOnce(signal)
    given ??= signal
    stopped ??= stop()
    return stopped
  }
  life.addDestroy(NAME, ({ reason }) => closeOnce(osSignalOf(reason) ?? given))
  // Nest gives a proxy of its app, which takes no assignment, and hands a definition on.
  Object.defineProperty(app, 'close', { value: close, writable: true, configurable: true })
  takeSignalsFrom(app, signals)
}

/**
 * Undoes `enableShutdownHooks()` for the signals that end the life: at one of these Nest would run
 * its hooks and close its adapter at once, beside the drain, and the life would run them once more.
 * Nest lets go of all of its signals; those that do not end the life are given back.
 */
function takeSignalsFrom(app: SubscribedApp, signals: SignalsOption | undefined): void {
  if (typeof app.unsubscribeFromProcessSignals !== 'function') return
  const ours: ReadonlySet<unknown> = chosenSignals(signals, process.platform)
  const others = process.eventNames().filter((event) => /^SIG[A-Z]/.test(String(event)) && !ours.has(event)) as 'SIGUSR2'[]
  const heard = others.map((event) => ({ event, listeners: process.listeners(event) }))
  app.unsubscribeFromProcessSignals()
  for (const { event, listeners } of heard) {
    const left = process.listeners(event)
    for (const listener of listeners) if (!left.includes(listener)) process.on(event, listener)
  }
}

/**
 * Nest's own: what its proxy gives looks for the method only when it is called, and would find
 * ours.
 */
const closeOf = (app: ClosableApp): Close =>
  (Object.getOwnPropertyDescriptor(app, 'close')?.value ?? (Object.getPrototypeOf(app) as ClosableApp).close) as Close

/** The stop waits for the code that calls; the server's own `close()` warns of it. */
function closedAlready(app: ClosableApp): Promise<void> {
  const server = app.getHttpServer?.() as Pick<Server, 'close'> | undefined
  return new Promise((resolve) => {
    if (server) server.close(() => resolve())
    else resolve()
  })
}
