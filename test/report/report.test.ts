import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import type { LifecycleEvent, StopReason } from '#src/base/events.ts'
import { EXIT_CODES_BY_SEVERITY, exitCodeMeaning, moreSevere } from '#src/machines/exit-codes.ts'
import { FAILURES_MAX } from '#src/report/failures.ts'
import { renderReport } from '#src/report/render-report.ts'
import { ReportBuilder } from '#src/report/report-builder.ts'
import { NOTHING_KNOWN, reduceLife } from '#src/report/view.ts'
import { badLife, budget, quietLife, reportOf } from './lives.ts'

const schema = JSON.parse(readFileSync(new URL('../../schema/report.schema.json', import.meta.url), 'utf8')) as object
const validate: ValidateFunction = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false }).compile(schema)

/** What a reader of the file gets. */
const asJson = (report: object): unknown => JSON.parse(JSON.stringify(report))
const errorsOf = (report: object): unknown => (validate(asJson(report)) ? [] : validate.errors)

describe('a report', () => {
  test('counts from the stop request, negative before it', () => {
    const report = reportOf(quietLife)
    expect(report.signals).toEqual([
      { name: 'Start', at: -60_000, outcome: 'ok' },
      { name: 'Bound', at: -59_997, outcome: 'ok' },
      { name: 'StopRequested', at: 0, outcome: 'ok' },
      { name: 'ShutdownInitiated', at: 0, outcome: 'ok' },
      { name: 'AfterShutdownDelayDuration', at: 1_000, outcome: 'ok' },
      { name: 'PreShutdownHooksStopped', at: 1_000, outcome: 'ok' },
      { name: 'NotAcceptingNewRequest', at: 1_000, outcome: 'ok' },
      { name: 'InFlightRequestsDrained', at: 1_200, outcome: 'ok' },
      { name: 'HTTPServerStoppedListening', at: 1_201, outcome: 'ok' },
    ])
    expect(report).toMatchObject({
      startedAt: '2026-01-01T00:00:00.000Z',
      stopRequestedAt: '2026-01-01T00:01:00.000Z',
      endedAt: '2026-01-01T00:01:01.203Z',
      reason: { kind: 'os-signal', signal: 'SIGTERM' },
      forced: null,
      exitCode: 0,
      listeners: [{ url: 'http://127.0.0.1:8080', admin: false }],
      requests: { before: 3, after: 0, cut: [] },
      connections: { notified: 3, idleUnnotified: 1, ended: 2, forced: 0 },
      errors: [],
    })
  })

  test('says how much time each phase had until its cut', () => {
    const [bind, delay] = reportOf(quietLife).phases
    expect(bind).toEqual({ name: 'bind', start: -59_999, end: -59_997, budget: null, outcome: 'ok', cut: [] })
    expect(delay).toMatchObject({ name: 'shutdown-delay', start: 0, end: 1_000, budget: budget.cutsMs.hooks })
  })

  test('names what was cut beside the phase that cut it, by the budget of that kind of stop', () => {
    const report = reportOf(badLife, 1)
    expect(report.phases.find(({ name }) => name === 'request-drain')).toMatchObject({
      outcome: 'cut',
      budget: 2_200,
      cut: report.requests.cut,
    })
    expect(report.requests.cut).toHaveLength(7)
    expect(report.watches.cut).toEqual([{ name: 'GET /watch', ageMs: 400 }])
  })

  test('has a phase that is not over', () => {
    expect(reportOf(badLife).phases.find(({ name }) => name === 'destroy')).toEqual({
      name: 'destroy',
      start: 500,
      end: null,
      budget: 700,
      outcome: null,
      cut: [],
    })
  })

  test('lists every failure once', () => {
    expect(reportOf(badLife).errors.map(({ where, error }) => `${where}: ${error.message}`)).toEqual([
      'uncaughtException: boom',
      'pre-shutdown hook "leave": no registry',
      'phase audit-shutdown: audit is down',
      'http://127.0.0.1:8080: gone',
      'logger: no log',
    ])
  })

  test('keeps failures apart that only look the same', () => {
    const error = { name: 'Error', message: 'boom' }
    const failed = (name: string): LifecycleEvent => ({
      at: 1,
      type: 'hook.ended',
      kind: 'destroy',
      name,
      outcome: 'failed',
      durationMs: 1,
      error: { ...error },
    })
    expect(reportOf([failed('a'), failed('b')]).errors.map(({ where }) => where)).toEqual(['destroy hook "a"', 'destroy hook "b"'])
  })

  test('keeps hooks of one name and different kinds apart', () => {
    const hook = (kind: 'pre-shutdown' | 'destroy', outcome: 'ok' | 'failed'): LifecycleEvent[] => [
      { at: 1, type: 'hook.started', kind, name: 'pool' },
      { at: 2, type: 'hook.ended', kind, name: 'pool', outcome, durationMs: 1 },
    ]
    expect(reportOf([...hook('pre-shutdown', 'failed'), ...hook('destroy', 'ok')]).hooks).toEqual([
      { kind: 'pre-shutdown', name: 'pool', outcome: 'failed', durationMs: 1 },
      { kind: 'destroy', name: 'pool', outcome: 'ok', durationMs: 1 },
    ])
  })

  test('names beside each drain what that drain has cut', () => {
    const cut = (what: 'requests' | 'watches', phase: string): LifecycleEvent[] => [
      { at: 1, type: 'phase.started', phase },
      { at: 2, type: 'drained', what, before: 1, after: 1, cut: [{ name: `GET /${what}`, ageMs: 1 }] },
      { at: 2, type: 'phase.ended', phase, outcome: 'cut' },
    ]
    const { phases } = reportOf([...cut('requests', 'request-drain'), ...cut('watches', 'watch-drain')])
    expect(phases.map(({ name, cut: named }) => [name, named.map((one) => one.name)])).toEqual([
      ['request-drain', ['GET /requests']],
      ['watch-drain', ['GET /watches']],
    ])
  })

  test('gives a phase that begins after its cut what is left until the next one, and never less than nothing', () => {
    const { phases } = reportOf([
      { at: 0, type: 'signal', name: 'StopRequested', outcome: 'ok', reason: { kind: 'stop', reason: 'test' }, budget },
      { at: budget.cutsMs.hooks + 1, type: 'phase.started', phase: 'pre-shutdown-hooks' },
    ])
    expect(phases[0]?.budget).toBe(budget.cutsMs.requests - budget.cutsMs.hooks - 1)
    const { phases: last } = reportOf([
      { at: 0, type: 'signal', name: 'StopRequested', outcome: 'ok', reason: { kind: 'stop', reason: 'test' }, budget },
      { at: budget.deadlineMs + 1, type: 'phase.started', phase: 'report' },
    ])
    expect(last[0]?.budget).toBe(0)
  })

  test('has the first reason to force the end, whatever comes after it', () => {
    const report = reportOf([
      { at: 1, type: 'forced', why: 'second-signal', signal: 'SIGINT' },
      { at: 2, type: 'forced', why: 'deadline' },
    ])
    expect(report).toMatchObject({ forced: 'second-signal', forcedBy: { signal: 'SIGINT' } })
  })

  test('counts a listener that died among the errors', () => {
    const error = { name: 'Error', message: 'EMFILE' }
    const reason: StopReason = { kind: 'listener-died', address: 'http://127.0.0.1:8080', error }
    const report = reportOf([{ at: 1, type: 'signal', name: 'StopRequested', outcome: 'ok', reason, budget }])
    expect(report.errors).toEqual([{ where: 'http://127.0.0.1:8080', error }])
  })

  test('counts a failure that comes again and again, wherever that is', () => {
    const stack = 'Error: no database\n    at handler'
    const failed = (n: number): LifecycleEvent => ({
      at: n,
      type: 'error',
      where: `handler GET /${n}`,
      error: { name: 'Error', message: 'no database', stack },
    })
    const others: LifecycleEvent[] = ['no', 'no', 'never'].map((message) => ({
      at: 1,
      type: 'error',
      where: 'handler GET /string',
      error: { name: 'Error', message },
    }))
    const report = reportOf([...Array.from({ length: 3_000 }, (_, n) => failed(n)), ...others])
    expect(report.errors).toEqual([
      { where: 'handler GET /0', error: expect.objectContaining({ stack }), count: 3_000 },
      { where: 'handler GET /string', error: { name: 'Error', message: 'no' }, count: 2 },
      { where: 'handler GET /string', error: { name: 'Error', message: 'never' } },
    ])
    expect(report.warnings).toEqual([])
    expect(errorsOf(report)).toEqual([])
    expect(renderReport(report)).toContain('failed       handler GET /0 (3000 times): no database')
  })

  test('does not count the places that one failure passes on its way up', () => {
    const error = { name: 'Error', message: 'crashed' }
    const crash: readonly LifecycleEvent[] = [
      { at: 1, type: 'error', where: 'uncaughtException', error },
      {
        at: 1,
        type: 'signal',
        name: 'StopRequested',
        outcome: 'ok',
        reason: { kind: 'crash', origin: 'uncaughtException', error: { ...error } },
      },
    ]
    expect(reportOf(crash).errors).toEqual([{ where: 'uncaughtException', error }])
  })

  test('keeps the newest of too many failures, and counts the others', () => {
    const failed = (n: number): LifecycleEvent => ({
      at: n,
      type: 'error',
      where: `handler GET /${n}`,
      error: { name: 'Error', message: 'no database', stack: `Error: no database\n    at ${n}` },
    })
    const report = reportOf(Array.from({ length: FAILURES_MAX + 2 }, (_, n) => failed(n)))
    expect(report.errors.map(({ where }) => where)).toEqual(Array.from({ length: FAILURES_MAX }, (_, n) => `handler GET /${n + 2}`))
    expect(report.warnings).toEqual([{ message: 'older errors were left out', details: { errors: 2 } }])
  })

  test('has what was said of connections that only some lives have', () => {
    const notified = { notified: 0, idleUnnotified: 0, ended: 0, forced: 0, forcedNames: [] }
    const upgraded = { websocket: 2 }
    const { connections } = reportOf([{ at: 1, type: 'connections', ...notified, lastRequestMs: 1.23456, upgraded }])
    expect(connections).toStrictEqual({ ...notified, lastRequestMs: 1.235, upgraded })
  })

  test('has late answers with their errors, and hooks that are not over', () => {
    const error = { name: 'Error', message: 'too late' }
    const late = { type: 'late', what: 'hook', lateMs: 5 } as const
    const report = reportOf([
      { at: 1, type: 'hook.started', kind: 'destroy', name: 'pool' },
      { at: 2, ...late, answer: 'rejected', error },
      { at: 3, ...late, answer: 'resolved' },
    ])
    expect(report.lateAnswers).toStrictEqual([
      { what: 'hook', answer: 'rejected', lateMs: 5, error },
      { what: 'hook', answer: 'resolved', lateMs: 5 },
    ])
    expect(report.hooks).toEqual([{ kind: 'destroy', name: 'pool', outcome: null, durationMs: null }])
  })

  test('names nothing beside a phase that has cut nothing', () => {
    const drained: LifecycleEvent = {
      at: 1,
      type: 'drained',
      what: 'watches',
      before: 1,
      after: 1,
      cut: [{ name: 'GET /watch', ageMs: 1 }],
    }
    const ended = (phase: string, outcome: 'ok' | 'cut'): LifecycleEvent => ({ at: 2, type: 'phase.ended', phase, outcome })
    const cutOf = (...events: readonly LifecycleEvent[]) => reportOf(events).phases.map(({ cut }) => cut)
    expect(cutOf(drained, ended('watch-drain', 'ok'))).toEqual([[]])
    // Nor where it is not known, because the end was forced.
    const phases = ['request-drain', 'watch-drain', 'close-connections']
    expect(cutOf(...phases.map((phase) => ended(phase, 'cut')))).toEqual([[], [], []])
  })

  test('counts a failure of hooks once, and not the audit events on their way until none arrives any more', () => {
    const error = { name: 'Error', message: 'down', stack: 'Error: down' }
    const failed = { type: 'hook.ended', kind: 'destroy', outcome: 'failed', durationMs: 1, error } as const
    const { errors } = reportOf([
      { at: 1, ...failed, name: 'a' },
      { at: 2, ...failed, name: 'b' },
    ])
    expect(errors).toEqual([{ where: 'destroy hook "a"', error }])

    const auditOf = (...events: readonly LifecycleEvent[]) => {
      const view = events.reduce(reduceLife, NOTHING_KNOWN)
      const auditCounts = () => ({ delivered: 5, lost: 1, pending: 2 })
      return new ReportBuilder({ view: () => view, wallAtStart: 0, auditCounts }).build(0)
    }
    expect(auditOf().audit).toEqual({ delivered: 5, lost: 1 })
    const stopped = auditOf({ at: 1, type: 'signal', name: 'AuditStopped', outcome: 'ok' })
    expect(stopped).toMatchObject({
      audit: { lost: 3 },
      warnings: [{ message: 'audit events were lost', details: { code: 'WARN_AUDIT_LOST', events: 3 } }],
    })
    expect(auditOf({ at: 1, type: 'forced', why: 'deadline' }).audit).toEqual({ delivered: 5, lost: 3 })
  })

  test('counts refusals as they are when it is built', () => {
    expect(reportOf(quietLife, 0, { 'retry-after': 3 }).rejections).toEqual({ 'retry-after': 3 })
  })

  test('of a life that nobody stopped counts from its start', () => {
    const report = reportOf(quietLife.slice(0, 6))
    expect(report).toMatchObject({ reason: null, stopRequestedAt: null, signals: [{ at: 0 }, { at: 3 }] })
    expect(errorsOf(report)).toEqual([])
  })

  test('may be built in the middle of a life and again at its end', () => {
    for (let n = 0; n <= badLife.length; n++) expect(errorsOf(reportOf(badLife.slice(0, n), 1))).toEqual([])
  })
})

