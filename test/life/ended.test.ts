// `ended`: the end of a life, for whoever did not start or stop it.
// Fails when: it settles before the end, with another report than stop() and run(), or rejects; or
// what watches the life does not hear its last word first, or holds an end by force.
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { deferred } from '#src/base/deferred.ts'
import { Lifecycle } from '#src/lifecycle/lifecycle.ts'
import type { Observer } from '#src/lifecycle/parts.ts'
import { resolveLifeOptions } from '#src/options/options.ts'
import { processFacts } from '#src/platforms/platforms.ts'
import { LifeRig, newLife } from '../support/life.ts'

test('resolves with the report that stop() resolves with, and not before', async () => {
  const t = newLife()
  let hasEnded = false
  const ended = t.life.ended.then((report) => {
    hasEnded = true
    return report
  })
  await t.life.start()
  const hold = t.life.hold('keeps the drain open')
  const stopped = t.life.stop('because')
  await t.fired('NotAcceptingNewRequest')
  expect(hasEnded).toBe(false)
  hold[Symbol.dispose]()
  expect(await ended).toBe(await t.end(stopped))
  expect(await t.life.ended).toMatchObject({ exitCode: 0, reason: { kind: 'stop', reason: 'because' } })
})

test('resolves also when the life could not start', async () => {
  const t = newLife({ options: { audit: { run: () => Promise.reject(new Error('no audit')), shutdown: () => {} } } })
  await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_START' })
  expect(await t.end(t.life.ended)).toMatchObject({ exitCode: 3, reason: { kind: 'start-failed' } })
})

test('what is asked for afterwards is heard by nobody, and nothing is printed of it', async () => {
  const printed = vi.spyOn(console, 'warn')
  onTestFinished(() => printed.mockRestore())
  const t = newLife()
  await t.life.start()
  const report = await t.end()
  const events = t.events.length
  expect(await t.life.stop('once more')).toBe(report)
  t.life.running.crashed('uncaughtException', new Error('too late'))
  expect(t.events).toHaveLength(events)
  expect(printed.mock.calls).toEqual([])
})

describe('what watches a life and has not handed on its last word', () => {
  /** The inspector does so while its readers take what is left, which its own tests show. */
  function watched() {
    const handedOn = deferred<void>()
    const heard: string[] = []
    const observer: Observer = {
      fact: () => {},
      begin: () => {},
      open: async () => [],
      end: (report) => {
        heard.push(`ended with ${report.exitCode}`)
        return handedOn.promise
      },
    }
    const t = new LifeRig({}, (host, logger) => {
      const options = resolveLifeOptions({ logger, exit: 'natural' }, { facts: processFacts(host.process) })
      return new Lifecycle({ options, host, openListeners: async () => [], log: { isForAll: false }, observe: () => observer })
    })
    let hasEnded = false
    void t.life.ended.then(() => {
      hasEnded = true
    })
    return { t, handedOn, heard, hasEnded: () => hasEnded }
  }

  /** Far more turns of promises than an end takes whose report is there. */
  async function turns(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
  }

  test.each(['resolves', 'rejects'])('is waited for, however that %s', async (how) => {
    const { t, handedOn, heard, hasEnded } = watched()
    await t.life.start()
    void t.life.stop()
    await vi.waitFor(() => expect(heard).toEqual(['ended with 0']))
    await turns()
    expect(hasEnded()).toBe(false)
    if (how === 'resolves') handedOn.resolve()
    else handedOn.reject(new Error('a reader is gone'))
    expect(await t.life.ended).toMatchObject({ exitCode: 0, forced: null })
  })

  test('holds no end by force', async () => {
    const { t, heard } = watched()
    await t.life.start()
    t.life.hold('never released')
    expect(await t.life.stop({ now: true })).toMatchObject({ forced: 'stop-now' })
    expect(heard).toEqual(['ended with 1'])
  })
})
