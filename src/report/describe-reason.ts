import type { StopReason } from '../base/events.ts'

/**
 * A stop reason in a few words, after `stopped by`. The inspector's page loads this file as it is.
 */
export function describeReason(reason: StopReason): string {
  switch (reason.kind) {
    case 'os-signal':
      return reason.signal
    case 'stop':
      return `stop(): ${reason.reason}`
    case 'ipc':
      return 'the message "shutdown" of the parent process'
    case 'disconnected':
      return 'the lost channel to the primary of its cluster'
    case 'abort-signal':
      return `an AbortSignal: ${reason.reason}`
    case 'server-closed':
      return 'server.close()'
    case 'listener-died':
      return `the listener ${reason.address}: ${reason.error.message}`
    case 'hook-failed':
      return `post-start hook "${reason.hook}": ${reason.error.message}`
    case 'start-failed':
      return `a failed start (${reason.phase}): ${reason.error.message}`
    case 'crash':
      return `${reason.origin}: ${reason.error.message}`
  }
}
