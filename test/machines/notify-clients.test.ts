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
    const phase = await scene('gradual')
    expect(phase.effects.calls).toMatchObject([{ effect: 'beginNotifying', input: { how: 'gradual', delayMs: 1_000 } }])
    await phase.clock.advance(499)
    expect(phase.state).toBe('ramping')
    await phase.clock.advance(1)
    expect(phase.effects.called).toEqual(['beginNotifying', 'completeNotifying'])
    expect([phase.endedAt, phase.output]).toEqual([500, { outcome: 'ok' }])
  })

  test('at-once is complete at once', async () => {
    const phase = await scene('at-once')
    expect([phase.endedAt, phase.effects.called]).toEqual([0, ['beginNotifying', 'completeNotifying']])
  })

  test('after-delay is complete after the delay', async () => {
    const phase = await scene('after-delay')
    await phase.clock.runToEnd()
    expect([phase.endedAt, phase.output]).toEqual([1_000, { outcome: 'ok' }])
  })

  test('a beginning that never answers does not hold up the ramp', async () => {
    const phase = await scene('gradual', { beginNotifying: never })
    await phase.clock.runToEnd()
    expect([phase.endedAt, phase.output]).toEqual([500, { outcome: 'ok' }])
  })

  test('fails with the error of its beginning', async () => {
    const phase = await scene('gradual', { beginNotifying: rejects('no socket') })
    expect(phase.output).toMatchObject({ outcome: 'failed', error: { message: 'no socket' } })
    expect(phase.clock.pending).toBe(0)
  })

  test('fails with the error of its completion', async () => {
    const phase = await scene('at-once', { completeNotifying: rejects('no socket', 10) })
    await phase.clock.runToEnd()
    expect([phase.endedAt, phase.output]).toMatchObject([10, { outcome: 'failed', error: { message: 'no socket' } }])
  })

  test('cut while it ramps, every response tells from here on', async () => {
    const phase = await scene('gradual')
    await phase.cut()
    expect(phase.effects.called).toEqual(['beginNotifying', 'completeNotifying'])
    expect([phase.endedAt, phase.output]).toEqual([0, { outcome: 'cut' }])
  })

  test('cut while it completes, it completes again and waits for nothing older', async () => {
    const phase = await scene('at-once', { completeNotifying: resolves(100) })
    await phase.clock.advance(50)
    expect(phase.state).toBe('completing')
    await phase.cut()
    await phase.clock.advance(60)
    expect(phase.state).toBe('cutting')
    await phase.clock.runToEnd()
    expect([phase.endedAt, phase.output]).toEqual([150, { outcome: 'cut' }])
  })

  test('a second cut ends a completion that hangs', async () => {
    const phase = await scene('at-once', { completeNotifying: never })
    await phase.cut()
    expect(phase.state).toBe('cutting')
    await phase.cut()
    expect(phase.output).toEqual({ outcome: 'cut' })
    expect(phase.effects.left).toEqual(['completeNotifying', 'completeNotifying'])
  })

  test('a cut whose completion fails is a cut with that error', async () => {
    const phase = await scene('gradual', { completeNotifying: rejects('no socket') })
    await phase.cut()
    expect(phase.output).toMatchObject({ outcome: 'cut', error: { message: 'no socket' } })
  })

  test('is moved by nothing else', async () => {
    const phase = await scene('gradual', { completeNotifying: never })
    await expectOnly(phase, 'cut')
    await phase.clock.advance(500)
    expect(phase.state).toBe('completing')
    await expectOnly(phase, 'cut')
    await phase.cut()
    await expectOnly(phase, 'cut')
    await phase.cut()
    await expectOnly(phase)
  })
})
