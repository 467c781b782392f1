import { QuiesceError, show } from './errors.ts'
import { isPromiseLike } from './records.ts'

/** Longest name that is accepted; names appear in logs, paths and pictures. */
const NAME_LENGTH_MAX = 200

/**
 * @param of what has the name, for the message: `a pre-shutdown hook`
 * @throws QuiesceError ERR_NAME_MISSING for what cannot stand in logs, paths and pictures as a name
 */
export function checkName(of: string, name: unknown): asserts name is string {
  if (typeof name === 'string' && name.trim() === '') throw new QuiesceError('ERR_NAME_MISSING', 'missing name', { name })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (typeof name !== 'string' || name.length > NAME_LENGTH_MAX || /[\u0000-\u001f\u007f]/.test(name)) {
    const allowed = `text of 1 to ${NAME_LENGTH_MAX} characters without control characters`
    throw new QuiesceError('ERR_NAME_MISSING', `name of ${of}: got ${show(name)}, allowed: ${allowed}`, { name, given: name, allowed })
  }
}

/**
 * @param of what it is the function of, for the message: `pre-shutdown hook "x"`
 * @throws QuiesceError ERR_FUNCTION_MISSING
 */
export function checkFunction(of: string, name: string, given: unknown): void {
  if (typeof given === 'function') return
  const hint = isPromiseLike(given) ? '; pass the function itself, without calling it' : ''
  throw new QuiesceError('ERR_FUNCTION_MISSING', `${of}: got ${show(given)}, allowed: a function${hint}`, {
    name,
    given,
    allowed: 'a function',
  })
}

/**
 * Whether it looks like an AbortSignal: a polyfill, a browser that is played, or another realm has
 * a class of its own.
 */
export function isAbortSignal(given: unknown): given is AbortSignal {
  try {
    const { aborted, addEventListener } = (typeof given === 'object' && given !== null ? given : {}) as Partial<AbortSignal>
    return typeof aborted === 'boolean' && typeof addEventListener === 'function'
  } catch {
    // What throws when it is read is none.
    return false
  }
}
