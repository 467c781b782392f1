import type { ErrorRecord, JournalEntry, LifeView, PhaseDescription, PhaseOutcome, Report, StateEntry } from '../quiesce.ts'
import { crashedAt, failureIn, instantsOf, NOTHING_KNOWN, reduceLife, withValue } from '../quiesce.ts'
import { STEPS, TIME, type Units, type WorkStatus } from './words.ts'

/**
 * What the page knows at one entry of a journal: the life, folded as everywhere else in quiesce,
 * and beside it what only a journal has (actors, edges, load). `reduce` is the only way to the
 * next one and changes nothing in place, so that the page can keep old views and go back in time:
 * live, ended and replayed lives are the same code.
 */
export interface View {
  /** The time of the last entry; milliseconds since the life began. */
  readonly at: number
  readonly opening: EntryOf<'opening'> | undefined
  readonly life: LifeView
  /** The phases in the order of the wiring; phases that it does not know follow as they appear. */
  readonly phases: ReadonlyMap<string, PhaseProgress>
  readonly setup: EntryOf<'setup'> | undefined
  readonly actors: ReadonlyMap<string, ActorSnapshot>
  /** The edges of the last step that took any, and all of the life. */
  readonly lastTaken: readonly TakenTransition[]
  readonly taken: ReadonlySet<string>
  readonly gauges: EntryOf<'gauges'> | undefined
  readonly failures: readonly { readonly at: number; readonly where: string; readonly error: ErrorRecord }[]
  readonly report: Report | undefined
}

/** A row of the wiring, with how far it is. */
export interface PhaseProgress extends PhaseDescription {
  readonly workStatus: WorkStatus
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
  readonly error: ErrorRecord | undefined
}

export interface ActorSnapshot {
  readonly id: string
  readonly name: string
  readonly parent: string | undefined
  readonly machine: string | undefined
  /** Undefined for an actor that is an effect: it has no states to show. */
  readonly value: unknown
  /** The input of an effect, and its answer once there is one. */
  readonly context: unknown
  readonly status: StateEntry['status']
  /** What it went through last. */
  readonly lastTaken: readonly TakenTransition[]
}

/** Entries of one kind. */
export type EntryOf<K extends JournalEntry['kind']> = Extract<JournalEntry, { kind: K }>

export type TakenTransition = StateEntry['taken'][number]

export const EMPTY_VIEW: View = {
  at: 0,
  opening: undefined,
  life: NOTHING_KNOWN,
  phases: new Map(),
  setup: undefined,
  actors: new Map(),
  lastTaken: [],
  taken: new Set(),
  gauges: undefined,
  failures: [],
  report: undefined,
}

const isCounted = ({ opening }: Pick<View, 'opening'>): boolean => opening?.source === 'counter-example'

export const unitsOf = (view: Pick<View, 'opening'>): Units => (isCounted(view) ? STEPS : TIME)

/** Where an axis counts from: the stop request, once there was one. */
export const originOf = (view: Pick<View, 'opening' | 'life'>): number => (isCounted(view) ? 0 : (view.life.stop?.at ?? 0))

/** How a piece of work stands: under way, or as it ended. */
export const statusOfWork = ({ outcome }: { readonly outcome: PhaseOutcome | undefined }): WorkStatus => outcome ?? 'working'

/** Milliseconds since the life began. */
export interface Budget {
  readonly deadlineAt: number
  readonly cuts: readonly { readonly signal: string; readonly at: number }[]
}

/** The budget of the stop under way. Where no time passes, none is spent. */
export function budgetOf(view: Pick<View, 'opening' | 'life'>): Budget | undefined {
  const { stop } = view.life
  if (!stop || isCounted(view)) return undefined
  const instants = instantsOf(stop).map(({ by, at }) => ({ signal: by, at }))
  const last = instants.at(-1)
  if (last) return { deadlineAt: last.at, cuts: instants.slice(0, -1) }
  // A report knows how long it was, and of no cuts.
  const { deadlineMs } = view.opening ?? {}
  return deadlineMs === undefined ? undefined : { deadlineAt: stop.at + deadlineMs, cuts: [] }
}

