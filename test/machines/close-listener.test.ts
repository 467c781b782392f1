// Fails when: the listeners close before what is queued was accepted, a cut waits for it, or an
// error of the close is lost.
import { describe, expect, test } from 'vitest'
import { closeListenerMachine } from '#src/machines/phases/close-listener.ts'
import { never, phaseScene, rejects, resolves, type Script } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

const scene = (script: Script = {}, lastCallMs = 200) => phaseScene(closeListenerMachine, script, { lastCallMs })

describe('close-listener', () => {
  test('ends when what was queued is accepted and the listeners have closed, which is one effect', async () => {
    const close = await scene({ acceptThenClose: resolves(7) })
    await close.clock.runToEnd()
    expect([close.endedAt, close.output]).toEqual([7, { outcome: 'ok' }])
    expect(close.effects.calls).toMatchObject([{ effect: 'acceptThenClose', input: { lastCallMs: 200 } }])
  })

  test('fails with the error of the close', async () => {
    const close = await scene({ acceptThenClose: rejects('EBADF') })
    expect(close.output).toMatchObject({ outcome: 'failed', error: { message: 'EBADF' } })
  })

  test('cut, it closes at once', async () => {
    const close = await scene({ acceptThenClose: never })
    await close.cut()
    expect(close.effects.called).toEqual(['acceptThenClose', 'closeListenerNow'])
    expect([close.effects.left, close.output]).toEqual([['acceptThenClose'], { outcome: 'cut' }])
  })

  test('a second cut ends a close that hangs, and a close that fails is a cut with that error', async () => {
    const hanging = await scene({ acceptThenClose: never, closeListenerNow: never })
    await hanging.cut()
    await hanging.cut()
    expect(hanging.output).toEqual({ outcome: 'cut' })
    const failing = await scene({ acceptThenClose: never, closeListenerNow: rejects('EBADF') })
    await failing.cut()
    expect(failing.output).toMatchObject({ outcome: 'cut', error: { message: 'EBADF' } })
  })

  test('is moved by nothing else', async () => {
    const close = await scene({ acceptThenClose: never, closeListenerNow: never })
    await expectOnly(close, 'cut')
    await close.cut()
    await expectOnly(close, 'cut')
  })
})
