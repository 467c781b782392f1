import { type Clock, systemClock } from '../base/clock.ts'
import type { StandardError } from '../log/terminal.ts'
import { nodeServers, type ServerFactories } from './server-factories.ts'

/**
 * The outside world of a life: time, chance, the process and the servers that listen. Everything
 * else is in node's own modules. Tests give a virtual clock, a fake process and a network in
 * memory; production has one world.
 */
export interface Host {
  readonly clock: Clock
  readonly random: () => number
  readonly process: HostProcess
  /** Makes the servers of a life that brings its own; they listen where this world listens. */
  readonly servers: ServerFactories
  /**
   * Sees the root actor of every life before it starts. By its looks, as types of entries name a
   * host: those of xstate are not for everyone.
   */
  observe?(root: object): void
}

/** What a life reads and touches of `process`. */
export type HostProcess = Pick<
  NodeJS.Process,
  | 'on'
  | 'prependListener'
  | 'off'
  | 'emit'
  | 'rawListeners'
  | 'listenerCount'
  | 'env'
  | 'pid'
  | 'platform'
  | 'exit'
  | 'getActiveResourcesInfo'
> & {
  readonly stdin: { readonly isTTY?: boolean }
  readonly stdout: { readonly isTTY?: boolean }
  readonly stderr: StandardError & {
    on(event: 'error', listener: (error: Error) => void): unknown
    listenerCount(event: 'error'): number
  }
  /** A check that Bun and Deno may not have. */
  hasUncaughtExceptionCaptureCallback?(): boolean
  exitCode?: NodeJS.Process['exitCode']
  send?: ((message: unknown) => boolean) | undefined
  /** The channel to the parent, if there is one that listens. */
  readonly channel?: { unref(): void } | null | undefined
}

export const systemHost: Host = { clock: systemClock, random: Math.random, process, servers: nodeServers }
