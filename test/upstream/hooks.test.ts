// Hooks and what may be registered when (the HK rows; upstream's pkg/server/hooks.go), and the
// other registrations, which follow the same rules. Fails when: something is taken that cannot run,
// refused without naming what is wrong, kept after it was taken away, or run when it should not;
// when a post-start hook holds up the start, the traffic or the end, or ends at another moment than
// upstream's; or when a context that the caller of start() had is lost on the way to user code.
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { deferred } from '#src/base/deferred.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { UserCode } from '#src/index.ts'
import type { Lifecycle } from '#src/lifecycle/lifecycle.ts'
import { aborted, NotedAudit, never, newAttachedLife, newLife, refusal } from '../support/life.ts'
import { startSpeaking } from '../support/process.ts'
import { row } from '../support/row.ts'
import { POLL } from '../support/upstream-client.ts'
import { Roadblock } from '../support/upstream-server.ts'

const noop: UserCode = () => undefined
/** What a caller without types may pass. */
const untyped = <T>(value: unknown): T => value as T

describe('a post-start hook', () => {
  row(['HK-01', 'HK-15'], 'needs a name, as a pre-shutdown hook does', () => {
    const { life } = newLife()
    for (const name of ['', ' ', '\t']) {
      for (const add of [() => life.addPostStartHook(name, noop), () => life.addPreShutdownHook(name, noop)]) {
        expect(refusal(add)).toMatchObject({ code: 'ERR_NAME_MISSING', message: 'missing name' })
      }
    }
  })

  row(['HK-02', 'HK-16'], 'needs a function, as a pre-shutdown hook does (V15)', () => {
    const { life } = newLife()
    for (const [run, post, pre] of [
      [undefined, 'hook func may not be nil: "x"', 'pre-shutdown hook "x": got undefined, allowed: a function'],
      [null, 'hook func may not be nil: "x"', 'pre-shutdown hook "x": got null, allowed: a function'],
      ['run', 'post-start hook "x": got "run", allowed: a function', 'pre-shutdown hook "x": got "run", allowed: a function'],
      [{}, 'post-start hook "x": got {}, allowed: a function', 'pre-shutdown hook "x": got {}, allowed: a function'],
    ] as const) {
      const details = { name: 'x', given: run }
      expect(refusal(() => life.addPostStartHook('x', untyped(run)))).toMatchObject({
        code: 'ERR_FUNCTION_MISSING',
        message: post,
        details,
      })
      expect(refusal(() => life.addPreShutdownHook('x', untyped(run)))).toMatchObject({
        code: 'ERR_FUNCTION_MISSING',
        message: pre,
        details,
      })
    }
    // Nothing of it was stored.
    life.addPostStartHook('x', noop)
    life.addPreShutdownHook('x', noop)
  })

  row('HK-03', 'that is disabled is no error, no hook and no check', async () => {
    const called: string[] = []
    const t = newLife({ options: { disabledPostStartHooks: ['x'] } })
    t.life.addPostStartHook('x', () => void called.push('x'))[Symbol.dispose]()
    t.life.addPostStartHook('x', () => void called.push('x again'))
    t.life.addPostStartHook('y', () => void called.push('y'))
    await t.life.start()
    const { body } = await t.get('/readyz?verbose')
    expect(body).toContain('poststarthook/y')
    expect(body).not.toContain('poststarthook/x')
    // No check of ours: the application gets it.
    expect((await t.get('/readyz/poststarthook/x')).body).toBe('hello')
    expect(called).toEqual(['y'])
  })

  row('HK-04', 'is taken once; the refusal shows where the first came from, and the first is kept', async () => {
    const called: string[] = []
    const t = newLife()
    const theFirstRegistration = (): unknown => t.life.addPostStartHook('x', () => void called.push('first'))
    theFirstRegistration()
    const error = refusal(() => t.life.addPostStartHook('x', () => void called.push('second')))
    expect(error.code).toBe('ERR_DUPLICATE')
    expect(error.message).toMatch(/^unable to add "x" because it was already registered by: /)
    expect(error.message).toContain('theFirstRegistration')
    // The stack, from the line of the caller on: none of our own.
    expect(error.details['registeredAt']).toMatch(/^theFirstRegistration .*hooks\.test\.ts/)
    await t.life.start()
    expect(called).toEqual(['first'])
  })

  row('HK-05', 'is not taken once they were launched', async () => {
    const t = newLife()
    await t.life.start()
    expect(refusal(() => t.life.addPostStartHook('x', noop))).toMatchObject({
      code: 'ERR_TOO_LATE',
      message: 'unable to add "x" because PostStartHooks have already been called',
    })
  })

  row('HK-06', 'is not taken between the begin of start-up and the launch, and not stored either', async () => {
    const called: string[] = []
    const server = createServer((_, response) => void response.end('hello'))
    const t = newAttachedLife(server)
    const started = t.life.start()
    await t.fired('AuditRunning')
    const error = refusal(() => t.life.addPostStartHook('x', () => void called.push('x')))
    expect(error.code).toBe('ERR_TOO_LATE')
    expect(error.message).toContain('because the /healthz endpoint has already been created')
    server.listen(0, '127.0.0.1')
    await started
    expect(called).toEqual([])
    expect((await t.get('/readyz?verbose')).body).not.toContain('poststarthook')
  })

  row('HK-07', 'that blocks holds up neither the others nor the traffic', async () => {
    const t = newLife()
    const finished: string[] = []
    const block = new Roadblock()
    t.life.addPostStartHook('one', () => void finished.push('one'))
    t.life.addPostStartHook('blocks', () => block.pass())
    t.life.addPostStartHook('two', () => void finished.push('two'))
    await t.life.start()
    await block.reached
    await expect.poll(() => finished, POLL).toEqual(expect.arrayContaining(['one', 'two']))
    expect((await t.get('/')).body).toBe('hello')
    block.release()
    await t.fired('PostStartHooksDone')
  })

  row(['HK-08', 'HK-09'], 'keeps /readyz and /healthz red until it has returned, and says why on its own path only', async () => {
    const t = newLife()
    const block = new Roadblock()
    t.life.addPostStartHook('x', () => block.pass())
    await t.life.start()
    const probe = async (path: string) => {
      const { status, body } = await t.get(path)
      return [status, body.includes('not finished')]
    }
    expect(await probe('/healthz')).toEqual([500, false])
    expect(await probe('/readyz')).toEqual([500, false])
    expect(await probe('/healthz/poststarthook/x')).toEqual([500, true])
    expect(await probe('/readyz/poststarthook/x')).toEqual([500, true])
    block.release()
    await t.fired('PostStartHooksDone')
    for (const path of ['/healthz', '/readyz', '/livez', '/healthz/poststarthook/x', '/readyz/poststarthook/x']) {
      expect(await probe(path), path).toEqual([200, false])
    }
  })

  row('HK-10', 'that fails is the reason of an orderly stop, and exit code 4 (V11)', async () => {
    const program = startSpeaking('post-start-hook-that-fails.mjs')
    const port = await program.number('serving')
    const answer = fetch(`http://127.0.0.1:${port}/slow`).then((response) => response.text())
    await program.said('slow')
    program.signal('SIGUSR2')
    expect(await answer).toBe('whole')
    expect(await program.ended()).toMatchObject({ code: 4, signal: null })
    expect(program.lines).toEqual(expect.arrayContaining(['hook', 'destroyed']))
    const report = program.report()
    expect(report).toMatchObject({
      exitCode: 4,
      forced: null,
      reason: { kind: 'hook-failed', hook: 'warm-cache', error: { name: 'RangeError', message: 'no cache' } },
      requests: { before: 1, after: 0 },
    })
    expect(report.errors.map(({ where }) => where)).toEqual(['post-start hook "warm-cache"'])
    expect(program.stderr).toBe('')
  })

  test('that throws at once fails as well, says so in upstream`s words, and the others are not aborted by it', async () => {
    const t = newLife({ clock: new VirtualClock(), options: { shutdownDelay: '1s' } })
    let other: AbortSignal | undefined
    t.life.addPostStartHook('throws', () => {
      throw new Error('no cache')
    })
    t.life.addPostStartHook('lives', ({ signal }) => {
      other = signal
      return aborted(signal)
    })
    await t.life.start()
    expect(other?.aborted).toBe(false)
    expect((await t.get('/')).status).toBe(200)
    const report = await t.end()
    expect(report).toMatchObject({ exitCode: 4, reason: { kind: 'hook-failed', hook: 'throws' } })
    expect(t.logged('error')).toContain('PostStartHook "throws" failed: no cache')
  })

  row(
    ['HK-11', 'HK-13'],
    'lives through the delay in plain mode, and ends with NotAcceptingNewRequest: time to stop HTTP server',
    async () => {
      const t = newLife({ clock: new VirtualClock(), options: { shutdownDelay: '1s' } })
      let context: AbortSignal | undefined
      t.life.addPostStartHook('controller', ({ signal }) => {
        context = signal
        return aborted(signal)
      })
      await t.life.start()
      const held = t.life.hold('keeps the drain open')
      const ended = t.life.stop()
      await t.clock.advance(999)
      expect(context?.aborted).toBe(false)
      await t.clock.advance(1)
      expect(t.hasFired('NotAcceptingNewRequest')).toBe(true)
      expect(t.hasFired('InFlightRequestsDrained')).toBe(false)
      expect(context?.reason).toMatchObject({ message: 'time to stop HTTP server' })
      held[Symbol.dispose]()
      expect(await t.end(ended)).toMatchObject({ exitCode: 0, hooks: [{ name: 'controller', outcome: 'ok' }] })
    },
  )

  row('HK-12', 'lives through the drain in retry-after mode, and serves it, until InFlightRequestsDrained', async () => {
    const slow = new Roadblock()
    let informer: AbortSignal | undefined
    const t = newLife({
      options: { whileDraining: 'retry-after' },
      listener: (_, response) => void slow.pass().then(() => response.end(informer?.aborted === false ? 'from the informer' : 'stale')),
    })
    t.life.addPostStartHook('informer', ({ signal }) => {
      informer = signal
      return aborted(signal)
    })
    await t.life.start()
    const answer = t.get('/slow')
    await slow.reached
    const ended = t.life.stop()
    await t.fired('NotAcceptingNewRequest')
    expect((await t.get('/')).status).toBe(429)
    expect(informer?.aborted).toBe(false)
    slow.release()
    expect((await answer).body).toBe('from the informer')
    await t.fired('InFlightRequestsDrained')
    expect(informer?.reason).toMatchObject({ message: 'time to stop HTTP server' })
    expect((await t.end(ended)).exitCode).toBe(0)
  })

  row('HK-20', 'that has started an informer and returned: its context ends with the HTTP server, as that of all others', async () => {
    const slow = new Roadblock()
    let informer: AbortSignal | undefined
    const t = newLife({
      options: { whileDraining: 'retry-after' },
      listener: (_, response) => void slow.pass().then(() => response.end(informer?.aborted === false ? 'from the informer' : 'stale')),
    })
    t.life.addPostStartHook('start-informers', ({ signal }) => {
      informer = signal
    })
    await t.life.start()
    await t.fired('PostStartHooksDone')
    const answer = t.get('/slow')
    await slow.reached
    const ended = t.life.stop()
    await t.fired('NotAcceptingNewRequest')
    expect(informer?.aborted).toBe(false)
    slow.release()
    expect((await answer).body).toBe('from the informer')
    await t.fired('InFlightRequestsDrained')
    expect(informer?.reason).toMatchObject({ message: 'time to stop HTTP server' })
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, hooks: [{ name: 'start-informers', outcome: 'ok' }] })
  })

  row(['HK-20', 'HK-11'], 'that has returned is told with NotAcceptingNewRequest in plain mode, and by an end by force', async () => {
    const contexts: AbortSignal[] = []
    const keep = ({ signal }: { signal: AbortSignal }) => void contexts.push(signal)
    const t = newLife({ clock: new VirtualClock(), options: { shutdownDelay: '1s' } })
    const forced = newLife({ clock: new VirtualClock(), options: { deadline: '5s', shutdownDelay: 0 } })
    for (const { life } of [t, forced]) life.addPostStartHook('starts-work', keep)
    await t.life.start()
    const held = t.life.hold('keeps the drain open')
    const ended = t.life.stop()
    await t.clock.advance(999)
    expect(contexts[0]?.aborted).toBe(false)
    await t.clock.advance(1)
    expect([contexts[0]?.aborted, t.hasFired('InFlightRequestsDrained')]).toEqual([true, false])
    held[Symbol.dispose]()
    await t.end(ended)

    forced.life.addPreShutdownHook('hangs', () => never)
    const run = forced.life.run().catch(() => forced.life.ended)
    await forced.fired('PostStartHooksDone')
    forced.process.signal('SIGTERM')
    await forced.clock.advance(600)
    expect(contexts[1]?.aborted).toBe(false)
    forced.process.signal('SIGTERM')
    expect(contexts[1]?.aborted).toBe(true)
    expect(await forced.end(run)).toMatchObject({ forced: 'second-signal' })
  })

  test.each<[string, UserCode]>([
    ['node’s AbortError', ({ signal }) => once(new EventEmitter(), 'never', { signal })],
    ['the signal’s reason', ({ signal }) => aborted(signal).then(() => signal.throwIfAborted())],
  ])('that ends by obeying its signal, with %s, has ended in order: no error and no warning', async (_, obeys) => {
    const t = newLife()
    t.life.addPostStartHook('loop', obeys)
    await t.life.start()
    expect(await t.end()).toMatchObject({
      exitCode: 0,
      errors: [],
      warnings: [],
      lateAnswers: [],
      hooks: [{ name: 'loop', outcome: 'ok' }],
    })
    expect([t.logged('warn'), t.logged('error')]).toEqual([[], []])
  })

  test('that fails otherwise when it is told has failed', async () => {
    const t = newLife()
    t.life.addPostStartHook('loop', ({ signal }) => aborted(signal).then(() => Promise.reject(new Error('could not leave'))))
    await t.life.start()
    expect(await t.end()).toMatchObject({
      exitCode: 4,
      reason: { kind: 'stop' },
      errors: [{ where: 'post-start hook "loop"', error: { message: 'could not leave' } }],
    })
  })

  row('HK-21', 'that still runs at the stop is not waited for; what it answers late is told', async () => {
    const t = newLife({ clock: new VirtualClock() })
    t.life.addPostStartHook('never', () => never)
    // The report is due when it fails, but not yet sealed.
    t.life.addPostStartHook('late', () => aborted(t.life.signal('AdminClosed')).then(() => Promise.reject(new Error('too late'))))
    await t.life.start()
    const report = await t.end()
    expect(report.exitCode).toBe(0)
    expect(t.sinceStop('Ended')).toBeLessThan(1_000)
    expect(report.hooks).toMatchObject([
      { name: 'never', outcome: 'cut' },
      { name: 'late', outcome: 'cut' },
    ])
    expect(report.lateAnswers).toMatchObject([{ what: 'post-start hook "late"', answer: 'rejected', error: { message: 'too late' } }])
  })
})

