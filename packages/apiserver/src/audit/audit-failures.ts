import { type Clock, errorRecord, type LifecycleFact, linesASecond } from '../engine.ts'
import { isAfterShutdown, type PluginFailed } from './backend.ts'

interface Failing {
  readonly message: string
  readonly lines: () => number
}

/**
 * Records each failure to store events, so that the report has them all. A backend that has
 * stopped, or whose queue is full, fails for every event in the same way: of those of a second the
 * log has the first alone, and its next line says how many it stands for.
 *
 * What is no failure is a warning, once for each text: events that came when the backend had
 * ended, and trouble in which none was lost.
 */
export function auditFailures(clock: Clock, record: (fact: LifecycleFact) => void): PluginFailed {
  const failingOf = new Map<string, Failing>()
  const warned = new Set<string>()
  const warn = (message: string): void => {
    if (warned.has(message)) return
    warned.add(message)
    record({ type: 'warning', message })
  }
  return (plugin, error, events) => {
    if (isAfterShutdown(error)) return warn('requests came after the audit backend was shut down, so their audit events are lost')
    if (events === 0) return warn(error.message)
    const known = failingOf.get(plugin)
    const failing = known?.message === error.message ? known : { message: error.message, lines: linesASecond(clock) }
    failingOf.set(plugin, failing)
    const times = failing.lines()
    record({ type: 'error', where: `audit ${plugin}`, error: errorRecord(error), ...(times !== 1 && { times }) })
  }
}
