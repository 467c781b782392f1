import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import { ModelError } from '../errors.ts'
import { canonical } from './canonical.ts'
import { assertUnchanged } from './changes.ts'
import { Commands } from './commands.ts'
import { type Assigned, type ContextState, Contexts } from './contexts.ts'
import { type Doing, Doings } from './doing.ts'
import { type Context, INIT, isError, nodesPart, SEND, SPAWN, STOP_CHILD, sent, spawned, stopped } from './internals.ts'
import { type Look, LookTree } from './looks.ts'
import type { Where } from './purely.ts'
import { type Region, type RegionFrame, Regions } from './regions.ts'
import { type Harvest, StandIn } from './scope.ts'
import { MachineStanding } from './standing.ts'
import type { LocalState, Logic, ModelEvent } from './state.ts'
import type { Step, StepTable } from './step-table.ts'
import type { Watched, WatchedMachine } from './watch.ts'

/**
 * The steps of one machine. xstate computes each; the result is remembered by what xstate looked at
 * on the way (see `looks.ts`), and serves every standing that looks the same. In a machine of many
 * regions, of which an event concerns few, that is most of them.
 */
export class MachineSteps {
  /** How many steps xstate has computed. */
  computed = 0
  readonly #steps: StepTable
  readonly #logic: Logic
  readonly #machine: AnyStateMachine
  readonly #watched: WatchedMachine
  readonly #standIn: StandIn
  readonly #commands: Commands
  readonly #regions: Regions
  readonly #contexts: Contexts
  readonly #known = new LookTree<Change>()
  readonly #nothing = new Doings()
  /** Of the children in a snapshot only their names matter, and whose they are. */
  readonly #refs = new Map<string, AnyActorRef>()
  /** A snapshot of this machine, to make others of. */
  #template: AnyMachineSnapshot | undefined

  constructor(steps: StepTable, logic: Logic, watched: WatchedMachine, isRoot: boolean) {
    this.#steps = steps
    this.#logic = logic
    this.#watched = watched
    this.#machine = watched.machine
    this.#standIn = new StandIn(this.#machine.id, isRoot, (transitions) => watched.microstep(transitions))
    this.#commands = new Commands(steps, logic, this.#standIn)
    this.#regions = new Regions(this.#machine)
    this.#contexts = new Contexts(logic.name, watched.contextKeys)
  }

