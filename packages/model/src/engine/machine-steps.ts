import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import { ModelError } from '../errors.ts'
import { type Collected, StandIn } from './actor-scope.ts'
import { canonical } from './canonical.ts'
import { assertUnchanged } from './changes.ts'
import { Commands } from './commands.ts'
import { MachineConfiguration } from './configuration.ts'
import { type Assigned, type ContextState, Contexts } from './context-table.ts'
import { type Dependency, MemoTree } from './dependencies.ts'
import type { InstrumentedMachine, Watched } from './instrumented-machine.ts'
import { type Context, INIT, isError, nodesPart, SEND, SPAWN, STOP_CHILD, sent, spawned, stopped } from './internals.ts'
import type { Where } from './purely.ts'
import { type Region, type RegionFrame, Regions } from './regions.ts'
import type { LocalState, Logic, ModelEvent } from './state.ts'
import { CommandSequence, type StepCommands } from './step-commands.ts'
import type { Step, StepTable } from './step-table.ts'

/**
 * The steps of one machine. xstate computes each; the result is remembered by what xstate read on
 * the way (see `dependencies.ts`), and serves every configuration that agrees in it. In a machine
 * of many regions, of which an event concerns few, that is most of them.
 */
export class MachineSteps {
  /** How many steps xstate has computed. */
  computed = 0
  readonly #steps: StepTable
  readonly #logic: Logic
  readonly #machine: AnyStateMachine
  readonly #watched: InstrumentedMachine
  readonly #standIn: StandIn
  readonly #commands: Commands
  readonly #regions: Regions
  readonly #contexts: Contexts
  readonly #known = new MemoTree<Change>()
  readonly #nothing = new CommandSequence()
  /**
   * The references to children in a snapshot, of which only their names matter, and whose they are.
   */
  readonly #refs = new Map<string, AnyActorRef>()
  /** A snapshot of this machine, to make others of. */
  #template: AnyMachineSnapshot | undefined

