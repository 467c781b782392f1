import { andMore } from '../base/and-more.ts'
import { clip } from '../base/cells.ts'
import type { Straggler } from '../base/events.ts'
import { formatInColumn } from '../base/format-duration.ts'
import { fateSums, fateWords, protocolLabel } from '../base/protocol.ts'
import { withoutName } from '../base/without-name.ts'
import { lastCallWords } from './last-call-words.ts'
import type { Report, ReportedHook } from './report.ts'
import { skippedHooks, skippedWords } from './skipped-hooks.ts'

/** What a report says beside the timeline, a line for each thing. */
export interface SummaryLine {
  readonly label: string
  readonly text: string
  readonly outcome: 'ok' | 'cut' | 'failed'
}

/** Names listed for what was cut; the report itself has all of them. */
const NAMES_MAX = 3
/** The most lines of a kind: of hooks the longest are shown, of failures and warnings the first. */
const HOOKS_MAX = 12
const SKIPPED_MAX = 5
const FAILURES_MAX = 20
const PROTOCOLS_MAX = 12
/** Longer messages are documents. */
const MESSAGE_WIDTH_MAX = 2_000

export function summary(report: Report): SummaryLine[] {
  const { budget, requests, watches, handlers, connections, rejections, audit, lateAnswers, errors, warnings } = report
  const { forcedNames, upgraded, byProtocol } = connections
  const refused = Object.entries(rejections).filter(([, count]) => count > 0)
  // A report of an earlier version says nothing of its budget.
  const until = budget ? `; they had until +${formatInColumn(budget.cuts.requests)}` : ''
  const lastCall = lastCallWords(report)
  return [
    ...(lastCall === undefined ? [] : [ok('last call', lastCall)]),
    ok('requests', `${requests.before} to drain, ${requests.after} left${until}`),
    ...listed('  cut', requests.cut),
    ...(watches.before + watches.after > 0 ? [ok('watches', `${watches.before} to end, ${watches.after} left`)] : []),
    ...listed('  cut', watches.cut),
    ...listed('handlers', handlers),
    ok('connections', fateSums(connections)),
    ...listed('  forced', forcedNames),
    ...upTo(
      PROTOCOLS_MAX,
      fateWords(byProtocol).map((text) => ok('  protocol', text)),
    ),
    ...lastRequest(report),
    ...(upgraded ? [ok('  upgraded', counted(upgraded))] : []),
    ...(refused.length > 0 ? [ok('refused', counted(Object.fromEntries(refused)))] : []),
    ...(audit ? [ok('audit', `${audit.delivered} events stored, ${audit.lost} lost`)] : []),
    ...hooksOf(report),
    ...skipped(report),
    ...upTo(
      FAILURES_MAX,
      errors.map(({ where, error, count }) => {
        const times = count === undefined ? '' : ` (${count} times)`
        return {
          label: 'failed',
          text: `${where}${times}: ${clip(withoutName(error.message, where), MESSAGE_WIDTH_MAX)}`,
          outcome: 'failed' as const,
        }
      }),
    ),
    ...lateAnswers.map(({ what, answer, lateMs }) => ok('late', `${what} ${answer} ${formatInColumn(lateMs)} too late`)),
    ...upTo(
      FAILURES_MAX,
      warnings.map(({ message }) => ({ label: 'warning', text: clip(message, MESSAGE_WIDTH_MAX), outcome: 'cut' as const })),
    ),
  ]
}

/** A last request this near to the end of the delay, or later, says that more may have come. */
const DELAY_SHARE_MAX = 0.8
/**
 * The time in milliseconds after the stop in which requests show nothing: some still come then
 * without a delay, too.
 */
const SETTLING_MS = 1_000

/**
 * When the last request came, with a hint when what sends them has noticed the stop too late, which
 * a longer delay would heal.
 */
function lastRequest({ connections: { lastRequestMs }, phases }: Report): SummaryLine[] {
  if (lastRequestMs === undefined) return []
  const delay = phases.find(({ name }) => name === 'shutdown-delay')
  const delayMs = (delay?.end ?? 0) - (delay?.start ?? 0)
  const text = `${formatInColumn(lastRequestMs)} after the stop, whose delay was ${formatInColumn(delayMs)}`
  if (lastRequestMs < Math.max(delayMs * DELAY_SHARE_MAX, SETTLING_MS)) return [ok('last request', text)]
  const hint = 'requests are still sent here; give a longer shutdownDelay, or behind'
  return [{ label: 'last request', text: `${text}: ${hint}`, outcome: 'cut' }]
}

/** `3 retry-after, 1 watch` */
const counted = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ')

const ok = (label: string, text: string): SummaryLine => ({ label, text, outcome: 'ok' })

function upTo(max: number, lines: readonly SummaryLine[]): SummaryLine[] {
  const more = lines.length - max
  return more > 0 ? [...lines.slice(0, max), { ...(lines[max] as SummaryLine), text: `${more} more in the report` }] : [...lines]
}

/** The hooks that belong to the end, in the order they began, and what became of a start's. */
function hooksOf({ hooks }: Report): SummaryLine[] {
  const all = hooks.filter(({ kind, outcome }) => (kind !== 'post-start' || outcome !== 'ok') && kind !== 'phase' && outcome !== 'skipped')
  if (all.length === 0) return []
  const longest = all.toSorted((a, b) => tookOf(b) - tookOf(a)).slice(0, HOOKS_MAX)
  const texts = all
    .filter((hook) => longest.includes(hook))
    .map((hook) => {
      const { kind, name, outcome, durationMs } = hook
      const took = durationMs === null ? 'not over' : formatInColumn(durationMs)
      return `${kind} "${name}" ${took}${outcome === null || outcome === 'ok' ? '' : ` ${outcome}`}`
    })
  if (all.length > HOOKS_MAX) texts.push(`and ${all.length - HOOKS_MAX} shorter ones`)
  const isCut = all.some(({ outcome }) => outcome === 'cut')
  return [{ label: 'hooks', text: texts.join(', '), outcome: isCut ? 'cut' : 'ok' }]
}

function skipped({ hooks }: Report): SummaryLine[] {
  const words = skippedWords(skippedHooks(hooks), SKIPPED_MAX)
  return words === undefined ? [] : [{ label: '  skipped', text: words, outcome: 'cut' }]
}

const tookOf = ({ durationMs }: ReportedHook): number => durationMs ?? Number.POSITIVE_INFINITY

function listed(label: string, stragglers: readonly Straggler[]): SummaryLine[] {
  if (stragglers.length === 0) return []
  const names = stragglers.map((straggler) => {
    const { name, ageMs, undeliveredBytes = 0, streaming } = straggler
    const undelivered = undeliveredBytes > 0 ? `${undeliveredBytes} bytes undelivered` : ''
    const isStreaming = streaming ? 'streaming' : ''
    return `${name} (${[formatInColumn(ageMs), protocolLabel(straggler), undelivered, isStreaming].filter(Boolean).join(', ')})`
  })
  return [{ label, text: andMore(names, NAMES_MAX), outcome: 'cut' }]
}
