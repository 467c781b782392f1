import { variable } from '../base/look.ts'
import type { PlatformProcess, PlatformSpec } from './platform.ts'

const isOurs = ({ env }: Pick<PlatformProcess, 'env'>): boolean => variable(env, 'pm_id') !== undefined

export const pm2 = {
  name: 'pm2',
  where: 'under PM2',
  // Only PM2's own children have pm_id; PM2_HOME is a setting that people keep in their shell.
  signs: [{ words: 'pm_id is set', isThere: isOurs }],
  // `treekill`.
  signalsAll: true,
  ends: 'SIGINT, or the message `shutdown` with `shutdown_with_message`',
  // PM2 has its settings of a process in its environment.
  kills: { after: '1.6s', setBy: '`kill_timeout`', setTo: ({ kill_timeout: ms }) => (/^\d+$/.test(ms ?? '') ? `${ms}ms` : undefined) },
  defaults: { deadline: '1.4s' },
  /** The message for `wait_ready`. */
  ready: (process) => {
    if (isOurs(process)) process.send?.('ready')
    return undefined
  },
  /**
   * `shutdown_with_message`. Other process managers on Windows, which have no SIGTERM to send, do
   * the same.
   */
  stopRequests: (process, stop) => {
    const onMessage = (message: unknown): void => {
      if (message === 'shutdown') stop({ kind: 'ipc' })
    }
    if (process.send) process.on('message', onMessage)
    return { [Symbol.dispose]: () => void process.off('message', onMessage) }
  },
} as const satisfies PlatformSpec
