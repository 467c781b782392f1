import { andMore, describeReason, fateSums, fateWords, type JournalEntry, type LifecycleEvent, letInWords, openWords } from '../quiesce.ts'
import { nameOf } from './machines.ts'
import { withoutMachine } from './states.ts'
import type { View } from './view.ts'
import { count, durationText, FORCED_WORDS, listText } from './words.ts'

/** The event log: one line per entry, and which of them are shown. */
export interface EventLogLine {
  readonly position: number
  readonly at: number
  readonly kind: LogKind
  /** Who said it; for a message who sent it. */
  readonly who: string
  /** The receiver of a message. */
  readonly to: string
  readonly text: string
  readonly tone: 'plain' | 'signal' | 'good' | 'bad' | 'cut'
}

export const LOG_KINDS = {
  fact: 'Facts',
  sent: 'Messages',
  state: 'States',
  actor: 'Actors',
  gauges: 'Load',
} as const
export type LogKind = keyof typeof LOG_KINDS

export interface LogFilter {
  readonly kinds: ReadonlySet<LogKind>
  /** Words that all have to be in a line, in any case. */
  readonly text: string
}

export const LOG_FILTER: LogFilter = { kinds: new Set(['fact']), text: '' }

const OUTSIDE = 'outside'

/** Turns entries into lines once each; names come from the actors known so far. */
export function lineOf(entry: JournalEntry, position: number, actors: View['actors']): EventLogLine {
  const name = (id: string | undefined): string => {
    const actor = id === undefined ? undefined : actors.get(id)
    return actor ? nameOf(actor) : (id ?? OUTSIDE)
  }
  const line = (kind: LogKind, who: string, text: string, more: Partial<EventLogLine> = {}): EventLogLine => ({
    position,
    at: entry.at,
    kind,
    who,
    to: '',
    text,
    tone: 'plain',
    ...more,
  })
  switch (entry.kind) {
    case 'opening':
      return line('fact', 'life', `${entry.title}, began ${entry.wallAtStart}`)
    case 'setup': {
      const { hooks, stop } = entry
      return line(
        'gauges',
        'setup',
        `${count(hooks.length, 'hook')}, a stop takes at most ${durationText(stop.deadlineMs)}${readiness(entry)}`,
      )
    }
    case 'fact':
      return line('fact', subjectOf(entry.event), factWords(entry.event), { tone: toneOf(entry.event) })
    case 'actor':
      return line('actor', nameOf(entry), entry.parent === undefined ? 'begins' : `begins, started by ${name(entry.parent)}`)
    case 'actor.stopped':
      return line('actor', name(entry.actor), 'has stopped')
    case 'sent':
      return line('sent', name(entry.from), shortEvent(entry.event.type), { to: name(entry.to) })
    case 'state':
      return line('state', name(entry.actor), stateWords(entry))
    case 'gauges': {
      const { requests, watches, connections } = entry
      const open = connections.active + connections.idle + connections.notified
      const notified = [`${connections.notified} notified`, openWords(connections.byProtocol)].filter((part) => part !== '').join('; ')
      return line(
        'gauges',
        'traffic',
        [count(requests, 'request'), count(watches, 'watch'), `${count(open, 'connection')} (${notified})`].join(', '),
      )
    }
    case 'report':
      return line('fact', 'life', `report, exit code ${entry.report.exitCode}`, { tone: 'signal' })
  }
}

function readiness({ readiness }: Extract<JournalEntry, { kind: 'setup' }>): string {
  const failing = readiness?.checks.filter(({ passed }) => passed === false).map(({ name }) => name) ?? []
  return failing.length > 0 ? `; ${readiness?.path} fails: ${listText(failing)}` : ''
}

