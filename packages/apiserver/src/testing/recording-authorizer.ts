import type { AuthorizationAttributes, AuthorizationContext, Authorizer, Decision } from '../authorization/authorizer.ts'
import { Hold } from './hold.ts'

/**
 * What it answers: a decision, or its name alone; an error, which it throws; a function of what is
 * asked, which may take its time.
 */
export type AuthorizerAnswer =
  | Decision['decision']
  | Decision
  | Error
  | ((asked: AuthorizationAttributes, context: AuthorizationContext) => Decision | PromiseLike<Decision>)

/**
 * An authorizer for tests: it answers what it is told to, when it is told to, and keeps what it was
 * asked.
 * @example
 * const authorizer = new RecordingAuthorizer('allow')
 * // … requests …
 * expect(authorizer.asked.map(({ verb, path }) => `${verb} ${path}`)).toEqual(['get /hello'])
 * authorizer.answer = { decision: 'deny', reason: 'closed' }
 */
export class RecordingAuthorizer extends Hold implements Authorizer {
  /** Everything that it was asked, oldest first. */
  readonly asked: AuthorizationAttributes[] = []
  /** What it answers from now on. */
  answer: AuthorizerAnswer

  constructor(answer: AuthorizerAnswer = 'allow') {
    super()
    this.answer = answer
  }

  authorize(asked: AuthorizationAttributes, context: AuthorizationContext): Decision | PromiseLike<Decision> {
    this.asked.push(asked)
    return this.whenReleased(() => {
      const { answer } = this
      if (answer instanceof Error) throw answer
      if (typeof answer === 'function') return answer(asked, context)
      return typeof answer === 'string' ? { decision: answer } : answer
    })
  }
}
