import { enqueueActions, setup } from 'xstate'
import type { LifecycleFact } from '../../base/events.ts'
import { type HookPlan, hookLimitMs, hookMachine } from './hook.ts'
import { CUT_STATE, type CutEvent, FAILED, OK, outputOfFinalState, type PhaseOutput, record } from './phase.ts'

/**
 * Runs the pre-shutdown hooks by their dependencies and collects every failure; a failing hook
 * stops none of the others. A hook without `after` follows the one registered before it (upstream
 * runs them one after the other, in map order); a hook with `after`, even an empty one, starts as
 * soon as those it names have ended.
 * @see kubernetes/apiserver pkg/server/hooks.go RunPreShutdownHooks
 */
export interface PlannedHook extends HookPlan {
  /** Names of the hooks that have to end first, the implied predecessor included. */
  readonly after: readonly string[]
}

/** What a user says about one hook; `after` undefined means: in the order of registration. */
export interface HookOrder {
  readonly name: string
  readonly after?: readonly string[] | undefined
}

/**
 * The predecessors of every hook. Names that no hook has are dropped: registration refuses them,
 * and waiting for them would never end.
 */
export function predecessors(hooks: readonly HookOrder[]): Map<string, readonly string[]> {
  const known = new Set(hooks.map((hook) => hook.name))
  let previous: string | undefined
  const result = new Map<string, readonly string[]>()
  for (const { name, after } of hooks) {
    if (after) {
      result.set(
        name,
        after.filter((other) => known.has(other)),
      )
    } else {
      result.set(name, previous === undefined ? [] : [previous])
      previous = name
    }
  }
  return result
}

/** The running hooks that each waiting hook waits for, at whatever distance. */
function waitsFor({ hooks, running }: Pick<PreShutdownHooksContext, 'hooks' | 'running'>): ReadonlyMap<string, readonly string[]> {
  const result = new Map<string, readonly string[]>()
  for (const first of running) {
    const reached = new Set([first])
    // A set is walked in the order of insertion, what is added meanwhile included.
    for (const name of reached) for (const hook of hooks) if (hook.after.includes(name)) reached.add(hook.name)
    for (const name of reached) if (name !== first) result.set(name, [...(result.get(name) ?? []), first])
  }
  return result
}

/** The names along a cycle of an `after` relation, or undefined when there is none. */
export function findCycle(after: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  const visit = (name: string, path: string[]): string[] | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name]
    if (done.has(name)) return undefined
    for (const other of after.get(name) ?? []) {
      const cycle = visit(other, [...path, name])
      if (cycle) return cycle
    }
    done.add(name)
    return undefined
  }
  for (const name of after.keys()) {
    const cycle = visit(name, [])
    if (cycle) return cycle
  }
  return undefined
}

/**
 * No more than what decides how the phase goes on, because a checker tells apart whatever is kept:
 * names are in the order of registration and not of time, and the errors are in the facts.
 */
export interface PreShutdownHooksContext {
  readonly hooks: readonly PlannedHook[]
  readonly running: readonly string[]
  readonly ended: readonly string[]
  readonly haveFailed: boolean
}

/** The names of the hooks of which that holds. */
const namesOf = (hooks: readonly PlannedHook[], holds: (name: string) => boolean): string[] => hooks.map(({ name }) => name).filter(holds)

/** The id of a hook's actor, with its name behind. */
export const PRE_SHUTDOWN_HOOK = 'pre-shutdown-hook:'
const ended = (name: string, output: PhaseOutput): Omit<Extract<LifecycleFact, { type: 'hook.ended' }>, 'durationMs'> => ({
  type: 'hook.ended',
  kind: 'pre-shutdown',
  name,
  outcome: output.outcome,
  ...(output.error && { error: output.error }),
})

export const preShutdownHooksMachine = setup({
  types: {} as {
    input: { readonly hooks: readonly PlannedHook[] }
    context: PreShutdownHooksContext
    events: CutEvent
    output: PhaseOutput
  },
  actors: { hook: hookMachine },
  actions: {
    record,
    startReady: enqueueActions(({ context, enqueue }) => {
      const over = new Set(context.ended)
      const running = new Set(context.running)
      const ready = context.hooks.filter(
        ({ name, after }) => !running.has(name) && !over.has(name) && after.every((other) => over.has(other)),
      )
      for (const { name } of ready) running.add(name)
      enqueue.assign({ running: namesOf(context.hooks, (name) => running.has(name)) })
      for (const hook of ready) {
        enqueue({ type: 'record', params: { type: 'hook.started', kind: 'pre-shutdown', name: hook.name, limitMs: hookLimitMs(hook) } })
        enqueue.spawnChild('hook', {
          id: PRE_SHUTDOWN_HOOK + hook.name,
          input: { kind: 'pre-shutdown', name: hook.name, timeoutMs: hook.timeoutMs },
        })
      }
    }),
    settle: enqueueActions(({ context, event, enqueue }) => {
      const { actorId, output } = event as unknown as { actorId: string; output: PhaseOutput }
      const name = actorId.slice(PRE_SHUTDOWN_HOOK.length)
      const over = new Set(context.ended).add(name)
      enqueue.stopChild(actorId)
      enqueue({ type: 'record', params: ended(name, output) })
      enqueue.assign({
        running: context.running.filter((other) => other !== name),
        ended: namesOf(context.hooks, (other) => over.has(other)),
        haveFailed: context.haveFailed || output.outcome === 'failed',
      })
    }),
    recordRest: enqueueActions(({ context, enqueue }) => {
      const waited = waitsFor(context)
      for (const { name } of context.hooks) {
        if (context.ended.includes(name)) continue
        if (context.running.includes(name)) enqueue({ type: 'record', params: ended(name, { outcome: 'cut' }) })
        else enqueue({ type: 'record', params: { ...ended(name, { outcome: 'skipped' }), waitedFor: waited.get(name) ?? [] } })
      }
    }),
  },
  guards: {
    allEnded: ({ context }) => context.ended.length === context.hooks.length,
    someFailed: ({ context }) => context.ended.length === context.hooks.length && context.haveFailed,
  },
}).createMachine({
  id: 'pre-shutdown-hooks',
  context: ({ input }) => ({ hooks: input.hooks, running: [], ended: [], haveFailed: false }),
  initial: 'running',
  states: {
    running: {
      entry: 'startReady',
      always: [
        { guard: 'someFailed', target: 'failed' },
        { guard: 'allEnded', target: 'done' },
      ],
      on: {
        'xstate.done.actor.*': { actions: ['settle', 'startReady'] },
        cut: { target: 'cut', actions: 'recordRest' },
      },
    },
    done: { type: 'final', output: OK },
    failed: { type: 'final', output: FAILED },
    ...CUT_STATE,
  },
  output: outputOfFinalState,
})
