import { ModelError } from '../errors.ts'
import { hint, isSlip } from '../near.ts'

/** The keys that contexts of one machine have in some run, or that an assignment names. */
export class ContextKeys {
  readonly known = new Set<string>()
  /** The keys that were read while it was not yet known which there are. */
  readonly asked = new Set<string>()
  /** Unknown keys that are no slip: a property asks for the same one in every state. */
  readonly #accepted = new Set<string>()

  /**
   * Refuses a slip of the hand. Any other key may be one that only another input sets.
   * @throws ModelError ERR_MODEL_UNKNOWN
   */
  assertKnown(key: string, machine: string): void {
    if (this.known.has(key) || this.#accepted.has(key)) return
    if (!isSlip(key, this.known)) return void this.#accepted.add(key)
    throw new ModelError(
      'ERR_MODEL_UNKNOWN',
      `${machine}: no context has a key "${key}"${hint(key, this.known)}. If another run sets this key, add it to the initial context with the value undefined`,
      { machine, key },
    )
  }
}
