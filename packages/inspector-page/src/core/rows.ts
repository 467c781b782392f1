import { type HookKind, type HookView, hookKey, skippedHooks } from '../quiesce.ts'
import { inside, place, type Span } from './axis.ts'
import { type PhaseProgress, statusOfWork, unitsOf, type View } from './view.ts'
import { listText, type Units, type WorkStatus } from './words.ts'

/**
 * The rows of the timeline. They exist from the beginning and keep their places, so that nothing
 * moves while a life goes on; what is in one is worked out for those that are seen.
 */
export type RowItem =
  | { readonly kind: 'group'; readonly key: string; readonly name: string }
  | { readonly kind: 'phase'; readonly key: string; readonly name: string }
  | { readonly kind: 'hook'; readonly key: string; readonly name: string; readonly hook: HookKind }

export interface Row {
  readonly kind: 'phase' | 'hook'
  readonly name: string
  readonly workStatus: WorkStatus
  /** What comes next to the bar: how it stands and how long it took. */
  readonly note: string
  /** Undefined before it begins, or when all of it is outside of the span. */
  readonly bar: { readonly from: number; readonly to: number } | undefined
  /** Where its signal fired. */
  readonly mark: { readonly at: number; readonly signal: string } | undefined
  /** A sentence for screen readers and for the tooltip. */
  readonly title: string
}

/**
 * The stop first, because that is what the page is about; hooks, which come one by one, above what
 * is over by then.
 */
export function rowItemsOf(view: View): readonly RowItem[] {
  const phases = [...view.phases.values()]
  const half = (name: 'start' | 'stop'): RowItem[] =>
    inOrder(phases.filter((phase) => phase.half === name)).map((phase) => ({ kind: 'phase', key: `phase ${phase.name}`, name: phase.name }))
  return [
    { name: 'Stop', items: half('stop') },
    { name: 'Hooks', items: hookItems(view) },
    { name: 'Start', items: half('start') },
  ].flatMap(({ name, items }): RowItem[] => (items.length > 0 ? [{ kind: 'group', key: `group ${name}`, name }, ...items] : []))
}

/** A phase of the user's is one hook, and has a row already. */
function hookItems({ setup, life }: View): RowItem[] {
  const planned = setup?.hooks ?? []
  const known = new Map([...planned, ...life.hooks.values()].map((hook) => [hookKey(hook), hook]))
  return [...known].flatMap(([key, { kind, name }]): RowItem[] => (kind === 'phase' ? [] : [{ kind: 'hook', key, name, hook: kind }]))
}

/**
 * Phases of the user's come last in the wiring, after the end: each belongs before those that wait
 * for it.
 */
function inOrder(phases: readonly PhaseProgress[]): readonly PhaseProgress[] {
  const end = phases.findIndex(({ fires }) => fires.includes('Ended')) + 1
  const ordered = phases.slice(0, end)
  for (const phase of phases.slice(end)) {
    const waiting = ordered.findIndex(({ waitsFor }) => waitsFor.some((signal) => phase.fires.includes(signal)))
    ordered.splice(waiting < 0 ? ordered.length : waiting, 0, phase)
  }
  return ordered
}

export function rowOf(item: Exclude<RowItem, { kind: 'group' }>, view: View, now: number, span: Span): Row {
  if (item.kind === 'hook') return hookRow(item, view, now, span)
  const phase = view.phases.get(item.name)
  return phase ? phaseRow(view, phase, now, span) : { ...NOTHING, kind: 'phase', name: item.name, title: item.name }
}

const NOTHING = { workStatus: 'waiting', note: '', bar: undefined, mark: undefined } as const

