// Fails when: idle connections close before the last call is over, it outlives its bound or the
// last connection that may bring a request, or a cut waits for it.
import { describe, expect, test } from 'vitest'
import { lastCallMachine } from '#src/machines/phases/last-call.ts'
import { never, phaseScene, rejects, resolves, type Script } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

const scene = (script: Script = {}, lastCallMs = 200) => phaseScene(lastCallMachine, script, { lastCallMs })

describe('last-call', () => {
  test('closes what is idle when its time is over, not before', async () => {
    const call = await scene({ holdConnections: never, closeIdleConnections: resolves(1) })
    await call.clock.advance(199)
    expect(call.effects.called).toEqual(['holdConnections'])
    await call.clock.runToEnd()
    expect([call.endedAt, call.output]).toEqual([201, { outcome: 'ok' }])
    expect(call.effects.called).toEqual(['holdConnections', 'closeIdleConnections'])
  })

  test('ends early when no connection is left that may bring a request', async () => {
    const call = await scene({ holdConnections: resolves(50) })
    await call.clock.runToEnd()
    expect([call.endedAt, call.output, call.clock.pending]).toEqual([50, { outcome: 'ok' }, 0])
  })

  test('closes at once without any time, and when holding fails', async () => {
    const none = await scene({ holdConnections: never }, 0)
    await none.clock.runToEnd()
    expect([none.endedAt, none.effects.called]).toEqual([0, ['holdConnections', 'closeIdleConnections']])
    expect((await scene({ holdConnections: rejects('EBADF') })).output).toEqual({ outcome: 'ok' })
  })

  test('fails with the error of the close', async () => {
    const call = await scene({ closeIdleConnections: rejects('EBADF') })
    expect(call.output).toMatchObject({ outcome: 'failed', error: { message: 'EBADF' } })
  })

  test.each([0, 200])('cut after %i ms, it closes what is idle', async (ms) => {
    const call = await scene({ holdConnections: never, closeIdleConnections: resolves(5) })
    await call.clock.advance(ms)
    await call.cut()
    await call.clock.runToEnd()
    expect([call.output, call.clock.pending]).toEqual([{ outcome: 'cut', exitCode: 0 }, 0])
  })

  test('a second cut ends a close that hangs, and a close that fails is a cut with that error', async () => {
    const hanging = await scene({ holdConnections: never, closeIdleConnections: never })
    await hanging.cut()
    await hanging.cut()
    expect(hanging.output).toEqual({ outcome: 'cut', exitCode: 0 })
    const failing = await scene({ holdConnections: never, closeIdleConnections: rejects('EBADF') })
    await failing.cut()
    expect(failing.output).toMatchObject({ outcome: 'cut', exitCode: 0, error: { message: 'EBADF' } })
  })

  test('is moved by nothing else', async () => {
    const call = await scene({ holdConnections: never, closeIdleConnections: never })
    await expectOnly(call, 'cut')
    await call.clock.advance(200)
    expect(call.state).toBe('closing')
    await expectOnly(call, 'cut')
  })
})
