import { show } from '../base/errors.ts'
import { isPromiseLike } from '../base/records.ts'

/**
 * What a function of the user's has answered that must answer at once, where that is none of what
 * it may answer. A promise is truthy and says nothing yet: nothing waits for it, so that its
 * rejection, which this one error stands for, must not become a crash.
 */
export function wrongAnswer(from: string, answer: unknown, allowed: string): TypeError {
  if (isPromiseLike(answer)) void Promise.resolve(answer).then(undefined, () => undefined)
  return new TypeError(`${from}: returned ${show(answer)}, allowed: ${allowed}`)
}
