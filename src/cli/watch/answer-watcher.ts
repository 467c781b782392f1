/** What a generation says to its watcher as soon as it stops, by whatever. */
export const STOPPING = 'stopping'

/** Tells the watcher of this process when `stop` is aborted: one that is blocked cannot. */
export function answerWatcher(stop: AbortSignal): void {
  const notify = (): void => {
    // A watcher that is gone needs no answer.
    if (process.connected) process.send?.(STOPPING, undefined, undefined, () => {})
  }
  if (stop.aborted) notify()
  else stop.addEventListener('abort', notify, { once: true })
}