function phaseRow(view: View, phase: PhaseProgress, now: number, span: Span): Row {
  const { name, workStatus, startedAt, endedAt, fires } = phase
  const { signals } = view.life
  const units = unitsOf(view)
  const fired = fires.map((signal) => signals.get(signal)).find((signal) => signal !== undefined)
  const mark = fired && inside(place(span, fired.at)) ? { at: place(span, fired.at), signal: fired.name } : undefined
  const took = startedAt === undefined ? undefined : (endedAt ?? now) - startedAt
  const missing = phase.waitsFor.filter((signal) => !signals.has(signal))
  return {
    kind: 'phase',
    name,
    workStatus: settledStatus(workStatus, fired?.outcome),
    note: noteOf(workStatus, took, units),
    bar: workStatus === 'skipped' ? undefined : barOf(span, startedAt, endedAt ?? now),
    mark,
    title: `${name}: ${sentenceOf(workStatus, took, units)}${workStatus === 'waiting' && missing.length > 0 ? ` for ${missing.join(' and ')}` : ''}${
      fires.length > 0 ? `; fires ${fires.join(', ')}` : ''
    }${phase.error ? `; ${phase.error.message}` : ''}`,
  }
}

/** A phase without work of its own says nothing but its signal. */
const settledStatus = (workStatus: WorkStatus, fired: WorkStatus | undefined): WorkStatus =>
  workStatus === 'waiting' && fired ? fired : workStatus

function hookRow(item: Extract<RowItem, { kind: 'hook' }>, view: View, now: number, span: Span): Row {
  const hook: HookView | undefined = view.life.hooks.get(item.key)
  const { name } = item
  const subject = `${item.hook} hook ${name}`
  if (!hook) return { ...NOTHING, kind: 'hook', name, title: `${subject}: waiting` }
  const { startedAt, endedAt, error } = hook
  const workStatus = statusOfWork(hook)
  // A post-start hook may run as long as the server; it is ended by the stop and says nothing.
  const to = endedAt ?? now
  const units = unitsOf(view)
  const took = to - startedAt
  const waitedFor = workStatus === 'skipped' ? (hook.waitedFor ?? skippedHooks(view.life.hooks.values()).waitedFor) : []
  const skipped = waitedFor.length > 0 ? `, waiting for ${listText(waitedFor)}` : ''
  const silent = view.life.exitCode !== undefined && endedAt === undefined ? '; it never answered' : ''
  return {
    kind: 'hook',
    name,
    workStatus,
    note: noteOf(workStatus, took, units),
    bar: workStatus === 'skipped' ? undefined : barOf(span, startedAt, to),
    mark: undefined,
    title: `${subject}: ${sentenceOf(workStatus, took, units)}${skipped}${error ? `; ${error.message}` : ''}${silent}`,
  }
}

const noteOf = (workStatus: WorkStatus, took: number | undefined, units: Units): string =>
  took === undefined || workStatus === 'skipped' ? '' : workStatus === 'working' ? units.running(took) : units.duration(took)

function sentenceOf(workStatus: WorkStatus, took: number | undefined, units: Units): string {
  if (took === undefined || workStatus === 'skipped') return workStatus
  return workStatus === 'working' ? `under way for ${units.running(took)}` : `${workStatus} after ${units.duration(took)}`
}

function barOf(span: Span, startedAt: number | undefined, to: number): Row['bar'] {
  if (startedAt === undefined || to < span.from || startedAt > span.to) return undefined
  return { from: Math.max(0, place(span, startedAt)), to: Math.min(1, place(span, to)) }
}

/**
 * Where the name of a row's signal stands: behind the end of its bar, or before its beginning when
 * that is all the room there is; nowhere when there is none.
 * @param width of the name, as a part of the axis
 */
export function sideOf(
  { bar, mark }: Pick<Row, 'bar' | 'mark'>,
  width: number,
): { readonly side: 'after' | 'before'; readonly at: number } | undefined {
  if (!mark) return undefined
  const end = Math.max(bar?.to ?? 0, mark.at)
  if (end + width <= 1) return { side: 'after', at: end }
  const start = Math.min(bar?.from ?? 1, mark.at)
  return start - width >= 0 ? { side: 'before', at: start } : undefined
}
