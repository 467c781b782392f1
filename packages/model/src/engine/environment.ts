import type { EventObject } from 'xstate'
import type { LocalState } from './state.ts'

/** What is decided outside of the machines. The explorer tries all of it, in every order. */
export interface Environment {
  /** Input of the root machine. */
  readonly input?: unknown
  /**
   * Events that may come from outside while the root is active: a list, or a function of where the
   * root stands. A function has to depend on its argument only. Default none.
   */
  readonly events?: readonly EventObject[] | ((root: RootView) => readonly EventObject[])
  /**
   * Opaque children (promises, callbacks, observables, …) by the name of their source. Others have
   * {@link DEFAULT_CHILD}.
   */
  readonly children?: Readonly<Record<string, OpaqueChild | ((input: unknown, id: string) => OpaqueChild)>>
}

/** What the function for events may look at. */
export interface RootView {
  readonly value: unknown
  readonly context: unknown
  matches(value: unknown): boolean
}

/** What an opaque child may do. It may also do nothing, for ever. */
export interface OpaqueChild {
  /** Ways in which it may end. */
  readonly outcomes?: readonly Outcome[]
  /** Events that it may send to its parent while it runs, any number of times. */
  readonly sends?: readonly EventObject[]
}

export type Outcome = { readonly kind: 'resolves'; readonly output?: unknown } | { readonly kind: 'rejects'; readonly error: unknown }

/** It may end with this output. Default none. */
export const resolves = (output?: unknown): Outcome => ({ kind: 'resolves', output })
/** It may fail with this error. Default an Error that says `rejected`. */
export const rejects = (error: unknown = REJECTED): Outcome => ({ kind: 'rejects', error })

/** Without a stack: it would be part of every state that keeps the error. */
const REJECTED = Object.assign(new Error('rejected'), { stack: undefined })

export const DEFAULT_CHILD: OpaqueChild = { outcomes: [resolves(), rejects()] }

export function eventsAt({ events = [] }: Environment, { standing }: LocalState): readonly EventObject[] {
  return typeof events === 'function' ? events(standing as RootView) : events
}

export function childOf({ children = {} }: Environment, source: string, input: unknown, id: string): OpaqueChild {
  const child = Object.hasOwn(children, source) ? children[source] : undefined
  return (typeof child === 'function' ? child(input, id) : child) ?? DEFAULT_CHILD
}