describe('a pre-shutdown hook', () => {
  row('HK-17', 'is taken once, and the first is kept', async () => {
    const called: string[] = []
    const t = newLife()
    t.life.addPreShutdownHook('x', () => void called.push('first'))
    const error = refusal(() => t.life.addPreShutdownHook('x', () => void called.push('second')))
    expect(error.code).toBe('ERR_DUPLICATE')
    expect(error.message).toMatch(/^unable to add "x" because it is already registered/)
    expect(error.details['registeredAt']).toContain('hooks.test.ts')
    await t.life.start()
    await t.end()
    expect(called).toEqual(['first'])
  })

  row('HK-18', 'is not taken once they run, nor from inside one, which blocks nothing', async () => {
    const t = newLife()
    const late = { code: 'ERR_TOO_LATE', message: 'unable to add "x" because PreShutdownHooks have already been called' }
    t.life.addPreShutdownHook('adds', () => {
      expect(refusal(() => t.life.addPreShutdownHook('x', noop))).toMatchObject(late)
    })
    await t.life.start()
    expect((await t.end()).exitCode).toBe(0)
    expect(refusal(() => t.life.addPreShutdownHook('x', noop))).toMatchObject(late)
  })

  test('may come while the server serves, and go again', async () => {
    const called: string[] = []
    const t = newLife()
    await t.life.start()
    t.life.addPreShutdownHook('stays', () => void called.push('stays'))
    const goes = t.life.addPreShutdownHook('goes', () => void called.push('goes'))
    goes[Symbol.dispose]()
    goes[Symbol.dispose]()
    t.life.addPreShutdownHook('goes', () => void called.push('came back'))
    goes[Symbol.dispose]()
    t.life.addDestroy('pool', () => void called.push('pool'))
    await t.end()
    expect(called).toEqual(['stays', 'came back', 'pool'])
  })
})

