import { SharedListeners } from '../base/shared-listeners.ts'

const CRASH_EVENTS = ['uncaughtException', 'unhandledRejection'] as const
export type CrashEvent = (typeof CRASH_EVENTS)[number]

/** Where crashes are heard: the process. */
export interface CrashSource {
  on(event: CrashEvent, listener: (error: unknown) => void): unknown
  off(event: CrashEvent, listener: (error: unknown) => void): unknown
  listenerCount(event: CrashEvent): number
}

/**
 * Of those that listened before us: two who decide about a crash would both end the process, so
 * these are left to them.
 */
const leftToOthers = new WeakMap<CrashSource, readonly CrashEvent[]>()

const crashes = new SharedListeners<CrashSource, [event: CrashEvent, error: unknown]>((source, tell) => {
  const owned = CRASH_EVENTS.filter((event) => source.listenerCount(event) === 0).map((event) => ({
    event,
    listener: (error: unknown) => tell(event, error),
  }))
  leftToOthers.set(
    source,
    CRASH_EVENTS.filter((event) => !owned.some((own) => own.event === event)),
  )
  for (const { event, listener } of owned) source.on(event, listener)
  return () => {
    for (const { event, listener } of owned) source.off(event, listener)
  }
})

/**
 * Calls `listener` for every crash until disposed, except for the events in `leftToOthers`, which
 * have other listeners.
 */
export function onCrash(
  source: CrashSource,
  listener: (event: CrashEvent, error: unknown) => void,
): Disposable & { readonly leftToOthers: readonly CrashEvent[] } {
  return { ...crashes.listen(source, listener), leftToOthers: leftToOthers.get(source) ?? [] }
}
