/**
 * OS signals, shared by every life in the process: one set of listeners is installed while anybody listens and removed with
 * the last, so that a process that serves nothing dies of SIGTERM as usual. Instances are independent (V14).
 * @see kubernetes/apiserver pkg/server/signal.go SetupSignalContext
 */
export interface SignalSource {
  on(event: string, listener: (signal: NodeJS.Signals) => void): unknown
  off(event: string, listener: (signal: NodeJS.Signals) => void): unknown
  readonly platform: NodeJS.Platform
}

/** SIGHUP: the terminal is gone, or a supervisor asks. SIGBREAK: Ctrl-Break and the closing of the console on Windows. */
const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP']
const WINDOWS_STOP_SIGNALS: readonly NodeJS.Signals[] = [...STOP_SIGNALS, 'SIGBREAK']

interface Hub {
  readonly listeners: Set<(signal: NodeJS.Signals) => void>
  readonly uninstall: () => void
}
const hubs = new WeakMap<SignalSource, Hub>()

/** Calls `listener` for every stop signal until disposed; disposing twice does nothing. */
export function onStopSignal(source: SignalSource, listener: (signal: NodeJS.Signals) => void): Disposable {
  const hub = hubs.get(source) ?? install(source)
  hub.listeners.add(listener)
  return {
    [Symbol.dispose]: () => {
      if (!hub.listeners.delete(listener) || hub.listeners.size > 0) return
      hub.uninstall()
      hubs.delete(source)
    },
  }
}

function install(source: SignalSource): Hub {
  const listeners: Hub['listeners'] = new Set()
  const signals = source.platform === 'win32' ? WINDOWS_STOP_SIGNALS : STOP_SIGNALS
  const onSignal = (signal: NodeJS.Signals): void => {
    for (const listener of [...listeners]) listener(signal)
  }
  for (const signal of signals) source.on(signal, onSignal)
  const uninstall = (): void => {
    for (const signal of signals) source.off(signal, onSignal)
  }
  const hub = { listeners, uninstall }
  hubs.set(source, hub)
  return hub
}
