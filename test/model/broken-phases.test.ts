// Fails when: a phase machine with a seeded bug is not noticed by the property that is about it, or
// the right machine is taken for broken.

import { expect, test } from 'vitest'
import { type AnyStateMachine, createMachine, enqueueActions } from 'xstate'
import { explore, type RootView, resolves } from '#model'
import { composeLifecycle, type LifePlan } from '#src/machines/lifecycle.ts'
import { closeConnectionsMachine } from '#src/machines/phases/close-connections.ts'
import { destroyMachine } from '#src/machines/phases/destroy.ts'
import { hookMachine } from '#src/machines/phases/hook.ts'
import { notifyClientsMachine } from '#src/machines/phases/notify-clients.ts'
import { OK } from '#src/machines/phases/phase.ts'
import { preShutdownHooksMachine } from '#src/machines/phases/pre-shutdown-hooks.ts'
import { reportMachine } from '#src/machines/phases/report.ts'
import { requestDrainMachine } from '#src/machines/phases/request-drain.ts'
import { shutdownDelayMachine } from '#src/machines/phases/shutdown-delay.ts'
import { watchDrainMachine } from '#src/machines/phases/watch-drain.ts'
import { environmentOf, invariantsOf } from '#src/model/life/lifecycle-model.ts'
import { PROFILES, plannedHooks } from '../support/fake-effects.ts'
import { lifeInput } from './life-input.ts'

const PLAN: LifePlan = {
  mode: 'refuse',
  input: lifeInput(),
}
const WITHOUT_GRACE: LifePlan = {
  ...PLAN,
  input: { ...PLAN.input, profiles: { ...PROFILES, default: { ...PROFILES.default, watchGraceMs: 0 } } },
}
const WITH_HOOKS: LifePlan = { ...PLAN, input: { ...PLAN.input, preShutdownHooks: plannedHooks(['leave', 'flush']) } }
const WITH_DESTROY: LifePlan = {
  ...PLAN,
  input: { ...PLAN.input, destroyFunctions: [{ kind: 'destroy', name: 'pool', timeoutMs: 1_000 }] },
}
const WITH_PHASE: LifePlan = {
  ...PLAN,
  userPhases: [{ name: 'flush-queue', after: ['RequestsDrained'], before: ['destroy'], timeoutMs: 2_000 }],
}

type Machines = Readonly<Record<string, AnyStateMachine>>

/**
 * A life that starts without trouble and is stopped once it serves; only what the hooks and drains
 * answer is open.
 */
function explored(plan: LifePlan, broken: Machines, root: Bug['root'] = (life) => life) {
  const environment = environmentOf(plan, {})
  const smooth = ['auditRun', 'bind', 'announce', 'auditShutdown', 'acceptThenClose', 'closeAdmin', 'waitForHandlers', 'flushLogs']
  const children = { ...environment.children, ...Object.fromEntries(smooth.map((name) => [name, { outcomes: [resolves()] }])) }
  return explore(root(provided(composeLifecycle(plan), { actors: broken })), {
    ...environment,
    children: { ...children, announce: { outcomes: [resolves(), resolves({ outcome: 'failed' })] } },
    events: (life: RootView) => {
      if (life.matches({ running: { start: 'idle' } })) return [{ type: 'start' }]
      const isServing = ['fired', 'failed'].some((announce) => life.matches({ running: { announce, stop: 'living' } }))
      return isServing ? [{ type: 'stop.requested', reason: { kind: 'stop', reason: 'model' } }] : []
    },
    statesMax: 50_000,
  })
}

/** A machine with other entries in one of its states. */
function changed(machine: unknown, state: string, change: object): AnyStateMachine {
  const { config, implementations } = machine as AnyStateMachine
  const states = { ...config.states, [state]: { ...config.states?.[state], ...change } }
  return createMachine({ ...config, states } as never).provide(implementations as never) as AnyStateMachine
}
const provided = (machine: unknown, implementations: object): AnyStateMachine =>
  (machine as AnyStateMachine).provide(implementations as never) as AnyStateMachine
