interface CodeMeaning {
  /** What has to change so that the error does not come again: always the program that checks. */
  readonly fault: 'caller'
  readonly meaning: string
}

/** Every error that the checker makes, with a stable `code` to test for. */
export const MODEL_ERROR_CODES = {
  ERR_MODEL_UNSUPPORTED: {
    fault: 'caller',
    meaning: 'A machine uses something that the model checker cannot treat exactly; the message says what to use instead',
  },
  ERR_MODEL_OPTION: { fault: 'caller', meaning: 'An argument of the model checker cannot be used; the message says what is allowed' },
  ERR_MODEL_UNKNOWN: {
    fault: 'caller',
    meaning: 'The machines have no event, child, state or action of this name; the message lists those that they have',
  },
  ERR_MODEL_PROPERTY: {
    fault: 'caller',
    meaning:
      'A function of a property has thrown, or its answer is none; the message says which and in which state, `cause` is what it threw',
  },
  ERR_MODEL_MUTATED: {
    fault: 'caller',
    meaning: 'A context, an event or an input was changed in place; `details` has the machine, the state, the event and the path',
  },
  ERR_MODEL_IMPURE: {
    fault: 'caller',
    meaning: 'A step depends on chance or on the clock; `details` has the function that was called, and where',
  },
  ERR_MODEL_LIMIT: { fault: 'caller', meaning: 'There are more states than `statesMax`, or a step has no end' },
  ERR_MODEL_REPLAY: { fault: 'caller', meaning: 'A running system did not do what the replayed trace says' },
  ERR_MODEL_VIOLATED: { fault: 'caller', meaning: 'A property does not hold; `details.violated` has the verdicts' },
  ERR_MODEL_VACUOUS: {
    fault: 'caller',
    meaning: 'A property was never tested, because its condition came true in no run; `details.violated` has the verdicts',
  },
  ERR_MODEL_INEXACT: {
    fault: 'caller',
    meaning: 'A step had another result when it was computed again, so it depends on more than the state and the event',
  },
} as const satisfies Record<`ERR_${string}`, CodeMeaning>

export type ModelErrorCode = keyof typeof MODEL_ERROR_CODES

/**
 * An error of the checker: `code` is stable, `message` is for people and may change, `details`
 * carries the data behind it. A property that does not hold is a verdict and no error, until
 * `assertHolds` makes one of it.
 */
export class ModelError extends Error {
  override readonly name: string = 'ModelError'
  readonly code: ModelErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ModelErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
  }
}

/**
 * Checks what a function was given that others return: by its fields, which are what is read.
 * @param call as it is written
 * @param name of the argument
 * @throws ModelError ERR_MODEL_OPTION
 */
export function checkGiven(call: string, name: string, given: unknown, allowed: string, ...fields: readonly string[]): void {
  if (typeof given === 'object' && given !== null && fields.every((field) => field in given)) return
  throw new ModelError('ERR_MODEL_OPTION', `${name} of ${call}: got ${String(given)}, allowed: ${allowed}`, { field: name, given, allowed })
}
export const EXPLORED = 'what explore() returns'
export const A_TRACE = 'the trace of a verdict'
