import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, onTestFinished, test } from 'vitest'
import type { DiagnosticsMessages, LifecycleEvent } from '#src/index.ts'
import { newLife } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'

/** What is published on a channel from now on, until the end of the test. */
function heard<Name extends keyof DiagnosticsMessages>(name: Name): DiagnosticsMessages[Name][] {
  const messages: DiagnosticsMessages[Name][] = []
  const listener = (message: unknown): void => void messages.push(message as DiagnosticsMessages[Name])
  subscribe(name, listener)
  onTestFinished(() => void unsubscribe(name, listener))
  return messages
}

test('every event of a life is published on the channel of its type, with the life', async () => {
  const signals = heard('quiesce:signal')
  const begun = heard('quiesce:phase.started')
  const over = heard('quiesce:phase.ended')
  const hooks = heard('quiesce:hook.ended')
  const stops = heard('quiesce:stop-requested')
  const ends = heard('quiesce:ended')
  const made = newLife()
  made.life.addPreShutdownHook('leave', () => Promise.reject(new Error('no')))
  await made.life.start()
  expect(stops).toEqual([])
  await made.end()

  const own = <T extends LifecycleEvent['type']>(type: T) => made.events.filter((event) => event.type === type)
  const eventsOf = (messages: readonly { readonly life: object; readonly event: object }[]) =>
    messages.filter(({ life }) => life === made.life).map(({ event }) => event)
  expect(eventsOf(signals)).toEqual(own('signal'))
  expect(eventsOf(begun)).toEqual(own('phase.started'))
  expect(eventsOf(over)).toEqual(own('phase.ended'))
  expect(eventsOf(hooks)).toMatchObject([{ kind: 'pre-shutdown', name: 'leave', outcome: 'failed', error: { message: 'no' } }])
  expect(stops).toEqual([{ life: made.life, reason: { kind: 'stop', reason: 'the test asks' } }])
  expect(eventsOf(ends)).toMatchObject([{ exitCode: 4 }])
})

test('refused requests are published with their kind', async () => {
  const refused = heard('quiesce:request-refused')
  const made = newLife({ options: { whileDraining: 'retry-after' } })
  await made.life.start()
  const hold = made.life.hold('import')
  const report = made.life.stop('the test asks')
  await made.fired('NotAcceptingNewRequest')
  const client = await RawClient.open({ port: made.port })
  client.request('GET', '/late')
  expect(await client.response()).toMatchObject({ status: 429 })
  expect(refused.map(({ request, kind }) => ({ url: request.url, kind }))).toEqual([{ url: '/late', kind: 'retry-after' }])
  hold[Symbol.dispose]()
  await made.end(report)
})

test('a subscriber that throws does not disturb the life; its error is an uncaught exception', async () => {
  const uncaught: unknown[] = []
  process.setUncaughtExceptionCaptureCallback((error) => void uncaught.push(error))
  onTestFinished(() => process.setUncaughtExceptionCaptureCallback(null))
  const boom = (): void => {
    throw new Error('boom')
  }
  subscribe('quiesce:signal', boom)
  onTestFinished(() => void unsubscribe('quiesce:signal', boom))
  const after = heard('quiesce:signal')
  const made = newLife()
  await made.life.start()
  const report = await made.end()
  expect(report).toMatchObject({ exitCode: 0, errors: [] })
  expect(after.map(({ event }) => event.name)).toEqual(made.signals)
  expect(made.signals.at(-1)).toBe('Ended')
  await expect.poll(() => uncaught.length).toBe(made.signals.length)
})
