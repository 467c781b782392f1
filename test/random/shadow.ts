import type { AnyActor, AnyActorRef, AnyMachineSnapshot, InspectionEvent } from 'xstate'
import { type ActorState, Model, rejects, resolves, viewOf } from '#model'
import { composeLifecycle, type LifePlan } from '#src/machines/lifecycle.ts'
import { lineDiff } from '#src/testing/trace/line-diff.ts'
import { remembered } from '../../packages/model/src/engine/memo.ts'

/** A timer that is about to be handled: xstate has forgotten it already. */
interface Due {
  readonly source: unknown
  readonly type: string
}

type Choice = ReturnType<Model['choices']['at']>[number]

/** What the outside may tell a life, once for every way in which machines tell it apart. */
const OUTSIDE = [
  { type: 'start' },
  { type: 'stop.requested', reason: { kind: 'stop', reason: 'model' } },
  { type: 'process.signalled', signal: 'SIGTERM', interactive: false },
  { type: 'process.crashed', origin: 'uncaughtException', error: { name: 'Error', message: 'crash' } },
  { type: 'listener.died', address: 'listener', error: { name: 'Error', message: 'listener died' } },
  { type: 'readyz.passed' },
]

const CHILDREN = {
  drainWatches: { outcomes: [resolves({ after: 0 }), resolves({ after: 1 }), rejects()] },
  terminateWatches: { outcomes: [resolves({ lost: 0 }), resolves({ lost: 1 }), rejects()] },
  destroyConnections: { outcomes: [resolves({ lost: 0 }), resolves({ lost: 1 }), rejects()] },
  nameHandlers: { outcomes: [resolves({ running: 0 }), resolves({ running: 1 }), rejects()] },
}

/** One in so many of the steps that are known without asking xstate is computed by it again. */
const RECHECK_EVERY = 256

/**
 * The checker's model of a life: what {@link explore} walks, without walking it. Steps are
 * remembered, so one serves many lives.
 */
export const modelOf = (plan: LifePlan): Model =>
  new Model(composeLifecycle(plan), { input: plan.input, events: OUTSIDE, children: CHILDREN }, RECHECK_EVERY)

/**
 * Follows a live life in the checker's model, cause by cause: an event from outside, a timer that
 * is due, an effect that answers. Each has to be something that the checker tries in that state,
 * and has to lead to where the checker says: so every state that the life is ever in is one that
 * the checker reaches.
 */
export class Shadow {
  readonly #model: Model
  #root: AnyActor | undefined
  #state: ActorState
  /** What was done so far, in the checker's words. */
  readonly steps: string[] = []
  /** The first difference; nothing is followed after it. */
  difference: string | undefined

  constructor(model: Model) {
    this.#model = model
    this.#state = model.start().freeze()
  }

  /** To be given to a test world. */
  readonly observe = (root: AnyActor): void => {
    this.#root = root
    root.system.inspect((event) => {
      if (event.type === '@xstate.event') this.#seen(event)
    })
  }

