import { andMore } from '../base/and-more.ts'
import { clip } from '../base/cells.ts'
import { isCrashEvent, type StopReason } from '../base/events.ts'
import { streamAdvice, undeclaredStreams } from '../base/streams.ts'
import { withoutName } from '../base/without-name.ts'
import { describeReason } from './describe-reason.ts'
import { endSentence } from './end-meaning.ts'
import type { Report } from './report.ts'
import { SKIPPED_NAMES_MAX, skippedHooks, skippedWords } from './skipped-hooks.ts'

/** Messages of errors may be of any length; the report has them whole. */
const WIDTH_MAX = 300
/** The width of the name of a stream, beside which there is something to say. */
const STREAM_WIDTH_MAX = 80
/** The number of names of what was cut. */
const NAMES_MAX = 3
/** Failures that have a line each; the report has all of them. */
const FAILURES_MAX = 5

/**
 * Why a life did not end gracefully, in lines for standard error: the exit code, what it means, and
 * what led to it; then every other failure, and the hooks that never ran. None when it did.
 */
export function whyNotGraceful(report: Report): readonly string[] {
  if (report.exitCode === 0) return []
  const { because, others: all } = causes(report)
  const others = [...new Set(all)].filter((other) => !because.includes(other))
  const why = because.length === 0 ? '' : `: ${andMore(because, NAMES_MAX)}`
  const advice = adviceFor(report)
  const width = WIDTH_MAX - advice.length
  const more = others.length - FAILURES_MAX
  const skipped = skippedWords(skippedHooks(report.hooks), SKIPPED_NAMES_MAX)
  return [
    `${clip(`${endSentence(report)}${why}`.slice(0, width + 1), width)}${advice}`,
    ...others.slice(0, FAILURES_MAX).map((other) => clip(`and ${other}`.slice(0, WIDTH_MAX + 1), WIDTH_MAX)),
    ...(more > 0 ? [`and ${more} more: the options logger and reportFile have all of them`] : []),
    ...(skipped === undefined ? [] : [clip(skipped, WIDTH_MAX)]),
  ]
}

/** What to do about the first cause, where that is known. */
function adviceFor({ exitCode, requests }: Report): string {
  const [stream] = exitCode === 5 ? undeclaredStreams(requests.cut) : []
  return stream ? `; ${streamAdvice(clip(stream.name, STREAM_WIDTH_MAX))}` : ''
}

interface Causes {
  /** What led to the exit code, the most telling first. */
  readonly because: readonly string[]
  /** What has failed besides: it may be said nowhere else. */
  readonly others: readonly string[]
}

function causes(report: Report): Causes {
  switch (report.exitCode) {
    case 1:
      return { because: forces(report).slice(0, 1), others: [...forces(report).slice(1), ...ofTheEnd(report)] }
    case 3:
      return { because: notStarted(report).slice(0, 1), others: notStarted(report).slice(1) }
    case 5:
      return { because: cuts(report), others: ofTheEnd(report) }
    default:
      return { because: failures(report).slice(0, 1), others: failures(report).slice(1) }
  }
}

function notStarted(report: Report): string[] {
  return report.reason ? [whyNotStarted(report.reason)] : failures(report)
}

const whyNotStarted = (reason: StopReason): string =>
  reason.kind === 'start-failed' ? `${reason.phase}: ${reason.error.message}` : describeReason(reason)

function forces({ reason, forced, forcedBy, errors }: Report): string[] {
  if (forced === null) {
    // A crash may come when the life ends already, for a reason that costs nothing.
    const crashes = failures({ errors: errors.filter(({ where }) => isCrashEvent(where)) })
    return crashes.length > 0 || !reason ? crashes : [describeReason(reason)]
  }
  if (forced === 'process-exit') return []
  const by = forcedBy?.error?.message ?? forcedBy?.signal ?? forcedBy?.reason
  return [by === undefined ? forced : `${forced}: ${by}`]
}

/** Hooks and phases, which run once: what fails again and again was said before. */
const ofTheEnd = ({ errors }: Report): string[] => failures({ errors: errors.filter(({ where }) => / hook "|^phase /.test(where)) })

const failures = ({ errors }: Pick<Report, 'errors'>): string[] =>
  errors.map(({ where, error }) => `${where}: ${withoutName(error.message, where)}`)

/**
 * Handlers and connections that are still there are so because of what was cut; alone, they are the
 * cause.
 */
function cuts({ requests, watches, handlers, connections, hooks, phases }: Report): string[] {
  const drained = [...requests.cut, ...watches.cut]
  const named = (drained.length > 0 ? drained : [...handlers, ...connections.forcedNames]).map(({ name }) => name)
  const cutHooks = hooks.filter(({ outcome }) => outcome === 'cut').map(({ kind, name }) => `${kind} hook ${JSON.stringify(name)}`)
  const found = [...new Set([...named, ...cutHooks])]
  return found.length > 0 ? found : phases.filter(({ outcome }) => outcome === 'cut').map(({ name }) => `phase ${name}`)
}
