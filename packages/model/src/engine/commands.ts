import type { AnyActorRef, AnyMachineSnapshot, ExecutableActionObject } from 'xstate'
import { type Collected, type StandIn, UNNAMED } from './actor-scope.ts'
import { canonical } from './canonical.ts'
import {
  CANCEL,
  cancelled,
  EMIT,
  emitted,
  isInline,
  isSynced,
  LOG,
  OWN,
  parentOf,
  RAISE,
  SEND,
  type SendParams,
  SPAWN,
  type SpawnParams,
  STOP_CHILD,
  sent,
  spawned,
  stopped,
} from './internals.ts'
import type { Address, Logic } from './state.ts'
import type { StepCommands } from './step-commands.ts'
import type { Command, StepTable } from './step-table.ts'
import { unsupported } from './unsupported.ts'

/**
 * Puts what xstate asks for while it computes the steps of one machine into commands that mean the
 * same wherever the actor stands.
 */
export class Commands {
  readonly #steps: StepTable
  readonly #logic: Logic
  readonly #standIn: StandIn

  constructor(steps: StepTable, logic: Logic, standIn: StandIn) {
    this.#steps = steps
    this.#logic = logic
    this.#standIn = standIn
  }

  /**
   * The actions of a macrostep as commands. A running actor performs custom actions while it
   * computes the step and everything else after it; one that starts performs all of it in order,
   * after starting its children.
   */
  of(before: AnyMachineSnapshot | undefined, after: AnyMachineSnapshot, { actions, transitions }: Collected): StepCommands {
    // Entry actions may speak to a child that is made after them.
    const starts = new Map<unknown, Command>()
    for (const action of actions) {
      if (action.type === SPAWN) starts.set(spawned(action).actorRef, this.#start(spawned(action)))
    }
    const early: Command[] = []
    const late: Command[] = []
    for (const action of actions) {
      const commands = this.#command(before, starts, action)
      if (commands[0]?.kind === 'effect' && before !== undefined && action.type !== EMIT) early.push(...commands)
      else late.push(...commands)
    }
    const isStart = (command: Command): boolean => command.kind === 'start' && [...starts.values()].includes(command)
    // A child stopped in the step that made it never starts.
    const kept = late.filter((command) => command.kind !== 'start' || isStart(command))
    if (before !== undefined) return { early, late: kept, transitions }
    const first = Object.values(after.children).flatMap((child) => starts.get(child) ?? [])
    const isActive = (command: Command): boolean => command.kind === 'start' && command.step.local.status === 'active'
    const children = first.filter(isActive)
    return { early, late: [...children, ...kept.filter((command) => !children.includes(command))], transitions }
  }

  /**
   * The commands of a step that threw: what was said before has been said, everything else is lost.
   */
  said({ actions, transitions }: Collected): StepCommands {
    const early = actions.flatMap((action) => (action.type.startsWith(OWN) ? [] : this.#effect(action)))
    return { early, late: [], transitions }
  }

  #command(before: AnyMachineSnapshot | undefined, starts: Map<unknown, Command>, action: ExecutableActionObject): Command[] {
    const { type } = action
    if (!type.startsWith(OWN) || type === EMIT) return this.#effect(action)
    switch (type) {
      case LOG:
        return []
      case SPAWN: {
        const start = starts.get(spawned(action).actorRef)
        return start ? [start] : []
      }
      case STOP_CHILD: {
        const ref = stopped(action)
        if (ref === undefined || starts.delete(ref)) return []
        return before?.children[ref.id] === ref ? [{ kind: 'stop', id: ref.id }] : []
      }
      case CANCEL:
        return [{ kind: 'cancel', name: cancelled(action) }]
      case RAISE:
      case SEND:
        return this.#send(starts, sent(action), type === RAISE)
      default:
        throw unsupported(
          this.#logic.name,
          `the action ${type}`,
          'use assign, raise, sendTo, cancel, spawnChild, stopChild, emit, log or a custom action',
        )
    }
  }

  #effect({ type, params }: ExecutableActionObject): Command[] {
    const name = type === EMIT ? 'emit' : type
    const said = type === EMIT ? emitted({ params }) : params
    const effect = this.#steps.effects.intern(`${name} ${canonical(said, `action ${name}: params`)}`, (index) => ({
      index,
      type: name,
      params: said,
    }))
    return [{ kind: 'effect', effect }]
  }

  #start({ actorRef, src, input }: SpawnParams): Command {
    const where = `${this.#logic.name}: child ${actorRef && !actorRef.id.startsWith(UNNAMED) ? actorRef.id : String(src)}`
    if (!actorRef) throw unsupported(where, `an actor "${String(src)}" without implementation`, 'provide it')
    const { id, logic } = actorRef
    if (id.startsWith(UNNAMED))
      throw unsupported(where, 'a child without an id', 'give it an id, because generated ids differ from run to run')
    if (isSynced(actorRef)) throw unsupported(where, 'onSnapshot', 'send an event to the parent instead')
    this.#steps.childIds.add(id)
    return { kind: 'start', id, step: this.#steps.initial(logic, typeof src === 'string' && !isInline(src) ? src : id, id, input) }
  }

  #send(starts: ReadonlyMap<unknown, Command>, { to, event: object, id, delay }: SendParams, raised: boolean): Command[] {
    if (raised && delay === undefined) return []
    const event = this.#steps.event(object, this.#logic.name)
    const address = raised ? SELF : this.#address(starts, to, object.type)
    if (delay === undefined) return [{ kind: 'send', to: address, event }]
    const key = `${id} ${event.index} ${address.kind} ${address.kind === 'child' ? `${address.id} ${address.newborn}` : ''} ${delay}`
    const timer = this.#steps.timers.intern(key, (index) => ({
      index,
      ...(id !== undefined && { name: id }),
      event,
      to: address,
      delayMs: delay,
    }))
    return [{ kind: 'schedule', timer }]
  }

  #address(starts: ReadonlyMap<unknown, Command>, to: AnyActorRef | undefined, event: string): Address {
    const { self, parent } = this.#standIn
    if (to === self) return SELF
    if (to !== undefined && to === parent) return PARENT
    // Children are made by xstate with the stand-in as their parent, so this is one of this
    // machine's.
    if (to !== undefined && parentOf(to) === self) return { kind: 'child', id: to.id, ...(starts.has(to) && { newborn: true }) }
    throw unsupported(
      this.#logic.name,
      `sending ${event} to an actor that is not a child, the parent or the sender`,
      'send it to the parent or a child, which passes it on',
    )
  }
}

const SELF: Address = { kind: 'self' }
const PARENT: Address = { kind: 'parent' }
