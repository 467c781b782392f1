import { toError } from '../base/errors.ts'
import { wrongAnswer } from './wrong-answer.ts'

const saysNothing = (): undefined => undefined

/**
 * The user's own rule, made safe: an answer that is neither a boolean nor undefined counts as
 * undefined and is reported to `onError`, as is a rule that throws. A server that has none pays
 * nothing for it.
 */
export function safeLongRunning<Request>(
  rule: ((request: Request) => boolean | undefined) | undefined,
  onError: (error: Error) => void,
): (request: Request) => boolean | undefined {
  if (rule === undefined) return saysNothing
  return (request) => {
    try {
      const answer: unknown = rule(request)
      if (typeof answer === 'boolean' || answer === undefined) return answer
      throw wrongAnswer('longRunning', answer, 'true, false or undefined')
    } catch (thrown) {
      onError(toError(thrown))
      return undefined
    }
  }
}
