import type { Choice } from '../engine/choice.ts'
import type { Exploration } from '../engine/explore.ts'
import { remembered } from '../engine/memo.ts'
import type { ActorState, Address, LocalState, Logic, Timer } from '../engine/state.ts'
import type { Command, Step } from '../engine/step-table.ts'
import { ModelError } from '../errors.ts'
import type { Monitor } from '../properties/property.ts'

/**
 * The tables of a system for spin: of each actor alone, what it does for each event. What follows
 * from that when they work together is not in them.
 */
export interface PromelaTables {
  /** Of each place in the tree of actors: its parent and what the parent calls it. */
  readonly slots: readonly { readonly parent: number; readonly id: number; readonly text: string }[]
  /** Of each local state: 0 active and explored, 1 active and opaque, 2 over. */
  readonly locals: readonly number[]
  /** Of what is over, the event that the parent hears, by the slot's id: `[local, id, event]`. */
  readonly ends: readonly Row[]
  /** `[local, event, step]`, in ascending order. */
  readonly rows: readonly Row[]
  /** `[local, first command, one past the last]`. */
  readonly steps: readonly Row[]
  /** `[kind, what, to]`. */
  readonly commands: readonly Row[]
  /** `[name, event, to, gone, plain]`. */
  readonly timers: readonly (readonly number[])[]
  /**
   * What may happen: `[kind, slot, event or timer]`, and in which local states of an opaque child.
   */
  readonly choices: readonly PromelaChoice[]
  readonly root: number
  readonly timersMax: number
}

type Row = readonly [number, number, number]

export interface PromelaChoice {
  /** Its number in the graph; labels may be those of several. */
  readonly index: number
  readonly label: string
  readonly kind: number
  readonly slot: number
  readonly what: number
  readonly locals: readonly number[]
}

/** Kinds of commands and choices, as the C code knows them. */
const COMMANDS = { effect: 0, start: 1, stop: 2, send: 3, schedule: 4, cancel: 5 } as const
const CHOICES = { event: 0, timer: 1, outcome: 2, message: 3 } as const

/** Addresses as numbers: a child is twice its number, and one more while it is newborn. */
const SELF = -1
const PARENT = -2
const GONE = -3

/**
 * @throws ModelError ERR_MODEL_UNSUPPORTED for events that depend on where the root stands, and for
 * children that end in one order only
 */
export function tablesOf({ model, graph }: Exploration): PromelaTables {
  if (typeof model.environment.events === 'function')
    throw new ModelError('ERR_MODEL_UNSUPPORTED', 'promela: events as a function cannot be translated; give a list')
  if (model.environment.alike?.some((ids) => ids.length > 1))
    throw new ModelError('ERR_MODEL_UNSUPPORTED', 'promela: `alike` leaves out orders that spin would take; explore without it')
  const ids = new Numbers<string>()
  const names = new Numbers<string>()
  const { steps: known } = model
  const startOf = new Map<Logic, Map<string, Set<Logic>>>()
  const stepNumbers = new Numbers<Step>()
  const visit = (step: Step): void => {
    if (stepNumbers.has(step)) return
    stepNumbers.of(step)
    for (const command of step.commands) {
      if (command.kind !== 'start') continue
      const children = remembered(startOf, step.local.logic, () => new Map<string, Set<Logic>>())
      remembered(children, command.id, () => new Set<Logic>()).add(command.step.local.logic)
      visit(command.step)
    }
  }
  const root = known.root(model.machine, model.environment.input)
  visit(root)
  for (const { step } of known.taken) visit(step)

  const slots: { parent: number; id: number; text: string }[] = []
  const slotOf = new Map<string, number>()
  const endsBy = new Map<Logic, Set<string>>()
  const place = (logic: Logic, text: string, id: string, parent: number): void => {
    remembered(endsBy, logic, () => new Set<string>()).add(id)
    const slot = remembered(slotOf, text, () => slots.push({ parent, id: ids.of(id), text }) - 1)
    for (const [child, logics] of startOf.get(logic) ?? [])
      for (const below of logics) place(below, text === '' ? child : `${text}/${child}`, child, slot)
  }
  place(root.local.logic, '', '', -1)

  const toOf = (to: Address): number =>
    to.kind === 'child' ? ids.of(to.id) * 2 + (to.newborn ? 1 : 0) : to.kind === 'self' ? SELF : to.kind === 'parent' ? PARENT : GONE
  const commands: Row[] = []
  const commandOf = (command: Command): Row => {
    const kind = COMMANDS[command.kind]
    switch (command.kind) {
      case 'effect':
        return [kind, command.effect.index, 0]
      case 'start':
        return [kind, stepNumbers.of(command.step), ids.of(command.id)]
      case 'stop':
        return [kind, 0, ids.of(command.id)]
      case 'send':
        return [kind, command.event.index, toOf(command.to)]
      case 'schedule':
        return [kind, command.timer.index, 0]
      case 'cancel':
        return [kind, names.of(command.name), 0]
    }
  }
  const first = new Map<readonly Command[], number>()
  const steps = stepNumbers.all.map((step): Row => {
    const from = remembered(first, step.commands, () => {
      const at = commands.length
      commands.push(...step.commands.map(commandOf))
      return at
    })
    return [step.local.index, from, from + step.commands.length]
  })
  const rows = known.taken
    .flatMap(({ from, event, step }): Row[] => (from && event ? [[from.index, event.index, stepNumbers.of(step)]] : []))
    .sort(byFirstTwo)
  const isOver = ({ status }: LocalState): boolean => status !== 'active'
  const ends = known.locals.all
    .filter(isOver)
    .flatMap((local) =>
      [...(endsBy.get(local.logic) ?? [])]
        .filter((id) => id !== '')
        .map((id): Row => [local.index, ids.of(id), known.endOf(local, id).index]),
    )
    .sort(byFirstTwo)
  return {
    slots,
    locals: known.locals.all.map((local) => (isOver(local) ? 2 : local.logic.isExplored ? 0 : 1)),
    ends,
    rows,
    steps,
    commands,
    timers: known.timers.all.map((timer: Timer) => [
      timer.name === undefined ? -1 : names.of(timer.name),
      timer.event.index,
      toOf(timer.to),
      known.timers.get(`gone ${timer.index}`)?.index ?? -1,
      known.timers.get(`plain ${timer.index}`)?.index ?? -1,
    ]),
    choices: choicesOf(graph, slotOf),
    root: stepNumbers.of(root),
    timersMax: graph.states.reduce((most, state) => Math.max(most, timersIn(state)), 1) + 2,
  }
}

