// Fails when: the drain has a limit of its own, a cut does not name what is left, or an error is swallowed.
import { describe, expect, test } from 'vitest'
import { requestDrainMachine } from '../../src/machines/request-drain.ts'
import { never, phaseScene, rejects, resolves } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

describe('request-drain', () => {
  test('ends when the last request has, however long that takes', async () => {
    const drain = await phaseScene(requestDrainMachine, { drainRequests: resolves(3_600_000) })
    expect(drain.clock.pending).toBe(1)
    await drain.clock.runToEnd()
    expect([drain.endedAt, drain.output]).toEqual([3_600_000, { outcome: 'ok' }])
    expect(drain.effects.called).toEqual(['drainRequests'])
  })

  test('fails with the error of the drain', async () => {
    const drain = await phaseScene(requestDrainMachine, { drainRequests: rejects('miscounted') })
    expect(drain.output).toMatchObject({ outcome: 'failed', error: { message: 'miscounted' } })
  })

  test('cut, it leaves the drain and has the rest named and told', async () => {
    const drain = await phaseScene(requestDrainMachine, { drainRequests: never })
    await drain.cut()
    expect(drain.effects.called).toEqual(['drainRequests', 'cutRequests'])
    expect(drain.effects.left).toEqual(['drainRequests'])
    expect(drain.output).toEqual({ outcome: 'cut' })
  })

  test('a late answer after the cut changes nothing', async () => {
    const drain = await phaseScene(requestDrainMachine, { drainRequests: resolves(100), cutRequests: resolves(200) })
    await drain.cut()
    await drain.clock.advance(150)
    expect(drain.state).toBe('cutting')
    await drain.clock.runToEnd()
    expect([drain.endedAt, drain.output]).toEqual([200, { outcome: 'cut' }])
    expect(drain.facts).toMatchObject([{ type: 'late', what: 'drainRequests', answer: 'resolved', lateMs: 100 }])
  })

  test('a cut that fails is a cut with that error', async () => {
    const drain = await phaseScene(requestDrainMachine, { drainRequests: never, cutRequests: rejects('no socket') })
    await drain.cut()
    expect(drain.output).toMatchObject({ outcome: 'cut', error: { message: 'no socket' } })
  })

  test('a second cut ends a cut that hangs', async () => {
    const drain = await phaseScene(requestDrainMachine, { drainRequests: never, cutRequests: never })
    await drain.cut()
    expect(drain.state).toBe('cutting')
    await drain.cut()
    expect(drain.output).toEqual({ outcome: 'cut' })
  })

  test('is moved by nothing else', async () => {
    const drain = await phaseScene(requestDrainMachine, { drainRequests: never, cutRequests: never })
    await expectOnly(drain, 'cut')
    await drain.cut()
    await expectOnly(drain, 'cut')
    await drain.cut()
    await expectOnly(drain)
  })
})
