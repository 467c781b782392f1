import { canonical } from './canonical.ts'
import { Interner } from './interner.ts'
import { remembered } from './remembered.ts'
import type { Assigned } from './watch.ts'

/**
 * A context whose values are numbered key by key, so that what a step reads of it can be compared.
 */
export interface ContextState {
  readonly index: number
  readonly object: Readonly<Record<string, unknown>>
  /** Equal values have equal numbers. */
  readonly values: ReadonlyMap<string, number>
}

export interface Thrown {
  readonly thrown: unknown
}

/** Every context of one machine; equal ones are one object. */
export class Contexts {
  readonly #contexts = new Interner<ContextState>()
  readonly #values = new Map<string, number>()
  readonly #after = new WeakMap<object, Map<ContextState, ContextState | Thrown>>()
  readonly #where: string

  constructor(where: string) {
    this.#where = `${where}: context`
  }

  intern(object: Readonly<Record<string, unknown>>): ContextState {
    const keys = Object.keys(object).sort()
    const values = keys.map((key) => this.#valueOf(key, object[key]))
    return this.#contexts.intern(keys.map((key, i) => `${key}=${values[i]}`).join(), (index) => ({
      index,
      // Its own object: what is handed in may belong to the caller.
      object: { ...object },
      values: new Map(keys.map((key, i) => [key, values[i] as number])),
    }))
  }

  /** A context after assignments, or what they throw at it. */
  after(context: ContextState, assigned: readonly Assigned[]): ContextState | Thrown {
    if (assigned.length === 0) return context
    const known = remembered(this.#after, assigned, () => new Map<ContextState, ContextState | Thrown>())
    return remembered(known, context, () => {
      try {
        return this.intern(assigned.reduce((object, assign) => assign(object), context.object))
      } catch (thrown) {
        return { thrown }
      }
    })
  }

  #valueOf(key: string, value: unknown): number {
    const text = canonical(value, `${this.#where}.${key}`)
    return remembered(this.#values, text, () => this.#values.size)
  }
}
