/**
 * Every error quiesce makes, with a stable `code` to test for. Codes say whose fault it is: the caller's
 * (`ERR_OPTION_INVALID`, `ERR_HOOK_*`, …), the environment's (`ERR_LISTEN`), or ours (`ERR_INTERNAL`).
 */
export type ErrorCode =
  | 'ERR_OPTION_INVALID'
  | 'ERR_NAME_MISSING'
  | 'ERR_FUNCTION_MISSING'
  | 'ERR_DUPLICATE'
  | 'ERR_TOO_LATE'
  | 'ERR_CYCLE'
  | 'ERR_UNKNOWN_REFERENCE'
  | 'ERR_ALREADY_ATTACHED'
  | 'ERR_NOTHING_TO_SERVE'
  | 'ERR_WORKER_THREAD'
  | 'ERR_NOT_ACCEPTING'
  | 'ERR_LISTEN'
  | 'ERR_START'
  | 'ERR_STOPPED_DURING_START'
  | 'ERR_TIMEOUT'
  | 'ERR_ABORTED'
  | 'ERR_REPORT_WRITE'
  | 'ERR_JOURNAL_WRITE'
  | 'ERR_JOURNAL_READ'
  | 'ERR_PEER_MISSING'
  | 'ERR_WAIT_GROUP'
  | 'ERR_MODEL_UNSUPPORTED'
  | 'ERR_MODEL_LIMIT'
  | 'ERR_MODEL_REPLAY'
  | 'ERR_MODEL_VIOLATED'
  | 'ERR_DEPENDENCY_MISSING'
  | 'ERR_SCRIPT_MISMATCH'
  | 'ERR_INTERNAL'

/** An error of quiesce: `code` is stable, `message` is for people and may change, `details` carries the data behind it. */
export class QuiesceError extends Error {
  override readonly name: string = 'QuiesceError'
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
  }
}

/** An option, flag, environment variable or config entry that cannot be used: which one, what was given, what is allowed. */
export function optionError(field: string, given: unknown, allowed: string): QuiesceError {
  return new QuiesceError('ERR_OPTION_INVALID', `${field}: got ${show(given)}, allowed: ${allowed}`, { field, given, allowed })
}

/** Anything thrown, as an Error: user code may throw strings, undefined or objects with hostile getters. */
export function toError(thrown: unknown): Error {
  try {
    if (thrown instanceof Error) return thrown
  } catch {
    // A proxy that throws whenever it is looked at.
  }
  return new Error(show(thrown), { cause: thrown })
}

/** A value as one short line for a message; never throws. */
export function show(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  try {
    if (typeof value === 'string') return JSON.stringify(value.length > 200 ? `${value.slice(0, 200)}…` : value)
    if (typeof value === 'number' || typeof value === 'bigint' || value === undefined || value === null) return String(value)
    const json = JSON.stringify(value)
    return json === undefined ? Object.prototype.toString.call(value) : json.slice(0, 200)
  } catch {
    // A toJSON or a getter that throws, or a proxy that throws whenever it is looked at.
    return 'a value that cannot be shown'
  }
}
