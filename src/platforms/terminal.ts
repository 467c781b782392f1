import nodeCluster from 'node:cluster'
import { type EnvironmentVariables, variable } from '../base/look.ts'
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
  variable(facts.env, 'WATCH_REPORT_DEPENDENCIES') !== undefined || (signal === 'SIGINT' && facts.terminal)

/** What is asked of a process, or of one that a test has made. */
interface Output {
  readonly env: EnvironmentVariables
  readonly stdout: { readonly isTTY?: boolean }
}

/** How output is written: for people, for programs, or for the one of them that reads it. */
export type Pretty = 'auto' | boolean

/**
 * Whether output is written for people: as was chosen, or on a terminal that is no CI's. Workers of
 * a cluster share theirs, so each writes lines that say which one it is.
 */
export const isForPeople = (pretty: Pretty, { env, stdout }: Output): boolean =>
  pretty === 'auto' ? stdout.isTTY === true && !isCi(env) && !nodeCluster.isWorker : pretty

/** Runners set it to `true`, `1` or their name; `false` is what people set. */
const isCi = (env: EnvironmentVariables): boolean => !['', '0', 'false', undefined].includes(variable(env, 'CI'))

/** Whether other processes of this program write to the same terminal. */
export const isSharedTerminal = (): boolean => Object.keys(nodeCluster.workers ?? {}).length > 0

/** Whether standard output is a terminal that can move its cursor. */
export const canRedraw = ({ env, stdout }: Output): boolean => stdout.isTTY === true && variable(env, 'TERM') !== 'dumb'

/** @see https://no-color.org */
export const takesColor = (stream: Output['stdout'], env: EnvironmentVariables): boolean =>
  canRedraw({ stdout: stream, env }) && !variable(env, 'NO_COLOR')
