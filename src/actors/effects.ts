import { type EventObject, fromCallback, fromPromise, type NonReducibleUnknown } from 'xstate'
import { QuiesceError } from '../base/errors.ts'
import { errorRecord, type HookKind, type LifecycleFact } from '../base/events.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import type { OlderConnections } from '../http/transport.ts'
import type { LifecycleMachine } from '../machines/lifecycle.ts'
import { type ConnectionsLost, closeConnectionsMachine } from '../machines/phases/close-connections.ts'
import { closeListenerMachine, type ListenerClose } from '../machines/phases/close-listener.ts'
import { destroyMachine } from '../machines/phases/destroy.ts'
import { type HandlersLeft, handlersMachine } from '../machines/phases/handlers.ts'
import { type HookPlan, hookMachine } from '../machines/phases/hook.ts'
import { lastCallMachine } from '../machines/phases/last-call.ts'
import { muxCompleteMachine } from '../machines/phases/mux-complete.ts'
import { muxSignalMachine } from '../machines/phases/mux-signal.ts'
import type { MachineFact } from '../machines/phases/phase.ts'
import { preShutdownHooksMachine } from '../machines/phases/pre-shutdown-hooks.ts'
import { reportMachine } from '../machines/phases/report.ts'
import { requestDrainMachine } from '../machines/phases/request-drain.ts'
import { type TellPlan, tellMachine } from '../machines/phases/tell.ts'
import { watchDrainMachine } from '../machines/phases/watch-drain.ts'
import { announceReady } from '../platforms/platforms.ts'
import { AcceptSeal } from './accept-seal.ts'
import { Audit, type AuditBackend } from './audit.ts'
import { awaitMux } from './await-mux.ts'
import { awaitOwner } from './await-owner.ts'
import { asBeforeClose } from './before-close.ts'
import type { Host } from './host.ts'
import { closeAll, type Listener } from './listener.ts'
import type { Drains } from './reported-drains.ts'
import type { StopCauses } from './stop-causes.ts'
import { type ActorSystem, type UserCode, userCode } from './user-code.ts'

/**
 * What the machines wish for and what is done about it: every effect of the root machine and its
 * phases, by name. Effects do one thing and report how it ended; when to do it, and what follows,
 * is the machines' business.
 */
export interface World {
  readonly host: Host
  readonly traffic: Traffic
  readonly record: (fact: LifecycleFact | MachineFact) => void
  /** Runs a function where `start()` was called. */
  readonly inContext: <R>(fn: () => R) => R
  /**
   * Every listener, opened on the first call: loading the adapter of a fetch handler takes a
   * moment.
   */
  readonly listeners: () => Promise<readonly Listener[]>
  readonly opened: () => readonly Listener[]
  /** Why the life ends; what is thrown is kept there, because the machine keeps its record only. */
  readonly causes: StopCauses
  readonly drains: Drains
  /** What an attached server that listened already may have. */
  readonly older: OlderConnections | undefined
  readonly audit: AuditBackend | undefined
  readonly hook: (kind: HookKind, name: string) => UserCode | undefined
  /** What completes a mux-complete signal. */
  readonly muxSignal: (name: string) => AbortSignal | PromiseLike<unknown> | undefined
  /** Whether the listeners close only when this user code has ended. */
  readonly comesBeforeClose: (kind: HookKind, name: string) => boolean
  readonly listenerDied: (address: string, error: Error | undefined) => void
  /** The life ends, and not because the owner of an attached server has closed one. */
  readonly endsByItself: () => boolean
  readonly flushLogs: () => Promise<void>
  /** Aborted, it leaves the file alone: {@link writeReportNow} has the last word. */
  readonly writeReport: (signal: AbortSignal) => Promise<void>
  /** In one synchronous step; `cut` when the report itself ran out of time. */
  readonly writeReportNow: (why: 'cut' | 'forced') => void
  /**
   * Resolves when no work is left that the life does not know of, or when no time is; never
   * rejects.
   */
  readonly unseenWorkOver: (signal: AbortSignal) => Promise<void>
}

/**
 * The abort signals of the post-start hooks, of those that have returned too: work that they have
 * started goes by them.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go stopHTTPServerCtx
 */
