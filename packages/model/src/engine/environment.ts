import type { AnyStateMachine, EventObject } from 'xstate'
import { ModelError } from '../errors.ts'
import { hint } from '../near.ts'
import { assertFields, shown } from '../options.ts'
import { assertUnchanged } from './changes.ts'
import type { MachineConfiguration } from './configuration.ts'
import type { ContextKeys } from './context-keys.ts'
import type { LogicKind } from './internals.ts'
import { contextNow, valueShown } from './named.ts'
import { purely, stepInWords, type Where } from './purely.ts'
import type { LocalState, Logic } from './state.ts'
import type { ContextOf, InputOf, MachineEvent, StateOf, ValueOf } from './typed.ts'
import { eventsHeardBy, hears } from './vocabulary.ts'

/** What is decided outside of the machines. The explorer tries all of it, in every order. */
export interface Environment<
  M extends AnyStateMachine = AnyStateMachine,
  E extends readonly MachineEvent<M>[] = readonly MachineEvent<M>[],
> {
  /** Input of the root machine. */
  readonly input?: InputOf<M> | undefined
  /**
   * Events that may come from outside while the root is active: a list, or a function of where the
   * root stands. A function has to depend on its argument only. Default none.
   */
  readonly events?: E | ((root: RootView<M>) => E) | undefined
  /**
   * What children that are no machines may do, by the name of their source or by their id. What is
   * said here is all that they do; of others {@link DEFAULTS} says what their kind can.
   */
  readonly children?: Readonly<Record<string, OpaqueChild | ((input: unknown, id: string) => OpaqueChild)>> | undefined
  /**
   * Lists of children of one parent that differ in nothing but their ids, and are started in one
   * step: each by its id if its parent is the root, or by its path (`orders/order-1`). A machine
   * has to end with the first thing that happens in it. Those of a list end in its order: a run in
   * which they end in another one is such a run under other ids. So what a property says of one of
   * them it has to say of all; what compares two orders, such as `confluent`, sees one; and what
   * another order alone takes is listed as `untaken`. Nothing checks that they are alike. Default
   * none.
   */
  readonly alike?: readonly (readonly string[])[] | undefined
}

export const ENVIRONMENT: Readonly<Record<keyof Environment, true>> = { input: true, events: true, children: true, alike: true }

/** What the function for events may look at. */
export interface RootView<M extends AnyStateMachine = AnyStateMachine> {
  readonly value: ValueOf<M>
  readonly context: ContextOf<M>
  matches(value: StateOf<M>): boolean
}

/** What an opaque child may do. It may also do nothing, for ever. */
export interface OpaqueChild {
  /** Ways in which it may end. */
  readonly outcomes?: readonly Outcome[]
  /** Events that it may send to its parent while it runs, any number of times. */
  readonly sends?: readonly EventObject[]
}

const CHILD: Readonly<Record<keyof OpaqueChild, true>> = { outcomes: true, sends: true }

export type Outcome = { readonly kind: 'resolves'; readonly output?: unknown } | { readonly kind: 'rejects'; readonly error: unknown }

/** An end with this output; an observable completes. Default none. */
export const resolves = (output?: unknown): Outcome => ({ kind: 'resolves', output })
/** A failure with this error. Default an Error that says `rejected`. */
export const rejects = (error: unknown = REJECTED): Outcome => ({ kind: 'rejects', error })

/** The default error, without a stack: it would be part of every state that keeps the error. */
const REJECTED = Object.assign(new Error('rejected'), { stack: undefined })

/**
 * What each kind of child can do. `sends`: everything that its parent has a transition for, without
 * data.
 */
const DEFAULTS: Readonly<Record<LogicKind, { readonly outcomes: readonly Outcome[]; readonly sends: boolean }>> = {
  promise: { outcomes: [resolves(), rejects()], sends: false },
  // It completes or fails. What it has read is its own, until the parent asks for snapshots, which
  // is refused.
  observable: { outcomes: [resolves(), rejects()], sends: false },
  'event observable': { outcomes: [resolves(), rejects()], sends: true },
  // It has no end but an error.
  callback: { outcomes: [rejects()], sends: true },
  transition: { outcomes: [rejects()], sends: false },
  machine: { outcomes: [], sends: false },
  'logic of its own': { outcomes: [resolves(), rejects()], sends: true },
}

export function eventsAt({ events = [] }: Environment, { configuration, logic }: LocalState): readonly EventObject[] {
  if (typeof events !== 'function') return events
  const where = { machine: `${logic.name}: events()`, value: configuration?.value }
  const listed: unknown = callGiven(where, () => events(rootView(logic, configuration as MachineConfiguration)))
  assertUnchanged(configuration?.context, 'context', where)
  assertEvents(listed, 'events()')
  return listed
}

/**
 * Calls a function that was given as an option.
 * @throws ModelError ERR_MODEL_OPTION when it throws
 */
