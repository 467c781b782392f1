import { clip } from '../base/cells.ts'
import { isCrashEvent, type StopReason } from '../base/events.ts'
import { streamAdvice, undeclaredStreams } from '../base/streams.ts'
import { describeReason } from './describe-reason.ts'
import { endSentence } from './end-meaning.ts'
import type { Report } from './report.ts'
import { skippedHooks, skippedWords } from './skipped-hooks.ts'

/** Messages of errors may be of any length; the report has them whole. */
const WIDTH_MAX = 300
/** Of the name of a stream, beside which there is something to say. */
const STREAM_WIDTH_MAX = 80
const SKIPPED_WIDTH_MAX = 100

/**
 * Why a life did not end gracefully, in one line for standard error: the exit code, what it means,
 * and the first thing that led to it. undefined when it did.
 */
export function whyNotGraceful(report: Report): string | undefined {
  if (report.exitCode === 0) return undefined
  const [first, ...more] = causes(report)
  const why = first === undefined ? '' : `: ${first}${more.length > 0 ? `, and ${more.length} more` : ''}`
  const rest = `${neverRan(report)}${adviceFor(report)}`
  const width = WIDTH_MAX - rest.length
  return `${clip(`${endSentence(report)}${why}`.slice(0, width + 1), width)}${rest}`
}

/** Names may be of any length, and one that was cut is a cause, and named as that. */
function neverRan({ hooks }: Report): string {
  const { names } = skippedHooks(hooks)
  const words = skippedWords({ names, waitedFor: [] }, 1)
  return words === undefined ? '' : `; ${clip(words, SKIPPED_WIDTH_MAX)}`
}

/** What to do about the first cause, where that is known. */
function adviceFor({ exitCode, requests }: Report): string {
  const [stream] = exitCode === 5 ? undeclaredStreams(requests.cut) : []
  return stream ? `; ${streamAdvice(clip(stream.name, STREAM_WIDTH_MAX))}` : ''
}

/** What led to the exit code of a report, the most telling first. */
function causes(report: Report): string[] {
  switch (report.exitCode) {
    case 1:
      return forces(report)
    case 3:
      return report.reason ? [whyNotStarted(report.reason)] : failures(report)
    case 5:
      return cuts(report)
    default:
      return failures(report)
  }
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

const failures = ({ errors }: Pick<Report, 'errors'>): string[] => errors.map(({ where, error }) => `${where}: ${error.message}`)

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
