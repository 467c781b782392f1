// Why a life ends, as hooks are told, and what ended one by force. Fails when: a hook, destroy
// function or phase is not told why, is told something else than the report, or gets a copy of the
// error instead of what was thrown; or when the report of a forced end does not say by what.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { StopCauses } from '#src/actors/stop-causes.ts'
import { errorRecord } from '#src/base/events.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { StopCause, UserCodeContext } from '#src/index.ts'
import { never, newLife } from '../support/life.ts'

/** What a program throws that puts more into an error than its text. */
class DatabaseError extends Error {
  readonly query = 'SELECT 1'
}

/** A life that notes what its hooks are told. */
function listening(options: NonNullable<Parameters<typeof newLife>[0]>['options'] = {}) {
  const t = newLife({ options })
  const notified: Record<string, StopCause | undefined> = {}
  const note = ({ name, reason }: UserCodeContext): void => {
    notified[name] = reason
  }
  t.life.addPreShutdownHook('leave', note)
  t.life.addPhase('flush', note)
  t.life.addDestroy('pool', note)
  return { t, notified, note }
}

describe('hooks, phases and destroy functions are told why', () => {
  test.each([
    ['stop()', (t: ReturnType<typeof newLife>) => void t.life.stop('maintenance'), { kind: 'stop', reason: 'maintenance' }],
    ['an OS signal', (t: ReturnType<typeof newLife>) => t.process.signal('SIGHUP'), { kind: 'os-signal', signal: 'SIGHUP' }],
    ['a message', (t: ReturnType<typeof newLife>) => t.process.message('shutdown'), { kind: 'ipc' }],
  ])('of %s', async (_, ask, reason) => {
    const t = newLife()
    Object.assign(t.process, { send: () => true })
    const notified: unknown[] = []
    for (const add of ['addPreShutdownHook', 'addPhase', 'addDestroy'] as const)
      t.life[add](add, (context) => void notified.push(context.reason))
    const ended = t.life.run()
    await t.fired('PostStartHooksLaunched')
    ask(t)
    expect((await t.end(ended)).reason).toEqual(reason)
    expect(notified).toEqual([reason, reason, reason])
  })

  test('of a crash, with what was thrown itself', async () => {
    const { t, notified } = listening()
    const thrown = new DatabaseError('gone', { cause: 'the network' })
    const ended = t.life.run()
    await t.fired('PostStartHooksLaunched')
    t.process.crash(thrown)
    const report = await t.end(ended)
    for (const name of ['leave', 'flush', 'pool']) {
      const reason = notified[name]
      expect(reason).toMatchObject({ kind: 'crash', origin: 'uncaughtException' })
      expect(reason?.kind === 'crash' && reason.error).toBe(thrown)
    }
    expect(report.reason).toEqual({
      kind: 'crash',
      origin: 'uncaughtException',
      error: { name: 'Error', message: 'gone', stack: thrown.stack },
    })
  })

  test('of a crash by something that is no error, as an error', async () => {
    const { t, notified } = listening()
    const ended = t.life.run()
    await t.fired('PostStartHooksLaunched')
    t.process.crash('just text', 'unhandledRejection')
    await t.end(ended)
    const reason = notified['pool']
    if (reason?.kind !== 'crash') throw new Error(`told ${reason?.kind}`)
    expect(reason.error).toBeInstanceOf(Error)
    expect(reason.error.cause).toBe('just text')
  })

  test('of a post-start hook that failed, with what it threw; it itself runs without a reason', async () => {
    const { t, notified, note } = listening()
    const thrown = new DatabaseError('no cache')
    t.life.addPostStartHook('warm', async (context) => {
      note(context)
      throw thrown
    })
    await t.life.start()
    await t.end(t.life.ended)
    expect(notified['warm']).toBeUndefined()
    const reason = notified['leave']
    expect(reason).toMatchObject({ kind: 'hook-failed', hook: 'warm' })
    expect(reason?.kind === 'hook-failed' && reason.error).toBe(thrown)
  })

  test.each([
    [
      'a port that is taken',
      async () => {
        const other = createServer().listen(0, '127.0.0.1')
        await once(other, 'listening')
        onTestFinished(() => void other.close())
        return listening({ port: (other.address() as { port: number }).port })
      },
      { phase: 'bind', error: { code: 'ERR_LISTEN', cause: { code: 'EADDRINUSE' } } },
    ],
    [
      'an audit backend that fails',
      async () => listening({ audit: { run: () => Promise.reject(new DatabaseError('no audit')), shutdown: () => {} } }),
      { phase: 'audit-run', error: { cause: { query: 'SELECT 1' } } },
    ],
    [
      'a phase of its own that fails',
      async () => {
        const scene = listening()
        scene.t.life.addPhase('migrate', () => Promise.reject(new DatabaseError('locked')), { after: ['Start'], before: ['bind'] })
        return scene
      },
      { phase: 'migrate', error: { query: 'SELECT 1' } },
    ],
    [
      'hooks that do not fit together',
      async () => {
        const scene = listening()
        scene.t.life.addPreShutdownHook('last', () => {}, { after: ['nothing'] })
        return scene
      },
      { phase: 'start', error: { code: 'ERR_UNKNOWN_REFERENCE', details: { unknown: 'nothing' } } },
    ],
  ])('of a start that failed by %s', async (_, make, expected) => {
    const { t, notified } = await make()
    await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_START' })
    await t.end(t.life.ended)
    expect(notified['pool']).toMatchObject({ kind: 'start-failed', ...expected })
    expect(notified['pool']?.kind === 'start-failed' && notified['pool'].error).toBeInstanceOf(Error)
  })

  test('also when there is no time left to wait for them', async () => {
    const t = newLife({ clock: new VirtualClock(), options: { deadline: '10s' } })
    const notified: unknown[] = []
    t.life.addDestroy('hangs', () => never, { timeout: '1h' })
    t.life.addDestroy('pool', ({ reason, signal }) => void notified.push(reason, signal.aborted))
    await t.life.start()
    await t.end(t.life.stop('late'))
    expect(notified).toEqual([{ kind: 'stop', reason: 'late' }, true])
  })
})

