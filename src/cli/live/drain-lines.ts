import { BOLD, clip, column, painter, YELLOW } from '../../base/cells.ts'
import type { Straggler } from '../../base/events.ts'
import { formatRunning } from '../../base/format-duration.ts'

import type { Gauges } from '../../lifecycle/gauges.ts'
import type { Progress, RunningPhase } from '../../lifecycle/progress.ts'
import { describeReason } from '../../report/words.ts'

export interface Frame {
  readonly width: number
  /** Most lines that there is room for. */
  readonly height: number
  readonly color: boolean
}

const NAME_WIDTH = 18
const LEFT_WIDTH = 11
/** The last part of a time is shown as a warning. */
const SHORT_OF_TIME = 1 / 5

/**
 * A life that ends, as it stands at one moment: how long it may still take, then each running phase with what it waits for, the
 * oldest first. One line each, none longer than the terminal is wide.
 */
export function drainLines(progress: Progress, gauges: Gauges, { width, height, color }: Frame): string[] {
  const paint = painter(color)
  const { reason, sinceMs, leftMs, phases } = progress
  const heading = `draining for ${formatRunning(sinceMs)} (${describeReason(reason)}): at most ${formatRunning(leftMs)} more`
  const isShort = (left: number | undefined, since: number): boolean => left !== undefined && left < (left + since) * SHORT_OF_TIME
  const rows = [
    { text: heading, code: isShort(leftMs, sinceMs) ? YELLOW : BOLD },
    ...phases.map((phase) => ({
      text: line(phase.name, phase.leftMs, waitsFor(phase, gauges)),
      code: isShort(phase.leftMs, phase.sinceMs) ? YELLOW : 0,
    })),
    ...inFlight(phases, gauges).map((text) => ({ text: line('in flight', undefined, text), code: 0 })),
    ...open(gauges).map((text) => ({ text: line('connections', undefined, text), code: 0 })),
  ]
  return rows.slice(0, height).map(({ text, code }) => {
    // The last cell stays empty: some terminals wrap as soon as it is written.
    const fitted = clip(text, width - 1)
    return code === 0 ? fitted : paint(code, fitted)
  })
}

function line(name: string, leftMs: number | undefined, text: string): string {
  const left = leftMs === undefined ? '' : `${formatRunning(leftMs)} left`
  return `  ${column(name, NAME_WIDTH)} ${left.padStart(LEFT_WIDTH)}  ${text}`.trimEnd()
}

/** What a phase waits for, in words. */
function waitsFor({ name }: RunningPhase, { requests, watches, holds, handlers, blocking }: Gauges): string {
  switch (name) {
    case 'pre-shutdown-hooks':
    case 'post-start-hooks':
    case 'destroy':
      return list(blocking.hooks.filter((hook) => hook.name.startsWith(HOOKS_OF[name])))
    case 'request-drain':
      return list(byAge([...blocking.requests, ...blocking.holds]), some(requests, 'request'), some(holds, 'hold'))
    case 'watch-drain':
      return list(blocking.watches, some(watches, 'watch'))
    case 'handlers':
      return list(blocking.handlers, some(handlers, 'handler'))
    case 'close-connections':
      return list(blocking.connections)
    case 'tell':
      return 'clients are told to connect elsewhere'
    case 'last-call':
      return 'requests that are on their way are still answered'
    case 'shutdown-delay':
      return 'still serving, while traffic finds its way elsewhere'
    default:
      return ''
  }
}

const HOOKS_OF = { 'pre-shutdown-hooks': 'pre-shutdown ', 'post-start-hooks': 'post-start ', destroy: 'destroy ' } as const

/** What no phase waits for yet. */
function inFlight(phases: readonly RunningPhase[], { requests, watches, holds, blocking }: Gauges): string[] {
  const runs = (phase: string): boolean => phases.some(({ name }) => name === phase)
  const drained = runs('request-drain') ? [] : [...blocking.requests, ...blocking.holds]
  const told = runs('watch-drain') ? [] : blocking.watches
  const counts = [
    ...(drained.length > 0 ? [some(requests, 'request'), some(holds, 'hold')] : []),
    ...(told.length > 0 ? [some(watches, 'watch')] : []),
  ]
  return counts.length > 0 ? [list(byAge([...drained, ...told]), ...counts)] : []
}

function open({ connections: { active, idle, told } }: Gauges): string[] {
  return active + idle + told > 0 ? [`${active} active, ${idle} idle, ${told} told to leave`] : []
}

/** `2 requests, 1 hold: GET /slow 12.3s, job 9.1s`. All that there are: the line is cut where the terminal ends. */
function list(stragglers: readonly Straggler[], ...counts: readonly string[]): string {
  const counted = counts.filter((count) => count !== '').join(', ')
  const named = stragglers.map(({ name, ageMs }) => `${name} ${formatRunning(ageMs)}`).join(', ')
  return [counted, named].filter((part) => part !== '').join(': ')
}

const byAge = (stragglers: readonly Straggler[]): Straggler[] => stragglers.toSorted((a, b) => b.ageMs - a.ageMs)

const some = (count: number, what: 'request' | 'watch' | 'hold' | 'handler'): string =>
  count === 0 ? '' : `${count} ${what}${count === 1 ? '' : what === 'watch' ? 'es' : 's'}`
