import type { Straggler } from '../quiesce.ts'
import { unitsOf, type View } from './view.ts'
import { count, duration, list, running } from './words.ts'

/** What an exit waits for, or would wait for. */
export interface Blocking {
  readonly headline: string
  readonly groups: readonly BlockingGroup[]
}

export interface BlockingGroup {
  readonly kind: 'phase' | 'request' | 'watch' | 'hold' | 'handler' | 'hook' | 'connection'
  readonly title: string
  readonly count: number
  readonly items: readonly BlockingItem[]
}

export interface BlockingItem {
  readonly key: string
  readonly name: string
  /** What is known of it besides its age. */
  readonly note: string
  /** In words. */
  readonly age: string
}

export function blockingOf(view: View, now: number): Blocking {
  const ended = view.exitCode !== undefined
  const groups = ended ? leftOver(view) : underWay(view, now)
  const things = groups.filter(({ kind }) => kind !== 'phase').map(({ title }) => title)
  return { headline: headlineOf(view, list(things)), groups }
}

function headlineOf(view: View, things: string): string {
  if (view.exitCode !== undefined) return things === '' ? 'Nothing was left behind' : `Left behind: ${things}`
  if (!view.gauges) return view.stop ? 'Phases under way' : 'Nothing has been measured yet'
  if (view.stop) return things === '' ? 'No request, watch or hook blocks the exit' : `Waiting for ${things}`
  return `A shutdown now would wait for ${things || 'nothing'}`
}

function underWay(view: View, now: number): BlockingGroup[] {
  const { gauges } = view
  if (!gauges) return view.stop ? [phases(view, now)] : []
  const { blocking, requests, watches, holds, handlers } = gauges
  // Ages are as old as the measurement.
  const aged = (items: readonly Straggler[]): BlockingItem[] =>
    items.map(({ name, ageMs }, i) => {
      const age = unitsOf(view).running(ageMs + Math.max(0, now - gauges.at))
      return { key: `${name} ${i}`, name, note: '', age }
    })
  const groups: BlockingGroup[] = [
    ...(view.stop ? [phases(view, now)] : []),
    group('request', 'request', requests, aged(blocking.requests)),
    group('watch', 'watch', watches, aged(blocking.watches)),
    group('hold', 'hold', holds, aged(blocking.holds)),
    group('handler', 'handler', handlers, aged(blocking.handlers)),
    group('hook', 'hook', blocking.hooks.length, aged(blocking.hooks)),
    group('connection', 'idle socket', blocking.connections.length, aged(blocking.connections)),
  ]
  return groups.filter((candidate) => candidate.count > 0)
}

const group = (kind: BlockingGroup['kind'], noun: string, total: number, items: readonly BlockingItem[]): BlockingGroup => {
  const open = Math.max(total, items.length)
  return { kind, title: count(open, noun), count: open, items }
}

/** Phases under way, with the cut that ends them. */
function phases(view: View, now: number): BlockingGroup {
  const stopAt = view.stop?.at ?? now
  const items = [...view.phases.values()]
    .filter(({ standing }) => standing === 'working')
    .map(({ name, startedAt = now, cut }) => {
      const cutAt = view.budget?.cuts.find(({ signal }) => signal === cut)?.atMs
      const note = cutAt === undefined ? '' : cutAt + stopAt > now ? `${cut} in ${running(cutAt + stopAt - now)}` : 'being cut'
      return { key: name, name, note, age: unitsOf(view).running(now - startedAt) }
    })
  return group('phase', 'phase', items.length, items)
}

/** From the report: what was cut. */
function leftOver({ report }: View): BlockingGroup[] {
  if (!report) return []
  const named = (items: readonly Straggler[]): BlockingItem[] =>
    items.map(({ name, ageMs }, i) => ({ key: `${name} ${i}`, name, note: 'cut', age: duration(ageMs) }))
  const hooks = report.hooks
    .filter(({ outcome }) => outcome === 'cut' || outcome === null)
    .map(({ kind, name, durationMs }) => ({
      key: `${kind} ${name}`,
      name,
      note: `${kind}, cut`,
      age: durationMs === null ? '' : duration(durationMs),
    }))
  return [
    group('request', 'request', report.requests.cut.length, named(report.requests.cut)),
    group('watch', 'watch', report.watches.cut.length, named(report.watches.cut)),
    group('handler', 'handler', report.handlers.length, named(report.handlers)),
    group('hook', 'hook', hooks.length, hooks),
    group('connection', 'socket', report.connections.forcedNames.length, named(report.connections.forcedNames)),
  ].filter((candidate) => candidate.count > 0)
}