const everyHook = (hook: AnyStateMachine): Machines => ({
  userPhase: hook,
  preShutdownHooks: provided(preShutdownHooksMachine, { actors: { hook } }),
  destroy: provided(destroyMachine, { actors: { hook } }),
})
const reversedHooks = createMachine({
  ...preShutdownHooksMachine.config,
  context: ({ input }: { input: { hooks: readonly unknown[] } }) => ({
    hooks: [...input.hooks].reverse(),
    running: [],
    ended: [],
    haveFailed: false,
  }),
} as never).provide(preShutdownHooksMachine.implementations as never) as AnyStateMachine

interface Bug {
  readonly id: string
  readonly what: string
  readonly plan?: LifePlan
  readonly broken?: Machines
  readonly root?: (life: AnyStateMachine) => AnyStateMachine
  readonly says: string
}

test.each<Bug>([
  {
    id: 'end/said',
    what: 'a life ends without a word',
    root: (life) => changed(life, 'ended', { entry: [] }),
    says: 'the life is over, and has not said so',
  },
  {
    id: 'signals/success',
    what: 'a start phase that failed fires',
    root: (life) => provided(life, { guards: { workFailed: () => false } }),
    says: 'Announced fires, though its phase is failed',
  },
  {
    id: 'start/bounded',
    what: 'start-up has more time than it should',
    root: (life) => provided(life, { delays: { startBound: 20_000 } }),
    says: 'audit-run has no bound of 10000 ms',
  },
  {
    id: 'brackets/hooks',
    what: 'a hook that is cut is said to be skipped',
    plan: WITH_HOOKS,
    broken: {
      preShutdownHooks: provided(preShutdownHooksMachine, {
        actions: {
          recordRest: enqueueActions(({ enqueue }) =>
            enqueue({ type: 'record', params: { type: 'hook.ended', kind: 'pre-shutdown', name: 'leave', outcome: 'skipped' } } as never),
          ),
        },
      }),
    },
    says: 'pre-shutdown leave is skipped, though it has started',
  },
  {
    id: 'work/begins',
    what: 'a hook starts without its function',
    plan: WITH_HOOKS,
    broken: everyHook(changed(hookMachine, 'running', { invoke: undefined })),
    says: 'pre-shutdown-hooks/pre-shutdown-hook:leave/run-hook does not run, though it was said to start',
  },
  {
    id: 'work/begins',
    what: 'telling starts, and no client is told',
    broken: { 'notify-clients': changed(notifyClientsMachine, 'ramping', { invoke: undefined }) },
    says: 'notify-clients/begin-notifying does not run, though it was said to start',
  },
  {
    id: 'work/running',
    what: 'a drain that is cut waits for nothing',
    broken: { requestDrain: changed(requestDrainMachine, 'cutting', { invoke: undefined }) },
    says: 'request-drain is at work, but nothing of it runs',
  },
  {
    id: 'work/answered',
    what: 'watches that are left are taken for gone',
    broken: {
      watchDrain: changed(watchDrainMachine, 'draining', { invoke: { id: 'drain-watches', src: 'drainWatches', onDone: 'drained' } }),
    },
    says: 'watch-drain ends as ok by "watch-drain/drain-watches resolves {"after":1}"',
  },
  {
    id: 'work/answered',
    what: 'the drain does not end when all requests have',
    broken: { requestDrain: changed(requestDrainMachine, 'drained', { type: undefined }) },
    says: 'request-drain has not ended as ok by "request-drain/drain-requests resolves"',
  },
  {
    id: 'work/answered',
    what: 'the delay does not end when it is over',
    broken: { shutdownDelay: changed(shutdownDelayMachine, 'elapsed', { type: undefined }) },
    says: 'shutdown-delay has not ended as ok by "shutdown-delay after shutdownDelay.shutdown-delay.delaying"',
  },
  {
    id: 'exit-code/watches',
    what: 'a watch that was lost costs nothing',
    broken: { watchDrain: provided(watchDrainMachine, { guards: { someLost: () => false } }) },
    says: 'exit code 0 for watches that were lost',
  },
  {
    id: 'exit-code/watches',
    what: 'a watch that has used up its grace costs something',
    broken: { watchDrain: changed(watchDrainMachine, 'terminated', { output: { outcome: 'cut' } }) },
    says: 'exit code 5 for watches that have used up their grace',
  },
  {
    id: 'exit-code/connections',
    what: 'an answer that was lost costs nothing',
    broken: { closeConnections: provided(closeConnectionsMachine, { guards: { noneLost: () => true } }) },
    says: 'exit code 0 for answers that were lost',
  },
  {
    id: 'exit-code/connections',
    what: 'connections that had nothing to lose cost something',
    broken: { closeConnections: provided(closeConnectionsMachine, { guards: { noneLost: () => false } }) },
    says: 'exit code 5 for connections that had nothing to lose',
  },
  {
    id: 'work/failed',
    what: 'watches that could not be terminated are taken for terminated',
    broken: {
      watchDrain: changed(watchDrainMachine, 'terminating', {
        invoke: { id: 'terminate-watches', src: 'terminateWatches', onDone: 'terminated', onError: 'terminated' },
      }),
    },
    says: 'watch-drain has not ended as failed by "watch-drain/terminate-watches rejects: rejected"',
  },
  {
    id: 'work/failed',
    what: 'connections that were closed are taken for a failure',
    broken: {
      closeConnections: changed(closeConnectionsMachine, 'destroying', {
        invoke: { id: 'destroy-connections', src: 'destroyConnections', onDone: 'failed', onError: 'failed' },
      }),
    },
    says: 'close-connections ends as failed by "close-connections/destroy-connections resolves {"lost":0}"',
  },
  {
    id: 'work/failed',
    what: 'a phase of the user’s that is out of time is taken for done',
    plan: WITH_PHASE,
    broken: { userPhase: changed(hookMachine, 'timedOut', { output: OK }) },
    says: 'flush-queue has not ended as failed by "flush-queue after hookTimeout.hook.running"',
  },
  {
    id: 'work/cut',
    what: 'a report that was written at its cut does not end',
    broken: { report: changed(reportMachine, 'cut', { type: undefined }) },
    says: 'report has not ended as cut by "report/write-report-now resolves"',
  },
  {
    id: 'work/limits',
    what: 'the ramp of telling has no end',
    broken: { 'notify-clients': changed(notifyClientsMachine, 'ramping', { after: {} }) },
    says: 'notify-clients has no timer of 2500 ms',
  },
  {
    id: 'work/limits',
    what: 'the delay has no end',
    broken: { shutdownDelay: changed(shutdownDelayMachine, 'delaying', { after: {} }) },
    says: 'shutdown-delay has no timer of 5000 ms',
  },
  {
    id: 'work/limits',
    what: 'the watch grace has no end',
    broken: { watchDrain: changed(watchDrainMachine, 'draining', { after: {} }) },
    says: 'watch-drain has no timer of 8000 ms',
  },
  {
    id: 'work/limits',
    what: 'a grace of 0 ends watches',
    plan: WITHOUT_GRACE,
    broken: { watchDrain: provided(watchDrainMachine, { guards: { hasGrace: () => true } }) },
    says: 'watch-drain runs terminate-watches, though it has no limit',
  },
  {
    id: 'work/limits',
    what: 'connections have more time than is configured',
    broken: { closeConnections: provided(closeConnectionsMachine, { delays: { connectionTimeout: () => 120_000 } }) },
    says: 'close-connections has no timer of 60000 ms',
  },
  {
    id: 'work/limits',
    what: 'a hook has no bound',
    plan: WITH_HOOKS,
    broken: everyHook(changed(hookMachine, 'running', { after: {} })),
    says: 'pre-shutdown leave has no timer of 5000 ms',
  },
  {
    id: 'work/hooks',
    what: 'no hook begins',
    plan: WITH_HOOKS,
    broken: { preShutdownHooks: changed(preShutdownHooksMachine, 'running', { entry: [] }) },
    says: 'leave has not started, though all that it follows has ended',
  },
  {
    id: 'work/hooks',
    what: 'a hook does not follow the one before it',
    plan: WITH_HOOKS,
    broken: { preShutdownHooks: changed(preShutdownHooksMachine, 'running', { on: { 'xstate.done.actor.*': { actions: ['settle'] } } }) },
    says: 'flush has not started, though all that it follows has ended',
  },
  {
    id: 'work/hooks',
    what: 'the hooks are never over',
    plan: WITH_HOOKS,
    broken: { preShutdownHooks: changed(preShutdownHooksMachine, 'running', { always: [] }) },
    says: 'PreShutdownHooksStopped has not fired, though all hooks have ended',
  },
  {
    id: 'work/hooks',
    what: 'hooks that may start together do not start as they were registered',
    plan: {
      ...PLAN,
      input: {
        ...PLAN.input,
        preShutdownHooks: plannedHooks([
          { name: 'leave', after: [] },
          { name: 'flush', after: [] },
        ]),
      },
    },
    broken: { preShutdownHooks: reversedHooks },
    says: 'flush starts when it is the turn of leave',
  },
  {
    id: 'work/hook-answers',
    what: 'an answer ends nothing',
    plan: WITH_HOOKS,
    broken: everyHook(changed(hookMachine, 'done', { type: undefined })),
    says: 'pre-shutdown leave has not ended by',
  },
  {
    id: 'work/hook-answers',
    what: 'an error is swallowed',
    plan: WITH_DESTROY,
    broken: everyHook(changed(hookMachine, 'failed', { output: OK })),
    says: 'destroy pool ends as ok by',
  },
  {
    id: 'work/hook-answers',
    what: 'the end of the bound is taken for an answer',
    plan: WITH_DESTROY,
    broken: everyHook(changed(hookMachine, 'timedOut', { output: OK })),
    says: 'destroy pool ends as ok by',
  },
  {
    id: 'work/hook-answers',
    what: 'an error is not the one that was thrown',
    plan: WITH_HOOKS,
    broken: everyHook(changed(hookMachine, 'failed', { output: { outcome: 'failed', error: { name: 'Error', message: 'other' } } })),
    says: 'pre-shutdown leave ends as failed by',
  },
  {
    id: 'work/pre-shutdown-outcome',
    what: 'a failure is forgotten',
    plan: WITH_HOOKS,
    broken: { preShutdownHooks: changed(preShutdownHooksMachine, 'failed', { output: OK }) },
    says: 'pre-shutdown-hooks ends as ok, but as its hooks ended it is failed',
  },
  {
    id: 'work/pre-shutdown-outcome',
    what: 'a cut is forgotten',
    plan: WITH_HOOKS,
    broken: { preShutdownHooks: changed(preShutdownHooksMachine, 'cut', { output: OK }) },
    says: 'pre-shutdown-hooks ends as ok, but as its hooks ended it is cut',
  },
  {
    id: 'work/destroy-outcome',
    what: 'a failure is forgotten',
    plan: WITH_DESTROY,
    broken: { destroy: changed(destroyMachine, 'someFailed', { output: OK }) },
    says: 'destroy ends as ok, but as its hooks ended it is failed',
  },
])('$id: $what', ({ id, plan = PLAN, broken = {}, root, says }) => {
  const property = invariantsOf(plan).find((other) => other.id === id)
  expect(property?.violation(explored(plan, broken, root))?.finding).toContain(says)
})

test.each([
  ['with a watch grace', PLAN],
  ['without one', WITHOUT_GRACE],
])('nothing is wrong with a life %s', (_, plan) => {
  const exploration = explored(plan, {})
  expect(invariantsOf(plan).flatMap(({ id, violation }) => (violation(exploration) ? [id] : []))).toEqual([])
})
