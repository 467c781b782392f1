import { SharedListeners } from './shared-listeners.ts'

/** What tells of OS signals: the process. */
export interface SignalSource {
  on(event: string, listener: (signal: NodeJS.Signals) => void): unknown
  off(event: string, listener: (signal: NodeJS.Signals) => void): unknown
  readonly platform: NodeJS.Platform
}

/** SIGHUP: the terminal is gone, or a supervisor asks. SIGBREAK: Ctrl-Break and the closing of the console on Windows. */
const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP']
const WINDOWS_STOP_SIGNALS: readonly NodeJS.Signals[] = [...STOP_SIGNALS, 'SIGBREAK']

const stopSignals = new SharedListeners<SignalSource, [signal: NodeJS.Signals]>((source, tell) => {
  const signals = source.platform === 'win32' ? WINDOWS_STOP_SIGNALS : STOP_SIGNALS
  for (const signal of signals) source.on(signal, tell)
  return () => {
    for (const signal of signals) source.off(signal, tell)
  }
})

/**
 * Calls `listener` for every stop signal until disposed. While nobody listens, the process dies of SIGTERM as usual.
 * @see kubernetes/apiserver pkg/server/signal.go SetupSignalContext
 */
export const onStopSignal = (source: SignalSource, listener: (signal: NodeJS.Signals) => void): Disposable =>
  stopSignals.listen(source, listener)
