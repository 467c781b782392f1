// What is registered and never read, or never comes. Fails when: a health check that nothing
// answers is taken without a word, one that is answered is warned of, or a mux-complete signal that
// does not come has no name in the log and the report; or when a time of a hook that never comes,
// or a start() after the end, is taken without a word.
import http from 'node:http'
import { expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { LifecycleOptions } from '#src/index.ts'
import { newAttachedLife, newLife } from '../support/life.ts'

const UNREAD = /^health checks never run, because no health endpoint is answered \(the option (health|admin)\): db, cache$/

test.each<[LifecycleOptions, boolean]>([
  [{ health: false }, true],
  [{ health: true }, false],
])('checks of an attached server are asked, or warned of: %j', async (options, isWarned) => {
  const server = http.createServer()
  const t = newAttachedLife(server, { options })
  t.life.addReadyzCheck('db', () => {})
  t.life.addLivezCheck('cache', () => {})
  t.life.addHealthCheck('gone', () => {})[Symbol.dispose]()
  server.listen(0)
  await t.life.start()
  const { warnings } = await t.life.stop()
  expect(warnings.map(({ message }) => message)).toEqual(isWarned ? [expect.stringMatching(UNREAD)] : [])
})

test('times of hooks that never come are warned of, and no others', async () => {
  const t = newLife({ clock: new VirtualClock(), options: { deadline: '2s' } })
  t.life.addPreShutdownHook('leave', () => {}, { timeout: '3h' })
  t.life.addDestroy('pool', () => {}, { timeout: '2s' })
  t.life.addDestroy('queue', () => {})
  await t.life.start()
  const words = 'the timeout of "leave" has no effect: the whole stop has a deadline of 2s, which comes before'
  expect(t.life.running.startWarnings).toEqual([{ code: 'WARN_WITHOUT_EFFECT', message: words }])
  expect((await t.end()).warnings).toEqual([{ message: words, details: { code: 'WARN_WITHOUT_EFFECT' } }])
})

test('a life runs once: start() after its stop is refused', async () => {
  const t = newLife({ clock: new VirtualClock() })
  await t.life.start()
  await t.life.start()
  await t.end()
  await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_TOO_LATE', message: expect.stringContaining('runs once') })
})

test('a mux-complete signal that does not come is named, after a while or at the stop, once', async () => {
  const clock = new VirtualClock()
  const t = newLife({ clock, options: { health: true } })
  t.life.addMuxCompleteSignal('orders', new AbortController().signal)
  t.life.addMuxCompleteSignal('there', Promise.resolve())
  await t.life.start()
  const named = () => t.log.filter(({ message }) => message.startsWith('mux-complete signal "orders" has not completed'))
  expect(named()).toHaveLength(0)
  await clock.advance('5s')
  expect(named()).toHaveLength(1)
  const ended = t.life.stop()
  await clock.advance('1m')
  const { warnings } = await ended
  expect(warnings.map(({ details }) => details)).toEqual([{ muxSignal: 'orders' }])
})
