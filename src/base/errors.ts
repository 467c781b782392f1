import { isPlain, isPromiseLike } from './records.ts'
import { nameAmongCopies } from './shared-by-copies.ts'

/** Who has to change something so that an error does not come again. */
export type Fault = 'caller' | 'environment' | 'work' | 'quiesce'

interface CodeMeaning {
  readonly fault: Fault
  readonly meaning: string
}

/**
 * Every error that quiesce makes, with a stable `code` to test for. This table is the source of
 * docs/errors.md: when an error comes, and whose fault it is: the caller's, the environment's, that
 * of work which quiesce ran or waited for, or our own.
 */
export const ERROR_CODES = {
  ERR_OPTION_INVALID: {
    fault: 'caller',
    meaning:
      'An option, flag or argument cannot be used; `details` has the field, what was given and what is allowed, `details.problems` all of them',
  },
  ERR_NAME_MISSING: { fault: 'caller', meaning: 'A hook, check, phase or hold has no usable name' },
  ERR_FUNCTION_MISSING: { fault: 'caller', meaning: 'A hook, check or phase has no function' },
  ERR_DUPLICATE: {
    fault: 'caller',
    meaning: 'The name is taken; `details.registeredAt` is the stack of the first registration, from the line that called on',
  },
  ERR_TOO_LATE: { fault: 'caller', meaning: 'Registered too late to take effect' },
  ERR_CYCLE: { fault: 'caller', meaning: 'Hooks or phases wait for each other; `details.cycle` has their names' },
  ERR_UNKNOWN_REFERENCE: { fault: 'caller', meaning: 'A name in `after`, `before` or `signal()` that belongs to nothing' },
  ERR_ALREADY_ATTACHED: { fault: 'caller', meaning: 'The server has a lifecycle already' },
  ERR_NOTHING_TO_SERVE: { fault: 'caller', meaning: 'The attached server did not listen' },
  ERR_IMPORT_ONLY: {
    fault: 'caller',
    meaning:
      '`run()` or `start()` was called by a module that `quiesce run`, `check`, `plan` or `diagram` imports: export the server instead',
  },
  ERR_WORKER_THREAD: { fault: 'caller', meaning: '`run()` was called outside the main thread' },
  ERR_NOT_LISTENING: {
    fault: 'caller',
    meaning: 'The loopback client of an API server was used before the server listens, or after it has stopped listening',
  },
  ERR_NOT_ACCEPTING: { fault: 'caller', meaning: '`hold()` after the drain has begun' },
  ERR_WAIT_GROUP: { fault: 'caller', meaning: 'A wait group was counted up while it is waited for, or below zero' },
  ERR_SCRIPT_MISMATCH: { fault: 'caller', meaning: 'What happened is not what a trace script expects; the message shows the difference' },
  ERR_DEPENDENCY_MISSING: { fault: 'environment', meaning: 'A package is not installed, or cannot be loaded; the message says which' },
  ERR_LISTEN: { fault: 'environment', meaning: 'An address could not be bound; `cause` is the error of the system' },
  ERR_TLS: {
    fault: 'environment',
    meaning: 'A certificate, its key or a client CA cannot be used; the message names the file, or the option, and the reason',
  },
  ERR_REPORT_WRITE: {
    fault: 'environment',
    meaning: 'The report could not be written to `reportFile`; at the start: a report could not be written there',
  },
  ERR_JOURNAL_WRITE: { fault: 'environment', meaning: 'The journal could not be written to `journal`' },
  ERR_JOURNAL_READ: { fault: 'caller', meaning: 'Not a report or journal file' },
  ERR_START: { fault: 'environment', meaning: 'The server could not start; `cause` says why, `details` has the phase and the report' },
  ERR_STOPPED_DURING_START: { fault: 'environment', meaning: 'It was stopped before it served; `details` has the reason and the report' },
  ERR_TIMEOUT: {
    fault: 'work',
    meaning: 'A hook, a check or a step of start-up did not end within its bound; also the reason of its abort signal',
  },
  ERR_HANDLER_TIMEOUT: {
    fault: 'work',
    meaning:
      'A request of an API server was not answered within its timeout: the reason of its abort signal, and what becomes of all that its handler writes from then on',
  },
  ERR_STATUS: {
    fault: 'caller',
    meaning: 'A request of an API server about objects is refused; `failure` is the Status that its client gets',
  },
  ERR_STORE: {
    fault: 'environment',
    meaning:
      'A store of an API server cannot do what it was asked; `reason` says why: compacted, future, unavailable, unknown, too-large, damaged or closed',
  },
  ERR_ABORTED: { fault: 'work', meaning: 'The reason of an abort signal: the drain was cut, or the work is not wanted any more' },
  ERR_INTERNAL: { fault: 'quiesce', meaning: 'A defect of quiesce itself: please report it' },
} as const satisfies Record<`ERR_${string}`, CodeMeaning>

