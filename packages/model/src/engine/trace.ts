import type { StateValue } from 'xstate'
import { A_TRACE, checkGiven } from '../errors.ts'
import { timerName } from './choice.ts'
import type { DeliveryListener } from './delivery.ts'
import type { Exploration } from './explore.ts'
import type { Live } from './live.ts'
import type { ActorState, Effect } from './state.ts'

/** How a state is reached, step by step, in the words of a person who debugs it. */
export interface Trace {
  readonly steps: readonly TraceStep[]
  /** The way through the graph: for every step but the first, the edge that it takes. */
  readonly edges: readonly number[]
  /** What is wrong at its end. */
  readonly finding: string
  /** The step from which on the steps repeat for ever; undefined when they do not. */
  readonly loopsFrom?: number
}

export interface TraceStep {
  /** What happened: the choice's label, or `start`. */
  readonly label: string
  /** The actor it happened to: ids joined by `/`, the root's is empty. */
  readonly at: string
  /** Who told whom what, in order. */
  readonly messages: readonly TraceMessage[]
  /** What was said, in order, with who said it. */
  readonly effects: readonly { readonly by: string; readonly effect: Effect }[]
  /** What is different after it: `exitCode: 0 → 5`, `destroy: running → cutting`. */
  readonly changes: readonly string[]
}

export interface TraceMessage {
  /** Undefined for the environment. */
  readonly from: string | undefined
  readonly to: string
  readonly event: string
}

/** The edges of a path as a trace; they are taken again to see what happened on the way. */
export function traceOf({ model, graph }: Exploration, edges: readonly number[], finding: string, loopsFrom?: number): Trace {
  const start = new Recorder()
  const initial = model.start(start).freeze()
  const steps: TraceStep[] = [start.step('start', '', undefined, initial)]
  for (const edge of edges) {
    const { from, choice } = graph.edge(edge)
    const before = graph.states[from] as ActorState
    const recorder = new Recorder()
    const after = model.take(before, choice, recorder).freeze()
    steps.push(recorder.step(choice.label, choice.path.text, before, after))
  }
  return { steps, edges, finding, ...(loopsFrom !== undefined && { loopsFrom }) }
}

class Recorder implements DeliveryListener {
  readonly #messages: TraceMessage[] = []
  readonly #effects: { by: string; effect: Effect }[] = []

  sent(from: Live | undefined, to: Live, event: { readonly type: string }): void {
    this.#messages.push({ from: from && actorPath(from), to: actorPath(to), event: event.type })
  }

  stepped(): void {}

  said(actor: Live, effect: Effect): void {
    this.#effects.push({ by: actorPath(actor), effect })
  }

  step(label: string, at: string, before: ActorState | undefined, after: ActorState): TraceStep {
    return { label, at, messages: this.#messages, effects: this.#effects, changes: changesOf('', before, after) }
  }
}

export const actorPath = ({ id, parent }: Live): string => (parent?.parent ? `${actorPath(parent)}/${id}` : id)

/** What differs between two states of an actor and all below it. Only what changed is named. */
function changesOf(path: string, before: ActorState | undefined, after: ActorState | undefined): string[] {
  if (before === after) return []
  const here = path && `${path}: `
  if (!after) return [`${path} ends`]
  const changes: string[] = []
  const { configuration } = after.local
  if (!before || before.local.logic !== after.local.logic)
    changes.push(`${path} starts${configuration && path ? `: ${show(configuration.value)}` : ''}`.trim())
  else if (configuration && before.local.configuration) {
    changes.push(...valueChanges(before.local.configuration.value, configuration.value).map((change) => here + change))
    changes.push(...contextChanges(before.local.configuration.context, configuration.context).map((change) => here + change))
    if (before.local.status !== after.local.status) changes.push(`${here}${after.local.status}${errorText(after)}`)
  }
  const wasPending = before?.timers ?? []
  changes.push(...after.timers.filter((timer) => !wasPending.includes(timer)).map((timer) => `${here}sets timer ${timerName(timer)}`))
  changes.push(...wasPending.filter((timer) => !after.timers.includes(timer)).map((timer) => `${here}timer ${timerName(timer)} is over`))
  const ids = new Set([...(before?.children ?? []), ...after.children].map(({ id }) => id))
  for (const id of ids) changes.push(...changesOf(path ? `${path}/${id}` : id, childOf(before, id), childOf(after, id)))
  return changes
}

const childOf = (state: ActorState | undefined, id: string): ActorState | undefined => state?.children.find((child) => child.id === id)

const errorText = ({ local: { error } }: ActorState): string =>
  error === undefined ? '' : `: ${(error as Error)?.message ?? String(error)}`

/** `region: waiting → working`, one for each region that moved. */
function valueChanges(before: StateValue, after: StateValue): string[] {
  if (typeof before === 'object' && typeof after === 'object') {
    const keys = Object.keys(after)
    if (Object.keys(before).join() === keys.join())
      return keys.flatMap((key) =>
        valueChanges(before[key] as StateValue, after[key] as StateValue).map((change) => `${key}.${change}`.replace(/\.(?=\S* → )/, ': ')),
      )
  }
  const [from, to] = [show(before), show(after)]
  return from === to ? [] : [`${from} → ${to}`]
}

/** `running`, `working(hooks: running)`, `(a: on, b: off)`. */
function show(value: StateValue | undefined): string {
  if (value === undefined) return '-'
  if (typeof value === 'string') return value
  const entries = Object.entries(value).filter((entry): entry is [string, StateValue] => entry[1] !== undefined)
  const [only] = entries
  if (entries.length === 1 && only) return `${only[0]}.${show(only[1])}`
  return `(${entries.map(([key, inner]) => `${key}: ${show(inner)}`).join(', ')})`
}

function contextChanges(before: object, after: object): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => {
    const [was, is] = [Reflect.get(before, key), Reflect.get(after, key)].map(brief)
    return was === is ? [] : [`${key}: ${was} → ${is}`]
  })
}

/** A value as part of a line: no quotes where none are needed, and not too long. */
export function brief(value: unknown): string {
  if (value === undefined) return 'none'
  const text = (JSON.stringify(value) ?? String(value)).replace(/"((?:[\w.-]|[^ -~])+)"/g, '$1').replace(/,(?=\S)/g, ', ')
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

/** What was said in a few words: `record {type: signal, name: Start}`. */
export const effectText = ({ type, params }: Effect): string => (params === undefined ? type : `${type} ${brief(params)}`)

/** A trace as a numbered list of what changed, ending with what is wrong. */
export function printTrace(trace: Trace): string {
  checkGiven('printTrace(trace)', 'trace', trace, A_TRACE, 'steps')
  const { steps, finding, loopsFrom } = trace
  const width = String(steps.length).length
  const lines = steps.flatMap(({ label, changes, effects }, i) => [
    ...(i === loopsFrom ? ['-- the steps from here on repeat for ever --'] : []),
    `${String(i).padStart(width)} ${label}`,
    ...changes.map((change) => `${' '.repeat(width + 3)}${change}`),
    ...effects.map(({ by, effect }) => `${' '.repeat(width + 3)}! ${by && `${by}: `}${effectText(effect)}`),
  ])
  return `${[...lines, `=> ${finding}`].join('\n')}\n`
}
