// hold(): work that is not HTTP joins the request drain. Fails when: a drain ends under work that
// was let in, work is let in that nobody waits for, an answer or an error of the work is lost, or
// what is cut is not told, not named, or keeps the end waiting.
import { EventEmitter, once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { deferred } from '#src/base/deferred.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { aborted, never, newLife, refusal } from '../support/life.ts'
import { REFUSED } from '../support/upstream-client.ts'

describe('held work', () => {
  test('is waited for, while the port is closed already, and its answer is returned', async () => {
    const t = newLife()
    await t.life.start()
    const job = deferred<string>()
    const held = t.life.hold('job 7', () => job.promise)
    const ended = t.life.stop()
    await t.fired('HTTPServerStoppedListening')
    await expect(t.get('/')).rejects.toEqual(REFUSED)
    expect(t.hasFired('InFlightRequestsDrained')).toBe(false)
    job.resolve('done')
    expect(await held).toBe('done')
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0, cut: [] } })
  })

  test.each([
    ['returns', () => 'plain', 'plain'],
    ['resolves', () => Promise.resolve('later'), 'later'],
    ['answers with undefined', () => undefined, undefined],
  ])('that %s gives that back and lets go', async (_, work, answer) => {
    const t = newLife()
    await t.life.start()
    expect(await t.life.hold('job', work)).toBe(answer)
    expect((await t.end()).requests.before).toBe(0)
  })

  test.each([
    [
      'throws',
      () =>
        Promise.resolve().then(() => {
          throw new Error('work failed')
        }),
    ],
    ['rejects', () => Promise.reject(new Error('work failed'))],
  ])('that %s is its caller`s business: it lets go, and the life has not failed', async (_, work) => {
    const t = newLife()
    await t.life.start()
    await expect(t.life.hold('job', work)).rejects.toThrow('work failed')
    expect(await t.end()).toMatchObject({ exitCode: 0, errors: [], requests: { before: 0 } })
  })

  test('without a function lasts until it is disposed of, which may happen twice', async () => {
    const t = newLife()
    await t.life.start()
    const [first, second] = [t.life.hold('consumer'), t.life.hold('consumer')]
    const ended = t.life.stop()
    await t.fired('NotAcceptingNewRequest')
    first[Symbol.dispose]()
    first[Symbol.dispose]()
    await t.fired('HTTPServerStoppedListening')
    expect(t.hasFired('RequestsDrained')).toBe(false)
    second[Symbol.dispose]()
    expect(await t.end(ended)).toMatchObject({ exitCode: 0, requests: { before: 2, after: 0 } })
  })

  test('may begin before the start, in the delay and in the hooks: until NotAcceptingNewRequest', async () => {
    const t = newLife({ clock: new VirtualClock(), options: { shutdownDelay: '1s' } })
    const begun: string[] = []
    const work = (name: string): Promise<unknown> => t.life.hold(name, () => void begun.push(name))
    await work('before the start')
    t.life.addPreShutdownHook('leave', () => work('in a hook'))
    await t.life.start()
    await work('serving')
    const ended = t.life.stop()
    await t.clock.advance(999)
    await work('in the delay')
    await t.clock.advance(1)
    expect(t.hasFired('NotAcceptingNewRequest')).toBe(true)
    await expect(work('in the drain')).rejects.toMatchObject({
      code: 'ERR_NOT_ACCEPTING',
      message: 'hold("in the drain"): the server is draining',
      details: { name: 'in the drain' },
    })
    expect(refusal(() => t.life.hold('in the drain')).code).toBe('ERR_NOT_ACCEPTING')
    await t.end(ended)
    await expect(work('after the end')).rejects.toMatchObject({ code: 'ERR_NOT_ACCEPTING' })
    expect(begun).toEqual(['before the start', 'serving', 'in a hook', 'in the delay'])
  })

  test('that nobody waits for is no crash when it is refused or ends by its signal, and is one when it fails', async () => {
    const unhandled: unknown[] = []
    const others = process.rawListeners('unhandledRejection') as NodeJS.UnhandledRejectionListener[]
    process.removeAllListeners('unhandledRejection')
    const onUnhandled = (thrown: unknown) => void unhandled.push((thrown as Error).message)
    process.on('unhandledRejection', onUnhandled)
    onTestFinished(() => {
      process.off('unhandledRejection', onUnhandled)
      for (const other of others) process.on('unhandledRejection', other)
    })
    const t = newLife({ clock: new VirtualClock(), options: { deadline: '1s' } })
    await t.life.start()
    void t.life.hold('obeys', ({ signal }) => aborted(signal).then(() => signal.throwIfAborted()))
    void t.life.hold('obeys node', ({ signal }) => once(new EventEmitter(), 'nothing', { signal }))
    void t.life.hold('fails', ({ signal }) => aborted(signal).then(() => Promise.reject(new Error('work failed'))))
    await t.end()
    let called = false
    void t.life.hold('refused', () => {
      called = true
    })
    await new Promise(setImmediate)
    expect(called).toBe(false)
    expect(unhandled).toEqual(['work failed'])
  })

  test('needs a name, because a report of nameless work helps nobody', async () => {
    const { life } = newLife()
    expect(refusal(() => life.hold('')).code).toBe('ERR_NAME_MISSING')
    await expect(life.hold('', () => undefined)).rejects.toMatchObject({ code: 'ERR_NAME_MISSING' })
    expect(refusal(() => life.hold((() => {}) as never)).message).toContain('name of a hold: got a function, allowed: text')
  })

  test('needs work that can be called', async () => {
    const { life } = newLife()
    await expect(life.hold('job', Promise.resolve() as never)).rejects.toMatchObject({
      code: 'ERR_FUNCTION_MISSING',
      message: 'work of hold("job"): got a promise, allowed: a function; pass the function itself, without calling it',
    })
    expect(life.counts().holds).toBe(0)
  })

  test('that outlasts the drain`s share is told to come to an end, named in the report, and no longer waited for', async () => {
    const t = newLife({ clock: new VirtualClock(), options: { deadline: '8s' } })
    await t.life.start()
    const heeds = t.life.hold('heeds', ({ signal }) => aborted(signal).then(() => String((signal.reason as Error).message)))
    void t.life.hold('does not', () => never)
    const report = await t.end()
    expect(await heeds).toBe('"heeds" is out of time: the drain was cut')
    expect(report.exitCode).toBe(5)
    expect(report.requests).toMatchObject({ before: 2, after: 2, cut: [{ name: 'heeds' }, { name: 'does not' }] })
    expect(report.phases.find(({ name }) => name === 'request-drain')).toMatchObject({
      outcome: 'cut',
      cut: [{ name: 'heeds' }, { name: 'does not' }],
    })
    expect(report.phases.find(({ name }) => name === 'destroy')).toMatchObject({ outcome: 'ok' })
  })
})