row('HK-14', 'values of the caller`s context are seen by every piece of user code', async () => {
  const storage = new AsyncLocalStorage<string>()
  const seen: Record<string, string | undefined> = {}
  const see = (what: string) => async (): Promise<void> => {
    await Promise.resolve()
    seen[what] = storage.getStore()
  }
  const t = newLife({ options: { audit: new NotedAudit({ run: see('audit run'), shutdown: see('audit shutdown') }) } })
  await storage.run('registered', async () => {
    t.life.addPostStartHook('post-start', see('post-start'))
    t.life.addPreShutdownHook('pre-shutdown', see('pre-shutdown'))
    t.life.addPhase('phase', see('phase'))
    t.life.addDestroy('destroy', see('destroy'))
  })
  await storage.run('started', () => t.life.start())
  await storage.run('stopped', () => t.end())
  const names = ['audit run', 'post-start', 'pre-shutdown', 'phase', 'audit shutdown', 'destroy']
  expect(seen).toEqual(Object.fromEntries(names.map((name) => [name, 'started'])))
})

describe('every registration', () => {
  const kinds: Record<string, (life: Lifecycle, name: string, run?: UserCode) => Disposable> = {
    'post-start hook': (life, name, run = noop) => life.addPostStartHook(name, run),
    'pre-shutdown hook': (life, name, run = noop) => life.addPreShutdownHook(name, run),
    'destroy function': (life, name, run = noop) => life.addDestroy(name, run),
    phase: (life, name, run = noop) => life.addPhase(name, run),
    'readyz check': (life, name, run = noop) =>
      life.addReadyzCheck(name, () => void run({ name, signal: AbortSignal.abort(), reason: undefined })),
    'livez check': (life, name) => life.addLivezCheck(name, () => undefined),
    'health check': (life, name) => life.addHealthCheck(name, () => undefined),
    'mux-complete signal': (life, name) => life.addMuxCompleteSignal(name, never),
  }
  const entries = Object.entries(kinds)

  test.each(entries)('of a %s refuses names that are none', (_, add) => {
    const { life } = newLife()
    expect(refusal(() => add(life, ''))).toMatchObject({ code: 'ERR_NAME_MISSING', message: 'missing name' })
    for (const name of [undefined, null, 7, {}, Symbol('x'), 'a\nb', '\u001b[31m', 'x'.repeat(201)]) {
      const error = refusal(() => add(life, untyped(name)))
      expect(error.code).toBe('ERR_NAME_MISSING')
      expect(error.message.split('\n')).toHaveLength(1)
    }
  })

  test.each(entries)('of a %s says where the name was taken first', (_, add) => {
    const { life } = newLife()
    const theFirstOne = (): unknown => add(life, 'x')
    theFirstOne()
    const error = refusal(() => add(life, 'x'))
    expect(error.code).toBe('ERR_DUPLICATE')
    expect(error.message).toContain('x')
    expect(error.message.split('\n')).toHaveLength(1)
    expect(error.details).toMatchObject({ name: 'x', registeredAt: expect.stringContaining('theFirstOne') })
  })

  test.each(entries)('of a %s is taken back by its Disposable, once, and only its own', (_, add) => {
    const { life } = newLife()
    const first = add(life, 'x')
    first[Symbol.dispose]()
    const second = add(life, 'x')
    first[Symbol.dispose]()
    expect(refusal(() => add(life, 'x')).code).toBe('ERR_DUPLICATE')
    second[Symbol.dispose]()
    add(life, 'x')
  })

  test.each(entries)('of a %s comes too late after the end', async (_, add) => {
    const t = newLife()
    const early = add(t.life, 'early')
    await t.life.start()
    await t.end()
    expect(refusal(() => add(t.life, 'x')).code).toBe('ERR_TOO_LATE')
    early[Symbol.dispose]()
  })

  const hostile = ['a.b', '#root', '*', '__proto__', 'constructor', 'xstate.done.actor.x', '%5F_proto__', ' x ']

  test('with a hostile name runs under that name', async () => {
    const t = newLife()
    const called: string[] = []
    const note: UserCode = ({ name }) => void called.push(name)
    const names = hostile
    for (const name of names) {
      t.life.addPostStartHook(name, note)
      t.life.addPreShutdownHook(name, note)
      t.life.addDestroy(name, note)
    }
    await t.life.start()
    await t.fired('PostStartHooksDone')
    const report = await t.end()
    expect(report.exitCode).toBe(0)
    expect(called).toEqual([...names, ...names, ...names])
    expect(report.hooks.map(({ kind, name, outcome }) => `${kind} ${name} ${outcome}`)).toEqual(
      ['post-start', 'pre-shutdown', 'destroy'].flatMap((kind) => names.map((name) => `${kind} ${name} ok`)),
    )
  })

  test.each(hostile)('of phases and mux-complete signals with the name %j work', async (name) => {
    const t = newLife()
    const called: string[] = []
    t.life.addPhase(name, (context) => void called.push(context.name))
    const { promise, resolve } = deferred<void>()
    t.life.addMuxCompleteSignal(name, promise)
    await t.life.start()
    expect(t.hasFired('MuxAndDiscoveryComplete')).toBe(false)
    resolve()
    await t.fired('MuxAndDiscoveryComplete')
    const report = await t.end()
    expect(called).toEqual([name])
    expect(report.phases.find((phase) => phase.name === name)).toMatchObject({ outcome: 'ok' })
  })

  test.each(['pre-shutdown hook', 'destroy function', 'phase'])('of a %s refuses a time-out that is none', (kind) => {
    const { life } = newLife()
    const add = (timeout: unknown): unknown => {
      const options = untyped<{ timeout: string }>({ timeout })
      if (kind === 'phase') return life.addPhase('x', noop, options)
      return kind === 'destroy function' ? life.addDestroy('x', noop, options) : life.addPreShutdownHook('x', noop, options)
    }
    for (const timeout of [0, '0s', -1, Number.NaN, Number.POSITIVE_INFINITY, 'soon', '5', {}, null]) {
      expect(
        refusal(() => add(timeout)),
        String(timeout),
      ).toMatchObject({
        code: 'ERR_OPTION_INVALID',
        details: { field: `timeout of ${kind} "x"`, given: timeout, allowed: expect.any(String) },
      })
    }
    add('1m30s')
  })

  test('of a misspelt option says which one may be meant', () => {
    const { life } = newLife()
    const meant = (option: string): string => `unknown option (did you mean "${option}"?)`
    expect(refusal(() => life.addPreShutdownHook('x', noop, untyped({ aftr: ['y'] }))).message).toBe(
      `aftr of pre-shutdown hook "x": ${meant('after')}`,
    )
    expect(refusal(() => life.addPhase('x', noop, untyped({ befor: [] }))).message).toBe(`befor of phase "x": ${meant('before')}`)
    expect(refusal(() => life.addDestroy('x', noop, untyped({ before: ['y'] })))).toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: 'before of destroy function "x": unknown option, allowed: one of timeout, after',
      details: { field: 'before of destroy function "x"', given: ['y'] },
    })
  })

  test('of a missing function names the thing and what was given', () => {
    const { life } = newLife()
    expect(refusal(() => life.addDestroy('pool', untyped('close')))).toMatchObject({
      code: 'ERR_FUNCTION_MISSING',
      message: 'destroy function "pool": got "close", allowed: a function',
      details: { name: 'pool', given: 'close' },
    })
    expect(refusal(() => life.addPhase('flush', untyped(undefined)))).toMatchObject({ code: 'ERR_FUNCTION_MISSING' })
    expect(refusal(() => life.addReadyzCheck('db', untyped(undefined)))).toMatchObject({
      code: 'ERR_FUNCTION_MISSING',
      message: 'health check "db": got undefined, allowed: a function',
    })
  })

  test('of a promise says that the function is wanted', () => {
    const { life } = newLife()
    const promised = untyped<never>(Promise.resolve())
    for (const [what, add] of [
      ['post-start hook', () => life.addPostStartHook('x', promised)],
      ['pre-shutdown hook', () => life.addPreShutdownHook('x', promised)],
      ['destroy function', () => life.addDestroy('x', promised)],
      ['phase', () => life.addPhase('x', promised)],
      ['health check', () => life.addReadyzCheck('x', promised)],
    ] as const)
      expect(refusal(add).message).toBe(`${what} "x": got a promise, allowed: a function; pass the function itself, without calling it`)
  })

  test('of a function without a name says what has none', () => {
    const { life } = newLife()
    const nameless = untyped<[string, UserCode]>([noop])
    for (const [what, add] of [
      ['a post-start hook', () => life.addPostStartHook(...nameless)],
      ['a pre-shutdown hook', () => life.addPreShutdownHook(...nameless)],
      ['a destroy function', () => life.addDestroy(...nameless)],
      ['a phase', () => life.addPhase(...nameless)],
      ['a health check', () => life.addLivezCheck(untyped(noop), untyped(undefined))],
      ['a mux-complete signal', () => life.addMuxCompleteSignal(untyped(noop), untyped(undefined))],
    ] as const)
      expect(refusal(add)).toMatchObject({
        code: 'ERR_NAME_MISSING',
        message: expect.stringContaining(`name of ${what}: got a function, allowed: text`),
      })
  })

  test('of options that are none says so', () => {
    const { life } = newLife()
    for (const options of [null, 5])
      expect(refusal(() => life.addPreShutdownHook('x', noop, untyped(options))).message).toBe(
        `options of pre-shutdown hook "x": got ${options}, allowed: an object of timeout, after`,
      )
  })

  test('of a post-start hook with any says that it has none, and keeps nothing of it', () => {
    const { life } = newLife()
    const add = life.addPostStartHook.bind(life) as (name: string, run: UserCode, options?: unknown) => Disposable
    for (const [options, field] of [
      [{ timeout: '100ms' }, 'timeout'],
      [{ tiemout: 1 }, 'tiemout'],
      [null, 'options'],
      [5, 'options'],
      [new Map(), 'options'],
    ] as const)
      expect(refusal(() => add('x', noop, options))).toMatchObject({
        code: 'ERR_OPTION_INVALID',
        message: expect.stringMatching(
          new RegExp(`^${field} of post-start hook "x": got .+, allowed: none: it may run as long as the server$`),
        ),
      })
    for (const options of [undefined, {}]) add('x', noop, options)[Symbol.dispose]()
  })
})

