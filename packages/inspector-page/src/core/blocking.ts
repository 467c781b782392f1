import { type Blocker, blockersOf, boundOfPhase, headlineOf, type Straggler, spokenWords } from '../quiesce.ts'
import { readinessGroups, setupGroups } from './setup.ts'
import { unitsOf, type View } from './view.ts'
import { count, listText, running, type Standing } from './words.ts'

/** What an exit waits for, or would wait for. */
export interface Blocking {
  readonly headline: string
  readonly groups: readonly BlockingGroup[]
}

export interface BlockingGroup {
  readonly kind: 'phase' | 'request' | 'watch' | 'hold' | 'handler' | 'hook' | 'connection' | 'protocol' | 'check' | 'budget' | 'planned'
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
  const blocking = underWay(view, now)
  const things = blocking.filter(({ kind }) => kind !== 'phase').map(({ title }) => title)
  const groups = [...blocking, ...protocolGroups(view)]
  return {
    headline: blockingWords(view, listText(things)),
    groups: stop ? groups : [...readinessGroups(view), ...groups, ...setupGroups(view)],
  }
}

function blockingWords({ gauges, life }: View, things: string): string {
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
  return left.length === 0 ? 'Nothing was left behind' : `Left behind: ${listText(left)}`
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
      .map((blocker, i) => {
        const note = [spokenWords(blocker), endNote(blocker.bound, now)].filter((part) => part !== '').join(', ')
        return { key: String(i), name: blocker.name, note, age: unitsOf(view).running(blocker.ageMs) }
      })
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

/** All open connections by what they speak; a recording of an earlier version does not say. */
function protocolGroups({ gauges }: View): BlockingGroup[] {
  const { active = 0, idle = 0, told = 0, byProtocol = [] } = gauges?.connections ?? {}
  const items = byProtocol.map(
    ({ protocol, tls, open }): BlockingItem => ({
      key: `${protocol} ${tls}`,
      name: protocol,
      note: TLS_WORDS[tls] ?? tls,
      age: String(open),
    }),
  )
  // Its items are kinds of connections: there are never more than are shown.
  return items.length > 0 ? [{ kind: 'protocol', title: count(active + idle + told, 'open socket'), count: 0, items }] : []
}

const TLS_WORDS: Readonly<Record<string, string>> = { none: 'no TLS', pending: 'under way', unknown: 'TLS of an unknown version' }

/** What holds up the end, aged since it was measured. */
function blockersNow({ life, gauges }: View, now: number): readonly Blocker[] {
  const since = gauges ? Math.max(0, now - gauges.at) : 0
  const aged = (items: readonly Straggler[] = []): Straggler[] => items.map((item) => ({ ...item, ageMs: item.ageMs + since }))
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
export const blockingHeadline = (view: View, now: number): string => headlineOf(blockersNow(view, now), view.gauges ?? NOT_MEASURED, now)

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