/** Requests refused so far, of every kind. */
export const refusals = (gauges: EntryOf<'gauges'> | undefined): number =>
  Object.values(gauges?.rejected ?? {}).reduce((sum, n) => sum + n, 0)

/** The name of an edge in the chart. */
export const edgeKey = ({ from, on, to }: TakenTransition): string => `${from}|${on}|${to ?? from}`

export function reduce(view: View, entry: JournalEntry): View {
  return { ...view, ...change(view, entry), at: Math.max(view.at, entry.at) }
}

function change(view: View, entry: JournalEntry): Partial<View> {
  switch (entry.kind) {
    case 'opening':
      return opened(entry)
    case 'fact':
      return happened(view, entry)
    case 'setup':
      return { setup: entry }
    case 'actor': {
      const { actor: id, name, parent, machine } = entry
      const begun = { id, name, parent, machine, value: undefined, context: undefined, status: 'active', lastTaken: [] } as const
      return { actors: withValue(view.actors, id, begun) }
    }
    case 'actor.stopped': {
      const actor = view.actors.get(entry.actor)
      // One that has reached its end stays what it was.
      if (actor?.status !== 'active') return {}
      return { actors: withValue(view.actors, entry.actor, { ...actor, status: 'stopped' }) }
    }
    case 'state':
      return moved(view, entry)
    case 'gauges':
      return { gauges: entry }
    case 'report':
      return { report: entry.report, life: { ...view.life, exitCode: entry.report.exitCode } }
    case 'sent':
      return crashed(view, entry)
  }
}

function opened(entry: EntryOf<'opening'>): Partial<View> {
  const life = { ...NOTHING_KNOWN, cuts: Object.fromEntries(entry.phases.flatMap(({ name, cut }) => (cut ? [[name, cut]] : []))) }
  return { ...EMPTY_VIEW, opening: entry, life, phases: phasesOf(entry, life) }
}

function happened(view: View, { event, at }: EntryOf<'fact'>): Partial<View> {
  const life = reduceLife(view.life, event)
  const failure = failureIn(event)
  return {
    life,
    ...(life.phases !== view.life.phases && { phases: phasesOf(view.opening, life) }),
    ...(failure && { failures: withFailure(view.failures, { at, ...failure }) }),
  }
}

/**
 * The view after a crash of the process, which is no fact of its own, but a message to the machine.
 */
function crashed({ life, setup }: View, { event, from, at }: EntryOf<'sent'>): Partial<View> {
  return setup && from === undefined && event.type === 'process.crashed' ? { life: crashedAt(life, at, setup.crash) } : {}
}

function moved(view: View, { actor: id, value, context: changed, status, taken }: StateEntry): Partial<View> {
  const known = view.actors.get(id) ?? { id, name: id, parent: undefined, machine: undefined, context: undefined }
  const context = changed === undefined ? known.context : changed
  const actors = withValue(view.actors, id, { ...known, value, context, status, lastTaken: taken })
  return {
    actors,
    ...(taken.length > 0 && { lastTaken: taken, taken: new Set([...view.taken, ...taken.map(edgeKey)]) }),
  }
}

function phasesOf(opening: EntryOf<'opening'> | undefined, { phases, stop }: LifeView): View['phases'] {
  const described = opening?.phases ?? []
  const names = new Set(described.map(({ name }) => name))
  const others = [...phases.keys()].filter((name) => !names.has(name))
  const half = stop ? 'stop' : 'start'
  const rows = [...described, ...others.map((name): PhaseDescription => ({ name, half, waitsFor: [], fires: [] }))]
  return new Map(
    rows.map((row): [string, PhaseProgress] => {
      const known = phases.get(row.name)
      const { startedAt, endedAt, error } = known ?? {}
      return [row.name, { ...row, workStatus: known ? statusOfWork(known) : 'waiting', startedAt, endedAt, error }]
    }),
  )
}

/** One failure passes several places on its way up; it is listed where it was first seen. */
const withFailure = (known: View['failures'], failure: View['failures'][number]): View['failures'] =>
  known.some(({ error }) => error.message === failure.error.message && error.stack === failure.error.stack) ? known : [...known, failure]
