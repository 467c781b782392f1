import { type Clock, systemClock } from './clock.ts'

/**
 * The outside world of a life: time, chance and the process. Everything else is in node's own modules. Tests give a virtual
 * clock and a fake process; production has one world.
 */
export interface Host {
  readonly clock: Clock
  readonly random: () => number
  readonly process: HostProcess
}

/** What a life reads and touches of `process`. */
export type HostProcess = Pick<
  NodeJS.Process,
  'on' | 'off' | 'listenerCount' | 'env' | 'pid' | 'platform' | 'exit' | 'getActiveResourcesInfo'
> & {
  readonly stderr: {
    write(text: string): unknown
    on(event: 'error', listener: (error: Error) => void): unknown
    listenerCount(event: 'error'): number
  }
  exitCode?: NodeJS.Process['exitCode']
  send?: ((message: unknown) => boolean) | undefined
}

export const systemHost: Host = { clock: systemClock, random: Math.random, process }
