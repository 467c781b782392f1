import type { LifecycleEvent, StopReason } from '../base/events.ts'
import { debug, type LogContext, PHASE_OF, recordOf, withoutStack } from './log-lines.ts'
import { type Logger, writeLine } from './logger.ts'

/**
 * A sink that writes lifecycle events to a logger: upstream's signals with upstream's names and
 * messages, in the order they fired, at info; everything of ours at debug, unless an operator has
 * to know. Never throws.
 * @param lost is told why the logger did not take a line
 * @see kubernetes/apiserver pkg/server/genericapiserver.go RunWithContext
 */
export function logEvents(logger: Logger, context: LogContext, lost: (thrown: unknown) => void): (event: LifecycleEvent) => void {
  let reason: object | undefined
  /** The phases that fail because of their hooks: each hook has said why. */
  const said = new Set<string>()
  return (event) => {
    if (event.type === 'hook.ended' && event.outcome === 'failed') said.add(PHASE_OF[event.kind] ?? event.name)
    if (event.type === 'signal' && event.name === 'StopRequested') reason = event.reason && withoutStack(event.reason)
    if (event.type === 'error' && event.times === 0) return
    const isSaid = event.type === 'phase.ended' && event.outcome === 'failed' && said.has(event.phase)
    const { level, fields, message } = isSaid
      ? debug('phase ended', { phase: event.phase, outcome: event.outcome })
      : recordOf(event, { ...context, reason })
    // Of a start that has failed nothing is drained: what has failed is what there is to know.
    const isOfNothing = level === 'info' && (event.type === 'signal' || event.type === 'drained') && isFailedStart(reason)
    writeLine(logger, isOfNothing ? 'debug' : level, fields, message, lost)
  }
}

const isFailedStart = (reason: object | undefined): boolean =>
  reason !== undefined && 'kind' in reason && reason.kind === ('start-failed' satisfies StopReason['kind'])
