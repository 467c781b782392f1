// Fails when: destroy could begin under a running handler, or a cut does not name those that still
// run.
import { describe, expect, test } from 'vitest'
import { handlersMachine } from '#src/machines/phases/handlers.ts'
import { never, phaseScene, rejects, resolves } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

describe('handlers', () => {
  test('ends when the last handler has', async () => {
    const handlers = await phaseScene(handlersMachine, { waitForHandlers: resolves(700) })
    await handlers.clock.advance(699)
    expect(handlers.state).toBe('running')
    await handlers.clock.advance(1)
    expect(handlers.output).toEqual({ outcome: 'ok' })
    expect(handlers.effects.called).toEqual(['waitForHandlers'])
  })

  test('fails with the error of its waiting', async () => {
    const handlers = await phaseScene(handlersMachine, { waitForHandlers: rejects('miscounted') })
    expect(handlers.output).toMatchObject({ outcome: 'failed', error: { message: 'miscounted' } })
  })

  test('cut, it names those that still run', async () => {
    const handlers = await phaseScene(handlersMachine, { waitForHandlers: never })
    await handlers.cut()
    expect(handlers.effects.called).toEqual(['waitForHandlers', 'nameHandlers'])
    expect(handlers.output).toEqual({ outcome: 'cut' })
  })

  test('cut with only such left as may be over, it costs no exit code', async () => {
    const handlers = await phaseScene(handlersMachine, { waitForHandlers: never, nameHandlers: resolves(0, { running: 0 }) })
    await handlers.cut()
    expect(handlers.output).toEqual({ outcome: 'cut', exitCode: 0 })
    const running = await phaseScene(handlersMachine, { waitForHandlers: never, nameHandlers: resolves(0, { running: 2 }) })
    await running.cut()
    expect(running.output).toEqual({ outcome: 'cut' })
  })

  test('a cut that fails is a cut with that error; one that hangs ends with the second cut', async () => {
    const failing = await phaseScene(handlersMachine, { waitForHandlers: never, nameHandlers: rejects('x') })
    await failing.cut()
    expect(failing.output).toMatchObject({ outcome: 'cut', error: { message: 'x' } })
    const hanging = await phaseScene(handlersMachine, { waitForHandlers: never, nameHandlers: never })
    await hanging.cut()
    expect(hanging.state).toBe('cutting')
    await hanging.cut()
    expect(hanging.output).toEqual({ outcome: 'cut' })
  })

  test('is moved by nothing else', async () => {
    const handlers = await phaseScene(handlersMachine, { waitForHandlers: never, nameHandlers: never })
    await expectOnly(handlers, 'cut')
    await handlers.cut()
    await expectOnly(handlers, 'cut')
    await handlers.cut()
    await expectOnly(handlers)
  })
})
