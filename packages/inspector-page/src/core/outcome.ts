import {
  describeReason,
  endMeaning,
  exitCodeSeen,
  fateSums,
  fateWords,
  lastCallWords,
  nameWithProtocol,
  skippedHooks,
  skippedWords,
  tookMs,
  withoutName,
} from '../quiesce.ts'
import type { View } from './view.ts'
import { count, durationText, FORCED_WORDS } from './words.ts'

/**
 * What came of a life, in lines: from the report once there is one, until then what has failed so
 * far.
 */
export interface OutcomeLine {
  readonly what: string
  readonly text: string
  readonly tone: 'plain' | 'good' | 'bad' | 'cut'
}

/** The number of skipped phases that are named; each has a row in the timeline. */
const SKIPPED_NAMED = 10

const counted = (counts: readonly (readonly [what: string, n: number])[]): string => counts.map(([what, n]) => `${n} ${what}`).join(', ')

export function outcomeOf({ report, failures, life: { exitCode, stop } }: View): readonly OutcomeLine[] {
  const failed = failures.map(
    ({ where, error }): OutcomeLine => ({ what: 'failed', text: `${where}: ${withoutName(error.message, where)}`, tone: 'bad' }),
  )
  if (!report) return failed
  const { requests, watches, connections, handlers, forced, reason, rejections, lateAnswers, warnings } = report
  const took = tookMs(report)
  const lastCall = lastCallWords(report)
  const skipped = skippedWords(skippedHooks(report.hooks), SKIPPED_NAMED)
  const refused = Object.entries(rejections).filter(([, n]) => n > 0)
  const line = (what: string, text: string, tone: OutcomeLine['tone'] = 'plain'): OutcomeLine => ({ what, text, tone })
  const drained = (what: string, { before, after, cut }: typeof requests): OutcomeLine[] => [
    line(what, `${before} to drain, ${after} left`, cut.length > 0 ? 'cut' : 'plain'),
    ...cut.map((straggler) => line('cut', `${nameWithProtocol(straggler)}, ${durationText(straggler.ageMs)} old`, 'cut')),
  ]
  return [
    line(
      'exit code',
      `${exitCodeSeen(report)}: ${endMeaning(report)}`,
      report.exitCode === 0 ? 'good' : report.exitCode === 5 ? 'cut' : 'bad',
    ),
    line('stopped by', reason ? describeReason(reason) : stop || exitCode !== undefined ? 'unknown' : 'nothing: no stop was requested'),
    ...(forced === null ? [] : [line('forced', FORCED_WORDS[forced], 'cut')]),
    ...(took === undefined ? [] : [line('took', durationText(took))]),
    ...(lastCall === undefined ? [] : [line('last call', lastCall)]),
    ...drained('requests', requests),
    ...drained('watches', watches),
    line('connections', fateSums(connections), connections.forced > 0 ? 'cut' : 'plain'),
    ...connections.forcedNames.map((straggler) => line('cut', nameWithProtocol(straggler), 'cut')),
    ...fateWords(connections.byProtocol).map((text) => line('by protocol', text)),
    ...(connections.lastRequestMs === undefined ? [] : [line('last request', `${durationText(connections.lastRequestMs)} after the stop`)]),
    ...(connections.upgraded ? [line('upgraded', counted(Object.entries(connections.upgraded)))] : []),
    ...(handlers.length > 0
      ? [
          line(
            'handlers',
            `${count(handlers.length, 'handler')} outlived ${handlers.length === 1 ? 'its response' : 'their responses'}`,
            'cut',
          ),
        ]
      : []),
    ...handlers.map((straggler) => line('cut', `${nameWithProtocol(straggler)}, ${durationText(straggler.ageMs)} old`, 'cut')),
    ...(refused.length > 0 ? [line('refused', counted(refused))] : []),
    ...report.hooks
      .filter(({ outcome }) => outcome === 'cut' || outcome === null)
      .map(({ kind, name, durationMs }) =>
        line('cut', `${kind} hook ${name}${durationMs === null ? '' : `, after ${durationText(durationMs)}`}`, 'cut'),
      ),
    ...(skipped === undefined ? [] : [line('skipped', skipped, 'cut')]),
    ...report.errors.map(({ where, error, count = 1 }) =>
      line('failed', `${where}${count > 1 ? ` (${count} times)` : ''}: ${withoutName(error.message, where)}`, 'bad'),
    ),
    ...lateAnswers.map(({ what, answer, lateMs }) => line('late', `${what} ${answer} ${durationText(lateMs)} too late`)),
    ...warnings.map(({ message }) => line('warning', message)),
  ]
}
