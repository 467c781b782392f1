// Fails when: the connection timeout does not bound the lingering, what is left is not destroyed,
// or a cut waits for it.
import { describe, expect, test } from 'vitest'
import { closeConnectionsMachine } from '#src/machines/phases/close-connections.ts'
import { never, phaseScene, rejects, resolves, type Script } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

const scene = (script: Script = {}, connectionTimeoutMs = 2_000) => phaseScene(closeConnectionsMachine, script, { connectionTimeoutMs })

describe('close-connections', () => {
  test('ends when the last connection has closed by itself', async () => {
    const close = await scene({ lingerConnections: resolves(1_500) })
    await close.clock.runToEnd()
    expect([close.endedAt, close.output]).toEqual([1_500, { outcome: 'ok' }])
    expect(close.effects.called).toEqual(['lingerConnections'])
  })

  test('destroys what is left after the connection timeout, the user’s own limit, which costs nothing', async () => {
    const close = await scene({ lingerConnections: never })
    await close.clock.advance(1_999)
    expect(close.state).toBe('lingering')
    await close.clock.advance(1)
    expect(close.effects.called).toEqual(['lingerConnections', 'destroyConnections'])
    expect([close.endedAt, close.output]).toEqual([2_000, { outcome: 'cut', exitCode: 0 }])
  })

  test('destroys at once without a connection timeout, unless none is left', async () => {
    expect((await scene({}, 0)).output).toEqual({ outcome: 'ok' })
    expect((await scene({ lingerConnections: never }, 0)).output).toEqual({ outcome: 'cut', exitCode: 0 })
  })

  test.each(['lingerConnections', 'destroyConnections'])('fails with the error of %s', async (effect) => {
    const close = await scene({ lingerConnections: never, [effect]: rejects('EBADF') })
    await close.clock.runToEnd()
    expect(close.output).toMatchObject({ outcome: 'failed', error: { message: 'EBADF' } })
  })

  test('answers that are lost at the connection timeout cost what a cut costs', async () => {
    const close = await scene({ lingerConnections: never, destroyConnections: resolves(0, { lost: 2 }) })
    await close.clock.runToEnd()
    expect(close.output).toMatchObject({ outcome: 'cut', error: { code: 'ERR_TIMEOUT', message: expect.stringMatching(/^2 closed/) } })
    expect(close.output).not.toHaveProperty('exitCode')
  })

  test('cut while it lingers, it destroys what is left, which costs nothing when nothing is lost by it', async () => {
    const close = await scene({ lingerConnections: never })
    await close.cut()
    expect(close.effects.called).toEqual(['lingerConnections', 'destroyConnections'])
    expect(close.output).toEqual({ outcome: 'cut', exitCode: 0 })
    expect(close.clock.pending).toBe(0)
  })

  test('cut while it lingers, it costs what a cut costs when answers are lost', async () => {
    const close = await scene({ lingerConnections: never, destroyConnections: resolves(0, { lost: 1 }) })
    await close.cut()
    expect(close.output).toEqual({ outcome: 'cut' })
    expect(close.clock.pending).toBe(0)
  })

  test('cut while it destroys, it is a cut by the budget', async () => {
    const close = await scene({ lingerConnections: never, destroyConnections: resolves(5, { lost: 1 }) })
    await close.clock.advance(2_002)
    expect(close.state).toBe('destroying')
    await close.cut()
    await close.clock.runToEnd()
    expect([close.endedAt, close.output]).toEqual([2_007, { outcome: 'cut' }])
  })

  test('a second cut ends a destruction that hangs', async () => {
    const close = await scene({ lingerConnections: never, destroyConnections: never })
    await close.cut()
    await close.cut()
    expect(close.output).toEqual({ outcome: 'cut' })
  })

  test('a cut that fails is a cut with that error', async () => {
    const close = await scene({ lingerConnections: never, destroyConnections: rejects('EBADF') })
    await close.cut()
    expect(close.output).toMatchObject({ outcome: 'cut', error: { message: 'EBADF' } })
  })

  test('is moved by nothing else', async () => {
    const close = await scene({ lingerConnections: never, destroyConnections: never })
    await expectOnly(close, 'cut')
    await close.clock.advance(2_000)
    expect(close.state).toBe('destroying')
    await expectOnly(close, 'cut')
    await close.cut()
    await expectOnly(close, 'cut')
    await close.cut()
    await expectOnly(close)
  })
})
