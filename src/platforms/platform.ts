import type { Clock } from '../base/clock.ts'
import type { LifecycleEvent, LifecycleFact, StopReason } from '../base/events.ts'
import { type EnvironmentVariables, variable } from '../base/look.ts'

/**
 * What there is to say about a place where a process runs: how it is recognised, how it ends a
 * process, what follows for the defaults, and how the two speak to each other. One file for each;
 * `platforms.ts` lists them.
 */
export interface PlatformSpec {
  readonly name: string
  /** What else it is called, in small letters; not what only looks misspelt. */
  readonly otherNames?: readonly string[]
  /** The words behind a value, in documentation: `on Kubernetes`. */
  readonly where: string
  /** What gives it away, in words that stand in the log and the report; any of them. */
  readonly signs: readonly Sign[]
  /** Whether it has taken its traffic elsewhere before it ends a process, whatever is in front. */
  readonly endsTrafficFirst?: true
  /** How it asks a process to end, for the documentation. */
  readonly ends: string
  /** When it kills one that has not ended. */
  readonly kills?: Kill
  /** Whether it sends its signals to every process of a program, not only to the first. */
  readonly signalsAll?: true
  /** Options whose defaults differ there, as the user would write them. */
  readonly defaults: PlatformDefaults
  /**
   * Tells it that the server is ready, if this process was started by it; looks for itself, because
   * platforms nest.
   */
  readonly ready?: (process: PlatformProcess, signal: AbortSignal) => Promise<void> | undefined
  /**
   * Tells it from its beginning on how a life goes on; looks for itself, as `ready` does. Nothing
   * waits for it.
   */
  readonly follow?: (process: PlatformProcess, life: FollowedLife) => void
  /** The way in which it asks for the end, beside OS signals: calls `stop` until disposed. */
  readonly stopRequests?: (process: PlatformProcess, stop: (reason: StopReason) => void) => Disposable
}

/** What a platform may hear and see of a life. */
export interface FollowedLife {
  readonly clock: Clock
  /** Calls back with every event, to the end. */
  readonly subscribe: (listener: (event: LifecycleEvent) => void) => void
  readonly record: (fact: LifecycleFact) => void
  /** How far its end has come; undefined until a stop is requested. */
  readonly look: () => FollowedEnd | undefined
}

export interface FollowedEnd {
  /** Milliseconds since the life began. */
  readonly at: number
  /** What it waits for, in a sentence. */
  readonly headline: string
  /** Requests, watches, holds and connections that are left. */
  readonly inFlight: number
}

/** The defaults of those options that a platform has something to say about. */
export interface PlatformDefaults {
  /** Above 0 where traffic is still sent to a process that has been told to stop. */
  readonly shutdownDelay?: string
  readonly lastCall?: string
  /** Somewhat below the time after which it kills. */
  readonly deadline?: string
}

export interface Kill {
  /** The time after it has asked, as the user would write it; where nothing else was set. */
  readonly after: string
  /** What sets another time there, as it is called there; there may be nothing. */
  readonly setBy?: string
  /** The time that was set, where the process can know it. */
  readonly setTo?: (env: PlatformFacts['env']) => string | undefined
}

export interface Sign {
  readonly words: string
  readonly isThere: (facts: PlatformFacts) => boolean
}

/** What the detection looks at; plain data, so that a test can be anywhere. */
export interface PlatformFacts {
  readonly env: EnvironmentVariables
  readonly pid: number
  /** Standard input or output is a terminal. */
  readonly terminal: boolean
  /** `/.dockerenv` or `/run/.containerenv` exists. */
  readonly containerFile: boolean
}

/** What a platform reads and touches of `process`. */
export interface PlatformProcess {
  readonly env: EnvironmentVariables
  readonly pid: number
  send?: ((message: unknown) => boolean) | undefined
  on(event: 'message', listener: (message: unknown) => void): unknown
  off(event: 'message', listener: (message: unknown) => void): unknown
}

/** The sign that most platforms leave: an environment variable, whatever its value. */
export const isSet = (name: string): Sign => ({ words: `${name} is set`, isThere: ({ env }) => Boolean(variable(env, name)) })