  /** Compares what the life is in now, when nothing is going on in it. */
  compare(due?: Due): void {
    if (this.difference !== undefined || !this.#root) return
    const model = textOfState(this.#state)
    const live = textOfLive(this.#root, due)
    if (model !== live) this.#differ(`- the checker, + the life\n${lineDiff(inLines(model), inLines(live))}`)
  }

  /**
   * A cause comes from outside or from the actor itself; everything else is a consequence, which
   * the model works out.
   */
  #seen({ actorRef, sourceRef, event }: Extract<InspectionEvent, { type: '@xstate.event' }>): void {
    if (event.type === 'xstate.init' || (sourceRef !== undefined && sourceRef !== actorRef)) return
    if (this.difference !== undefined) return
    // Before it is processed: the system rests in what the causes before it have led to.
    this.compare(sourceRef === undefined ? undefined : { source: actorRef, type: event.type })
    const path = pathOf(actorRef as AnyActorRef)
    const choice = this.#model.choices.at(this.#state).find((candidate) => candidate.path.text === path && isMeant(candidate, event))
    if (!choice) {
      this.#differ(`the checker does not try ${path} ${JSON.stringify(event)} in\n${textOfState(this.#state)}`)
      return
    }
    this.steps.push(choice.label)
    this.#state = this.#model.take(this.#state, choice).freeze()
  }

  #differ(how: string): void {
    this.difference ??= `after ${this.steps.join('; ')}:\n${how}`
  }
}

const PROMISE_EVENT = /^xstate\.promise\.(resolve|reject)$/

function isMeant({ kind, event }: Choice, live: { readonly type: string; readonly data?: unknown }): boolean {
  if (kind === 'event' || kind === 'timer') return event.type === live.type
  const [, how] = PROMISE_EVENT.exec(live.type) ?? []
  if (how === undefined) return false
  const { output } = event.object as { readonly output?: Counted }
  if (how === 'reject') return event.type.startsWith('xstate.error.')
  return event.type.startsWith('xstate.done.') && (output === undefined || isAsMany(output, live.data as Counted))
}

/** What effects answer with: how many, of which the checker tries none and one. */
type Counted = Readonly<Record<string, number>>
const isAsMany = (tried: Counted, live: Counted): boolean =>
  Object.entries(tried).every(([name, count]) => count === Math.min(1, live[name] as number))

const pathOf = (actor: AnyActorRef): string => {
  const parent = actor._parent
  if (!parent) return ''
  const above = pathOf(parent)
  return above ? `${above}/${actor.id}` : actor.id
}

// --- both as text: who runs, in which state, with which timers, and the exit code ----------------

interface Standing {
  readonly status: string
  readonly value?: unknown
  readonly context?: unknown
}

const line = (path: string, { status, value, context }: Standing, timers: readonly string[]): string => {
  const { exitCode } = (context ?? {}) as { exitCode?: number }
  const where = value === undefined ? '' : ` ${JSON.stringify(value)}`
  return `${path || 'root'} ${status}${where}${exitCode === undefined ? '' : ` exit code ${exitCode}`}${[...timers]
    .sort()
    .map((timer) => ` [${timer}]`)
    .join('')}`
}

const stateTexts = new WeakMap<ActorState, Map<string, string>>()

function textOfState(state: ActorState, path = ''): string {
  const texts = remembered(stateTexts, state, () => new Map<string, string>())
  return remembered(texts, path, () => {
    const { timers, children } = state
    const own = line(
      path,
      viewOf(state),
      timers.map(({ event }) => event.type),
    )
    return [own, ...children.map((child) => textOfState(child, path ? `${path}/${child.id}` : child.id))].join('\n')
  })
}

interface Scheduled {
  readonly source: unknown
  readonly event: { readonly type: string }
}

function textOfLive(root: AnyActorRef, due?: Due): string {
  const { _scheduledEvents: scheduled } = root.system.getSnapshot() as { readonly _scheduledEvents: Readonly<Record<string, Scheduled>> }
  const timers: Due[] = Object.values(scheduled).map(({ source, event }) => ({ source, type: event.type }))
  if (due?.type.startsWith('xstate.after.')) timers.push(due)
  const textOf = (actor: AnyActorRef, path: string): string[] => {
    const snapshot = actor.getSnapshot() as AnyMachineSnapshot
    const children = Object.values(snapshot.children ?? {}) as AnyActorRef[]
    return [
      line(
        path,
        snapshot,
        timers.flatMap(({ source, type }) => (source === actor ? [type] : [])),
      ),
      ...children
        .filter((child) => child.getSnapshot().status === 'active')
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .flatMap((child) => textOf(child, path ? `${path}/${child.id}` : child.id)),
    ]
  }
  return textOf(root, '').join('\n')
}

/** A line for each region, for people. */
const inLines = (text: string): string => text.replaceAll(/[{,]/g, '$&\n')
