import { hookKey } from '../quiesce.ts'
import type { BlockingGroup, BlockingItem } from './groups.ts'
import { plannedCuts } from './spent.ts'
import { statusOfWork, type View } from './view.ts'
import { count, durationText, listText } from './words.ts'

/**
 * What can be said of a life that serves: whether it is ready, what is registered, what its end
 * would take.
 */

type Readiness = NonNullable<NonNullable<View['setup']>['readiness']>

/** Listed of a kind; the title counts all. */
const NAMES_MAX = 50

export const readinessGroups = ({ setup }: View): BlockingGroup[] => (setup?.readiness ? [readinessGroup(setup.readiness)] : [])

export function setupGroups(view: View): BlockingGroup[] {
  const { setup } = view
  if (!setup) return []
  return [
    { kind: 'budget', title: endWords(view), count: 0, items: budgetItems(view) },
    ...(setup.hooks.length > 0 ? [hooksGroup(view)] : []),
  ]
}

function readinessGroup({ path, checks }: Readiness): BlockingGroup {
  const items = checks.map(
    ({ name, passed, reason }): BlockingItem => ({
      key: name,
      name,
      note: passed === undefined ? 'not asked yet' : passed ? 'passes' : (reason ?? 'fails'),
      age: '',
      workStatus: passed === undefined ? 'waiting' : passed ? 'ok' : 'failed',
    }),
  )
  return { kind: 'check', title: `${path} ${readinessWords(checks)}`, count: 0, items }
}

function readinessWords(checks: Readiness['checks']): string {
  const failing = checks.filter(({ passed }) => passed === false)
  if (failing.length > 0) return `fails: ${listText(failing.map(({ name }) => name))}`
  return checks.some(({ passed }) => passed === undefined) ? 'has not been asked yet' : 'passes'
}

/** A sentence when readiness is not as it should be; else nothing. */
export function readinessTrouble({ setup, life }: View): string {
  const readiness = setup?.readiness
  if (!readiness) return life.signals.has('HasBeenReady') ? '' : ' /readyz has not passed yet.'
  const words = readinessWords(readiness.checks)
  return words === 'passes' ? '' : ` ${readiness.path} ${words}.`
}

/** The configured end in one sentence. */
export function endWords({ setup, opening }: View): string {
  const { mode, deadlineMs } = opening ?? {}
  const atMost = setup?.stop.deadlineMs ?? deadlineMs
  if (atMost === undefined) return 'A stop now would take as long as its work: there is no deadline'
  const delayMs = setup?.stop.delayMs ?? 0
  const delay = delayMs > 0 ? `${durationText(delayMs)} delay` : undefined
  const then = mode && MODE_WORDS[mode]
  const details = [delay, then].filter((part) => part !== undefined).join(', then ')
  return `A stop now would take at most ${durationText(atMost)}${details === '' ? '' : `: ${details}`}`
}

const MODE_WORDS = {
  refuse: 'new connections are refused',
  'retry-after': 'new requests are answered 429 with Retry-After',
} as const

function budgetItems(view: View): BlockingItem[] {
  const { setup } = view
  if (!setup) return []
  const { delayMs, deadlineMs } = setup.stop
  return [
    ...(delayMs > 0 ? [{ key: 'delay', name: 'shutdown delay', note: 'serves on, not ready', age: durationText(delayMs) }] : []),
    ...plannedCuts(view).map(({ signal, atMs }) => ({
      key: signal,
      name: signal,
      note: cutBy(view, signal),
      age: durationText(atMs),
    })),
    { key: 'deadline', name: 'deadline', note: 'the end, by force', age: durationText(deadlineMs) },
  ]
}

/** Which phases a cut ends, of those that are not over. */
export const cutBy = ({ phases }: View, signal: string): string => {
  const names = [...phases.values()].flatMap(({ name, cut, half, endedAt }) =>
    cut === signal && half === 'stop' && endedAt === undefined ? [name] : [],
  )
  return names.length > 2 ? `${names[0]} and ${names.length - 1} more` : listText(names)
}

function hooksGroup({ setup, life }: View): BlockingGroup {
  const hooks = setup?.hooks ?? []
  const items = hooks.slice(0, NAMES_MAX).map(({ kind, name, limitMs }): BlockingItem => {
    const known = life.hooks.get(hookKey({ kind, name }))
    return {
      key: `${kind} ${name}`,
      name,
      note: kind === 'phase' ? 'phase' : kind,
      age: limitMs === undefined ? '' : `≤ ${durationText(limitMs)}`,
      workStatus: known ? statusOfWork(known) : 'waiting',
    }
  })
  return { kind: 'planned', title: `${count(hooks.length, 'hook')} registered`, count: hooks.length, items }
}
