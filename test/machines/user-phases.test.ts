// Fails when: a user's phase comes at another place than stated, is cut too late for those that
// wait for it, its failure in start-up is not a failed start, or an impossible place is accepted.
import { describe, expect, test } from 'vitest'
import { effectiveWiring } from '#src/machines/lifecycle.ts'
import { type UserPhase, userSignal } from '#src/machines/user-phases.ts'
import type { Mode, PhaseRow } from '#src/machines/wiring.ts'
import { CUTS, FakeLife, never, rejects, resolves, servingLife } from '../support/fake-effects.ts'

const phase = (name: string, after: readonly string[], before: readonly string[] = [], timeoutMs = 60_000): UserPhase => ({
  name,
  after,
  before,
  timeoutMs,
})
const wire = (phases: readonly UserPhase[], mode: Mode = 'refuse') => effectiveWiring({ mode, userPhases: phases })
const row = (phases: readonly UserPhase[], name: string): PhaseRow => wire(phases)[name] as PhaseRow

describe('the place of a user’s phase', () => {
  test('is after what it names, signals or phases, and before what it names', () => {
    const wiring = wire([phase('flush-queue', ['NotAcceptingNewRequest', 'request-drain'], ['destroy'])])
    expect(wiring['flush-queue']).toMatchObject({
      lane: 'stop',
      after: ['NotAcceptingNewRequest', 'RequestsDrained'],
      fires: 'FlushQueueDone',
    })
    expect(wiring['destroy']?.after).toEqual(['ConnectionsClosed', 'HandlersDone', 'AuditStopped', 'FlushQueueDone'])
  })

  test('may be relative to other phases of the user’s, in whatever order they were registered', () => {
    const a = phase('a', ['NotAcceptingNewRequest'], ['b'])
    const b = phase('b', ['InFlightRequestsDrained'], ['destroy'])
    const c = phase('c', ['b'], ['destroy'])
    for (const phases of [
      [a, b, c],
      [c, b, a],
      [b, c, a],
    ]) {
      const wiring = wire(phases)
      expect(new Set(wiring['b']?.after)).toEqual(new Set(['InFlightRequestsDrained', 'ADone']))
      expect([wiring['c']?.after, wiring['c']?.lane]).toEqual([['BDone'], 'stop'])
    }
  })

  test('is the report’s predecessor when none is named: a life does not end without it', () => {
    expect(wire([phase('flush', ['StopRequested'])])['report']?.after).toEqual(['AdminClosed', 'ClientsNotified', 'FlushDone'])
  })

  test.each([
    ['start', phase('x', ['Bound'], ['serve'])],
    ['start', phase('x', ['Start'])],
    ['start', phase('x', ['readyz.passed'])],
    ['start', phase('x', ['MuxAndDiscoveryComplete'], ['announce'])],
    ['stop', phase('x', ['StopRequested'])],
    ['stop', phase('x', ['StopRequested'], ['pre-shutdown-hooks'])],
  ] as const)('decides its lane: %s', (lane, it) => {
    expect(row([it], 'x').lane).toBe(lane)
  })

  test.each<[PhaseRow['cut'], readonly UserPhase[]]>([
    ['Cut.hooks', [phase('x', ['StopRequested'], ['pre-shutdown-hooks'])]],
    ['Cut.hooks', [phase('x', ['StopRequested'], ['not-accepting'])]],
    ['Cut.hooks', [phase('x', ['NotAcceptingNewRequest'], ['request-drain', 'destroy'])]],
    ['Cut.requests', [phase('x', ['NotAcceptingNewRequest'], ['in-flight-drained'])]],
    ['Cut.audit', [phase('x', ['NotAcceptingNewRequest'], ['destroy'])]],
    ['Cut.destroy', [phase('x', ['Destroyed'], ['report'])]],
    ['Cut.destroy', [phase('x', ['StopRequested'])]],
    ['Cut.flush', [phase('x', ['ReportWritten'], ['end'])]],
    // One instant earlier for each phase of the user's on the way.
    ['Cut.connections', [phase('x', ['NotAcceptingNewRequest'], ['y']), phase('y', ['InFlightRequestsDrained'], ['destroy'])]],
  ])('decides its cut, one instant before that of the earliest who waits: %s', (cut, phases) => {
    expect(row(phases, 'x').cut).toBe(cut)
  })

  test.each(['a.b', 'flush queue', '#x', 'constructor', '__proto__', 'x.*', '100%'])('may be given any name: %s', async (name) => {
    const life = await servingLife({
      userPhases: [phase(name, ['NotAcceptingNewRequest'], ['destroy'])],
      script: { [`phase:${name}`]: resolves(10) },
    })
    await life.stop()
    await life.toEnd()
    expect([life.phase(name), life.at(userSignal(name)), life.exitCode]).toMatchObject([{ outcome: 'ok', at: 5_010 }, 5_010, 0])
  })
})

