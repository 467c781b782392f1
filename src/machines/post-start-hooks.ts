import { errorRecord } from '../events.ts'
import type { HookPlan } from './hook.ts'
import { firedState, gate, raiseEvent, type StateConfig, say, stateKey, withEvents } from './region.ts'
import type { Outcome } from './signals.ts'
import type { Mode, PhaseRow } from './wiring.ts'

/**
 * Post-start hooks run side by side with the traffic, one region each. A stop does not end them: their abort signal comes
 * with the end of the listener, so that informers and caches live through the drain (L 1.4 E14), and nobody waits for them.
 * The first that fails asks for an orderly stop (V11).
 * @see kubernetes/apiserver pkg/server/hooks.go RunPostStartHooks
 */
export function postStartHooksRegion(phase: string, row: PhaseRow, mode: Mode, hooks: readonly HookPlan[]): StateConfig {
  const until = row.until?.[mode] as string
  const end = (state: string, outcome: Outcome) => ({
    target: `#${phase}.${state}`,
    actions: [
      say(({ context: { hookFailure: error } }) => ({
        type: 'phase.ended',
        phase,
        outcome,
        ...(outcome === 'failed' && error && { error }),
      })),
      ...(outcome === 'ok' ? [say({ type: 'signal', name: row.fires, outcome })] : []),
    ],
  })
  const failed = { guard: 'postStartHookFailed', ...end('failed', 'failed') }
  const fired = end('fired', 'ok')
  return {
    id: phase,
    initial: 'waiting',
    meta: { phase, row },
    states: {
      waiting: withEvents(gate(phase, row.after, hooks.length === 0 ? fired : { target: `#${phase}.working` }), {
        StopRequested: end('skipped', 'skipped'),
      }),
      ...(hooks.length > 0 && {
        working: {
          type: 'parallel',
          entry: say({ type: 'phase.started', phase }),
          onDone: [failed, fired],
          on: { PostStartHooksAborted: [failed, end('aborted', 'cut')] },
          states: Object.fromEntries(hooks.map((hook) => [stateKey(hook.name), hookRegion(hook, until)])),
        },
      }),
      fired: firedState(row),
      skipped: {},
      failed: {},
      aborted: {},
    },
  }
}

function hookRegion(hook: HookPlan, until: string): StateConfig {
  const ended = { type: 'hook.ended', kind: hook.kind, name: hook.name } as const
  return {
    initial: 'running',
    states: {
      running: {
        entry: say({ type: 'hook.started', kind: hook.kind, name: hook.name }),
        // No bound: a hook may be a controller that runs as long as the server does. A pending one keeps /readyz red.
        invoke: {
          id: `post-start-hook:${stateKey(hook.name)}`,
          src: 'runPostStartHook',
          input: hook,
          onDone: { target: 'done', actions: say({ ...ended, outcome: 'ok' }) },
          onError: {
            target: 'failed',
            actions: [
              { type: 'worsen', params: { exitCode: 4 } },
              { type: 'noteHookFailure', params: ({ event }: { event: { error: unknown } }) => ({ error: errorRecord(event.error) }) },
              say(({ event }) => ({ ...ended, outcome: 'failed', error: errorRecord(event.error) })),
              raiseEvent(({ event }) => ({ type: 'PostStartHookFailed', hook: hook.name, error: errorRecord(event.error) })),
            ],
          },
        },
        on: {
          [until]: { target: 'aborted', actions: [say({ ...ended, outcome: 'cut' }), raiseEvent({ type: 'PostStartHooksAborted' })] },
        },
      },
      done: { type: 'final' },
      failed: { type: 'final' },
      // Not final: the phase was aborted, and must not seem to have run to its end.
      aborted: {},
    },
  }
}