  constructor(steps: StepTable, logic: Logic, watched: InstrumentedMachine, isRoot: boolean) {
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
    const collected: Collected = { actions: [], transitions: [] }
    const after: AnyMachineSnapshot = this.#watched.aside(() =>
      this.#standIn.collect(
        collected,
        () => ({ machine: this.#logic.name, event: INIT }),
        (scope) => this.#machine.getInitialSnapshot(scope, input as never),
      ),
    )
    assertUnchanged(input, 'input', { machine: this.#logic.name, event: INIT })
    this.#template ??= after
    const local = this.#local(this.#reached(after, after.context as Context), after)
    // An actor that could not be initialised ends at once; nothing that it asked for is done.
    if (after.status === 'error') return stepTo(local, this.#nothing)
    return stepTo(local, this.#nothing.and(this.#commands.of(undefined, after, collected)))
  }

  /**
   * The step that a configuration takes for an event. Where possible it is put together of one part
   * for each event raised on the way.
   */
  next(local: LocalState, event: ModelEvent): Step {
    let at = local.configuration as MachineConfiguration
    let sequence = this.#nothing
    let partsLeft = this.#watched.maxIterations
    const raised = [event]
    for (let next = raised.shift(); next !== undefined; next = raised.shift()) {
      // An error without a handler ends the machine; that a machine raises one itself is no such
      // thing.
      if (ignores(at, next.type) && !(next === event && isError(next.type))) continue
      const part = this.#part(at, next)
      sequence = sequence.and(part.commands)
      if ('thrown' in part) return this.#failed(local, sequence, part.thrown)
      if (--partsLeft < 0) return this.#failed(local, sequence, new Error(`endless loop of raised events: ${next.type}`))
      at = this.#after(part, at, next)
      if (part.end.status !== 'active') return stepTo(this.#local(at, part.end), sequence)
      raised.push(...part.raised)
    }
    return stepTo(at === local.configuration ? local : this.#local(at, ACTIVE), sequence)
  }

  /** The same step by xstate alone: undivided, and whatever is known. */
  recompute(local: LocalState, event: ModelEvent): Step {
    const { part, reached } = this.#compute(local.configuration as MachineConfiguration, event, false)
    const sequence = this.#nothing.and(part.commands)
    return 'thrown' in part
      ? this.#failed(local, sequence, part.thrown)
      : stepTo(this.#local(reached as MachineConfiguration, part.end), sequence)
  }

  assertUnchanged(by: string): void {
    this.#contexts.assertAllUnchanged(() => ({ machine: `${this.#logic.name} in ${by}` }))
  }

  /** An actor that throws stays where it was, and does nothing more. */
  #failed({ configuration }: LocalState, { early, transitions }: CommandSequence, error: unknown): Step {
    return { local: this.#local(configuration as MachineConfiguration, { status: 'error', error }), commands: early, transitions }
  }

  #part(configuration: MachineConfiguration, event: ModelEvent): Change | Failure {
    const known = this.#known.find(event.index, configuration)
    // Assignments are done again, and one may throw at this context; xstate then says what follows.
    if (known && !('thrown' in this.#contexts.after(configuration.contextState, known.assigned, this.#where(configuration, event))))
      return known
    const { part, dependencies } = this.#compute(configuration, event, this.#regions.areStepsDivisible)
    if (!('thrown' in part)) this.#known.add(event.index, configuration, dependencies, part)
    return part
  }

  #compute(configuration: MachineConfiguration, event: ModelEvent, isDivided: boolean): Computed {
    this.computed++
    const collected: Collected = { actions: [], transitions: [] }
    const before = this.#snapshot(configuration, isDivided)
    const where = this.#where(configuration, event)
    try {
      const after: AnyMachineSnapshot = this.#standIn.collect(collected, where, (scope) =>
        this.#machine.transition(before, event.object as never, scope),
      )
      const commands = this.#commands.of(before, after, collected)
      this.#readChildren(collected)
      const watched = this.#watched.end(after)
      const reached = this.#reached(after, watched.context, configuration)
      const part: Change = {
        ...differenceOf(configuration, reached, watched),
        commands,
        assigned: watched.assigned,
        born: bornIn(collected, reached),
        end: { status: after.status, output: after.output, error: after.error },
        raised: watched.raised.map((object) => this.#steps.event(object, this.#logic.name)),
      }
      return { part, reached, dependencies: watched.dependencies }
    } catch (thrown) {
      if (thrown instanceof ModelError) throw thrown
      return { part: { thrown, commands: this.#commands.said(collected) }, dependencies: [] }
    } finally {
      this.#contexts.assertUnchanged(configuration.contextState, where)
      assertUnchanged(event.object, 'event', where())
    }
  }

  #where(configuration: MachineConfiguration, { type }: ModelEvent): () => Where {
    return () => ({ machine: this.#logic.name, value: configuration.value, event: type })
  }

  #after({ frame, moved, assigned, born, gone }: Change, before: MachineConfiguration, event: ModelEvent): MachineConfiguration {
    const context = this.#contexts.after(before.contextState, assigned, this.#where(before, event)) as ContextState
    const isSame = born.length + gone.length === 0
    const children = isSame ? before.children : [...new Set([...before.children, ...born])].filter((id) => !gone.includes(id)).sort()
    const regions = before.regions.slice(0, frame.roots.length)
    for (const [i, region] of moved) regions[i] = region
    return new MachineConfiguration(frame, regions, context, children)
  }

  /**
   * Notes the names of those a step sends to, starts or stops; xstate does not say whom it looked
   * for in vain.
   */
  #readChildren({ actions }: Collected): void {
    for (const action of actions) {
      const { type } = action
      if (![SEND, SPAWN, STOP_CHILD].includes(type)) continue
      const ref = type === SEND ? sent(action).to : type === SPAWN ? spawned(action).actorRef : stopped(action)
      if (ref === undefined) this.#watched.dependsOn({ kind: 'children' })
      else if (ref !== this.#standIn.self && ref !== this.#standIn.parent) this.#watched.dependsOn({ kind: 'child', id: ref.id })
    }
  }

  #reached(after: AnyMachineSnapshot, context: Context, before?: MachineConfiguration): MachineConfiguration {
    const { frame, regions } = this.#regions.takeApart(after, before)
    for (const [id, ref] of Object.entries(after.children)) this.#refs.set(id, ref as AnyActorRef)
    return new MachineConfiguration(frame, regions, this.#contexts.intern(context), Object.keys(after.children).sort())
  }

  /** What xstate is given to compute a step from, with a context that tells who reads it. */
  #snapshot(configuration: MachineConfiguration, isDivided: boolean): AnyMachineSnapshot {
    const { frame, nodes, children } = configuration
    return {
      ...(this.#template as AnyMachineSnapshot),
      status: 'active',
      output: undefined,
      error: undefined,
      value: configuration.value,
      // The order of states is only seen in the order in which eventless transitions are tried.
      ...nodesPart([...nodes.filter((node) => !frame.eventless.includes(node)), ...frame.eventless]),
      context: this.#watched.begin(frame, configuration.context, isDivided),
      children: Object.fromEntries(children.map((id) => [id, this.#refs.get(id)])),
      historyValue: frame.historyValue,
      tags: new Set(nodes.flatMap(({ tags }) => tags)),
    } as AnyMachineSnapshot
  }

  #local(configuration: MachineConfiguration, { status, output, error }: End): LocalState {
    if (status === 'stopped') throw new Error('a stop is never taken as a step')
    const { name, index: logicIndex } = this.#logic
    const regions = configuration.regions.map(({ index }) => index).join()
    const ended =
      status === 'active' ? '' : `${canonical(output, `${name}: output`)} ${error === undefined ? '' : canonical(error, `${name}: error`)}`
    const text = `${logicIndex} ${configuration.frame.index} ${regions} ${configuration.contextState.index} ${configuration.children.join('/')} ${status} ${ended}`
    return this.#steps.locals.intern(text, (index) => ({ index, logic: this.#logic, status, configuration, output, error }))
  }
}

interface End {
  readonly status: AnyMachineSnapshot['status']
  readonly output?: unknown
  readonly error?: unknown
}

const ACTIVE: End = { status: 'active' }

/** What a step, or a part of one, changes; so that it can be applied to another configuration. */
interface Change {
  readonly frame: RegionFrame
  readonly moved: readonly (readonly [position: number, to: Region])[]
  readonly assigned: readonly Assigned[]
  readonly born: readonly string[]
  readonly gone: readonly string[]
  readonly end: End
  /** Events that the machine has raised and that are to be answered next. */
  readonly raised: readonly ModelEvent[]
  readonly commands: StepCommands
}

interface Failure {
  readonly thrown: unknown
  readonly commands: StepCommands
}

/** What xstate has computed, where that led unless it threw, and what it depends on. */
interface Computed {
  readonly part: Change | Failure
  readonly reached?: MachineConfiguration
  readonly dependencies: readonly Dependency[]
}

const stepTo = (local: LocalState, { commands, transitions }: CommandSequence): Step => ({ local, commands, transitions })

function differenceOf(before: MachineConfiguration, after: MachineConfiguration, { left }: Watched) {
  const isAnew = left || before.frame.parallel !== after.frame.parallel
  return {
    frame: after.frame,
    moved: [...after.regions.entries()].filter(([i, region]) => isAnew || region !== before.regions[i]),
    gone: before.children.filter((id) => !after.children.includes(id)),
  }
}

/** Ids of the children that a step makes and keeps. */
const bornIn = ({ actions }: Collected, { children }: MachineConfiguration): string[] =>
  actions.flatMap((action) => (action.type === SPAWN ? [spawned(action).actorRef?.id ?? ''] : [])).filter((id) => children.includes(id))

/** Whether nothing in the machine can react: a third of all steps. */
const ignores = ({ frame, regions }: MachineConfiguration, type: string): boolean => {
  for (const i of frame.regionsFor(type)) if (regions[i]?.isEventless || regions[i]?.hears(type)) return false
  return !frame.trunk.hears(type)
}