class PostStartSignals {
  readonly reason = new Error('time to stop HTTP server')
  readonly #controllers: AbortController[] = []

  open(): AbortController {
    const controller = new AbortController()
    this.#controllers.push(controller)
    return controller
  }

  /** A second call does nothing. */
  abort(): void {
    for (const controller of this.#controllers) controller.abort(this.reason)
  }
}

/** What the effects of one life act on. */
interface LifeWorld extends World {
  readonly auditing: Audit
  readonly postStartSignals: PostStartSignals
}

/**
 * By its system of actors. Machines and effects belong to no life: lives of equal plans share them
 * (machine-for.ts).
 */
const worlds = new WeakMap<ActorSystem, LifeWorld>()

/** Gives the effects of a life what they act on; to be called before its first actor runs. */
export function giveWorld(system: ActorSystem, world: World): void {
  worlds.set(system, { ...world, auditing: new Audit(world.audit), postStartSignals: new PostStartSignals() })
}

function worldOf(system: ActorSystem): LifeWorld {
  const world = worlds.get(system)
  if (!world) throw new QuiesceError('ERR_INTERNAL', 'an effect of a life without a world')
  return world
}

/** An effect as actor logic: runs `work` with a signal that is aborted when its phase is left. */
const effect = (work: (world: LifeWorld, signal: AbortSignal) => unknown) =>
  fromPromise<void, NonReducibleUnknown>(async ({ system, signal }) => {
    await work(worldOf(system), signal)
  })

const actions = {
  record: ({ system }: { readonly system: ActorSystem }, fact: MachineFact) => worldOf(system).record(fact),
}

/** The machine with everything it names, for lives of which {@link giveWorld} has been told. */
export const provideEffects = (machine: LifecycleMachine): LifecycleMachine => {
  effects ??= makeEffects()
  return machine.provide({ actions, actors: effects })
}

/** Made once in a process: they depend on no plan. */
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
    tell: tellMachine.provide({
      actors: {
        beginTelling: fromPromise<void, TellPlan>(async ({ input, system }) => worldOf(system).traffic.beginTelling(input)),
        completeTelling: effect(({ traffic }) => traffic.completeTelling()),
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

const CLOSED_BY_HOOK = 'a hook or phase waits for close() of the server, which closes only after it: close frameworks in addDestroy()'

/**
 * All listeners or none: the first that fails ends start-up, and the stop that follows closes those
 * before it.
 */
async function bind(world: World, signal: AbortSignal): Promise<void> {
  const listeners = await world.listeners()
  // Owners listen when they like, and in any order.
  const awaited = listeners.filter(({ awaitsOwner }) => awaitsOwner)
  const over = new AbortController()
  const giveUp = (): void => over.abort(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  try {
    await Promise.all(awaited.map((listener) => bindOne(world, listener, over.signal)))
  } catch (error) {
    over.abort(error)
    throw error
  }
  for (const listener of listeners) if (!awaited.includes(listener)) await bindOne(world, listener, signal)
}

async function bindOne(world: World, listener: Listener, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const { awaitsOwner } = listener
  const bound = await (awaitsOwner ? awaitOwner(world, listener, signal) : listener.bind(signal)).catch((error: unknown) => {
    // The wait is over; the report should say more than that the time was over. An owner who was
    // still to call listen() is not at fault.
    if (signal.aborted && !awaitsOwner) world.record({ type: 'error', where: 'bind', error: errorRecord(error) })
    throw error
  })
  // The life does not depend on the page that shows it.
  if (listener.kind !== 'inspector')
    listener.onDeath(
      (death) => {
        const error = death.kind === 'error' ? death.error : undefined
        if (error) world.record({ type: 'stopped-listening', url: bound.url, error: errorRecord(error) })
        world.listenerDied(bound.url, error)
        if (!error) closedByOwner(world, listener)
      },
      () => world.record({ type: 'warning', message: CLOSED_BY_HOOK }),
    )
  world.record({ type: 'listening', ...bound, admin: listener.admin, ...(listener.kind === 'inspector' && { inspector: true }) })
}

/**
 * As node does it: the address is free in the step in which its owner calls `close()`, and what the
 * kernel has accepted and node has not is reset. A stop that came first empties its accept queue.
 */
function closedByOwner({ endsByItself, record }: World, listener: Listener): void {
  if (endsByItself() || !listener.server.listening) return
  const url = listener.close()
  if (url !== undefined) record({ type: 'stopped-listening', url })
}

function runOf(world: World, kind: HookKind, name: string): UserCode | undefined {
  const run = world.hook(kind, name)
  return run && world.comesBeforeClose(kind, name) ? (context) => asBeforeClose(() => run(context)) : run
}

const OLDER =
  'connections were open before attachLifecycle(): their requests cannot be counted, so the stop waits for the connections to close. Attach before the server listens'

/** On a cut it records nothing: `destroyConnections` does. */
async function lingerConnections(world: World, signal: AbortSignal): Promise<void> {
  world.traffic.endUpgraded()
  await world.traffic.connectionsClosed()
  await world.older?.gone(signal, (count) => world.record({ type: 'warning', message: OLDER, details: { count } }))
  if (!signal.aborted) recordConnections(world)
}

/** All but the last look is one step. */
async function destroyConnections(world: World): Promise<ConnectionsLost> {
  const { lost } = world.traffic.destroyConnections()
  const older = world.older?.destroy()
  recordConnections(world)
  return { lost: lost + ((await older) ?? 0) }
}

const UNFINISHED = 'connections were closed before their TLS handshake had ended'
/** A warning names so many. */
const UNFINISHED_NAMED_MAX = 10

function recordConnections({ traffic, record }: World): void {
  const unfinished = traffic.snapshot.unfinishedConnections()
  if (unfinished.length > 0) {
    const details = { count: unfinished.length, clients: unfinished.slice(0, UNFINISHED_NAMED_MAX).map(({ name }) => name) }
    record({ type: 'warning', message: UNFINISHED, details })
  }
  const { lastRequestMs } = traffic
  record({ type: 'connections', ...traffic.snapshot.connectionFates(), ...(lastRequestMs !== undefined && { lastRequestMs }) })
}

/** Cut, it finds the listeners closed already. */
async function acceptThenClose(world: World, { lastCallMs }: ListenerClose, signal: AbortSignal): Promise<void> {
  const listeners = publicListeners(world)
  const close = (): void => closed(world, closeAll(listeners))
  if (lastCallMs === 0) return close()
  const seal = AcceptSeal.of(listeners.map(({ server }) => server))
  try {
    await world.traffic.lastCall.acceptQueued(close, signal, seal)
  } finally {
    seal?.[Symbol.dispose]()
  }
}

function closeListeners(world: World): void {
  closed(world, closeAll(publicListeners(world)))
}

/** In reverse, as everything that is taken back. */
const publicListeners = ({ opened }: World): Listener[] => [...opened()].filter(({ admin }) => !admin).reverse()

function closed({ record, traffic }: World, urls: readonly string[]): void {
  traffic.listenersClosed()
  for (const url of urls) record({ type: 'stopped-listening', url })
}

async function closeIdleConnections({ traffic, record }: World): Promise<void> {
  await traffic.lastCall.closeIdleConnections()
  const { came } = traffic.lastCall
  if (came) record({ type: 'last-call', ...came })
}

function nameHandlers({ traffic, record }: World): HandlersLeft {
  const { pending, unended } = traffic.cutHandlers()
  if (pending.length + unended.length > 0) record({ type: 'handlers', running: [...pending, ...unended] })
  return { running: pending.length }
}

function closeAdmin({ opened, traffic }: World): void {
  for (const listener of opened()) if (listener.kind === 'admin') listener.close()
  traffic.destroyAdminConnections()
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

/** Names what is left and ends it, in one synchronous step. */
function force(world: LifeWorld): void {
  world.postStartSignals.abort()
  for (const listener of world.opened()) if (listener.kind !== 'inspector') listener.close()
  nameHandlers(world)
  world.drains.force()
  void destroyConnections(world)
  world.traffic.destroyAdminConnections()
  world.writeReportNow('forced')
}
