import type { AuthorizationAttributes, AuthorizationContext, Authorizer, Decision } from '../../apiserver/authorization/authorizer.ts'
import { type Deferred, deferred } from '../../base/deferred.ts'

/**
 * What it answers: a decision, or its name alone; an error, which it throws; a function of what is
 * asked, which may take its time.
 */
export type AuthorizerAnswer =
  | Decision['decision']
  | Decision
  | Error
  | ((asked: AuthorizationAttributes, context: AuthorizationContext) => Decision | Promise<Decision>)

/**
 * An authorizer for tests: it answers what it is told to, and keeps what it was asked.
 * @example
 * const authorizer = new RecordingAuthorizer('allow')
 * // … requests …
 * expect(authorizer.asked.map(({ verb, path }) => `${verb} ${path}`)).toEqual(['get /hello'])
 * authorizer.answer = { decision: 'deny', reason: 'closed' }
 */
export class RecordingAuthorizer implements Authorizer {
  /** Everything that it was asked, oldest first. */
  readonly asked: AuthorizationAttributes[] = []
  /** What it answers from now on. */
  answer: AuthorizerAnswer
  #held: Deferred<void> | undefined

  constructor(answer: AuthorizerAnswer = 'allow') {
    this.answer = answer
  }

  /**
   * It does not answer until {@link release}; what it is asked meanwhile gets the answer that it
   * has then. A second call does nothing.
   */
  hold(): void {
    this.#held ??= deferred()
  }

  /** Ends {@link hold}. */
  release(): void {
    this.#held?.resolve(undefined)
    this.#held = undefined
  }

  authorize(asked: AuthorizationAttributes, context: AuthorizationContext): Decision | Promise<Decision> {
    this.asked.push(asked)
    return this.#held ? this.#held.promise.then(() => this.#decide(asked, context)) : this.#decide(asked, context)
  }

  #decide(asked: AuthorizationAttributes, context: AuthorizationContext): Decision | Promise<Decision> {
    const { answer } = this
    if (answer instanceof Error) throw answer
    if (typeof answer === 'function') return answer(asked, context)
    return typeof answer === 'string' ? { decision: answer } : answer
  }
}
