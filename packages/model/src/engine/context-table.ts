import { ModelError } from '../errors.ts'
import { canonical, changeIn, fieldsOf, hasFields, type OwnFields } from './canonical.ts'
import { mutated } from './changes.ts'
import type { ContextKeys } from './context-keys.ts'
import type { Context } from './internals.ts'
import { Interner } from './interner.ts'
import { remembered } from './memo.ts'
import { purely, type Where } from './purely.ts'

/**
 * A context whose values are numbered key by key, so that what a step reads of it can be compared.
 */
export interface ContextState {
  readonly index: number
  readonly object: Readonly<Record<string, unknown>>
  /** Equal values have equal numbers. */
  readonly values: ReadonlyMap<string, number>
  /** What `object` consisted of when it was numbered. */
  readonly fields: OwnFields
}

/** One assignment: the next context as a function of the one before it. */
export type Assigned = (context: Context) => Context

export interface Thrown {
  readonly thrown: unknown
}

/** Every context of one machine; equal ones are one object. */
export class Contexts {
  readonly #contexts = new Interner<ContextState>()
  readonly #values = new Map<string, number>()
  readonly #after = new WeakMap<object, Map<ContextState, ContextState | Thrown>>()
  readonly #where: string
  readonly #known: ContextKeys

  constructor(where: string, known: ContextKeys) {
    this.#known = known
    this.#where = `${where}: context`
  }

  intern(object: Readonly<Record<string, unknown>>): ContextState {
    const keys = Object.keys(object).sort()
    const values = keys.map((key) => this.#valueOf(key, object[key]))
    return this.#contexts.intern(keys.map((key, i) => `${key}=${values[i]}`).join(), (index) => {
      for (const key of keys) this.#known.known.add(key)
      return {
        index,
        // Its own object: what is handed in may belong to the caller.
        object: { ...object },
        values: new Map(keys.map((key, i) => [key, values[i] as number])),
        fields: fieldsOf(object),
      }
    })
  }

  /** A context after assignments, or what they throw at it. */
  after(context: ContextState, assigned: readonly Assigned[], where: () => Where): ContextState | Thrown {
    if (assigned.length === 0) return context
    const known = remembered(this.#after, assigned, () => new Map<ContextState, ContextState | Thrown>())
    return remembered(known, context, () => {
      try {
        const object = purely(where, () => assigned.reduce((object, assign) => assign(object), context.object))
        this.assertUnchanged(context, where)
        return this.intern(object)
      } catch (thrown) {
        if (thrown instanceof ModelError) throw thrown
        return { thrown }
      }
    })
  }

  /**
   * A context is one object in all states that have it, so nothing may change in it.
   * @throws ModelError ERR_MODEL_MUTATED
   */
  assertUnchanged({ object, values, fields }: ContextState, where: () => Where): void {
    if (hasFields(object, fields)) return
    for (const key of new Set([...values.keys(), ...Object.keys(object)])) {
      const change = changeIn(object[key], `context.${key}`)
      if (change) throw mutated(change.path, change, where())
      const known = values.get(key)
      const now = Object.hasOwn(object, key) ? canonical(object[key], `context.${key}`) : undefined
      if (now === undefined || known === undefined || this.#values.get(now) !== known)
        throw mutated(`context.${key}`, { before: known === undefined ? 'nothing' : this.#textOf(known), after: now ?? 'nothing' }, where())
    }
  }

  assertAllUnchanged(where: () => Where): void {
    for (const context of this.#contexts.all) this.assertUnchanged(context, where)
  }

  #textOf(number: number): string {
    return [...this.#values].find(([, known]) => known === number)?.[0] ?? ''
  }

  #valueOf(key: string, value: unknown): number {
    const text = canonical(value, `${this.#where}.${key}`)
    return remembered(this.#values, text, () => this.#values.size)
  }
}
