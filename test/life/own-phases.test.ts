// addPhase(): a phase of the user's own between ours, by `after` and `before`, on whole lives.
// Fails when: it runs at another place than it asked for, those that wait for it do not wait or
// wait for ever, or a place that cannot be is found out later than start().
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { aborted, type LifeRig, NotedAudit, never, newLife, refusal } from '../support/life.ts'
import { REFUSED } from '../support/upstream-client.ts'
import { Roadblock } from '../support/upstream-server.ts'

const later = (t: LifeRig<VirtualClock>, ms: number): Promise<void> => new Promise((resolve) => void t.clock.setTimeout(resolve, ms))

describe('a phase of the user`s', () => {
  test('without a place runs between NotAcceptingNewRequest and destroy, which waits for it', async () => {
    const t = newLife({ clock: new VirtualClock() })
    const order: string[] = []
    t.life.addPhase('flush-queue', async () => {
      expect(t.hasFired('NotAcceptingNewRequest')).toBe(true)
      await later(t, 100)
      order.push('flushed')
    })
    t.life.addDestroy('pool', () => void order.push('destroyed'))
    const flushed = t.life.signal('FlushQueueDone')
    await t.life.start()
    const report = await t.end()
    expect(order).toEqual(['flushed', 'destroyed'])
    expect(flushed.aborted).toBe(true)
    expect(report.phases.find(({ name }) => name === 'flush-queue')).toMatchObject({ outcome: 'ok', end: expect.closeTo(100, 0) })
    expect(report.signals.map(({ name }) => name)).toContain('FlushQueueDone')
    expect(report.exitCode).toBe(0)
    // Cut before destroy functions are, as the audit backend is, which begins in the same step
    // here.
    const budgetOf = (phase: string): number | null | undefined => report.phases.find(({ name }) => name === phase)?.budget
    // Its own limit, which comes before its cut.
    expect(budgetOf('flush-queue')).toBe(60_000)
    expect(budgetOf('audit-shutdown')).toBeGreaterThan(60_000)
  })

  test('after the drain and before the audit backend stops has its say in between', async () => {
    const order: string[] = []
    const t = newLife({ options: { audit: new NotedAudit({ shutdown: () => void order.push('audit') }) } })
    t.life.addPhase('last-events', () => void order.push('last-events'), { after: ['InFlightRequestsDrained'], before: ['audit-shutdown'] })
    const held = t.life.hold('work')
    await t.life.start()
    const ended = t.life.stop()
    await t.fired('HTTPServerStoppedListening')
    expect(order).toEqual([])
    held[Symbol.dispose]()
    await t.end(ended)
    expect(order).toEqual(['last-events', 'audit'])
  })

  test('may stand in twenty layers of three, each after all of the one before', async () => {
    const t = newLife()
    const order: string[] = []
    const layer = (at: number): string[] => ['a', 'b', 'c'].map((name) => `${name}-${at}`)
    for (let at = 1; at <= 20; at++) {
      const place = { after: at === 1 ? ['NotAcceptingNewRequest'] : layer(at - 1), before: at === 20 ? ['close-listener'] : [] }
      for (const name of layer(at)) t.life.addPhase(name, () => void order.push(name), place)
    }
    await t.life.start()
    expect((await t.end()).exitCode).toBe(0)
    expect(order).toEqual(Array.from({ length: 20 }, (_, at) => layer(at + 1)).flat())
  })

  test('may be named by another one, in any order of registration, by phase or by signal', async () => {
    const order: string[] = []
    const t = newLife()
    const note = ({ name }: { readonly name: string }): void => void order.push(name)
    t.life.addPhase('third', note, { after: ['second'] })
    t.life.addPhase('second', note, { after: ['FirstDone'] })
    t.life.addPhase('first', note, { after: ['request-drain'], before: ['second', 'destroy'] })
    await t.life.start()
    expect((await t.end()).exitCode).toBe(0)
    expect(order).toEqual(['first', 'second', 'third'])
  })

  test('of start-up is waited for: nothing listens before it has ended', async () => {
    const migrated = new Roadblock()
    const t = newLife()
    t.life.addPhase('migrate', () => migrated.pass(), { after: ['AuditRunning'], before: ['bind'] })
    const started = t.life.start()
    await migrated.reached
    expect(t.life.addresses).toEqual([])
    migrated.release()
    await started
    expect((await t.get('/')).body).toBe('hello')
    expect((await t.end()).exitCode).toBe(0)
  })

  test('of start-up that fails is a failed start', async () => {
    const called: string[] = []
    const t = newLife()
    t.life.addPhase('migrate', () => Promise.reject(new Error('schema is newer')), { after: ['AuditRunning'], before: ['bind'] })
    t.life.addDestroy('pool', () => void called.push('pool'))
    await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_START', message: 'could not start: migrate: schema is newer' })
    expect(await t.end()).toMatchObject({ exitCode: 3, listeners: [], reason: { kind: 'start-failed', phase: 'migrate' } })
    expect(called).toEqual(['pool'])
  })

  test('of start-up is told when a stop comes in between', async () => {
    const reached = new Roadblock()
    let notified = ''
    const t = newLife()
    t.life.addPhase(
      'migrate',
      async ({ signal }) => {
        void reached.pass()
        await aborted(signal)
        notified = (signal.reason as Error).message
      },
      { after: ['AuditRunning'], before: ['bind'] },
    )
    const started = t.life.start()
    await reached.reached
    expect((await t.end()).exitCode).toBe(0)
    await expect(started).rejects.toMatchObject({ code: 'ERR_STOPPED_DURING_START' })
    expect(notified).not.toBe('')
  })

  test.each([
    ['fails', () => Promise.reject(new Error('queue is gone')), { outcome: 'failed', error: { message: 'queue is gone' } }],
    ['hangs', () => never, { outcome: 'failed', error: { code: 'ERR_TIMEOUT' } }],
  ])('that %s costs exit code 4 and its own bound, and those that wait for it go on', async (_, run, phase) => {
    const called: string[] = []
    const t = newLife({ clock: new VirtualClock() })
    t.life.addPhase('flush-queue', run, { timeout: '1s' })
    t.life.addDestroy('pool', () => void called.push('pool'))
    await t.life.start()
    const report = await t.end()
    expect(report.exitCode).toBe(4)
    expect(report.phases.find(({ name }) => name === 'flush-queue')).toMatchObject(phase)
    expect(called).toEqual(['pool'])
    await expect(t.get('/')).rejects.toEqual(REFUSED)
  })

  test('that hangs without a bound of its own is cut in time for those behind it', async () => {
    const called: string[] = []
    let notified: AbortSignal | undefined
    const t = newLife({ clock: new VirtualClock(), options: { deadline: '8s' } })
    t.life.addPhase('flush-queue', ({ signal }) => {
      notified = signal
      return never
    })
    t.life.addDestroy('pool', () => void called.push('pool'))
    await t.life.start()
    const report = await t.end()
    expect(report.exitCode).toBe(5)
    expect(notified?.aborted).toBe(true)
    expect(report.phases.find(({ name }) => name === 'flush-queue')).toMatchObject({ outcome: 'cut' })
    expect(report.phases.find(({ name }) => name === 'destroy')).toMatchObject({ outcome: 'ok' })
    expect(called).toEqual(['pool'])
  })

  test('that is taken back does not run, and its signal is unknown', async () => {
    const t = newLife()
    t.life.addPhase('flush-queue', () => Promise.reject(new Error('taken back')))[Symbol.dispose]()
    expect(refusal(() => t.life.signal('FlushQueueDone')).code).toBe('ERR_UNKNOWN_REFERENCE')
    await t.life.start()
    expect((await t.end()).exitCode).toBe(0)
  })
})

