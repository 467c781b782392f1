import type { AnyStateMachine } from 'xstate'
import { ModelError } from '../errors.ts'
import { hint } from '../near.ts'
import { assertFields, shown } from '../options.ts'
import { assertChild, assertEvents, assertHeard, ENVIRONMENT, type Environment } from './environment.ts'
import { isForeignMachine, kindOf } from './internals.ts'
import type { Steps } from './step.ts'
import { unsupported } from './unsupported.ts'
import { childNames, isMachineSource } from './vocabulary.ts'

export interface Limits {
  /**
   * How many states the system may have. Default 1 000 000.
   * @see `explore` for what happens above it
   */
  readonly statesMax?: number | undefined
  /**
   * Every step that xstate computes is computed twice and compared, and so are the first thousand
   * steps that are known without asking it and one in so many of the rest; 1 for all of them, 0 for
   * none at all. Default 64.
   */
  readonly recheckEvery?: number | undefined
  /**
   * The observer of progress, called every few thousand states with how many were found, and from
   * how many of them all ways were taken.
   */
  readonly onProgress?: ((found: number, taken: number) => void) | undefined
}

const OPTIONS: Readonly<Record<keyof (Limits & Environment), true>> = {
  ...ENVIRONMENT,
  statesMax: true,
  recheckEvery: true,
  onProgress: true,
}

/** @throws ModelError ERR_MODEL_OPTION for what is no machine */
export function assertMachine(given: unknown): asserts given is AnyStateMachine {
  if (isForeignMachine(given))
    throw unsupported(
      'the root',
      'a machine made by another copy of xstate',
      'install one xstate for both; `npm ls xstate` shows which package has which version',
    )
  if (kindOf(given) !== 'machine')
    throw new ModelError(
      'ERR_MODEL_OPTION',
      `machine: got ${shown(given)}, allowed: what createMachine() or setup().createMachine() returned`,
    )
}

/**
 * Refuses options that would be read by nothing, or that say nothing.
 * @throws ModelError ERR_MODEL_OPTION
 */
export function assertOptions(options: unknown): asserts options is Environment & Limits {
  assertFields(options, OPTIONS, 'options')
  const { events, children, alike, statesMax, recheckEvery, onProgress } = options as Environment & Limits
  if (events !== undefined && typeof events !== 'function') assertEvents(events, 'events')
  if (children !== undefined && (typeof children !== 'object' || children === null))
    throw new ModelError('ERR_MODEL_OPTION', `children: got ${shown(children)}, allowed: an object whose keys are names of sources or ids`)
  for (const [name, child] of Object.entries(children ?? {})) if (typeof child !== 'function') assertChild(child, `children.${name}`)
  const isList = (list: unknown): boolean => Array.isArray(list) && list.every((id) => typeof id === 'string')
  if (alike !== undefined && !(Array.isArray(alike) && alike.every(isList)))
    throw new ModelError('ERR_MODEL_OPTION', `alike: got ${shown(alike)}, allowed: a list of lists of ids`)
  const twice = alike?.flat().find((id, i, ids) => ids.indexOf(id) < i)
  if (twice !== undefined) throw new ModelError('ERR_MODEL_OPTION', `alike: "${twice}" is named twice, allowed: each id in one list, once`)
  assertNumber('statesMax', statesMax, 1)
  assertNumber('recheckEvery', recheckEvery, 0)
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw new ModelError('ERR_MODEL_OPTION', `onProgress: got ${shown(onProgress)}, allowed: a function`)
}

function assertNumber(name: string, given: unknown, least: number): void {
  if (given !== undefined && !(Number.isInteger(given) && (given as number) >= least))
    throw new ModelError('ERR_MODEL_OPTION', `${name}: got ${shown(given)}, allowed: a whole number from ${least}`)
}

/**
 * Refuses an event that the root never hears, as far as they are listed, before anything is
 * explored.
 */
export function assertEventsHeard({ events }: Environment, machine: AnyStateMachine, steps: Steps): void {
  if (typeof events === 'function') return
  for (const [i, event] of (events ?? []).entries()) assertHeard(event, steps.rootLogic(machine), `events[${i}]`)
}

/**
 * Refuses what is said of a child that no machine declares and none has started, and a key that the
 * function for events has read and no context has: both are known when all is explored.
 * @throws ModelError ERR_MODEL_UNKNOWN
 */
export function assertNamesKnown(environment: Environment, machine: AnyStateMachine, steps: Steps): void {
  assertChildrenKnown(environment, machine, steps)
  for (const { contextKeys, name } of steps.logics.all) for (const key of contextKeys?.asked ?? []) contextKeys?.assertKnown(key, name)
}

function assertChildrenKnown({ children = {} }: Environment, machine: AnyStateMachine, { logics, childIds }: Steps): void {
  const declared = childNames(machine)
  const known = new Set([...declared, ...childIds, ...logics.all.flatMap(({ name, kind }) => (kind === 'machine' ? [] : [name]))])
  for (const name of Object.keys(children)) {
    if (isMachineSource(machine, name))
      throw new ModelError(
        'ERR_MODEL_OPTION',
        `children.${name}: the child is a machine, which the checker explores itself; replace it with machine.provide()`,
      )
    if (!known.has(name)) throw new ModelError('ERR_MODEL_UNKNOWN', `children.${name}: no child has this source or id${hint(name, known)}`)
  }
}
