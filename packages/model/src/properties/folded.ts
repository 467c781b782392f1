import type { AnyStateMachine } from 'xstate'
import type { GuardParts } from '../engine/internals.ts'
import type { LocalState } from '../engine/state.ts'

/**
 * The keys of a machine's context that have the same value wherever it stands: what its input fixed
 * once for all.
 */
export function constantKeys(locals: readonly LocalState[]): ReadonlySet<string> {
  const values = new Map<string, Set<number>>()
  for (const { configuration } of locals)
    for (const [key, value] of configuration?.contextState.values ?? []) values.set(key, (values.get(key) ?? new Set()).add(value))
  return new Set([...values].flatMap(([key, { size }]) => (size === 1 ? [key] : [])))
}

/** Whether a condition reads nothing but these keys, so that its answer never changes. */
export function readsOnly(guard: unknown, keys: ReadonlySet<string>, machine: AnyStateMachine, context: object, given?: unknown): boolean {
  const guards = machine.implementations.guards as Readonly<Record<string, unknown>>
  if (typeof guard === 'string') return readsOnly(guards[guard], keys, machine, context, given)
  const { type, params, guards: parts, check } = (guard ?? {}) as Guard
  if (typeof guard === 'object' && type !== undefined)
    return typeof params !== 'function' && readsOnly(guards[type], keys, machine, context, params)
  if (parts) return parts.every((part) => readsOnly(part, keys, machine, context))
  // What looks at the state, or is unknown.
  if (typeof guard !== 'function' || check) return false
  let isConstant = true
  const noted = (target: object, allowed: (key: string | symbol) => boolean): object =>
    new Proxy(target, {
      get: (_, key) => {
        isConstant &&= allowed(key)
        return Reflect.get(target, key)
      },
      ownKeys: () => {
        isConstant = false
        return Reflect.ownKeys(target)
      },
    })
  try {
    guard({ context: noted(context, (key) => keys.has(String(key))), event: noted({ type: '' }, () => false) }, given)
  } catch {
    // It expects something that this event does not have: it looked at it.
    return false
  }
  return isConstant
}

interface Guard extends GuardParts {
  readonly type?: string
  readonly params?: unknown
}
