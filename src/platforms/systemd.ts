import { execFile } from 'node:child_process'
import { isSet, type PlatformProcess, type PlatformSpec } from './platform.ts'

/** Longest time `systemd-notify` may take; it writes one datagram. */
const NOTIFY_TIMEOUT_MS = 2_000

export const systemd = {
  name: 'systemd',
  where: 'under systemd',
  signs: [
    isSet('NOTIFY_SOCKET'),
    // A desktop session is a unit too, and every shell in it inherits INVOCATION_ID.
    {
      words: 'INVOCATION_ID is set and there is no terminal',
      isThere: ({ env, terminal }) => Boolean(env['INVOCATION_ID']) && !terminal,
    },
  ],
  // KillMode=control-group.
  signalsAll: true,
  ends: 'SIGTERM, SIGKILL after 90 s (TimeoutStopSec)',
  defaults: { deadline: '80s' },
  /** For `Type=notify`. */
  ready: (process, signal) => (process.env['NOTIFY_SOCKET'] ? notify('--ready', process, signal) : undefined),
} as const satisfies PlatformSpec

/**
 * Node has no datagram sockets in the file system, so systemd's own tool writes to the one in
 * NOTIFY_SOCKET.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go NonBlockingRunWithContext,
 * systemd.SdNotify
 */
function notify(what: string, { env, pid }: PlatformProcess, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile('systemd-notify', [what, `--pid=${pid}`], { env, signal, timeout: NOTIFY_TIMEOUT_MS }, (error) => {
      if (error) reject(new Error(`Unable to send systemd daemon successful start message: ${error.message}`, { cause: error }))
      else resolve()
    })
  })
}