/** Everything that may happen somewhere, and of opaque children, in which of their states. */
function choicesOf(graph: Exploration['graph'], slotOf: ReadonlyMap<string, number>): PromelaChoice[] {
  const found = new Map<Choice, Set<number>>()
  for (let state = 0; state < graph.stateCount; state++)
    for (let edge = graph.firstEdge(state); edge < graph.endEdge(state); edge++) {
      const choice = graph.choice(edge)
      const locals = remembered(found, choice, () => new Set<number>())
      if (choice.kind === 'outcome' || choice.kind === 'message') locals.add(localAt(graph.states[state] as ActorState, choice.path.text))
    }
  return [...found].map(([{ index, label, kind, path, event, timer }, locals]) => ({
    index,
    label,
    kind: CHOICES[kind],
    slot: slotOf.get(path.text) as number,
    what: timer ? timer.index : event.index,
    locals: [...locals],
  }))
}

const localAt = (root: ActorState, path: string): number =>
  path.split('/').reduce((at, id) => at.children.find((child) => child.id === id) as ActorState, root).local.index

const timersIn = ({ timers, children }: ActorState): number =>
  children.reduce((most, child) => Math.max(most, timersIn(child)), timers.length)

const byFirstTwo = (one: Row, other: Row): number => one[0] - other[0] || one[1] - other[1]

/** A monitor as a table: its states are those that it comes to beside the graph. */
export interface MonitorTable {
  readonly initial: number
  /** `[state, effect, next]`, in ascending order; -1 is broken. */
  readonly rows: readonly Row[]
  /** `[state, choice, next]` of a monitor that hears what happens, in ascending order. */
  readonly heard: readonly Row[]
  /** Whether a state is wrong when a step is over. */
  readonly wrongAtRest: readonly boolean[]
}

/** @param choices those of the tables, by whose place a state is found */
export function monitorTable(
  { graph }: Exploration,
  { initial, next, atRest, heard }: Monitor,
  choices: readonly PromelaChoice[],
): MonitorTable {
  const states = new Numbers<string>()
  const table = new Map<string, Row>()
  const read = (at: number, effects: readonly { readonly index: number }[]): number =>
    effects.reduce((state, effect) => {
      if (state === BROKEN) return state
      return remembered(table, `${state} ${effect.index}`, (): Row => {
        const to = next(states.all[state] as string, effect as Parameters<Monitor['next']>[1])
        return [state, effect.index, typeof to === 'string' ? states.of(to) : BROKEN]
      })[2]
    }, at)
  const numberOf = new Map(choices.map(({ index }, i) => [index, i]))
  const heardTable = new Map<string, Row>()
  const hear = (at: number, choice: Choice): number => {
    if (!heard) return at
    const number = numberOf.get(choice.index) as number
    return remembered(heardTable, `${at} ${number}`, (): Row => [at, number, states.of(heard(states.all[at] as string, choice))])[2]
  }
  const seen = new Set<string>()
  const queue: (readonly [number, number])[] = []
  const visit = (state: number, at: number): void => {
    const key = `${state} ${at}`
    if (at === BROKEN || seen.has(key)) return
    seen.add(key)
    queue.push([state, at])
  }
  visit(0, read(states.of(initial), graph.initialEffects))
  for (const [state, at] of queue)
    for (let edge = graph.firstEdge(state); edge < graph.endEdge(state); edge++)
      visit(graph.to(edge), read(hear(at, graph.choice(edge)), graph.effects(edge)))
  return {
    initial: states.of(initial),
    rows: [...table.values()].sort(byFirstTwo),
    heard: [...heardTable.values()].sort(byFirstTwo),
    wrongAtRest: states.all.map((state) => atRest?.(state) !== undefined),
  }
}

const BROKEN = -1

/** Numbers in the order in which things are first asked for. */
class Numbers<T> {
  readonly all: T[] = []
  readonly #numbers = new Map<T, number>()

  has(thing: T): boolean {
    return this.#numbers.has(thing)
  }

  of(thing: T): number {
    return remembered(this.#numbers, thing, () => this.all.push(thing) - 1)
  }
}
