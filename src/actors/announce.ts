import { execFile } from 'node:child_process'
import type { Host } from './host.ts'

/** Longest time `systemd-notify` may take; it writes one datagram. */
const NOTIFY_TIMEOUT_MS = 2_000

/**
 * Tells the platform that the server is ready: `READY=1` to systemd when it waits for it (`Type=notify`), `ready` to PM2
 * (`wait_ready`). Node has no datagram sockets in the file system, so systemd's own tool writes to the one in NOTIFY_SOCKET.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go NonBlockingRunWithContext, systemd.SdNotify
 */
export async function announceReady(host: Host, signal: AbortSignal): Promise<void> {
  const { env, pid } = host.process
  if (env.pm_id !== undefined) host.process.send?.('ready')
  if (!env.NOTIFY_SOCKET) return
  await new Promise<void>((resolve, reject) => {
    execFile('systemd-notify', ['--ready', `--pid=${pid}`], { env, signal, timeout: NOTIFY_TIMEOUT_MS }, (error) => {
      if (error) reject(new Error(`Unable to send systemd daemon successful start message: ${error.message}`, { cause: error }))
      else resolve()
    })
  })
}
