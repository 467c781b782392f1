// `ended`: the end of a life, for whoever did not start or stop it.
// Fails when: it settles before the end, with another report than stop() and run(), or rejects.
import { expect, onTestFinished, test, vi } from 'vitest'
import { newLife } from '../support/life.ts'

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
  t.life.crashed('uncaughtException', new Error('too late'))
  expect(t.events).toHaveLength(events)
  expect(printed.mock.calls).toEqual([])
})