export type ErrorCode = keyof typeof ERROR_CODES

const ERROR = Symbol.for(nameAmongCopies('error'))

/**
 * An error of quiesce: `code` is stable, `message` is for people and may change, `details` carries
 * the data behind it.
 * @example
 * try {
 *   await life.start()
 * } catch (error) {
 *   if (error instanceof QuiesceError && error.code === 'ERR_START') console.error(error.cause)
 * }
 */
export class QuiesceError extends Error {
  override readonly name: string = 'QuiesceError'
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
  }

  static {
    Object.defineProperty(QuiesceError.prototype, ERROR, { value: true })
  }

  /** Knows errors of another copy of this package in the same process, too. */
  static override [Symbol.hasInstance](given: unknown): boolean {
    if (this !== QuiesceError) return Function.prototype[Symbol.hasInstance].call(this, given)
    return typeof given === 'object' && given !== null && ERROR in given
  }
}

/**
 * An option, flag, environment variable or config entry that cannot be used: which one, what was
 * given, what is allowed.
 */
export function optionError(field: string, given: unknown, allowed: string, cause?: unknown): QuiesceError {
  return new QuiesceError('ERR_OPTION_INVALID', `${field}: got ${show(given)}, allowed: ${allowed}`, { field, given, allowed }, cause)
}

/**
 * Whether it is an Error, also one of another realm: what node throws into a test runner's sandbox
 * is made outside of it.
 */
export const isErrorObject = (thrown: unknown): thrown is Error =>
  thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]'

/**
 * Anything thrown, as an Error: user code may throw strings, undefined or objects with hostile
 * getters.
 */
export function toError(thrown: unknown): Error {
  try {
    if (isErrorObject(thrown)) return thrown
  } catch {
    // A proxy that throws whenever it is looked at.
  }
  return new Error(show(thrown), { cause: thrown })
}

/** Whether it is a Fastify app, which is thenable, and so looks like a promise of one. */
const isFastify = (value: object): boolean => 'inject' in value && 'server' in value && 'register' in value

/** What to do about a promise where something else is wanted; empty for all else. */
export const awaitHint = (given: unknown): string => (isPromiseLike(given) && !isFastify(given as object) ? '; await it' : '')

/** Longest text of a value in a message. */
const SHOWN_MAX = 200

/** A value as one short line for a message; never throws. */
export function show(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  try {
    if (typeof value === 'string') return JSON.stringify(value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}…` : value)
    if (typeof value === 'number' || typeof value === 'bigint' || value === undefined || value === null) return String(value)
    if (typeof (value as Partial<PromiseLike<unknown>>).then === 'function') return isFastify(value) ? 'a Fastify app' : 'a promise'
    const json = JSON.stringify(value)
    if (json === undefined) return Object.prototype.toString.call(value)
    // What a Map or an Error holds is none of its fields.
    if (json === '{}' && !isPlain(value as object)) return `[object ${(value as object).constructor.name}]`
    if (json.length <= SHOWN_MAX) return json
    // The first fields of something large, such as a server, say nothing; its class does.
    const made: unknown = (value as object).constructor
    const isInstance = typeof made === 'function' && made !== Object && made !== Array
    return isInstance ? `[object ${made.name}]` : `${json.slice(0, SHOWN_MAX)}…`
  } catch {
    // A toJSON or a getter that throws, or a proxy that throws whenever it is looked at.
    return 'a value that cannot be shown'
  }
}
