// Fails when: lives of equal plans compose a machine each, lives of different plans share one, more
// machines are kept than there is room for; or when what one of two such lives does, says or ends
// with is done, said or ended by the other, or an ended life stays in memory.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test, vi } from 'vitest'
import { createActor, type PromiseActorLogic, toPromise } from 'xstate'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { createServer } from '#src/index.ts'
import { machineFor } from '#src/lifecycle/machine-for.ts'
import { NotedAudit, newLife } from '../support/life.ts'

const phase = (name: string) => ({ name, after: ['InFlightRequestsDrained'], before: [], timeoutMs: 1_000 })

describe('the machine', () => {
  test('is one for equal compositions, and another for each that differs', () => {
    const compositions = [
      { mode: 'refuse' },
      { mode: 'retry-after' },
      { mode: 'refuse', awaitsListen: true },
      { mode: 'refuse', muxSignals: ['a'] },
      { mode: 'refuse', postStartHooks: [{ kind: 'post-start', name: 'a', timeoutMs: 0 }] },
      { mode: 'refuse', userPhases: [phase('a')] },
      { mode: 'refuse', userPhases: [{ ...phase('a'), timeoutMs: 2_000 }] },
    ] as const
    const machines = compositions.map((composition) => machineFor(composition).machine)
    expect(new Set(machines).size).toBe(compositions.length)
    expect(compositions.map((composition) => machineFor({ ...composition }).machine)).toEqual(machines)
    for (const [index, composition] of compositions.entries())
      expect(machineFor(structuredClone(composition)).machine).toBe(machines[index])
  })

  test('is kept for the sixteen that were asked for last', () => {
    const ask = (index: number) => machineFor({ mode: 'refuse', muxSignals: [`kept-${index}`] }).machine
    const machines = Array.from({ length: 16 }, (_, index) => ask(index))
    expect(ask(0)).toBe(machines[0])
    ask(16)
    expect(ask(0)).toBe(machines[0])
    expect(ask(1)).not.toBe(machines[1])
  })

  test('is not kept when it cannot be composed', () => {
    const refused = () => machineFor({ mode: 'refuse', userPhases: [{ ...phase('a'), before: ['nothing'] }] })
    expect(refused).toThrow(expect.objectContaining({ code: 'ERR_UNKNOWN_REFERENCE' }))
    expect(refused).toThrow(expect.objectContaining({ code: 'ERR_UNKNOWN_REFERENCE' }))
  })
})

describe('two lives of equal plans at the same time', () => {
  /** A life with every kind of user code, under the names that the other has, too. */
  function living(called: string[], fails: boolean) {
    const note = (what: string) => () => void called.push(what)
    const audit = new NotedAudit({ run: note('audit run'), shutdown: note('audit shutdown') })
    const t = newLife({ clock: new VirtualClock(), options: { audit } })
    t.life.addPostStartHook('informers', ({ signal }) => {
      called.push('post-start')
      signal.addEventListener('abort', note('post-start aborted'))
    })
    t.life.addPreShutdownHook('leave', () => {
      called.push('pre-shutdown')
      if (fails) throw new Error('cannot leave')
    })
    t.life.addPhase('flush', note('phase'))
    t.life.addDestroy('pool', note('destroy'))
    return t
  }
  const ALL = ['audit run', 'post-start', 'pre-shutdown', 'post-start aborted', 'audit shutdown', 'phase', 'destroy']

  test('each have their own effects, hooks, log and end', async () => {
    const called: [string[], string[]] = [[], []]
    const one = living(called[0], false)
    const other = living(called[1], true)
    await Promise.all([one.life.start(), other.life.start()])
    await Promise.all([one.fired('Announced'), other.fired('Announced')])
    expect(one.port).not.toBe(other.port)

    const report = await other.end(other.life.stop('the other'))
    expect(report).toMatchObject({ exitCode: 4, reason: { kind: 'stop', reason: 'the other' } })
    expect([...called[1]].sort()).toEqual([...ALL].sort())
    expect(other.logged('error').join()).toContain('cannot leave')

    // The other's end was nothing to this one: it serves, has run nothing of its end, and has said
    // nothing of one.
    expect((await one.get('/')).status).toBe(200)
    expect(called[0]).toEqual(['audit run', 'post-start'])
    expect(one.signals).not.toContain('StopRequested')
    expect(one.logged().join()).not.toContain('cannot leave')

    expect(await one.end()).toMatchObject({ exitCode: 0, reason: { kind: 'stop', reason: 'the test asks' } })
    expect([...called[0]].sort()).toEqual([...ALL].sort())
    expect([...one.signals].sort()).toEqual([...other.signals].sort())
    expect(one.logged('error')).toEqual([])
  })

  test('may end in the same instant, one of them by force', async () => {
    const called: [string[], string[]] = [[], []]
    const one = living(called[0], false)
    const other = living(called[1], false)
    await Promise.all([one.life.start(), other.life.start()])
    const reports = [one.life.stop('in order'), other.life.stop({ reason: 'now', now: true })] as const
    expect(await other.end(reports[1])).toMatchObject({ exitCode: 1 })
    expect(await one.end(reports[0])).toMatchObject({ exitCode: 0 })
    expect([...called[0]].sort()).toEqual([...ALL].sort())
    expect(called[1]).not.toContain('destroy')
  })
})

test('an effect that belongs to no life says so', async () => {
  const { announce } = machineFor({ mode: 'refuse' }).machine.implementations.actors as { announce: PromiseActorLogic<void> }
  await expect(toPromise(createActor(announce).start())).rejects.toMatchObject({ code: 'ERR_INTERNAL' })
})

test('a life that has ended is not kept by the machine that it ran', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const ended = await (async () => {
    const life = createServer({ listener: (_, response) => void response.end() }, { port: 0, host: '127.0.0.1', logger: false })
    await life.start()
    await life.stop()
    return new WeakRef(life)
  })()
  // Handles that have just been closed are still held for some turns.
  await vi.waitFor(() => {
    collect()
    // What an expectation is given, its failure would keep.
    expect(ended.deref() === undefined).toBe(true)
  })
})
