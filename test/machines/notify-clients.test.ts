// Fails when: the ramp has another length, telling does not begin or complete, a failure or a hang
// of it goes unnoticed, or a cut leaves responses that do not tell.
import { describe, expect, test } from 'vitest'
import { type NotifyClientsPlan, notifyClientsMachine } from '#src/machines/phases/notify-clients.ts'
import { never, phaseScene, rejects, resolves, type Script } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

const scene = (how: NotifyClientsPlan['how'], script: Script = {}, delayMs = 1_000) =>
  phaseScene(notifyClientsMachine, script, { how, delayMs })

describe('notify-clients', () => {
  test('gradual is complete after half of the delay', async () => {
    const tell = await scene('gradual')
    expect(tell.effects.calls).toMatchObject([{ effect: 'beginNotifying', input: { how: 'gradual', delayMs: 1_000 } }])
    await tell.clock.advance(499)
    expect(tell.state).toBe('ramping')
    await tell.clock.advance(1)
    expect(tell.effects.called).toEqual(['beginNotifying', 'completeNotifying'])
    expect([tell.endedAt, tell.output]).toEqual([500, { outcome: 'ok' }])
  })

  test('at-once is complete at once', async () => {
    const tell = await scene('at-once')
    expect([tell.endedAt, tell.effects.called]).toEqual([0, ['beginNotifying', 'completeNotifying']])
  })

  test('after-delay is complete after the delay', async () => {
    const tell = await scene('after-delay')
    await tell.clock.runToEnd()
    expect([tell.endedAt, tell.output]).toEqual([1_000, { outcome: 'ok' }])
  })

  test('a beginning that never answers does not hold up the ramp', async () => {
    const tell = await scene('gradual', { beginNotifying: never })
    await tell.clock.runToEnd()
    expect([tell.endedAt, tell.output]).toEqual([500, { outcome: 'ok' }])
  })

  test('fails with the error of its beginning', async () => {
    const tell = await scene('gradual', { beginNotifying: rejects('no socket') })
    expect(tell.output).toMatchObject({ outcome: 'failed', error: { message: 'no socket' } })
    expect(tell.clock.pending).toBe(0)
  })

  test('fails with the error of its completion', async () => {
    const tell = await scene('at-once', { completeNotifying: rejects('no socket', 10) })
    await tell.clock.runToEnd()
    expect([tell.endedAt, tell.output]).toMatchObject([10, { outcome: 'failed', error: { message: 'no socket' } }])
  })

  test('cut while it ramps, every response tells from here on', async () => {
    const tell = await scene('gradual')
    await tell.cut()
    expect(tell.effects.called).toEqual(['beginNotifying', 'completeNotifying'])
    expect([tell.endedAt, tell.output]).toEqual([0, { outcome: 'cut' }])
  })

  test('cut while it completes, it completes again and waits for nothing older', async () => {
    const tell = await scene('at-once', { completeNotifying: resolves(100) })
    await tell.clock.advance(50)
    expect(tell.state).toBe('completing')
    await tell.cut()
    await tell.clock.advance(60)
    expect(tell.state).toBe('cutting')
    await tell.clock.runToEnd()
    expect([tell.endedAt, tell.output]).toEqual([150, { outcome: 'cut' }])
  })

  test('a second cut ends a completion that hangs', async () => {
    const tell = await scene('at-once', { completeNotifying: never })
    await tell.cut()
    expect(tell.state).toBe('cutting')
    await tell.cut()
    expect(tell.output).toEqual({ outcome: 'cut' })
    expect(tell.effects.left).toEqual(['completeNotifying', 'completeNotifying'])
  })

  test('a cut whose completion fails is a cut with that error', async () => {
    const tell = await scene('gradual', { completeNotifying: rejects('no socket') })
    await tell.cut()
    expect(tell.output).toMatchObject({ outcome: 'cut', error: { message: 'no socket' } })
  })

  test('is moved by nothing else', async () => {
    const tell = await scene('gradual', { completeNotifying: never })
    await expectOnly(tell, 'cut')
    await tell.clock.advance(500)
    expect(tell.state).toBe('completing')
    await expectOnly(tell, 'cut')
    await tell.cut()
    await expectOnly(tell, 'cut')
    await tell.cut()
    await expectOnly(tell)
  })
})