describe('the schema', () => {
  test('accepts folded reports', () => {
    expect(errorsOf(reportOf(quietLife))).toEqual([])
    expect(errorsOf(reportOf(badLife, 1, { late: 2 }))).toEqual([])
  })

  const error = { name: 'Error', message: 'x' }
  const reasons: { readonly [K in StopReason['kind']]: Extract<StopReason, { kind: K }> } = {
    'os-signal': { kind: 'os-signal', signal: 'SIGINT' },
    stop: { kind: 'stop', reason: 'test' },
    ipc: { kind: 'ipc' },
    disconnected: { kind: 'disconnected' },
    'abort-signal': { kind: 'abort-signal', reason: 'test' },
    'server-closed': { kind: 'server-closed' },
    'listener-died': { kind: 'listener-died', address: 'http://[::]:1', error },
    'hook-failed': { kind: 'hook-failed', hook: 'warm', error },
    'start-failed': { kind: 'start-failed', phase: 'bind', error },
    crash: { kind: 'crash', origin: 'unhandledRejection', error },
  }
  test.each(Object.values(reasons))('accepts the reason $kind', (reason) => {
    expect(errorsOf(reportOf([{ at: 1, type: 'signal', name: 'StopRequested', outcome: 'ok', reason }]))).toEqual([])
  })

  test('describes every field and requires them all', () => {
    const { properties, required } = schema as { properties: object; required: string[] }
    expect(Object.keys(properties)).toEqual(Object.keys(reportOf(quietLife)))
    expect(required).toEqual(Object.keys(properties))
  })

  test('refuses what is not a report', () => {
    for (const change of [
      { version: 2 },
      { exitCode: 9 },
      { extra: 1 },
      { reason: { kind: 'mood' } },
      { phases: [{}] },
      { startedAt: 'now' },
    ]) {
      expect(validate({ ...reportOf(quietLife), ...change }), JSON.stringify(change)).toBe(false)
    }
  })
})

