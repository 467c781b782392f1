import type { PlatformDefaults, PlatformFacts } from './platform.ts'

/**
 * A terminal is no platform of its own: a person at it may wait for the end of this or that stop.
 */
export const terminal = {
  name: 'terminal',
  where: 'after Ctrl-C on a terminal',
  // A delay is for those who still send requests; no client at a terminal is worth one, nor a last
  // call.
  defaults: { shutdownDelay: '0s', lastCall: '0s', deadline: '2s' } satisfies PlatformDefaults,
} as const

/**
 * Whether a person waits for the end of this stop. `node --watch` restarts with SIGTERM, and marks
 * its child in the environment.
 */
export const isInteractiveStop = (facts: PlatformFacts, signal: string): boolean =>
  facts.env['WATCH_REPORT_DEPENDENCIES'] !== undefined || (signal === 'SIGINT' && facts.terminal)
