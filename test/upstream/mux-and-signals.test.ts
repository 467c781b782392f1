// MuxAndDiscoveryComplete and what every lifecycle signal has in common (the MX rows; upstream's
// pkg/server/lifecycle_signals.go), on whole lives. Fails when: a signal fires early, twice, after
// a stop that came first, or as another object than the one handed out; or when an observer of the
// signals can hold up what they watch.
import { describe, expect, test } from 'vitest'
import { apiserverWording } from '#apiserver/apiserver-wording.ts'
import { deferred } from '#src/base/deferred.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { UPSTREAM_SIGNALS } from '#src/machines/signals.ts'
import { aborted, type LifeRig, NotedAudit, never, newLife, refusal } from '../support/life.ts'
import { startSpeaking } from '../support/process.ts'
import { row } from '../support/row.ts'

/** Something that a path installer completes: upstream's channel, which is closed once. */
function installer(): { readonly complete: AbortSignal; readonly close: () => void } {
  const controller = new AbortController()
  return { complete: controller.signal, close: () => controller.abort() }
}

const MUX = 'MuxAndDiscoveryComplete'
type Paths = ReturnType<typeof deferred<void>>
const timesFired = (t: LifeRig<VirtualClock>, name: string): number => t.signals.filter((other) => other === name).length

describe('MuxAndDiscoveryComplete', () => {
  row(['MX-01', 'MX-02', 'MX-03'], 'waits for every registered signal, however long, and fires with the last', async () => {
    const t = newLife({ clock: new VirtualClock(), options: { wording: apiserverWording } })
    const [first, second] = [installer(), installer()]
    t.life.addMuxCompleteSignal('first', first.complete)
    t.life.addMuxCompleteSignal('second', second.complete)
    await t.life.start()
    await t.clock.advance(1_000)
    expect(t.hasFired(MUX)).toBe(false)
    expect((await t.get('/')).status).toBe(200)

    first.close()
    await t.clock.advance(1_000)
    expect(t.hasFired(MUX)).toBe(false)

    second.close()
    expect(t.hasFired(MUX)).toBe(true)
    expect(t.logged()).toContain('MuxAndDiscoveryComplete has all endpoints registered and discovery information is complete')
  })

  row('MX-04', 'fires at once when nothing is registered', async () => {
    const t = newLife()
    await t.life.start()
    expect(t.hasFired(MUX)).toBe(true)
  })

  row('MX-05', 'never fires once a stop was first, even if the last signal comes after it', async () => {
    const t = newLife({ options: { wording: apiserverWording } })
    const { complete, close } = installer()
    t.life.addMuxCompleteSignal('paths', complete)
    await t.life.start()
    const slow = t.life.hold('keeps the drain open')
    const ended = t.life.stop()
    await t.fired('NotAcceptingNewRequest')
    close()
    slow[Symbol.dispose]()
    const report = await t.end(ended)
    expect(t.hasFired(MUX)).toBe(false)
    expect(report.phases.find(({ name }) => name === 'mux-complete')).toMatchObject({ outcome: 'skipped' })
    expect(t.logged()).toContain("haven't completed MuxAndDiscoveryComplete, stop requested")
  })

  row('MX-09', 'keeps the first of two signals with one name, and says where it was registered', async () => {
    const t = newLife()
    const [first, second] = [installer(), installer()]
    t.life.addMuxCompleteSignal('paths', first.complete)
    const error = refusal(() => t.life.addMuxCompleteSignal('paths', second.complete))
    expect(error.code).toBe('ERR_DUPLICATE')
    expect(error.message).toMatch(/^paths already registered/)
    expect(error.details['registeredAt']).toContain('mux-and-signals.test.ts')
    await t.life.start()
    second.close()
    expect(t.hasFired(MUX)).toBe(false)
    first.close()
    expect(t.hasFired(MUX)).toBe(true)
  })

  test('takes promises and signals that have fired already', async () => {
    const t = newLife()
    t.life.addMuxCompleteSignal('promise', Promise.resolve())
    t.life.addMuxCompleteSignal('aborted', AbortSignal.abort())
    t.life.addMuxCompleteSignal('removed', never)[Symbol.dispose]()
    await t.life.start()
    await t.fired(MUX)
  })

  // An unhandled rejection would fail the test run.
  test.each(['before the life begins', 'while it serves'])(
    'never fires when a promise rejects %s; the server serves on, and the end says that something failed (V19)',
    async (when) => {
      const t = newLife()
      const { promise, reject } = deferred<void>()
      t.life.addMuxCompleteSignal('paths', promise)
      if (when === 'while it serves') await t.life.start()
      reject(new Error('no paths'))
      await new Promise(setImmediate)
      await t.life.start()
      await expect.poll(() => t.events).toContainEqual(expect.objectContaining({ type: 'error', where: 'mux-complete signal paths' }))
      expect((await t.get('/')).status).toBe(200)
      expect((await t.get('/readyz')).status).toBe(200)
      expect(t.hasFired(MUX)).toBe(false)
      const report = await t.end()
      expect(report).toMatchObject({ exitCode: 4, reason: { kind: 'stop' }, errors: [{ error: { message: 'no paths' } }] })
      expect(report.phases.find(({ name }) => name === 'mux-complete')).toMatchObject({ outcome: 'skipped' })
    },
  )

  test.each([
    ['resolves', 'while the server serves', ({ resolve }: Paths) => resolve(), 'resolved'],
    ['rejects', 'while the server serves', ({ reject }: Paths) => reject(new Error('no paths')), 'rejected'],
    ['resolves', 'in the step of the start', ({ resolve }: Paths) => resolve(), 'resolved'],
  ])(
    'never fires when a promise %s after a stop that came %s: how late it is is said, and the exit code is 0',
    async (_, when, settle, answer) => {
      const t = newLife({ clock: new VirtualClock({ now: 70_000 }), options: { deadline: '60s' } })
      const [paths, end] = [deferred<void>(), deferred<void>()]
      t.life.addMuxCompleteSignal('paths', paths.promise)
      t.life.addDestroy('holds the end', () => end.promise)
      const started = t.life.start()
      started.catch(() => undefined)
      if (when === 'while the server serves') await started
      const ended = t.life.stop()
      await t.clock.advance(1_500)
      settle(paths)
      await t.clock.advance(0)
      expect(t.events.filter(({ type }) => type === 'late')).toMatchObject([{ what: 'mux-complete signal paths', answer, lateMs: 1_500 }])
      end.resolve()
      expect(await t.end(ended)).toMatchObject({ exitCode: 0 })
      expect(t.hasFired(MUX)).toBe(false)
    },
  )

  test('refuses what can never complete, and what comes too late', async () => {
    const t = newLife()
    // @ts-expect-error neither a signal nor a promise: what a caller without types may pass
    expect(refusal(() => t.life.addMuxCompleteSignal('paths', 'soon'))).toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: 'mux-complete signal "paths": got "soon", allowed: an AbortSignal or a promise',
    })
    await t.life.start()
    expect(refusal(() => t.life.addMuxCompleteSignal('late', never)).code).toBe('ERR_TOO_LATE')
  })
})

