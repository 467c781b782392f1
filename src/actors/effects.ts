import { type EventObject, fromCallback, fromPromise, type NonReducibleUnknown } from 'xstate'
import { eachOf, takeSteps } from '../base/each-of.ts'
import { errorRecord, type HookKind } from '../base/events.ts'
import type { LifecycleMachine } from '../machines/lifecycle.ts'
import { type ConnectionsLost, closeConnectionsMachine } from '../machines/phases/close-connections.ts'
import { closeListenerMachine, type ListenerClose } from '../machines/phases/close-listener.ts'
import { destroyMachine } from '../machines/phases/destroy.ts'
import { type HandlersLeft, handlersMachine } from '../machines/phases/handlers.ts'
import { type HookPlan, hookMachine } from '../machines/phases/hook.ts'
import { lastCallMachine } from '../machines/phases/last-call.ts'
import { muxCompleteMachine } from '../machines/phases/mux-complete.ts'
import { muxSignalMachine } from '../machines/phases/mux-signal.ts'
import { type NotifyClientsPlan, notifyClientsMachine } from '../machines/phases/notify-clients.ts'
import type { MachineFact } from '../machines/phases/phase.ts'
import { preShutdownHooksMachine } from '../machines/phases/pre-shutdown-hooks.ts'
import { reportMachine } from '../machines/phases/report.ts'
import { requestDrainMachine } from '../machines/phases/request-drain.ts'
import { watchDrainMachine } from '../machines/phases/watch-drain.ts'
import { announceReady } from '../platforms/platforms.ts'
import { awaitMux } from './await-mux.ts'
import { asBeforeClose, asDestroying } from './before-close.ts'
import { bind } from './bind.ts'
import { acceptThenClose, closeAdmin, closeIdleConnections, closeListeners, destroyConnections, lingerConnections } from './close-down.ts'
import { type ActorSystem, type UserCode, userCode } from './user-code.ts'
import { type LifeWorld, type World, worldOf } from './world.ts'

/** An effect as actor logic: runs `work` with a signal that is aborted when its phase is left. */
const effect = (work: (world: LifeWorld, signal: AbortSignal) => unknown) =>
  fromPromise<void, NonReducibleUnknown>(async ({ system, signal }) => {
    await work(worldOf(system), signal)
  })

const actions = {
  record: ({ system }: { readonly system: ActorSystem }, fact: MachineFact) => worldOf(system).record(fact),
}

/**
 * The machine with everything that it names: what the machines wish for, and what is done about it.
 * Effects do one thing and report how it ended; when to do it, and what follows, is the machines'
 * business. What they act on is given by `giveWorld`.
 */
export const provideEffects = (machine: LifecycleMachine): LifecycleMachine => {
  effects ??= makeEffects()
  return machine.provide({ actions, actors: effects })
}

/** The effects of the process, made once: they depend on no plan. */
let effects: ReturnType<typeof makeEffects> | undefined