describe('exit codes', () => {
  test('the more severe of any two wins', () => {
    expect(EXIT_CODES_BY_SEVERITY).toEqual([0, 4, 5, 1, 3, 2, 70])
    for (const [i, mild] of EXIT_CODES_BY_SEVERITY.entries()) {
      for (const severe of EXIT_CODES_BY_SEVERITY.slice(i)) {
        expect(moreSevere(mild, severe)).toBe(severe)
        expect(moreSevere(severe, mild)).toBe(severe)
      }
    }
  })

  test('say what they mean, also one that is not ours', () => {
    expect(exitCodeMeaning(5)).toBe('something was cut before it was done, or lost')
    expect(exitCodeMeaning(137)).toMatch(/not one of/)
  })
})

test('ages of what was left are as fine as any clock here, and no finer', () => {
  const straggler = { name: 'GET /slow', ageMs: 2102.1272320000003 }
  const report = reportOf([
    ...quietLife.slice(0, 15),
    { at: 61_200, type: 'drained', what: 'requests', before: 1, after: 1, cut: [straggler] },
    { at: 61_202, type: 'connections', notified: 0, idleUnnotified: 0, ended: 0, forced: 1, forcedNames: [straggler] },
    { at: 61_202, type: 'handlers', running: [straggler] },
  ])
  for (const left of [report.requests.cut, report.connections.forcedNames, report.handlers])
    expect(left).toEqual([{ name: 'GET /slow', ageMs: 2102.127 }])
})