describe('every signal', () => {
  row('MX-19', 'fires once, however often and from wherever its cause comes', async () => {
    const controller = new AbortController()
    const t = newLife({ clock: new VirtualClock(), options: { signal: controller.signal, shutdownDelay: 100, audit: new NotedAudit() } })
    const run = t.life.run()
    await t.fired('Serving')
    await Promise.all([
      Promise.resolve().then(() => t.life.stop('first task')),
      Promise.resolve().then(() => void t.process.signal('SIGTERM')),
      Promise.resolve().then(() => controller.abort()),
      Promise.resolve().then(() => t.life.stop('last task')),
      t.end(run),
    ])
    const { signals, exitCode, reason } = await run
    expect(exitCode).toBe(0)
    expect(reason).toEqual({ kind: 'stop', reason: 'first task' })
    expect(t.signals).toEqual([...new Set(t.signals)])
    expect(signals.map(({ name }) => name)).toEqual(t.signals)
    for (const name of ['ShutdownInitiated', 'NotAcceptingNewRequest', 'Ended']) expect(timesFired(t, name)).toBe(1)
  })

  row('MX-20', 'is one object, before it fires and after, and holds up no caller once it has fired', async () => {
    const t = newLife()
    const names = Object.keys(UPSTREAM_SIGNALS)
    const before = names.map((name) => t.life.signal(name))
    expect(before.map(({ aborted }) => aborted)).toEqual(names.map(() => false))
    expect(names.map((name) => t.life.signal(name))).toEqual(before)
    await t.life.start()
    expect((await t.get('/readyz')).status).toBe(200)
    await t.end()
    for (const [i, name] of names.entries()) {
      expect(t.life.signal(name)).toBe(before[i])
      expect(t.hasFired(name), name).toBe(true)
      await aborted(t.life.signal(name))
      expect(t.life.signal(name).reason).toMatchObject({ message: name })
    }
  })

  test('wakes all that wait for it, at once', async () => {
    const t = newLife()
    const woken: number[] = []
    const waiters = Array.from({ length: 50 }, (_, i) => t.fired('ShutdownInitiated').then(() => woken.push(i)))
    await t.life.start()
    expect(woken).toEqual([])
    await t.end()
    await Promise.all(waiters)
    expect(woken).toHaveLength(50)
  })

  test('that no phase fires is refused by name, with those that exist', () => {
    const t = newLife()
    t.life.addPhase('flush-queue', () => {})
    const error = refusal(() => t.life.signal('ShutdownInitated'))
    expect(error.code).toBe('ERR_UNKNOWN_REFERENCE')
    expect(error.message).toContain('signal: got "ShutdownInitated" (did you mean "ShutdownInitiated"?), allowed: ')
    for (const name of [...Object.keys(UPSTREAM_SIGNALS), 'FlushQueueDone', 'Cut.hooks']) expect(error.message).toContain(name)
    // @ts-expect-error what a caller without types may pass
    expect(refusal(() => t.life.signal(undefined)).code).toBe('ERR_UNKNOWN_REFERENCE')
    expect(refusal(() => t.life.signal('constructor')).code).toBe('ERR_UNKNOWN_REFERENCE')
  })
})

