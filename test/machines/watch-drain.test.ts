// Fails when: the grace does not bound the drain, a grace of 0 starts a timer or waits, using the
// grace up costs an exit code, or watches are left over.
import { describe, expect, test } from 'vitest'
import { watchDrainMachine } from '#src/machines/phases/watch-drain.ts'
import { never, phaseScene, rejects, resolves, type Script } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

const scene = (graceMs: number, script: Script = {}) => phaseScene(watchDrainMachine, script, { graceMs })

describe('watch-drain', () => {
  test('ends when the last watch has', async () => {
    const drain = await scene(8_000, { drainWatches: resolves(3_000) })
    expect(drain.effects.calls).toMatchObject([{ effect: 'drainWatches', input: { graceMs: 8_000 } }])
    await drain.clock.runToEnd()
    expect([drain.endedAt, drain.output]).toEqual([3_000, { outcome: 'ok' }])
    expect(drain.effects.called).toEqual(['drainWatches'])
  })

  test('terminates what is left when the grace is over, which costs nothing', async () => {
    const drain = await scene(8_000, { drainWatches: never })
    await drain.clock.advance(7_999)
    expect(drain.state).toBe('draining')
    await drain.clock.advance(1)
    expect(drain.effects.called).toEqual(['drainWatches', 'terminateWatches'])
    expect([drain.endedAt, drain.output]).toEqual([8_000, { outcome: 'cut', exitCode: 0 }])
  })

  test('terminates what is left when the drain itself says that its time is over', async () => {
    const drain = await scene(8_000, { drainWatches: resolves(7_999, { after: 2 }) })
    await drain.clock.runToEnd()
    expect(drain.effects.called).toEqual(['drainWatches', 'terminateWatches'])
    expect([drain.endedAt, drain.output]).toEqual([7_999, { outcome: 'cut', exitCode: 0 }])
  })

  test('costs what a cut costs when some of what it terminates was lost, and says how many', async () => {
    const drain = await scene(8_000, { drainWatches: never, terminateWatches: resolves(0, { lost: 2 }) })
    await drain.clock.advance(8_000)
    expect(drain.output).toEqual({
      outcome: 'cut',
      error: { name: 'QuiesceError', code: 'ERR_TIMEOUT', message: expect.stringMatching(/^2 lost at the end of the watch grace/) },
    })
  })

  test('leaves what is left alone without a grace: it was told, and is not waited for', async () => {
    const drain = await scene(0, { drainWatches: resolves(0, { after: 2 }) })
    expect(drain.effects.called).toEqual(['drainWatches'])
    expect(drain.output).toEqual({ outcome: 'ok' })
  })

  test('has no timer without a grace: whether the watches are told is all that counts', async () => {
    const drain = await scene(0, { drainWatches: resolves(5) })
    expect(drain.clock.pending).toBe(1)
    await drain.clock.advance(4)
    expect(drain.state).toBe('draining')
    await drain.clock.runToEnd()
    expect([drain.endedAt, drain.output]).toEqual([5, { outcome: 'ok' }])
  })

  test.each(['drainWatches', 'terminateWatches'])('fails with the error of %s', async (effect) => {
    const drain = await scene(10, { drainWatches: never, [effect]: rejects('no socket') })
    await drain.clock.runToEnd()
    expect(drain.output).toMatchObject({ outcome: 'failed', error: { message: 'no socket' } })
  })

  test('cut while it drains, it terminates what is left', async () => {
    const drain = await scene(8_000, { drainWatches: never })
    await drain.clock.advance(1_000)
    await drain.cut()
    expect(drain.effects.called).toEqual(['drainWatches', 'terminateWatches'])
    expect([drain.endedAt, drain.output]).toEqual([1_000, { outcome: 'cut' }])
    expect(drain.clock.pending).toBe(0)
  })

  test('cut while it terminates, it is a cut by the budget', async () => {
    const drain = await scene(10, { drainWatches: never, terminateWatches: resolves(5) })
    await drain.clock.advance(12)
    expect(drain.state).toBe('terminating')
    await drain.cut()
    await drain.clock.runToEnd()
    expect([drain.endedAt, drain.output]).toEqual([17, { outcome: 'cut' }])
  })

  test('a second cut ends a termination that hangs', async () => {
    const drain = await scene(10, { drainWatches: never, terminateWatches: never })
    await drain.cut()
    await drain.cut()
    expect(drain.output).toEqual({ outcome: 'cut' })
  })

  test('a cut that fails is a cut with that error', async () => {
    const drain = await scene(10, { drainWatches: never, terminateWatches: rejects('no socket') })
    await drain.cut()
    expect(drain.output).toMatchObject({ outcome: 'cut', error: { message: 'no socket' } })
  })

  test('is moved by nothing else', async () => {
    const drain = await scene(10, { drainWatches: never, terminateWatches: never })
    await expectOnly(drain, 'cut')
    await drain.clock.advance(10)
    expect(drain.state).toBe('terminating')
    await expectOnly(drain, 'cut')
    await drain.cut()
    await expectOnly(drain, 'cut')
    await drain.cut()
    await expectOnly(drain)
  })
})
