// Fails when: the delay is longer or shorter than configured, a cut does not end it, or anything
// else does.
import { describe, expect, test } from 'vitest'
import { shutdownDelayMachine } from '#src/machines/phases/shutdown-delay.ts'
import { phaseScene } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

const scene = (delayMs: number) => phaseScene(shutdownDelayMachine, {}, { delayMs })

describe('shutdown-delay', () => {
  test('takes exactly the delay', async () => {
    const delay = await scene(5_000)
    await delay.clock.advance(4_999)
    expect(delay.state).toBe('delaying')
    await delay.clock.advance(1)
    expect(delay.output).toEqual({ outcome: 'ok' })
    expect(delay.endedAt).toBe(5_000)
  })

  test('is over at once without a delay', async () => {
    expect((await scene(0)).output).toEqual({ outcome: 'ok' })
  })

  test('ends at once when it is cut', async () => {
    const delay = await scene(5_000)
    await delay.clock.advance(1_000)
    await delay.cut()
    expect(delay.output).toEqual({ outcome: 'cut' })
    expect(delay.endedAt).toBe(1_000)
    expect(delay.clock.pending).toBe(0)
  })

  test('is moved by nothing else', async () => {
    const delay = await scene(5_000)
    await expectOnly(delay, 'cut')
    await delay.clock.advance(5_000)
    await expectOnly(delay)
  })
})
