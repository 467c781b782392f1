import { type Blocker, blockersOf, boundOfPhase, headlineOf, protocolLabel, type Straggler, skippedHooks } from '../quiesce.ts'
import { type BlockingGroup, type BlockingItem, countOf, rowsTogether } from './groups.ts'
import { readinessGroups, setupGroups } from './setup.ts'
import { unitsOf, type View } from './view.ts'
import { count, listText, running } from './words.ts'

/** What an exit waits for, or would wait for. */
export interface Blocking {
  readonly headline: string
  readonly groups: readonly BlockingGroup[]
}

export function blockingOf(view: View, now: number): Blocking {
  const { stop, exitCode } = view.life
  if (exitCode !== undefined) return { headline: endedHeadline(view), groups: [] }
  const phases = stop ? [phasesUnderWay(view, now)].filter(({ count }) => count > 0) : []
  const things = thingsUnderWay(view, now)
  const groups = [...phases, ...things.map(({ group }) => group), ...protocolGroups(view)]
  return {
    headline: blockingWords(
      view,
      phases.flatMap(({ items }) => items.map(({ name }) => name)),
      things,
    ),
    groups: stop ? groups : [...readinessGroups(view), ...groups, ...setupGroups(view)],
  }
}

/** What the phases under way wait for, or else these themselves, and what comes then. */
function blockingWords({ gauges, life }: View, phases: readonly string[], things: readonly Thing[]): string {
  if (!gauges) return life.stop ? 'Phases under way' : 'Nothing has been measured yet'
  const counted = (some: readonly Thing[]): string[] => some.map(({ kind, group }) => count(group.count, NOUNS[kind]))
  if (!life.stop) return `A stop now would wait for ${listText(counted(things)) || 'nothing'}`
  if (things.length === 0) return 'No request, watch or hook blocks the exit'
  const now = counted(things.filter(({ isWaitedFor }) => isWaitedFor))
  const later = counted(things.filter(({ isWaitedFor }) => !isWaitedFor))
  const first = listText(now.length > 0 ? now : phases)
  if (first === '') return `Waiting for ${listText(later)}`
  return `Waiting for ${first}${later.length > 0 ? `, then for ${listText(later)}` : ''}`
}

/** Names stand in the report below it. */
function endedHeadline({ report }: View): string {
  if (!report) return 'It has ended'
  const { requests, watches, handlers, connections, hooks } = report
  const things = [
    count(requests.cut.length, 'request'),
    count(watches.cut.length, 'watch'),
    count(handlers.length, 'handler'),
    count(hooks.filter(({ outcome }) => outcome === 'cut' || outcome === null).length, 'hook'),
  ].filter((what) => !what.startsWith('0 '))
  // The socket of something that is named goes with it.
  const sockets = count(connections.forcedNames.length, 'socket')
  const left = things.length > 0 || connections.forcedNames.length === 0 ? things : [sockets]
  const skipped = skippedHooks(hooks)
  return [
    left.length === 0 ? 'Nothing was left behind' : `Left behind: ${listText(left)}`,
    ...(skipped.names.length === 0 ? [] : [`${count(skipped.names.length, 'hook')} never ran`]),
  ].join('; ')
}

interface Thing {
  readonly kind: keyof typeof NOUNS
  readonly isWaitedFor: boolean
  readonly group: BlockingGroup
}

/** What the phases under way wait for stands above what comes later. */
function thingsUnderWay(view: View, now: number): Thing[] {
  const { gauges } = view
  if (!gauges) return []
  const { requests, watches, holds, handlers, connections } = gauges
  const totals = {
    request: requests,
    watch: watches,
    hold: holds,
    handler: handlers,
    // Of these facts say more than what was measured last.
    hook: 0,
    connection: connections.blocking ?? 0,
  }
  const blockers = blockersNow(view, now)
  const things = (Object.keys(NOUNS) as (keyof typeof NOUNS)[]).map((kind): Thing => {
    const own = blockers.filter((blocker) => blocker.kind === kind)
    const items = own.map((blocker, i) => itemOf(blocker, i, view, now))
    const isWaitedFor = own.some((blocker) => blocker.isWaitedFor)
    const later = view.life.stop && !isWaitedFor ? ', not waited for yet' : ''
    const { title, ...rest } = group(kind, NOUNS[kind], totals[kind], rowsTogether(items))
    return { kind, isWaitedFor, group: { ...rest, title: `${title}${streamWords(kind, gauges)}${later}` } }
  })
  return things.filter(({ group }) => group.count > 0).sort((a, b) => Number(b.isWaitedFor) - Number(a.isWaitedFor))
}

/** Hooks first: they are few, and what a phase waits for while the others are many. */
const NOUNS = { hook: 'hook', request: 'request', watch: 'watch', hold: 'hold', handler: 'handler', connection: 'idle socket' } as const

function itemOf(blocker: Blocker, at: number, view: View, now: number): BlockingItem {
  const { name, ageMs, bound, streaming } = blocker
  const notes = [streaming ? 'streaming' : '', protocolLabel(blocker), endNote(bound, now)]
  return { key: String(at), name, note: notes.filter((part) => part !== '').join(', '), age: unitsOf(view).running(ageMs) }
}

/** What no drain of watches ends, although it looks as if. */
const streamWords = (kind: BlockingGroup['kind'], { eventStreams = 0 }: NonNullable<View['gauges']>): string =>
  kind === 'request' && eventStreams > 0 ? `, ${eventStreams} of them event streams, which have the time of requests` : ''

/** All open connections by what they speak; a recording of an earlier version does not say. */
function protocolGroups({ gauges }: View): BlockingGroup[] {
  const { active = 0, idle = 0, notified = 0, byProtocol = [] } = gauges?.connections ?? {}
  const items = byProtocol.map(
    ({ protocol, tls, open }): BlockingItem => ({
      key: `${protocol} ${tls}`,
      name: protocol,
      note: TLS_WORDS[tls] ?? tls,
      age: String(open),
    }),
  )
  // Its items are kinds of connections: there are never more than are shown.
  return items.length > 0 ? [{ kind: 'protocol', title: count(active + idle + notified, 'open socket'), count: 0, items }] : []
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
  const open = Math.max(total, countOf(items))
  return { kind, title: count(open, noun), count: open, items }
}

/** The phases under way, with what ends each that does not end by itself. */
function phasesUnderWay(view: View, now: number): BlockingGroup {
  const items = [...view.phases.values()]
    .filter(({ workStatus }) => workStatus === 'working')
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
