import type { PhaseOutcome } from '../base/events.ts'
import { formatDuration } from '../base/format-duration.ts'
import { EXIT_CODES_BY_SEVERITY, type ExitCode, moreSevere } from '../machines/exit-codes.ts'
import { hookName } from './gauges.ts'
import type { Report } from './report.ts'
import { tookMs } from './took.ts'

/** Something that is not the same in two ends. */
export interface Difference {
  readonly what: string
  /** undefined: the report has nothing of it. */
  readonly a: number | string | undefined
  readonly b: number | string | undefined
  readonly unit: 'ms' | 'count' | 'word'
  /** Whether the second end is worse by it. */
  readonly isWorse: boolean
}

export interface Comparison {
  /** The second end is worse than the first one by at least one of the differences. */
  readonly isWorse: boolean
  readonly differences: readonly Difference[]
}

export interface CompareOptions {
  /**
   * An end that takes longer by more than this is worse. Default: times are not judged, because
   * they depend on the machine and on what was under way.
   */
  readonly slowerMs?: number | undefined
}

/** Times that differ by less are the same: by the length of a turn, or by a part of themselves. */
const SAME_MS = 10
const SAME_SHARE = 0.1

/**
 * What is different in the end of two lives, and whether the second one is worse. Worse are: a more
 * severe exit code; more requests, watches, handlers or connections that were left, cut or forced;
 * more failures; a hook or phase that was cut or failed and was not before. What only depends on
 * what clients did (how many requests there were, how many were refused) is shown, not judged.
 */
export function compareReports(a: Report, b: Report, { slowerMs }: CompareOptions = {}): Comparison {
  const differences = [
    { ...word('exit code', a.exitCode, b.exitCode), isWorse: isMoreSevere(a.exitCode, b.exitCode) },
    word('ended by force', a.forced ?? 'no', b.forced ?? 'no'),
    { ...time('took', tookMs(a), tookMs(b)), isWorse: slowerMs !== undefined && (tookMs(b) ?? 0) - (tookMs(a) ?? 0) > slowerMs },
    ...COUNTS.map(([what, of, isJudged]) => ({ ...count(what, of(a), of(b)), isWorse: isJudged && of(b) > of(a) })),
    ...keysOf(a.rejections, b.rejections).map((kind) => count(`refused: ${kind}`, a.rejections[kind] ?? 0, b.rejections[kind] ?? 0)),
    ...works(phasesOf(a), phasesOf(b)),
    ...works(hooksOf(a), hooksOf(b)),
  ].filter(({ a: first, b: second, unit }) => (unit === 'ms' ? !isSameTime(first, second) : first !== second))
  return { isWorse: differences.some(({ isWorse }) => isWorse), differences }
}

type Unjudged = Difference & { readonly isWorse: false }
const word = (what: string, a: number | string | undefined, b: number | string | undefined): Unjudged =>
  ({ what, a, b, unit: 'word', isWorse: false }) as const
const count = (what: string, a: number, b: number): Unjudged => ({ what, a, b, unit: 'count', isWorse: false }) as const
const time = (what: string, a: number | undefined, b: number | undefined): Unjudged => ({ what, a, b, unit: 'ms', isWorse: false }) as const

/** The counts of what there may be many; the last column says whether more of it is worse. */
const COUNTS: readonly (readonly [string, (of: Report) => number, boolean])[] = [
  ['requests to drain', ({ requests }) => requests.before, false],
  ['requests left', ({ requests }) => requests.after, true],
  ['watches to end', ({ watches }) => watches.before, false],
  ['watches left', ({ watches }) => watches.after, true],
  ['let in by the last call', ({ lastCall }) => lastCall?.answered ?? 0, false],
  ['handlers that outlived', ({ handlers }) => handlers.length, true],
  ['audit events lost', ({ audit }) => audit?.lost ?? 0, true],
  ['connections by force', ({ connections }) => connections.forced, true],
  ['connections closed idle', ({ connections }) => connections.idleUnnotified, false],
  ['failures', ({ errors }) => errors.reduce((sum, { count: times = 1 }) => sum + times, 0), true],
  ['late answers', ({ lateAnswers }) => lateAnswers.length, false],
  ['warnings', ({ warnings }) => warnings.length, false],
]

interface Work {
  /** A phase is skipped when it has nothing to do; a hook that is skipped never ran. */
  readonly outcome: PhaseOutcome | 'never ran' | null
  readonly ms: number | undefined
}

/** How bad an outcome is; what is not over was lost. */
const BADNESS: Readonly<Record<PhaseOutcome | 'never ran' | 'not over' | 'none', number>> = {
  none: 0,
  ok: 0,
  skipped: 0,
  'never ran': 1,
  cut: 1,
  failed: 2,
  'not over': 3,
}

function works(a: ReadonlyMap<string, Work>, b: ReadonlyMap<string, Work>): Difference[] {
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((name) => {
    const [first, second] = [outcomeOf(a.get(name)), outcomeOf(b.get(name))]
    return [{ ...word(name, first, second), isWorse: BADNESS[second] > BADNESS[first] }, time(name, a.get(name)?.ms, b.get(name)?.ms)]
  })
}

const outcomeOf = (work: Work | undefined): keyof typeof BADNESS => (work === undefined ? 'none' : (work.outcome ?? 'not over'))

/** The phases of the end; what only fires a signal takes no time. */
const phasesOf = ({ phases, stopRequestedAt }: Report): ReadonlyMap<string, Work> =>
  new Map(
    phases
      .filter(({ start }) => stopRequestedAt === null || start >= 0)
      .map(({ name, start, end, outcome }) => [`phase ${name}`, { outcome, ms: end === null ? undefined : end - start }]),
  )

const hooksOf = ({ hooks }: Report): ReadonlyMap<string, Work> =>
  new Map(
    hooks.map((hook) => {
      const isSkipped = hook.outcome === 'skipped'
      return [
        hookName(hook),
        { outcome: isSkipped ? 'never ran' : hook.outcome, ms: isSkipped ? undefined : (hook.durationMs ?? undefined) },
      ]
    }),
  )

const isMoreSevere = (a: number, b: number): boolean => a !== b && isOurs(a) && isOurs(b) && moreSevere(a, b) === b
const isOurs = (code: number): code is ExitCode => (EXIT_CODES_BY_SEVERITY as readonly number[]).includes(code)

function isSameTime(a: Difference['a'], b: Difference['b']): boolean {
  // What there is in one of them only is a difference of its outcome.
  if (typeof a !== 'number' || typeof b !== 'number') return true
  const apart = Math.abs(a - b)
  return apart < SAME_MS || apart < SAME_SHARE * Math.max(a, b)
}

const keysOf = (...records: readonly Readonly<Record<string, unknown>>[]): string[] => [...new Set(records.flatMap(Object.keys))]

/** A side of a difference, for people. */
export const shownSide = ({ unit }: Difference, side: Difference['a']): string =>
  side === undefined ? '-' : typeof side === 'number' && unit === 'ms' ? formatDuration(Math.round(side)) : String(side)