function makeEffects() {
  const hook = hookMachine.provide({
    actors: {
      runHook: userCode(worldOf, (world, { kind, name }: HookPlan) => ({
        name,
        what: `${kind} hook "${name}"`,
        run: runOf(world, kind, name),
        reason: new Error(`${kind} hook "${name}" is out of time`),
      })),
    },
  })
  return {
    auditRun: userCode(worldOf, ({ auditing }, _: NonReducibleUnknown) => ({
      name: 'audit',
      what: 'audit backend run',
      run: auditing.run,
      reason: new Error('start-up was stopped'),
    })),
    bind: effect((world, signal) =>
      bind(world, signal).catch((error: unknown) => {
        world.causes.keep('bind', error)
        throw error
      }),
    ),
    muxComplete: muxCompleteMachine.provide({
      actions,
      actors: {
        muxSignal: muxSignalMachine.provide({
          actors: {
            awaitMuxSignal: fromCallback<EventObject, { readonly name: string }>(({ input, system, sendBack }) => {
              const complete = worldOf(system).muxSignal(input.name)
              return complete && awaitMux(complete, sendBack)
            }),
          },
        }),
      },
    }),
    announce: effect(({ host }, signal) => announceReady(host.process, signal)),
    runPostStartHook: userCode(worldOf, (world, { kind, name }: HookPlan) => ({
      name,
      what: `${kind} hook "${name}"`,
      run: world.hook(kind, name),
      reason: world.postStartSignals.reason,
      controller: world.postStartSignals.open(),
    })),
    abortPostStartHooks: effect(({ postStartSignals }) => postStartSignals.abort()),
    'notify-clients': notifyClientsMachine.provide({
      actors: {
        beginNotifying: fromPromise<void, NotifyClientsPlan>(async ({ input, system }) => worldOf(system).traffic.beginNotifying(input)),
        completeNotifying: effect(({ traffic }) => traffic.completeNotifying()),
      },
    }),
    preShutdownHooks: preShutdownHooksMachine.provide({ actions, actors: { hook } }),
    requestDrain: requestDrainMachine.provide({
      actors: {
        drainRequests: effect(({ drains }) => drains.requests()),
        cutRequests: effect(({ drains }) => drains.cutRequests()),
        breakOffRequests: effect(({ drains }) => drains.breakOffRequests()),
      },
    }),
    watchDrain: watchDrainMachine.provide({
      actors: {
        drainWatches: fromPromise<{ readonly after: number }, { readonly graceMs: number }>(({ input, system }) =>
          worldOf(system).drains.watches(input.graceMs),
        ),
        terminateWatches: fromPromise<{ readonly lost: number }>(async ({ system }) => worldOf(system).drains.terminateWatches()),
      },
    }),
    closeListener: closeListenerMachine.provide({
      actors: {
        acceptThenClose: fromPromise<void, ListenerClose>(({ input, system, signal }) => acceptThenClose(worldOf(system), input, signal)),
        closeListenerNow: effect(closeListeners),
      },
    }),
    lastCall: lastCallMachine.provide({
      actors: {
        holdConnections: fromPromise<void, { readonly lastCallMs: number }>(async ({ input, system }) => {
          if (input.lastCallMs > 0) await worldOf(system).traffic.lastCall.heeded()
        }),
        closeIdleConnections: effect(closeIdleConnections),
      },
    }),
    closeConnections: closeConnectionsMachine.provide({
      actors: {
        lingerConnections: effect(lingerConnections),
        destroyConnections: fromPromise<ConnectionsLost>(({ system }) => destroyConnections(worldOf(system))),
      },
    }),
    handlers: handlersMachine.provide({
      actors: {
        waitForHandlers: effect(({ traffic }) => traffic.handlersDone()),
        nameHandlers: fromPromise(async ({ system }) => nameHandlers(worldOf(system))),
      },
    }),
    auditShutdown: userCode(worldOf, ({ auditing }, _: NonReducibleUnknown) => ({
      name: 'audit',
      what: 'audit backend shutdown',
      run: auditing.shutdown,
      reason: new Error('out of time'),
    })),
    destroy: destroyMachine.provide({
      actions,
      actors: {
        hook,
        startRest: fromPromise<void, { readonly functions: readonly HookPlan[] }>(async ({ input, system }) =>
          startRest(worldOf(system), input.functions),
        ),
      },
    }),
    userPhase: hook,
    closeAdmin: effect(async (world, signal) => {
      await world.unseenWorkOver(signal)
      closeAdmin(world)
    }),
    report: reportMachine.provide({
      actors: {
        flushLogs: effect((world) => world.flushLogs()),
        writeReport: effect((world, signal) => world.writeReport(signal)),
        writeReportNow: effect((world) => world.writeReportNow('cut')),
      },
    }),
    force: effect(force),
  }
}

function runOf(world: World, kind: HookKind, name: string): UserCode | undefined {
  const run = world.hook(kind, name)
  if (run && kind === 'destroy') return (context) => asDestroying(name, () => run(context))
  return run && world.comesBeforeClose(kind, name) ? (context) => asBeforeClose(() => run(context)) : run
}

function nameHandlers({ traffic, record }: World): HandlersLeft {
  const { pending, unended } = traffic.cutHandlers()
  if (pending.length + unended.length > 0) record({ type: 'handlers', running: [...pending, ...unended] })
  return { running: pending.length }
}

/** Every destroy function is called, also when there is no time to wait for it. */
function startRest(world: World, functions: readonly HookPlan[]): void {
  const signal = AbortSignal.abort(new Error('out of time'))
  for (const { kind, name } of functions) {
    const ended = (error?: unknown): void =>
      world.record({
        type: 'hook.ended',
        kind,
        name,
        outcome: 'cut',
        durationMs: 0,
        ...(error !== undefined && { error: errorRecord(error) }),
      })
    try {
      const answer = world.inContext(() => world.hook(kind, name)?.({ name, signal, reason: world.causes.cause }))
      Promise.resolve(answer).then(undefined, (error: unknown) =>
        world.record({ type: 'late', what: `${kind} hook "${name}"`, answer: 'rejected', lateMs: 0, error: errorRecord(error) }),
      )
      ended()
    } catch (thrown) {
      ended(thrown)
    }
  }
}

/** Names what is left and ends it, in one synchronous step. Nothing comes after it. */
const force = (world: LifeWorld): void =>
  takeSteps(
    () => world.postStartSignals.abort(),
    () => eachOf(world.opened(), (listener) => listener.kind !== 'inspector' && listener.close()),
    () => nameHandlers(world),
    () => world.drains.force(),
    () => void destroyConnections(world),
    () => world.traffic.destroyAdminConnections(),
    () => world.writeReportNow('forced'),
  )
