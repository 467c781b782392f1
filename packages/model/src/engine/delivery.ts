import { ModelError } from '../errors.ts'
import { STOP } from './internals.ts'
import { Live } from './live.ts'
import type { ActorState, ActorStates, Address, Effect, LocalState, ModelEvent, Path, Timer } from './state.ts'
import type { Steps } from './step.ts'
import type { Command, Step } from './step-table.ts'
import { unsupported } from './unsupported.ts'

/**
 * What follows from one event, to the end: xstate's delivery, step by step. Each actor has a
 * mailbox and works through it one macrostep at a time; an actor at rest answers within the
 * sender's turn, one at work finishes first.
 *
 * An actor of a stored state is turned into a {@link Live} one when it is touched, and back when
 * everything is at rest.
 */
export class Delivery {
  /** What was said, in order. */
  readonly effects: Effect[] = []
  readonly root: Live
  readonly #steps: Steps
  readonly #states: ActorStates
  readonly #listener: DeliveryListener | undefined
  /** Steps since something was delivered. */
  #taken = 0

  private constructor(steps: Steps, states: ActorStates, root: Live, listener?: DeliveryListener) {
    this.#steps = steps
    this.#states = states
    this.root = root
    this.#listener = listener
  }

  /** The start of a system. */
  static start(steps: Steps, states: ActorStates, step: Step, listener?: DeliveryListener): Delivery {
    const delivery = new Delivery(steps, states, new Live(ROOT, undefined, step.local), listener)
    delivery.#start(delivery.root, step)
    return delivery
  }

  /** A system at rest, to deliver something to. */
  static at(steps: Steps, states: ActorStates, root: ActorState, listener?: DeliveryListener): Delivery {
    return new Delivery(steps, states, Live.thaw(root, undefined), listener)
  }

  /** The state after everything has come to rest. */
  freeze(): ActorState {
    return this.root.freeze(this.#states)
  }

  find(path: Path): Live {
    const actor = path.parent ? this.find(path.parent).child(path.id) : this.root
    if (!actor) throw new Error(`no actor ${path.text}`)
    return actor
  }

  /** An event from the environment. */
  deliver(actor: Live, event: ModelEvent): void {
    this.#send(undefined, actor, event)
  }

  /** A pending timer of an actor is due. */
  fire(actor: Live, timer: Timer): void {
    actor.drop(timer)
    const target = reach(actor, timer.to)
    if (target) this.#send(actor, target, timer.event)
  }

  /** An opaque child has ended. */
  end(child: Live, event: ModelEvent): void {
    this.#leave(child, event)
  }

  /** An opaque child says something to its parent. */
  report(child: Live, event: ModelEvent): void {
    if (child.parent) this.#send(child, child.parent, event)
  }

  #send(from: Live | undefined, to: Live, event: ModelEvent): void {
    if (to.phase === 'ended') return
    this.#listener?.sent(from, to, event)
    if (!to.local.logic.isExplored) return
    to.mailbox.push(event)
    if (to.phase === 'idle') this.#work(to)
  }

  #work(actor: Live): void {
    actor.phase = 'busy'
    for (let event = actor.mailbox.shift(); event !== undefined; event = actor.mailbox.shift()) {
      if (event === STOP_EVENT) {
        this.#discard(actor)
        return
      }
      if (++this.#taken > STEPS_MAX) throw this.#endless(actor, event)
      this.#perform(actor, this.#steps.next(actor.local, event))
      if (hasEnded(actor)) return
    }
    actor.phase = 'idle'
  }

