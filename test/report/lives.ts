import type { LifecycleEvent } from '#src/base/events.ts'
import { WIRING } from '#src/machines/wiring.ts'
import { stopProfile } from '#src/options/budget.ts'
import { resolveLifecycleOptions } from '#src/options/options.ts'
import type { Report } from '#src/report/report.ts'
import { ReportBuilder } from '#src/report/report-builder.ts'
import { cutsOf, NOTHING_KNOWN, reduceLife } from '#src/report/view.ts'

export const options = resolveLifecycleOptions(
  { shutdownDelay: '1s', watchGrace: '2s', deadline: '12s', crashDeadline: '5s' },
  { facts: { env: {}, pid: 4711, terminal: false, containerFile: false } },
)

export const budget = stopProfile(options.plans.default)
const crashBudget = stopProfile(options.plans.crash)

export const WALL_AT_START = Date.UTC(2026, 0, 1)

/** The report of a life that had these events. */
export function reportOf(events: readonly LifecycleEvent[], exitCode = 0, rejections?: Readonly<Record<string, number>>): Report {
  const view = events.reduce(reduceLife, { ...NOTHING_KNOWN, cuts: cutsOf(WIRING) })
  const builder = new ReportBuilder({ view: () => view, wallAtStart: WALL_AT_START, ...(rejections && { rejections: () => rejections }) })
  for (const event of events) builder.observe(event)
  return builder.build(exitCode)
}

const boom = { name: 'Error', message: 'boom', stack: 'Error: boom\n    at hook' }

/** Stopped after a minute, with nothing left over. */
export const quietLife: readonly LifecycleEvent[] = [
  { at: 0, type: 'platform', platform: 'unknown', reason: 'no sign of any platform', defaults: options.chosen },
  { at: 0, type: 'signal', name: 'Start', outcome: 'ok' },
  { at: 1, type: 'phase.started', phase: 'bind' },
  { at: 3, type: 'listening', url: 'http://127.0.0.1:8080', address: '127.0.0.1', port: 8080, admin: false },
  { at: 3, type: 'phase.ended', phase: 'bind', outcome: 'ok' },
  { at: 3, type: 'signal', name: 'Bound', outcome: 'ok' },
  { at: 4, type: 'hook.started', kind: 'post-start', name: 'warm' },
  { at: 9, type: 'hook.ended', kind: 'post-start', name: 'warm', outcome: 'ok', durationMs: 5 },
  { at: 60_000, type: 'signal', name: 'StopRequested', outcome: 'ok', reason: { kind: 'os-signal', signal: 'SIGTERM' }, budget },
  { at: 60_000, type: 'signal', name: 'ShutdownInitiated', outcome: 'ok' },
  { at: 60_000, type: 'phase.started', phase: 'shutdown-delay' },
  { at: 61_000, type: 'phase.ended', phase: 'shutdown-delay', outcome: 'ok' },
  { at: 61_000, type: 'signal', name: 'AfterShutdownDelayDuration', outcome: 'ok' },
  { at: 61_000, type: 'signal', name: 'PreShutdownHooksStopped', outcome: 'ok' },
  { at: 61_000, type: 'signal', name: 'NotAcceptingNewRequest', outcome: 'ok' },
  { at: 61_200, type: 'drained', what: 'requests', before: 3, after: 0, cut: [] },
  { at: 61_200, type: 'drained', what: 'watches', before: 0, after: 0, graceMs: 2_000, cut: [] },
  { at: 61_200, type: 'signal', name: 'InFlightRequestsDrained', outcome: 'ok' },
  { at: 61_201, type: 'stopped-listening', url: 'http://127.0.0.1:8080' },
  { at: 61_201, type: 'signal', name: 'HTTPServerStoppedListening', outcome: 'ok' },
  { at: 61_202, type: 'connections', notified: 3, idleUnnotified: 1, ended: 2, forced: 0, forcedNames: [] },
  { at: 61_203, type: 'ended', exitCode: 0 },
]

/** Everything that can go wrong, at least once; every kind of event. */
export const badLife: readonly LifecycleEvent[] = [
  ...quietLife.slice(0, 8),
  { at: 10, type: 'listening', url: 'http://127.0.0.1:9090', address: '127.0.0.1', port: 9090, admin: true },
  {
    at: 20,
    type: 'signal',
    name: 'StopRequested',
    outcome: 'ok',
    reason: { kind: 'crash', origin: 'uncaughtException', error: boom },
    budget: crashBudget,
  },
  { at: 20, type: 'hook.started', kind: 'pre-shutdown', name: 'leave' },
  { at: 20, type: 'hook.started', kind: 'pre-shutdown', name: 'flush\u001b[31m' },
  {
    at: 25,
    type: 'hook.ended',
    kind: 'pre-shutdown',
    name: 'leave',
    outcome: 'failed',
    durationMs: 5,
    error: { name: 'TypeError', message: 'no registry', code: 'E_GONE' },
  },
  { at: 300, type: 'hook.ended', kind: 'pre-shutdown', name: 'flush\u001b[31m', outcome: 'cut', durationMs: 280 },
  { at: 300, type: 'phase.ended', phase: 'pre-shutdown-hooks', outcome: 'failed', error: { name: 'AggregateError', message: '[…]' } },
  { at: 310, type: 'late', what: 'pre-shutdown hook "leave"', answer: 'resolved', lateMs: 10 },
  { at: 320, type: 'phase.started', phase: 'request-drain' },
  {
    at: 500,
    type: 'drained',
    what: 'requests',
    before: 9,
    after: 7,
    cut: Array.from({ length: 7 }, (_, i) => ({ name: `GET /slow/${i}`, ageMs: 1_000 * i })),
  },
  { at: 500, type: 'phase.ended', phase: 'request-drain', outcome: 'cut' },
  { at: 510, type: 'drained', what: 'watches', before: 2, after: 1, graceMs: 150, cut: [{ name: 'GET /watch', ageMs: 400 }] },
  { at: 520, type: 'phase.started', phase: 'destroy', limitMs: 700 },
  { at: 530, type: 'phase.ended', phase: 'audit-shutdown', outcome: 'failed', error: { name: 'Error', message: 'audit is down' } },
  {
    at: 540,
    type: 'connections',
    notified: 1,
    idleUnnotified: 0,
    ended: 0,
    forced: 2,
    forcedNames: [{ name: '10.0.0.9:5511', ageMs: 500 }],
  },
  { at: 540, type: 'handlers', running: [{ name: 'GET /slow/1', ageMs: 540 }] },
  { at: 550, type: 'stopped-listening', url: 'http://127.0.0.1:8080', error: { name: 'Error', message: 'gone' } },
  { at: 560, type: 'error', where: 'logger', error: { name: 'Error', message: 'no log' } },
  { at: 570, type: 'warning', message: 'uncaughtException has a listener already', details: { listeners: 1 } },
  { at: 580, type: 'forced', why: 'deadline' },
  { at: 580, type: 'ended', exitCode: 1 },
]