describe('the order that `after` asks for', () => {
  test('is refused at registration when it is a cycle, and nothing of it is kept', async () => {
    const called: string[] = []
    const t = newLife()
    t.life.addPreShutdownHook('a', () => void called.push('a'), { after: ['b'] })
    t.life.addPreShutdownHook('b', () => void called.push('b'), { after: ['c'] })
    const error = refusal(() => t.life.addPreShutdownHook('c', noop, { after: ['a'] }))
    expect(error).toMatchObject({ code: 'ERR_CYCLE', message: expect.stringContaining('pre-shutdown hooks wait for each other: ') })
    expect(error.details['cycle']).toEqual(expect.arrayContaining(['a', 'b', 'c']))
    expect(refusal(() => t.life.addPreShutdownHook('self', noop, { after: ['self'] })).code).toBe('ERR_CYCLE')
    t.life.addPreShutdownHook('c', () => void called.push('c'), { after: [] })
    await t.life.start()
    await t.end()
    expect(called).toEqual(['c', 'b', 'a'])
  })

  test('is refused by start() when it names no hook, and what is registered is destroyed', async () => {
    const called: string[] = []
    const t = newLife()
    t.life.addPreShutdownHook('leave', noop, { after: ['flsh'] })
    t.life.addPreShutdownHook('flush', noop)
    t.life.addDestroy('pool', () => void called.push('pool'))
    await expect(t.life.start()).rejects.toMatchObject({
      code: 'ERR_START',
      cause: {
        code: 'ERR_UNKNOWN_REFERENCE',
        message: 'pre-shutdown hook "leave": after names "flsh" (did you mean "flush"?), known hooks: leave, flush',
        details: { name: 'leave', unknown: 'flsh' },
      },
    })
    expect((await t.end()).exitCode).toBe(3)
    expect(called).toEqual(['pool'])
    expect(t.signals).not.toContain('Bound')
  })

  test.each(['flush', [7], {}, [null]])('is refused when it is not a JSON list of names: %j', (after) => {
    const { life } = newLife()
    expect(refusal(() => life.addPreShutdownHook('x', noop, { after: untyped(after) }))).toMatchObject({
      code: 'ERR_OPTION_INVALID',
      details: { field: 'after of pre-shutdown hook "x"', given: after, allowed: 'a list of names' },
    })
    for (const field of ['after', 'before']) {
      expect(refusal(() => life.addPhase('x', noop, { [field]: after }))).toMatchObject({
        code: 'ERR_OPTION_INVALID',
        details: { field: `${field} of phase "x"`, given: after },
      })
    }
  })
})
