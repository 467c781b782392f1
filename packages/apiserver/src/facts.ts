import { errorRecord, type LifecycleFact } from './engine.ts'

/**
 * What a server says of itself. It is kept until the server is part of a life, which records it
 * from then on.
 */
export class Facts {
  readonly #early: LifecycleFact[] = []
  #to: (fact: LifecycleFact) => void = (fact) => void this.#early.push(fact)

  readonly record = (fact: LifecycleFact): void => this.#to(fact)

  readonly warn = (message: string, details?: Readonly<Record<string, unknown>>): void =>
    this.record({ type: 'warning', message, ...(details && { details }) })

  /** @param where what has failed: `filter audit` */
  readonly failed = (where: string, error: unknown): void => this.record({ type: 'error', where, error: errorRecord(error) })

  /** Hands over what was kept. To be called once. */
  recordBy(record: (fact: LifecycleFact) => void): void {
    this.#to = record
    for (const fact of this.#early.splice(0)) record(fact)
  }
}
