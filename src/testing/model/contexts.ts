import { canonical } from './canonical.ts'
import { Interner } from './interner.ts'
import { remembered } from './remembered.ts'

/** A context whose values are numbered key by key, so that what a step reads of it can be compared. */
export interface ContextState {
  readonly index: number
  readonly object: Readonly<Record<string, unknown>>
  /** Equal values have equal numbers. */
  readonly values: ReadonlyMap<string, number>
}

/** Every context of one machine; equal ones are one object. */
export class Contexts {
  readonly #contexts = new Interner<ContextState>()
  readonly #values = new Map<string, number>()
  readonly #changed = new WeakMap<object, Map<ContextState, ContextState>>()
  readonly #where: string

  constructor(where: string) {
    this.#where = `${where}: context`
  }

  intern(object: Readonly<Record<string, unknown>>): ContextState {
    const keys = Object.keys(object).sort()
    const values = keys.map((key) => this.#valueOf(key, object[key]))
    return this.#contexts.intern(keys.map((key, i) => `${key}=${values[i]}`).join(), (index) => ({
      index,
      // Its own object: what is handed in may belong to somebody else.
      object: { ...object },
      values: new Map(keys.map((key, i) => [key, values[i] as number])),
    }))
  }

  /** A context with other values under some keys. */
  with(context: ContextState, written: Readonly<Record<string, unknown>>): ContextState {
    const changed = remembered(this.#changed, written, () => new Map<ContextState, ContextState>())
    return remembered(changed, context, () => this.intern({ ...context.object, ...written }))
  }

  #valueOf(key: string, value: unknown): number {
    const text = canonical(value, `${this.#where}.${key}`)
    return remembered(this.#values, text, () => this.#values.size)
  }
}