export function matches(line: EventLogLine, { kinds, text }: LogFilter): boolean {
  if (!kinds.has(line.kind)) return false
  if (text.trim() === '') return true
  const searched = `${line.who} ${line.to} ${line.text}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word))
}

const EDGES_SPELLED_OUT = 3

function stateWords({ on, taken, status, value }: Extract<JournalEntry, { kind: 'state' }>): string {
  const because = on === undefined ? '' : ` on ${shortEvent(on)}`
  const moves = taken.filter(({ from, to }) => to !== undefined && to !== from)
  if (moves.length > 0) {
    const edges = moves.map(({ from, to = from }) => `${withoutMachine(from)} → ${shortTarget(from, to)}`)
    return `${andMore(edges, EDGES_SPELLED_OUT)}${because}`
  }
  if (status !== 'active') return `${status}${because}`
  if (on === undefined) return value === undefined ? 'found' : 'found in its state'
  return `context changed${because}`
}

/** The target without what it shares with the source: `notify-clients.waiting → working`. */
function shortTarget(from: string, to: string): string {
  const parent = from.slice(0, from.lastIndexOf('.') + 1)
  return parent !== '' && to.startsWith(parent) ? to.slice(parent.length) : withoutMachine(to)
}

/** xstate's own events in a word: who asks for one in full finds it in the journal. */
const shortEvent = (type: string): string =>
  type
    .replace(/^xstate\.(done|error)\.actor\./, '$1 ')
    .replace(/^xstate\.after\.(.+?)\.\w+\..*$/, 'after $1')
    .replace(/^xstate\./, '')

function subjectOf(event: LifecycleEvent): string {
  switch (event.type) {
    case 'signal':
      return 'signal'
    case 'phase.started':
    case 'phase.ended':
      return event.phase
    case 'hook.started':
    case 'hook.ended':
    case 'mux-signal':
      return event.name
    case 'listening':
    case 'stopped-listening':
      return 'listener'
    case 'drained':
      return event.what
    case 'last-call':
      return 'last call'
    case 'platform':
    case 'certificate':
    case 'connections':
    case 'handlers':
    case 'late':
    case 'error':
    case 'warning':
      return event.type
    case 'forced':
    case 'ended':
      return 'life'
  }
}

function factWords(event: LifecycleEvent): string {
  const because = (error: { readonly message: string } | undefined): string => (error ? `: ${error.message}` : '')
  const said = (by: string | undefined): string => (by === undefined ? '' : ` (${by})`)
  switch (event.type) {
    case 'platform':
      return `${event.platform} (${event.reason})`
    case 'signal':
      return `${event.name}${event.outcome === 'ok' ? '' : ` (${event.outcome})`}${event.reason ? ` by ${describeReason(event.reason)}` : ''}`
    case 'phase.started':
      return 'begins'
    case 'phase.ended':
      return `${event.outcome}${because(event.error)}`
    case 'hook.started':
      return `${event.kind} hook begins`
    case 'hook.ended':
      if (event.outcome === 'skipped' && event.waitedFor) return `${event.kind} hook never ran: it waited for ${listText(event.waitedFor)}`
      return `${event.kind} hook ${event.outcome} after ${durationText(event.durationMs)}${because(event.error)}`
    case 'mux-signal':
      return `mux-complete signal ${event.state}`
    case 'late':
      return `${event.what} ${event.answer} ${durationText(event.lateMs)} too late${because(event.error)}`
    case 'listening':
      return `listens on ${event.url}${event.inspector ? ' (inspector)' : event.admin ? ' (admin)' : ''}`
    case 'stopped-listening':
      return `${event.url} is closed${because(event.error)}`
    case 'certificate':
      return `a new ${event.what} is served, of ${event.from}`
    case 'last-call':
      return letInWords(event)
    case 'drained':
      return `${event.before} before, ${event.after} left${event.cut.length > 0 ? `, ${event.cut.length} cut` : ''}`
    case 'connections':
      return [fateSums(event), ...fateWords(event.byProtocol)].join('; ')
    case 'handlers':
      return `${count(event.running.length, 'handler')} still running`
    case 'error':
      return `${event.where}${because(event.error)}`
    case 'warning':
      return event.message
    case 'forced':
      return `ends by force, because ${FORCED_WORDS[event.why]}${said(event.reason ?? event.signal ?? (event.exitCode === undefined ? undefined : `with exit code ${event.exitCode}`))}${because(event.error)}`
    case 'ended':
      return `ended, exit code ${event.exitCode}`
  }
}

function toneOf(event: LifecycleEvent): EventLogLine['tone'] {
  if ('error' in event && event.error) return 'bad'
  if ('outcome' in event && event.outcome === 'failed') return 'bad'
  if ('outcome' in event && event.outcome === 'cut') return 'cut'
  if (event.type === 'forced' || (event.type === 'signal' && event.name.startsWith('Cut.'))) return 'cut'
  if (event.type === 'ended') return event.exitCode === 0 ? 'good' : 'bad'
  return event.type === 'signal' ? 'signal' : 'plain'
}