describe('an impossible place is refused', () => {
  test.each<[string, string, readonly UserPhase[]]>([
    ['a name taken by a phase', 'ERR_DUPLICATE', [phase('destroy', ['StopRequested'])]],
    ['a name taken by another of the user’s', 'ERR_DUPLICATE', [phase('x', ['StopRequested']), phase('x', ['StopRequested'])]],
    ['a name whose signal is taken', 'ERR_DUPLICATE', [phase('flush-queue', ['StopRequested']), phase('flush queue', ['StopRequested'])]],
    ['a name whose signal is built in', 'ERR_DUPLICATE', [phase('handlers!', ['StopRequested'])]],
    ['the name of another region', 'ERR_DUPLICATE', [phase('stop', ['StopRequested'])]],
    ['after something unknown', 'ERR_UNKNOWN_REFERENCE', [phase('x', ['Stopped'])]],
    ['after a failed start, which cannot be waited for', 'ERR_UNKNOWN_REFERENCE', [phase('x', ['StartFailed'], ['destroy'])]],
    ['before something unknown', 'ERR_UNKNOWN_REFERENCE', [phase('x', ['StopRequested'], ['destory'])]],
    ['before a prototype’s name', 'ERR_UNKNOWN_REFERENCE', [phase('x', ['StopRequested'], ['toString'])]],
    ['after nothing', 'ERR_OPTION_INVALID', [phase('x', [], ['destroy'])]],
    ['in both lanes', 'ERR_OPTION_INVALID', [phase('x', ['Serving'], ['destroy'])]],
    [
      'in both lanes, by way of another of the user’s',
      'ERR_OPTION_INVALID',
      [phase('x', ['y'], ['destroy']), phase('y', ['Bound'], ['serve'])],
    ],
    ['in the stop lane, after what may never come', 'ERR_OPTION_INVALID', [phase('x', ['readyz.passed', 'StopRequested'], ['destroy'])]],
    ['in a circle', 'ERR_CYCLE', [phase('x', ['Destroyed'], ['destroy'])]],
    ['in a circle of the user’s own', 'ERR_CYCLE', [phase('x', ['y'], ['y']), phase('y', ['StopRequested'])]],
    ['before itself', 'ERR_CYCLE', [phase('x', ['StopRequested'], ['x'])]],
  ])('%s', (_, code, phases) => {
    expect(() => wire(phases)).toThrow(expect.objectContaining({ code }))
  })

  test('with the phases there are', () => {
    expect(() => wire([phase('x', ['StopRequested'], ['destory'])])).toThrow('"x": before names "destory" (did you mean "destroy"?)')
    expect(() => wire([phase('x', ['StopRequested'], ['all-of-it'])])).toThrow(
      /"x": before names "all-of-it", known phases: .*destroy.*, x$/,
    )
    expect(() => wire([phase('x', ['InFlightRequestDrained'])])).toThrow('"x": after names "InFlightRequestDrained" (did you mean')
  })
})