describe('HasBeenReady', () => {
  row('MX-21', 'fires with the first /readyz that passes, and once', async () => {
    const t = newLife()
    let isUp = false
    t.life.addReadyzCheck('db', () => {
      if (!isUp) throw new Error('down')
    })
    await t.life.start()
    const probe = async (): Promise<number> => (await t.get('/readyz')).status
    expect([await probe(), t.hasFired('HasBeenReady')]).toEqual([500, false])
    isUp = true
    expect([await probe(), t.hasFired('HasBeenReady')]).toEqual([200, true])
    expect(await probe()).toBe(200)
    await t.end()
    expect(t.signals.filter((name) => name === 'HasBeenReady')).toEqual(['HasBeenReady'])
  })

  row('MX-22', 'never fires when /readyz is never asked, and is skipped by the stop', async () => {
    const t = newLife()
    await t.life.start()
    expect((await t.get('/livez')).status).toBe(200)
    expect((await t.get('/healthz')).status).toBe(200)
    const report = await t.end()
    expect(t.hasFired('HasBeenReady')).toBe(false)
    expect(report.phases.find(({ name }) => name === 'has-been-ready')).toMatchObject({ outcome: 'skipped' })
  })

  row('MX-23', 'fires also when an excluded check is what made /readyz pass', async () => {
    const t = newLife()
    t.life.addReadyzCheck('db', () => Promise.reject(new Error('down')))
    await t.life.start()
    expect((await t.get('/readyz?exclude=db')).status).toBe(200)
    expect(t.hasFired('HasBeenReady')).toBe(true)
  })
})

describe('events$', () => {
  test('tells every event once, in order, and completes with the end', async () => {
    const t = newLife()
    const seen: string[] = []
    let completed = 0
    t.life.events$.subscribe({ next: ({ type }) => seen.push(type), complete: () => completed++ })
    await t.life.start()
    const report = await t.end()
    expect(completed).toBe(1)
    expect(seen).toEqual(t.events.map(({ type }) => type))
    expect(t.events.at(-1)).toMatchObject({ type: 'ended', exitCode: report.exitCode })
    expect(t.events.map(({ at }) => at)).toEqual(t.events.map(({ at }) => at).toSorted((a, b) => a - b))
  })

  test('whose observer stops the server from inside, or leaves, disturbs no other', async () => {
    const t = newLife()
    const asked: unknown[] = []
    t.life.events$.subscribe(({ type }) => {
      if (type === 'signal') asked.push(t.life.stop('from an observer'))
    })
    const leaves = t.life.events$.subscribe(() => leaves.unsubscribe())
    const started = t.life.start()
    await expect(started).rejects.toMatchObject({ code: 'ERR_STOPPED_DURING_START' })
    expect((await t.end()).exitCode).toBe(0)
    expect(asked.length).toBeGreaterThan(10)
  })

  test('whose observer is slow takes its time and nothing else', async () => {
    const program = startSpeaking('slow-observer.mjs')
    await program.said('serving')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
    expect(program.report()).toMatchObject({ exitCode: 0, reason: { kind: 'os-signal', signal: 'SIGTERM' }, errors: [] })
  })

  test('whose observer throws in the drain is a crash like any other: the request under way is answered, the rest released, exit 1', async () => {
    const program = startSpeaking('throwing-observer.mjs')
    const port = await program.number('serving')
    const answer = fetch(`http://127.0.0.1:${port}/slow`).then((response) => response.text())
    await program.said('slow')
    program.signal('SIGTERM')
    expect(await answer).toBe('whole')
    expect(await program.ended()).toMatchObject({ code: 1, signal: null })
    expect(program.lines.filter((line) => line === 'destroyed')).toEqual(['destroyed'])
    expect(program.report()).toMatchObject({ exitCode: 1, forced: null, reason: { kind: 'os-signal' } })
  })
})