describe('a place that no later phase can make possible is refused at once, and nothing of it is kept', () => {
  const misspelt = 'phase "x": after names "NotAcceptingNewRequests" (did you mean "NotAcceptingNewRequest"?)'
  test.each([
    ['a signal of ours, misspelt', 'x', { after: ['NotAcceptingNewRequests'] }, 'ERR_UNKNOWN_REFERENCE', misspelt],
    [
      'a phase of ours, misspelt',
      'x',
      { before: ['destory'] },
      'ERR_UNKNOWN_REFERENCE',
      'before names "destory" (did you mean "destroy"?)',
    ],
    ['a cycle', 'x', { after: ['destroy'], before: ['request-drain'] }, 'ERR_CYCLE', 'phases wait for each other: '],
    ['itself', 'x', { after: ['x'] }, 'ERR_CYCLE', 'phases wait for each other: '],
    ['two lanes', 'x', { after: ['AuditRunning'], before: ['bind', 'destroy'] }, 'ERR_OPTION_INVALID', 'of one lane, start or stop'],
    ['a name of ours', 'destroy', {}, 'ERR_DUPLICATE', 'phase "destroy" exists already'],
    ['a signal of ours', 'Handlers', {}, 'ERR_DUPLICATE', 'fires HandlersDone'],
  ])('%s', async (_, name, options, code, message) => {
    const t = newLife()
    expect(refusal(() => t.life.addPhase(name, () => undefined, options))).toMatchObject({
      code,
      message: expect.stringContaining(message),
    })
    await t.life.start()
    const { exitCode, phases } = await t.end()
    expect(exitCode).toBe(0)
    expect(phases.filter((phase) => phase.name === name)).toHaveLength(name === 'destroy' ? 1 : 0)
  })
})

describe('a place that cannot be is refused by start(), and what is registered is destroyed', () => {
  test.each([
    [
      'an unknown signal',
      'x',
      { after: ['NoSuchSignal'] },
      'ERR_UNKNOWN_REFERENCE',
      'phase "x": after names "NoSuchSignal", known signals and phases: Start, StopRequested, ',
    ],
    ['an unknown phase', 'x', { before: ['no-such-phase'] }, 'ERR_UNKNOWN_REFERENCE', 'before names "no-such-phase", known phases: '],
    ['nothing', 'x', { after: [] }, 'ERR_OPTION_INVALID', 'waits for nothing'],
  ])('%s', async (_, name, options, code, message) => {
    const called: string[] = []
    const t = newLife()
    t.life.addPhase(name, () => undefined, options)
    t.life.addDestroy('pool', () => void called.push('pool'))
    await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_START', cause: { code, message: expect.stringContaining(message) } })
    expect((await t.end()).exitCode).toBe(3)
    expect(called).toEqual(['pool'])
    expect(t.life.addresses).toEqual([])
  })

  test('and signal() says so, instead of an answer that could never come', () => {
    const t = newLife()
    t.life.addPhase('x', () => undefined, { after: ['NoSuchSignal'] })
    expect(refusal(() => t.life.signal('XDone')).code).toBe('ERR_UNKNOWN_REFERENCE')
  })
})
