import { disposedTogether } from '../base/disposables.ts'
import { sharedByCopies } from '../base/shared-by-copies.ts'
import { SharedListeners } from '../base/shared-listeners.ts'

/** Where OS signals are heard: the process. */
export interface SignalSource {
  prependListener(event: string, listener: (signal: NodeJS.Signals) => void): unknown
  off(event: string, listener: (signal: NodeJS.Signals) => void): unknown
  listenerCount(event: string): number
}

const listeners = sharedByCopies('signals', () => new Map<NodeJS.Signals, SharedListeners<SignalSource, [signal: NodeJS.Signals]>>())

/**
 * Calls `listener` for every one of these signals until disposed. Without a listener, the process
 * dies of SIGTERM as usual.
 * @see kubernetes/apiserver pkg/server/signal.go SetupSignalContext
 */
export function onStopSignal(
  source: SignalSource,
  signals: Iterable<NodeJS.Signals>,
  listener: (signal: NodeJS.Signals) => void,
): Disposable {
  const listening = Array.from(signals, (signal) => listenersTo(signal).listen(source, listener))
  return disposedTogether(listening)
}

/**
 * The signals that the rest of the program listens to as well. Node calls everyone who listens to a
 * signal, so ours cannot keep theirs from ending the process.
 */
export function othersListen<Signal extends NodeJS.Signals>(source: SignalSource, signals: Iterable<Signal>): Signal[] {
  return [...signals].filter((signal) => source.listenerCount(signal) > (listenersTo(signal).isListening(source) ? 1 : 0))
}

/**
 * The shared listener of a signal at the process, for all who listen to it, whichever other signals
 * they listen to.
 */
function listenersTo(signal: NodeJS.Signals): SharedListeners<SignalSource, [signal: NodeJS.Signals]> {
  const known = listeners.get(signal)
  if (known) return known
  const shared = new SharedListeners<SignalSource, [signal: NodeJS.Signals]>((source, notify) => {
    // First of all: the program's own listener may close the server, which is part of a stop then.
    source.prependListener(signal, notify)
    return () => void source.off(signal, notify)
  })
  listeners.set(signal, shared)
  return shared
}