  /** Actors that answer each other without end. */
  #endless(actor: Live, { type }: ModelEvent): ModelError {
    const who = actor.local.logic.name
    return new ModelError(
      'ERR_MODEL_LIMIT',
      `${who}: actors answer each other without end: ${STEPS_MAX} steps follow from one choice, and the next is that ${who} takes ${type}. ` +
        'Give the answers a condition, or a delay',
      { machine: who, event: type },
    )
  }

  #start(actor: Live, step: Step): void {
    actor.phase = 'busy'
    this.#perform(actor, step)
    if (!hasEnded(actor)) this.#work(actor)
  }

  #perform(actor: Live, step: Step): void {
    const before = actor.local
    actor.moveTo(step.local)
    this.#listener?.stepped(actor, before, step)
    actor.expect(step)
    for (const command of step.commands) this.#execute(actor, command)
    if (step.local.status !== 'active') this.#leave(actor, this.#steps.endOf(step.local, actor.id))
  }

  #execute(actor: Live, command: Command): void {
    switch (command.kind) {
      case 'effect':
        this.effects.push(command.effect)
        this.#listener?.said(actor, command.effect)
        break
      case 'start':
        this.#spawn(actor, command.id, command.step)
        break
      case 'stop':
        this.#stop(actor.child(command.id))
        break
      case 'schedule':
        this.#schedule(actor, command.timer)
        break
      case 'cancel':
        actor.cancel(command.name)
        break
      case 'send': {
        const target = reach(actor, command.to)
        if (target) this.#send(actor, target, command.event)
      }
    }
  }

  #spawn(parent: Live, id: string, step: Step): void {
    const child = parent.newborn(id)
    // Stopped by its parent before it began.
    if (!child) return
    if (parent.child(id))
      throw unsupported(
        parent.local.logic.name,
        `a second child "${id}" while the first is running`,
        'stop the first, or give each child its own id',
      )
    parent.adopt(child)
    if (step.local.logic.isExplored) this.#start(child, step)
    else child.phase = 'idle'
  }

  #schedule(actor: Live, timer: Timer): void {
    const { name } = timer
    if (name !== undefined && actor.timers.some((other) => other.name === name))
      throw unsupported(
        actor.local.logic.name,
        `a second timer "${name}" while the first is pending`,
        'cancel the first, because xstate would lose it',
      )
    const { to } = timer
    if (to.kind === 'child' && to.newborn) {
      const plain = this.#steps.timers.intern(`plain ${timer.index}`, (index) => ({ ...timer, index, to: { kind: 'child', id: to.id } }))
      actor.schedule(actor.newborn(to.id) ? plain : this.#gone(plain))
    } else actor.schedule(to.kind === 'child' && !actor.child(to.id) ? this.#gone(timer) : timer)
  }

  /** A child in the middle of its work finishes what it is doing; what it has not begun is lost. */
  #stop(child: Live | undefined): void {
    if (!child) return
    this.#forget(child)
    if (child.phase === 'idle') this.#discard(child)
    else child.mailbox = [STOP_EVENT]
  }

  #discard(actor: Live): void {
    actor.phase = 'ended'
    for (const child of actor.liveChildren()) this.#stop(child)
  }

  /** The end of an actor that ends by itself: its parent hears of it. */
  #leave(actor: Live, event: ModelEvent): void {
    actor.phase = 'ended'
    actor.end()
    const { parent } = actor
    if (!parent) return
    this.#forget(actor)
    this.#send(actor, parent, event)
  }

  /** The parent no longer has this child; timers that were to reach it are lost. */
  #forget(child: Live): void {
    const { parent } = child
    if (parent?.child(child.id) !== child) return
    parent.disown(child)
    parent.timers = parent.timers.map((timer) => (timer.to.kind === 'child' && timer.to.id === child.id ? this.#gone(timer) : timer))
  }

  #gone(timer: Timer): Timer {
    return this.#steps.timers.intern(`gone ${timer.index}`, (index) => ({ ...timer, index, to: { kind: 'gone' } }))
  }
}

/** A listener to everything that happens on the way from one state to the next, for traces. */
export interface DeliveryListener {
  sent(from: Live | undefined, to: Live, event: ModelEvent): void
  stepped(actor: Live, before: LocalState, step: Step): void
  said(actor: Live, effect: Effect): void
}

const ROOT = ''

/** Steps that may follow from one choice before everything is at rest. */
const STEPS_MAX = 100_000

/** The message to end now, in a mailbox. Never delivered as an event. */
const STOP_EVENT: ModelEvent = { index: -1, type: STOP, object: { type: STOP } }

/** A function, because the compiler does not see that the phase changes in calls. */
const hasEnded = (actor: Live): boolean => actor.phase === 'ended'

function reach(actor: Live, to: Address): Live | undefined {
  switch (to.kind) {
    case 'self':
      return actor
    case 'parent':
      return actor.parent
    case 'child':
      return to.newborn ? actor.newborn(to.id) : actor.child(to.id)
    case 'gone':
      return undefined
  }
}