  initial(input: unknown): Step {
    this.computed++
    const harvest: Harvest = { actions: [], transitions: [] }
    const after: AnyMachineSnapshot = this.#watched.aside(() =>
      this.#standIn.collect(
        harvest,
        () => ({ machine: this.#logic.name, event: INIT }),
        (scope) => this.#machine.getInitialSnapshot(scope, input as never),
      ),
    )
    assertUnchanged(input, 'input', { machine: this.#logic.name, event: INIT })
    this.#template ??= after
    const local = this.#local(this.#reached(after, after.context as Context), after)
    // An actor that could not be initialised ends at once; nothing that it asked for is done.
    if (after.status === 'error') return stepTo(local, this.#nothing)
    return stepTo(local, this.#nothing.and(this.#commands.of(undefined, after, harvest)))
  }

  /**
   * What a standing answers an event with. Where it can be, the step is put together of one part
   * for each event raised on the way.
   */
  next(local: LocalState, event: ModelEvent): Step {
    let at = local.standing as MachineStanding
    let doings = this.#nothing
    let partsLeft = this.#watched.maxIterations
    const raised = [event]
    for (let next = raised.shift(); next !== undefined; next = raised.shift()) {
      // An error without a handler ends the machine; that a machine raises one itself is no such
      // thing.
      if (isDeaf(at, next.type) && !(next === event && isError(next.type))) continue
      const part = this.#part(at, next)
      doings = doings.and(part.doing)
      if ('thrown' in part) return this.#failed(local, doings, part.thrown)
      if (--partsLeft < 0) return this.#failed(local, doings, new Error(`endless loop of raised events: ${next.type}`))
      at = this.#after(part, at, next)
      if (part.end.status !== 'active') return stepTo(this.#local(at, part.end), doings)
      raised.push(...part.raised)
    }
    return stepTo(at === local.standing ? local : this.#local(at, ACTIVE), doings)
  }

  /** The same step by xstate alone: undivided, and whatever is known. */
  recompute(local: LocalState, event: ModelEvent): Step {
    const { part, reached } = this.#compute(local.standing as MachineStanding, event, false)
    const doings = this.#nothing.and(part.doing)
    return 'thrown' in part ? this.#failed(local, doings, part.thrown) : stepTo(this.#local(reached as MachineStanding, part.end), doings)
  }

  assertUnchanged(by: string): void {
    this.#contexts.assertAllUnchanged(() => ({ machine: `${this.#logic.name} in ${by}` }))
  }

  /** An actor that throws stays where it was, and does nothing more. */
  #failed({ standing }: LocalState, { early, transitions }: Doings, error: unknown): Step {
    return { local: this.#local(standing as MachineStanding, { status: 'error', error }), commands: early, transitions }
  }

  #part(standing: MachineStanding, event: ModelEvent): Change | Failure {
    const known = this.#known.find(event.index, standing)
    // Assignments are done again, and one may throw at this context; xstate then says what follows.
    if (known && !('thrown' in this.#contexts.after(standing.contextState, known.assigned, this.#where(standing, event)))) return known
    const { part, looks } = this.#compute(standing, event, this.#regions.areStepsDivisible)
    if (!('thrown' in part)) this.#known.add(event.index, standing, looks, part)
    return part
  }

  #compute(standing: MachineStanding, event: ModelEvent, isDivided: boolean): Computed {
    this.computed++
    const harvest: Harvest = { actions: [], transitions: [] }
    const before = this.#snapshot(standing, isDivided)
    const where = this.#where(standing, event)
    try {
      const after: AnyMachineSnapshot = this.#standIn.collect(harvest, where, (scope) =>
        this.#machine.transition(before, event.object as never, scope),
      )
      const doing = this.#commands.of(before, after, harvest)
      this.#lookAtChildren(harvest)
      const watched = this.#watched.end(after)
      const reached = this.#reached(after, watched.context, standing)
      const part: Change = {
        ...differenceOf(standing, reached, watched),
        doing,
        assigned: watched.assigned,
        born: bornIn(harvest, reached),
        end: { status: after.status, output: after.output, error: after.error },
        raised: watched.raised.map((object) => this.#steps.event(object, this.#logic.name)),
      }
      return { part, reached, looks: watched.looks }
    } catch (thrown) {
      if (thrown instanceof ModelError) throw thrown
      return { part: { thrown, doing: this.#commands.said(harvest) }, looks: [] }
    } finally {
      this.#contexts.assertUnchanged(standing.contextState, where)
      assertUnchanged(event.object, 'event', where())
    }
  }

  #where(standing: MachineStanding, { type }: ModelEvent): () => Where {
    return () => ({ machine: this.#logic.name, value: standing.value, event: type })
  }

  #after({ frame, moved, assigned, born, gone }: Change, before: MachineStanding, event: ModelEvent): MachineStanding {
    const context = this.#contexts.after(before.contextState, assigned, this.#where(before, event)) as ContextState
    const isSame = born.length + gone.length === 0
    const children = isSame ? before.children : [...new Set([...before.children, ...born])].filter((id) => !gone.includes(id)).sort()
    const regions = before.regions.slice(0, frame.roots.length)
    for (const [i, region] of moved) regions[i] = region
    return new MachineStanding(frame, regions, context, children)
  }

  /**
   * Whom a step sends to, starts or stops is looked for by name; xstate does not say whom it looked
   * for in vain.
   */
  #lookAtChildren({ actions }: Harvest): void {
    for (const action of actions) {
      const { type } = action
      if (![SEND, SPAWN, STOP_CHILD].includes(type)) continue
      const ref = type === SEND ? sent(action).to : type === SPAWN ? spawned(action).actorRef : stopped(action)
      if (ref === undefined) this.#watched.look({ kind: 'children' })
      else if (ref !== this.#standIn.self && ref !== this.#standIn.parent) this.#watched.look({ kind: 'child', id: ref.id })
    }
  }

  #reached(after: AnyMachineSnapshot, context: Context, before?: MachineStanding): MachineStanding {
    const { frame, regions } = this.#regions.takeApart(after, before)
    for (const [id, ref] of Object.entries(after.children)) this.#refs.set(id, ref as AnyActorRef)
    return new MachineStanding(frame, regions, this.#contexts.intern(context), Object.keys(after.children).sort())
  }

  /** What xstate is given to compute a step from, with a context that tells who reads it. */
  #snapshot(standing: MachineStanding, isDivided: boolean): AnyMachineSnapshot {
    const { frame, nodes, children } = standing
    return {
      ...(this.#template as AnyMachineSnapshot),
      status: 'active',
      output: undefined,
      error: undefined,
      value: standing.value,
      // The order of states is only seen in the order in which eventless transitions are tried.
      ...nodesPart([...nodes.filter((node) => !frame.eventless.includes(node)), ...frame.eventless]),
      context: this.#watched.begin(frame, standing.context, isDivided),
      children: Object.fromEntries(children.map((id) => [id, this.#refs.get(id)])),
      historyValue: frame.historyValue,
      tags: new Set(nodes.flatMap(({ tags }) => tags)),
    } as AnyMachineSnapshot
  }

  #local(standing: MachineStanding, { status, output, error }: End): LocalState {
    if (status === 'stopped') throw new Error('a stop is never taken as a step')
    const { name, index: logicIndex } = this.#logic
    const regions = standing.regions.map(({ index }) => index).join()
    const ended =
      status === 'active' ? '' : `${canonical(output, `${name}: output`)} ${error === undefined ? '' : canonical(error, `${name}: error`)}`
    const text = `${logicIndex} ${standing.frame.index} ${regions} ${standing.contextState.index} ${standing.children.join('/')} ${status} ${ended}`
    return this.#steps.locals.intern(text, (index) => ({ index, logic: this.#logic, status, standing, output, error }))
  }
}

interface End {
  readonly status: AnyMachineSnapshot['status']
  readonly output?: unknown
  readonly error?: unknown
}

const ACTIVE: End = { status: 'active' }

/** What a step, or a part of one, changes; so that it can be done to another standing. */
interface Change {
  readonly frame: RegionFrame
  readonly moved: readonly (readonly [position: number, to: Region])[]
  readonly assigned: readonly Assigned[]
  readonly born: readonly string[]
  readonly gone: readonly string[]
  readonly end: End
  /** Events that the machine has raised and that are to be answered next. */
  readonly raised: readonly ModelEvent[]
  readonly doing: Doing
}

interface Failure {
  readonly thrown: unknown
  readonly doing: Doing
}

/** What xstate has computed, where that led unless it threw, and what it looked at. */
interface Computed {
  readonly part: Change | Failure
  readonly reached?: MachineStanding
  readonly looks: readonly Look[]
}

const stepTo = (local: LocalState, { commands, transitions }: Doings): Step => ({ local, commands, transitions })

function differenceOf(before: MachineStanding, after: MachineStanding, { left }: Watched) {
  const isAnew = left || before.frame.parallel !== after.frame.parallel
  return {
    frame: after.frame,
    moved: [...after.regions.entries()].filter(([i, region]) => isAnew || region !== before.regions[i]),
    gone: before.children.filter((id) => !after.children.includes(id)),
  }
}

/** Ids of the children that a step makes and keeps. */
const bornIn = ({ actions }: Harvest, { children }: MachineStanding): string[] =>
  actions.flatMap((action) => (action.type === SPAWN ? [spawned(action).actorRef?.id ?? ''] : [])).filter((id) => children.includes(id))

/** Whether nothing in the machine can react: a third of all steps. */
const isDeaf = ({ frame, regions }: MachineStanding, type: string): boolean => {
  for (const i of frame.hearing(type)) if (regions[i]?.isEventless || regions[i]?.hears(type)) return false
  return !frame.trunk.hears(type)
}
