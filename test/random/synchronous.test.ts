// Fails when: an effect that the timed model takes for one synchronous step waits for anything: for
// time, for bytes, for an answer.
import { expect, test } from 'vitest'
import type { AnyActor, AnyActorRef } from 'xstate'
import { POLLING, PROMPT } from '#src/model/life/lifecycle-timed.ts'
import type { LifecycleOptions } from '#src/options/options.ts'
import { testLife } from '#src/testing/test-life.ts'

const never = (): Promise<void> => new Promise(() => {})

/** What empties an empty queue, and then looks once more at what has been sent. */
const POLLS_ENOUGH = 4

function afterPolls(polls: number, then: () => void): void {
  setImmediate(() => (polls > 1 ? afterPolls(polls - 1, then) : then()))
}

/**
 * Which of the synchronous effects a life has run, and those that had not answered when the event
 * loop came round.
 */
class Watched {
  readonly ran = new Set<string>()
  readonly slow: string[] = []

  readonly observe = (root: AnyActor): void => {
    root.system.inspect(({ type, actorRef }) => {
      const actor = actorRef as AnyActorRef
      const { src } = actor
      if (type !== '@xstate.actor' || typeof src !== 'string' || !PROMPT.includes(src)) return
      this.ran.add(src)
      // Microtasks come before it, timers and sockets do not.
      afterPolls(POLLING.includes(src) ? POLLS_ENOUGH : 1, () => {
        if (actor.getSnapshot().status !== 'done') this.slow.push(src)
      })
    })
  }
}

/** A life in which nothing answers, with something of everything that is closed, cut and named. */
async function hangingLife(watched: Watched, options: LifecycleOptions = {}) {
  const t = await testLife(
    ({ createServer }) => {
      const life = createServer(
        {
          listener: (request, response) => {
            if (request.url === '/watch') response.flushHeaders()
            return never()
          },
        },
        {
          deadline: '12s',
          shutdownDelay: '1s',
          watchGrace: '1s',
          hookTimeout: '10s',
          port: 8080,
          admin: { port: 8081 },
          longRunning: ({ url }) => url === '/watch',
          logger: { debug() {}, info() {}, warn() {}, error() {}, flush: never },
          ...options,
        },
      )
      life.addPostStartHook('informer', never)
      life.addPreShutdownHook('leave', never)
      for (const name of ['pool', 'cache']) life.addDestroy(name, never)
      return life
    },
    { observe: watched.observe },
  )
  for (const path of ['/slow', '/watch']) (await t.connect()).request(path).response.catch(() => {})
  // One without a request, and one of the admin listener's.
  await t.connect()
  await t.connect(8081)
  t.life.hold('job', never).catch(() => {})
  await t.clock.advance(0)
  return t
}

test('every effect that is taken for one step answers before the event loop comes round', async () => {
  const cut = new Watched()
  const ended = await hangingLife(cut)
  expect((await ended.stop()).exitCode).toBe(5)

  const forced = new Watched()
  const insisted = await hangingLife(forced)
  insisted.process.signal('SIGTERM')
  // A doubled signal, as some parents send it, is one.
  await insisted.clock.advance('2s')
  insisted.process.signal('SIGTERM')
  expect((await insisted.end()).forced).not.toBeNull()

  const limited = new Watched()
  const brokenOff = await hangingLife(limited, { requestDrainTimeout: '1s' })
  expect((await brokenOff.stop()).exitCode).toBe(5)

  expect([...cut.slow, ...forced.slow, ...limited.slow]).toEqual([])
  // These run only when the cut comes between two polls, or while a disk takes the report.
  const seldom = ['closeListenerNow', 'writeReportNow']
  expect([...new Set([...cut.ran, ...forced.ran, ...limited.ran])].sort()).toEqual(PROMPT.filter((name) => !seldom.includes(name)).sort())
})