function callGiven<T>(where: Where, call: () => T): T {
  try {
    return purely(() => where, call)
  } catch (thrown) {
    if (thrown instanceof ModelError) throw thrown
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    throw new ModelError('ERR_MODEL_OPTION', `${stepInWords(where)}: it throws: ${message}`, { ...where }, thrown)
  }
}

const rootView = (logic: Logic, configuration: MachineConfiguration): RootView => ({
  value: valueShown(logic, configuration.value),
  context: contextNow(configuration.context, logic.contextKeys as ContextKeys),
  matches: (value) => configuration.matches(value),
})

/** @throws ModelError ERR_MODEL_UNKNOWN for one that the root would never hear */
export function assertHeard({ type }: EventObject, logic: Logic, label: string): void {
  const { machine } = logic
  if (machine === undefined || hears(machine, type)) return
  const names = eventsHeardBy(machine)
  throw new ModelError('ERR_MODEL_UNKNOWN', `${label}: no transition of ${logic.name} takes the event "${type}"${hint(type, names)}`, {
    type,
    names,
  })
}

export const isDescribed = ({ children = {} }: Environment, source: string, id: string): boolean =>
  Object.hasOwn(children, source) || Object.hasOwn(children, id)

export function childOf({ children = {} }: Environment, { logic, input }: LocalState, id: string, parent: Logic): OpaqueChild {
  const key = [logic.name, id].find((name) => Object.hasOwn(children, name))
  const given = key === undefined ? undefined : children[key]
  if (key === undefined || given === undefined) {
    const { outcomes, sends } = DEFAULTS[logic.kind]
    return { outcomes, sends: sends && parent.machine ? eventsHeardBy(parent.machine).map((type) => ({ type })) : [] }
  }
  const where = { machine: `children.${key}()` }
  const child = typeof given === 'function' ? callGiven(where, () => given(input, id)) : given
  assertUnchanged(input, 'input', where)
  assertPossible(child, logic, parent, `children.${key}`)
  return child
}

/** @throws ModelError ERR_MODEL_OPTION for what a child of this kind never does */
function assertPossible(child: OpaqueChild, { kind }: Logic, parent: Logic, label: string): void {
  assertChild(child, label)
  const { outcomes = [], sends = [] } = child
  const can = DEFAULTS[kind].outcomes.map((outcome) => outcome.kind)
  const never = outcomes.find((outcome) => !can.includes(outcome.kind))
  if (never) throw new ModelError('ERR_MODEL_OPTION', `${label}.outcomes: ${aKind(kind)} never ${never.kind}, allowed: ${can.join(', ')}`)
  if (sends.length > 0 && !DEFAULTS[kind].sends)
    throw new ModelError('ERR_MODEL_OPTION', `${label}.sends: ${aKind(kind)} sends its parent no events, only its result`)
  for (const event of sends) assertHeard(event, parent, `${label}.sends`)
}

const aKind = (kind: LogicKind): string => (/^[aeiou]/.test(kind) ? `an ${kind}` : kind === 'logic of its own' ? kind : `a ${kind}`)

/** @throws ModelError ERR_MODEL_OPTION for what does not say what a child does */
export function assertChild(child: unknown, label: string): asserts child is OpaqueChild {
  if (typeof child !== 'object' || child === null)
    throw new ModelError(
      'ERR_MODEL_OPTION',
      `${label}: got ${String(child)}, allowed: an object with outcomes and sends, or a function that returns one`,
    )
  assertFields(child, CHILD, label)
  const { outcomes = [], sends = [] } = child as OpaqueChild
  const isOutcome = (outcome: unknown): boolean => ['resolves', 'rejects'].includes((outcome as Outcome | undefined)?.kind ?? '')
  if (!Array.isArray(outcomes) || !outcomes.every(isOutcome))
    throw new ModelError('ERR_MODEL_OPTION', `${label}.outcomes: allowed: a list of results of resolves() and rejects()`)
  assertEvents(sends, `${label}.sends`)
}

/** @throws ModelError ERR_MODEL_OPTION */
export function assertEvents(events: unknown, label: string): asserts events is readonly EventObject[] {
  if (!Array.isArray(events)) throw new ModelError('ERR_MODEL_OPTION', `${label}: got ${shown(events)}, allowed: a list of events`)
  for (const [i, event] of events.entries()) {
    if (typeof event === 'string')
      throw new ModelError(
        'ERR_MODEL_OPTION',
        `${label}[${i}]: got "${event}", allowed: an event object: { type: ${JSON.stringify(event)} }`,
      )
    if (typeof (event as EventObject | undefined)?.type !== 'string')
      throw new ModelError(
        'ERR_MODEL_OPTION',
        `${label}[${i}]: got ${shown(event)}, allowed: an object with a type, such as { type: 'go' }`,
      )
  }
}