describe('a forced end says by what', () => {
  test('a second signal', async () => {
    const t = newLife({ clock: new VirtualClock(), listener: () => {} })
    t.life.addPreShutdownHook('hangs', () => never)
    const ended = t.life.run().catch(() => t.life.ended)
    await t.fired('PostStartHooksLaunched')
    t.process.signal('SIGTERM')
    await t.clock.advance(600)
    t.process.signal('SIGINT')
    expect(await t.end(ended)).toMatchObject({ reason: { signal: 'SIGTERM' }, forced: 'second-signal', forcedBy: { signal: 'SIGINT' } })
    expect(t.events).toContainEqual(expect.objectContaining({ type: 'forced', why: 'second-signal', signal: 'SIGINT' }))
    expect(t.log).toContainEqual(
      expect.objectContaining({ message: 'ending by force', fields: { why: 'second-signal', signal: 'SIGINT' } }),
    )
  })

  test('a second crash', async () => {
    const t = newLife({ clock: new VirtualClock() })
    t.life.addPreShutdownHook('hangs', () => never)
    const ended = t.life.run().catch(() => t.life.ended)
    await t.fired('PostStartHooksLaunched')
    t.process.crash(new Error('the first'))
    await t.clock.advance(600)
    t.process.crash(new DatabaseError('the second'))
    expect(await t.end(ended)).toMatchObject({
      reason: { error: { message: 'the first' } },
      forced: 'second-crash',
      forcedBy: { error: { message: 'the second' } },
    })
  })
})

describe('of several failures', () => {
  const error = (message: string) => Object.assign(new Error(message), { query: 'SELECT 1' })
  const ends = (causes: StopCauses, origin: 'uncaughtException' | 'unhandledRejection', thrown: Error) =>
    causes.observe({
      type: 'signal',
      name: 'StopRequested',
      at: 0,
      outcome: 'ok',
      reason: { kind: 'crash', origin, error: errorRecord(thrown) },
    })

  test('of one kind the first is the cause', () => {
    const causes = new StopCauses()
    const [first, second] = [error('the first'), error('the second')]
    causes.keep('uncaughtException', first)
    causes.keep('uncaughtException', second)
    ends(causes, 'uncaughtException', first)
    expect(causes.cause).toMatchObject({ kind: 'crash', origin: 'uncaughtException' })
    expect(causes.cause && 'error' in causes.cause && causes.cause.error).toBe(first)
  })

  test('one that was never thrown is an error with what is known of it', () => {
    const causes = new StopCauses()
    causes.keep('unhandledRejection', error('another'))
    ends(causes, 'uncaughtException', Object.assign(error('found out'), { code: 'ERR_TIMEOUT' }))
    const cause = causes.cause as { error: Error }
    expect(cause.error).toBeInstanceOf(Error)
    expect(cause.error).toMatchObject({ message: 'found out', code: 'ERR_TIMEOUT' })
  })

  test('those that are not the cause are not kept alive by the life', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const causes = new StopCauses()
    const other = (() => {
      const thrown = error('another')
      causes.keep('unhandledRejection', thrown)
      return new WeakRef(thrown)
    })()
    ends(causes, 'uncaughtException', error('the cause'))
    await vi.waitFor(() => {
      collect()
      expect(other.deref() === undefined).toBe(true)
    })
    expect(causes.cause).toBeDefined()
  })
})
