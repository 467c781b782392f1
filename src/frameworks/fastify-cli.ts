import { createRequire } from 'node:module'
import { CRASH_EVENTS } from '../base/events.ts'
import { chosenSignals, type SignalsOption } from '../options/rows/stop-signals.ts'

/** The functions of close-with-grace by which fastify-cli hears of its end. */
const ITS_LISTENERS = ['onSignal', 'onError']

/** Where `fastify start` is, however it was started; it is CommonJS. */
const isRunning = (): boolean =>
  Object.keys(createRequire(process.execPath).cache).some((file) => /[\\/]fastify-cli[\\/]start\.js$/.test(file))

/**
 * `fastify start` ends the process 500 ms after a signal or a crash (its `--close-grace-delay`),
 * whatever is in flight, and as soon as `app.close()` is over. All that it does is done by the
 * life, so its listeners of what the life listens to are taken out.
 *
 * @returns what was taken over
 */
export function takeOverFromFastifyCli(signals: SignalsOption | undefined): readonly string[] {
  if (!isRunning()) return []
  const events: readonly string[] = [...chosenSignals(signals, process.platform), ...CRASH_EVENTS]
  return events.filter((event) => {
    const its = process.listeners(event as 'SIGTERM').filter(({ name }) => ITS_LISTENERS.includes(name))
    for (const listener of its) process.off(event, listener)
    return its.length > 0
  })
}
