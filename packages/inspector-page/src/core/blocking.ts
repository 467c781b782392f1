import { type Blocker, blockersOf, boundOfPhase, headlineOf as endingHeadline, type Straggler } from '../quiesce.ts'
import { readinessGroups, setupGroups } from './setup.ts'
import { unitsOf, type View } from './view.ts'
import { count, list, running, type Standing } from './words.ts'

/** What an exit waits for, or would wait for. */
export interface Blocking {
  readonly headline: string
  readonly groups: readonly BlockingGroup[]
}

export interface BlockingGroup {
  readonly kind: 'phase' | 'request' | 'watch' | 'hold' | 'handler' | 'hook' | 'connection' | 'check' | 'budget' | 'planned'
  readonly title: string
  /** Of these, `items` names some. */
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
  /** How it stands, where that differs within a group. */
  readonly standing?: Standing
}

export function blockingOf(view: View, now: number): Blocking {
  const { stop, exitCode } = view.life
  if (exitCode !== undefined) return { headline: endedHeadline(view), groups: [] }
  const groups = underWay(view, now)
  const things = groups.filter(({ kind }) => kind !== 'phase').map(({ title }) => title)
  return { headline: headlineOf(view, list(things)), groups: stop ? groups : [...readinessGroups(view), ...groups, ...setupGroups(view)] }
}

function headlineOf({ gauges, life }: View, things: string): string {
  if (!gauges) return life.stop ? 'Phases under way' : 'Nothing has been measured yet'
  if (life.stop) return things === '' ? 'No request, watch or hook blocks the exit' : `Waiting for ${things}`
  return `A stop now would wait for ${things || 'nothing'}`
}

/** Names stand in the report below it. */
function endedHeadline({ report }: View): string {
  if (!report) return 'It has ended'
  const { requests, watches, handlers, connections, hooks } = report
  const left = [
    count(requests.cut.length, 'request'),
    count(watches.cut.length, 'watch'),
    count(handlers.length, 'handler'),
    count(hooks.filter(({ outcome }) => outcome === 'cut' || outcome === null).length, 'hook'),
    count(connections.forcedNames.length, 'socket'),
  ].filter((what) => !what.startsWith('0 '))
  return left.length === 0 ? 'Nothing was left behind' : `Left behind: ${list(left)}`
}

function underWay(view: View, now: number): BlockingGroup[] {
  const { gauges } = view
  const phases = view.life.stop ? [phasesUnderWay(view, now)] : []
  if (!gauges) return phases
  const { blocking, requests, watches, holds, handlers } = gauges
  const blockers = blockersNow(view, now)
  const named = (kind: Blocker['kind']): BlockingItem[] =>
    blockers
      .filter((blocker) => blocker.kind === kind)
      .map(({ name, ageMs, bound }, i) => ({ key: String(i), name, note: endNote(bound, now), age: unitsOf(view).running(ageMs) }))
  const groups: BlockingGroup[] = [
    ...phases,
    group('request', 'request', requests, named('request')),
    group('watch', 'watch', watches, named('watch')),
    group('hold', 'hold', holds, named('hold')),
    group('handler', 'handler', handlers, named('handler')),
    group('hook', 'hook', blocking.hooks.length, named('hook')),
    group('connection', 'idle socket', blocking.connections.length, named('connection')),
  ]
  return groups.filter((candidate) => candidate.count > 0)
}

/** What holds up the end, aged since it was measured. */
function blockersNow({ life, gauges }: View, now: number): readonly Blocker[] {
  const since = gauges ? Math.max(0, now - gauges.at) : 0
  const aged = (items: readonly Straggler[] = []): Straggler[] => items.map(({ name, ageMs }) => ({ name, ageMs: ageMs + since }))
  const { requests, watches, holds, handlers, connections, hooks } = gauges?.blocking ?? {}
  const blocking = {
    requests: aged(requests),
    watches: aged(watches),
    holds: aged(holds),
    handlers: aged(handlers),
    connections: aged(connections),
    hooks: aged(hooks),
  }
  return blockersOf(life, { blocking }, now)
}

const NOT_MEASURED = { requests: 0, watches: 0, holds: 0, handlers: 0 }

/**
 * The one thing that the end waits for longest, by name, and when that is over: the terminal says
 * the same.
 */
export const blockingHeadline = (view: View, now: number): string =>
  endingHeadline(blockersNow(view, now), view.gauges ?? NOT_MEASURED, now)

const group = (kind: BlockingGroup['kind'], noun: string, total: number, items: readonly BlockingItem[]): BlockingGroup => {
  const open = Math.max(total, items.length)
  return { kind, title: count(open, noun), count: open, items }
}

/** With what ends each that does not end by itself. */
function phasesUnderWay(view: View, now: number): BlockingGroup {
  const items = [...view.phases.values()]
    .filter(({ standing }) => standing === 'working')
    .map(({ name, startedAt = now, cut }) => {
      // Without a cut it holds nothing up.
      const note = cut === undefined ? '' : endNote(boundOfPhase(view.life, name, now), now)
      return { key: name, name, note, age: unitsOf(view).running(now - startedAt) }
    })
  return group('phase', 'phase', items.length, items)
}

function endNote(bound: Blocker['bound'], now: number): string {
  if (!bound) return ''
  if (bound.at <= now) return 'being cut'
  return `${bound.by === 'limit' ? 'its limit' : bound.by} in ${running(bound.at - now)}`
}
