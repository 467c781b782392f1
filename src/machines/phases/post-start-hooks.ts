import { errorRecord, type PhaseOutcome } from '../../base/events.ts'
import { firedState, gate, raiseEvent, type StateConfig, say, stateKey, withEvents } from '../region.ts'
import type { Mode, PhaseRow } from '../wiring.ts'
import type { HookPlan } from './hook.ts'

/**
 * Post-start hooks run side by side with the traffic, one region each. A stop does not end them:
 * their abort signals come with the end of the listener, so that informers and caches live through
 * the drain. They come to all of them, also to those that have returned, because a hook may start
 * work and return. What they do then is not waited for; what has not ended when the report is due
 * is cut. The first that fails asks for an orderly stop (V11).
 * @see kubernetes/apiserver pkg/server/hooks.go RunPostStartHooks, genericapiserver.go
 * RunWithContext
 */
export function postStartHooksRegion(phase: string, row: PhaseRow, mode: Mode, hooks: readonly HookPlan[]): StateConfig {
  const until = row.until?.[mode] as string
  const abandoned = row.abandonedAt as string
  const end = (state: string, outcome: PhaseOutcome) => ({
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
  const failed = { guard: 'postStartHookFailed', ...end('launched.hooks.failed', 'failed') }
  const noHooks = hooks.length === 0
  return {
    id: phase,
    initial: 'waiting',
    meta: { phase, row },
    states: {
      waiting: withEvents(gate(phase, row.after, noHooks ? end('fired', 'ok') : { target: `#${phase}.launched` }), {
        StopRequested: end('skipped', 'skipped'),
      }),
      ...(noHooks && { fired: firedState(row) }),
      ...(!noHooks && {
        launched: {
          type: 'parallel',
          on: {
            PostStartHooksAborted: [{ guard: 'postStartHookFailed', ...end('over', 'failed') }, end('over', 'cut')],
            [abandoned]: 'over',
          },
          states: {
            hooks: {
              initial: 'working',
              states: {
                working: {
                  type: 'parallel',
                  entry: say({ type: 'phase.started', phase }),
                  onDone: [failed, end('launched.hooks.fired', 'ok')],
                  states: Object.fromEntries(hooks.map((hook) => [stateKey(hook.name), hookRegion(hook, until, abandoned)])),
                },
                fired: firedState(row),
                failed: {},
              },
            },
            signals: {
              initial: 'open',
              states: {
                open: { on: { [until]: 'aborted' } },
                // It cannot fail, and whether it has answered decides nothing: a state for
                // that would double those of the whole life.
                aborted: { invoke: { id: 'abort-post-start-hooks', src: 'abortPostStartHooks' } },
              },
            },
          },
        },
      }),
      ...(!noHooks && { over: {} }),
      skipped: {},
    },
  }
}

function hookRegion(hook: HookPlan, until: string, abandoned: string): StateConfig {
  const ended = { type: 'hook.ended', kind: hook.kind, name: hook.name } as const
  return {
    initial: 'live',
    states: {
      live: {
        entry: say({ type: 'hook.started', kind: hook.kind, name: hook.name }),
        // No bound: a hook may be a controller that runs as long as the server does. A pending one
        // keeps /readyz red.
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
        initial: 'running',
        states: { running: { on: { [until]: 'notified' } }, notified: {} },
        on: {
          [abandoned]: { target: 'aborted', actions: [say({ ...ended, outcome: 'cut' }), raiseEvent({ type: 'PostStartHooksAborted' })] },
        },
      },
      done: { type: 'final' },
      failed: { type: 'final' },
      // Not final: the phase was aborted, and must not seem to have run to its end.
      aborted: {},
    },
  }
}
