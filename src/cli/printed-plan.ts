import { oneLine } from '../base/cells.ts'
import { formatDuration } from '../base/duration.ts'
import { instantMs, type StopProfile, type StopProfiles } from '../base/stop-profile.ts'
import type { Warning } from '../base/warnings.ts'
import type { LifePlan } from '../machines/lifecycle.ts'
import { BUDGET_INSTANTS, CUT_SIGNALS, type CutSignal, cutSignal } from '../machines/signals.ts'
import type { ResolvedOptions } from '../options/options.ts'
import type { DefaultDuration } from '../options/times.ts'

/**
 * The times of a life, for people and for programs. Nothing is computed here: the profiles are
 * those that the machine gets, the options those that the life was resolved to.
 */
export interface PrintedPlan {
  /** Whose plan it is. */
  readonly of: string
  readonly platform: { readonly name: string; readonly reason: string }
  readonly whileDraining: string
  readonly notifyClients: string
  readonly stops: Readonly<Record<KindOfStop, PrintedStop>>
  readonly limits: {
    readonly preShutdownHooks: Readonly<Record<string, number>>
    readonly destroyFunctions: Readonly<Record<string, number>>
    readonly phases: Readonly<Record<string, number>>
    /** null: what the budget leaves. */
    readonly requestDrainTimeout: number | null
    readonly connectionTimeout: number
  }
  /** Every duration among the options with where it came from. */
  readonly chosen: Readonly<Record<string, DefaultDuration>>
  /** What does not fit what surrounds the process. */
  readonly warnings: readonly Warning[]
}

/** A stop in milliseconds; instants since StopRequested. */
interface PrintedStop {
  readonly shutdownDelay: number
  readonly lastCall: number
  readonly watchGrace: number
  readonly requestsUntil: number
  readonly instants: Readonly<Record<CutSignal, number>>
}

type KindOfStop = Exclude<keyof StopProfiles, 'startFailed'>

/**
 * The kinds of stop, but for a failed start: it has served no request, so there is nothing to wait
 * for.
 */
const KINDS = { default: 'stop', interactive: 'interactive', crash: 'crash' } as const satisfies Record<KindOfStop, string>
const KIND_NAMES = Object.keys(KINDS) as readonly KindOfStop[]

/**
 * @param of whose plan it is
 * @param plan by what is registered by now; its profiles keep time for nothing else
 */
export function printedPlan(
  of: string,
  { platform, whileDraining, chosen, warnings }: ResolvedOptions,
  { input, userPhases = [] }: LifePlan,
): PrintedPlan {
  const { profiles, notifyClients, preShutdownHooks, destroyFunctions, requestDrainTimeoutMs, connectionTimeoutMs } = input
  return {
    of,
    platform: { name: platform.name, reason: platform.reason },
    whileDraining,
    notifyClients,
    stops: { default: stop(profiles.default), interactive: stop(profiles.interactive), crash: stop(profiles.crash) },
    limits: {
      preShutdownHooks: timeouts(preShutdownHooks),
      destroyFunctions: timeouts(destroyFunctions),
      phases: timeouts(userPhases),
      requestDrainTimeout: requestDrainTimeoutMs ?? null,
      connectionTimeout: connectionTimeoutMs,
    },
    chosen,
    warnings,
  }
}

const stop = (profile: StopProfile): PrintedStop => ({
  shutdownDelay: Math.round(profile.delayMs),
  lastCall: Math.round(profile.lastCallMs),
  watchGrace: Math.round(profile.watchGraceMs),
  requestsUntil: Math.round(instantMs(profile, 'requests')),
  instants: Object.fromEntries(
    BUDGET_INSTANTS.map((instant) => [cutSignal(instant), Math.round(instantMs(profile, instant))]),
  ) as PrintedStop['instants'],
})

const timeouts = (bounded: readonly { readonly name: string; readonly timeoutMs: number }[]): Record<string, number> =>
  Object.fromEntries(bounded.map(({ name, timeoutMs }) => [name, timeoutMs]))

/** A page of text, which ends with a line break. */
export function planText({ of, platform, whileDraining, notifyClients, stops, limits, chosen, warnings }: PrintedPlan): string {
  const row = (label: string, cell: (of: PrintedStop) => string, meaning = ''): Row => [
    label,
    ...KIND_NAMES.map((kind) => cell(stops[kind])),
    meaning,
  ]
  const length = (name: 'shutdownDelay' | 'lastCall' | 'watchGrace', label: string): Row => row(label, (of) => formatDuration(of[name]))
  const { requestDrainTimeout, connectionTimeout } = limits
  return [
    `plan of ${oneLine(of)}`,
    `platform ${platform.name} (${platform.reason}), while draining: ${whileDraining}, notify-clients: ${notifyClients}`,
    ...warnings.map(({ message }) => `warning: ${message}`),
    '',
    ...table([
      ['', ...Object.values(KINDS), ''],
      length('shutdownDelay', 'shutdown delay'),
      length('lastCall', 'last call'),
      length('watchGrace', 'watch grace'),
      row('requests have until', (of) => `+${formatDuration(of.requestsUntil)}`),
      ...BUDGET_INSTANTS.map(cutSignal).map((name) => row(name, (of) => `+${formatDuration(of.instants[name])}`, CUT_SIGNALS[name])),
    ]),
    '',
    'Times with + count from the stop request. interactive: Ctrl-C on a terminal, or node --watch.',
    'Audit and destroy get time only when something is registered for them.',
    '',
    'limits of single steps',
    ...table([
      ...bounds('pre-shutdown hook', limits.preShutdownHooks),
      ...bounds('destroy function', limits.destroyFunctions),
      ...bounds('phase', limits.phases),
      ['request drain', requestDrainTimeout === null ? 'none: as long as the whole stop has' : formatDuration(requestDrainTimeout)],
      ['connections, once requests are drained', formatDuration(connectionTimeout)],
    ]),
    '',
    'where the numbers come from',
    ...table(Object.entries(chosen).map(([name, { ms, because }]) => [name, formatDuration(ms), because])),
    '',
  ].join('\n')
}

type Row = readonly string[]

const bounds = (what: string, timeoutsMs: Readonly<Record<string, number>>): Row[] =>
  Object.entries(timeoutsMs).map(([name, ms]) => [`${what} ${name}`, formatDuration(ms)])

/** Lines whose columns stand below each other. */
function table(rows: readonly Row[]): string[] {
  const width = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(width(column) + 2)).join('')}`.trimEnd())
}
