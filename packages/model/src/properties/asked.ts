import { ModelError } from '../errors.ts'
import { shown } from '../options.ts'

/** Longest text of a state in a message. */
const SHOWN_MAX = 200

/** For a message: which function of a property was called last, and where (`in the state "a"`). */
interface Question {
  readonly what: string
  readonly where: string
}

/**
 * Asks the functions that a property is made of. What they throw says neither which property nor
 * where, and there may be a million states: `question` says what was asked last.
 * @throws ModelError ERR_MODEL_PROPERTY, or with the code of the ModelError that was thrown
 */
export function asked<T>(id: string, question: () => Question, ask: () => T): T {
  try {
    return ask()
  } catch (thrown) {
    const { what, where } = question()
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    if (thrown instanceof ModelError) {
      if (message.startsWith(`${id}:`)) throw thrown
      throw new ModelError(thrown.code, `${id}: ${what} fails ${where}: ${message}`, thrown.details, thrown)
    }
    throw new ModelError('ERR_MODEL_PROPERTY', `${id}: ${what} throws ${where}: ${message}`, { property: id }, thrown)
  }
}

/**
 * Refuses an answer that says neither that something holds nor what is wrong, such as a promise.
 * @throws ModelError ERR_MODEL_PROPERTY
 */
export function assertAnswer(answer: unknown): asserts answer is boolean | string {
  if (typeof answer !== 'boolean' && typeof answer !== 'string')
    throw new ModelError('ERR_MODEL_PROPERTY', `it returns ${shown(answer)}, allowed: true, false, or a text that says what is wrong`)
}

/** Asks it of a state. */
export const askedOfState = <View extends Shown, T>(id: string, what: string, ofView: (root: View) => T, view: View): T =>
  asked(
    id,
    () => ({ what, where: inState(view) }),
    () => ofView(view),
  )

interface Shown {
  readonly value: unknown
  readonly status: string
}

/** The active states of an actor, or what it is when it has none. */
export function inState({ value, status }: Shown): string {
  const text = value === undefined ? status : JSON.stringify(value)
  return `in the state ${text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text}`
}