describe('a phase of the stop lane', () => {
  const flush = [phase('flush', ['RequestsDrained'], ['destroy'], 15_000)]

  test('runs in its place', async () => {
    const life = await servingLife({
      userPhases: flush,
      destroyFunctions: ['pool'],
      script: { drainRequests: resolves(100), 'phase:flush': resolves(50) },
    })
    await life.stop()
    await life.toEnd()
    expect(life.effects.calls.find(({ effect }) => effect === 'phase:flush')).toMatchObject({
      at: 5_100,
      input: { kind: 'phase', name: 'flush', timeoutMs: 15_000 },
    })
    expect([life.at('FlushDone'), life.at('Destroyed')]).toEqual([5_150, 5_150])
  })

  test.each([
    ['fails', rejects('broken', 10), 5_010, 'broken'],
    ['does not end in its time', never, 20_000, 'phase flush did not end within 15s'],
  ] as const)('that %s costs exit code 4, and those after it run', async (_, answer, at, message) => {
    const life = await servingLife({ userPhases: flush, script: { 'phase:flush': answer } })
    await life.stop()
    await life.toEnd()
    expect(life.phase('flush')).toMatchObject({ outcome: 'failed', at, error: { message } })
    expect([life.signalFact('FlushDone')?.outcome, life.amiss, life.exitCode]).toEqual(['failed', { flush: 'failed' }, 4])
  })

  test('that hangs is cut in time for those after it', async () => {
    const userPhases = [phase('flush', ['RequestsDrained'], ['destroy'])]
    const life = await servingLife({
      userPhases,
      destroyFunctions: ['pool'],
      script: { 'phase:flush': never, 'destroy:pool': resolves(1_900) },
    })
    await life.stop()
    await life.toEnd()
    expect(life.phase('flush')).toMatchObject({ outcome: 'cut', at: CUTS.audit })
    expect([life.effects.left, life.amiss, life.exitCode]).toEqual([['phase:flush'], { flush: 'cut' }, 5])
  })

  test('that no phase waits for is cut, too, before the report', async () => {
    const life = await servingLife({ userPhases: [phase('flush', ['StopRequested'])], script: { 'phase:flush': never } })
    await life.stop()
    await life.toEnd()
    expect([life.phase('flush')?.at, life.endedAt, life.exitCode]).toEqual([CUTS.destroy, CUTS.destroy, 5])
  })

  test('before a phase that is skipped does not hurry it: all of its signals count', async () => {
    // Without an audit backend that runs, audit-shutdown has nothing to do, but its signal still
    // waits for what comes first.
    const userPhases = [phase('flush', ['StopRequested'], ['audit-shutdown'])]
    const life = new FakeLife({ userPhases, script: { drainRequests: resolves(1_000) } })
    await life.stop()
    await life.toEnd()
    expect(life.at('FlushDone')).toBe(0)
    expect(life.signalFact('AuditStopped')).toMatchObject({ outcome: 'skipped', at: 1_000 })
  })

  test('runs on a failed start as on any end', async () => {
    const life = await servingLife({ userPhases: flush, script: { bind: rejects('EADDRINUSE') } })
    await life.toEnd()
    expect([life.outcomes['flush'], life.exitCode]).toEqual(['ok', 3])
  })
})

describe('a phase of the start lane', () => {
  const migrate = [phase('migrate', ['AuditRunning'], ['bind'], 5_000)]

  test('holds up those after it', async () => {
    const life = await servingLife({ userPhases: migrate, script: { 'phase:migrate': resolves(200) } })
    expect(life.effects.called).toEqual(['auditRun', 'phase:migrate'])
    await life.clock.advance(200)
    expect([life.at('MigrateDone'), life.at('Serving')]).toEqual([200, 200])
  })

  test.each([
    ['fails', rejects('no schema', 10), 10, 'no schema'],
    ['does not end in its time', never, 5_000, 'phase migrate did not end within 5s'],
  ] as const)('that %s is a failed start, rolled back', async (_, answer, at, message) => {
    const life = await servingLife({ userPhases: migrate, destroyFunctions: ['a', 'b'], script: { 'phase:migrate': answer } })
    await life.toEnd()
    expect(life.phase('migrate')).toMatchObject({ outcome: 'failed', at, error: { message } })
    expect(life.signalFact('StopRequested')?.reason).toMatchObject({ kind: 'start-failed', phase: 'migrate', error: { message } })
    expect(life.signals).not.toContain('MigrateDone')
    expect(life.effects.called).not.toContain('bind')
    expect(life.hooks('destroy')).toEqual(['started b', 'ok b', 'started a', 'ok a'])
    expect([life.effects.called.includes('auditShutdown'), life.exitCode]).toEqual([true, 3])
  })

  test('is bounded by the bound of start-up, whatever its own', async () => {
    const life = await servingLife({ userPhases: [phase('migrate', ['AuditRunning'], ['bind'])], script: { 'phase:migrate': never } })
    await life.toEnd()
    expect([life.phase('migrate')?.at, life.exitCode]).toEqual([10_000, 3])
  })

  test('is skipped by a stop, and left', async () => {
    const life = await servingLife({ userPhases: migrate, script: { 'phase:migrate': never } })
    await life.stop()
    await life.toEnd()
    expect([life.outcomes['migrate'], life.effects.left, life.exitCode]).toEqual(['skipped', ['phase:migrate'], 0])
  })
})
