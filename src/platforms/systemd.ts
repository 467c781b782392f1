import { variable } from '../base/look.ts'
import { NotifySocket } from './notify-socket.ts'
import { isSet, type PlatformProcess, type PlatformSpec } from './platform.ts'
import { followForSystemd } from './systemd-service.ts'

export const systemd = {
  name: 'systemd',
  where: 'under systemd',
  signs: [
    isSet('NOTIFY_SOCKET'),
    // A desktop session is a unit too, and every shell in it inherits INVOCATION_ID.
    {
      words: 'INVOCATION_ID is set and there is no terminal',
      isThere: ({ env, terminal }) => Boolean(variable(env, 'INVOCATION_ID')) && !terminal,
    },
  ],
  // KillMode=control-group.
  signalsAll: true,
  ends: 'SIGTERM',
  kills: { after: '90s', setBy: '`TimeoutStopSec`' },
  defaults: { deadline: '80s' },
  /** The message for `Type=notify`. */
  ready: (process, signal) => notifyReady(process, signal),
  follow: followForSystemd,
} as const satisfies PlatformSpec

/**
 * @see kubernetes/apiserver pkg/server/genericapiserver.go NonBlockingRunWithContext,
 * systemd.SdNotify
 */
async function notifyReady(process: PlatformProcess, signal: AbortSignal): Promise<void> {
  const socket = NotifySocket.of(process)
  if (!socket || signal.aborted) return
  try {
    await socket.send({ READY: '1' }, signal)
  } catch (error) {
    const { message } = error as Error
    throw new Error(`Unable to send systemd daemon successful start message: ${message}`, { cause: error })
  }
}
