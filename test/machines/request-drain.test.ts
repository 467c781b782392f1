// Fails when: the drain has a limit that was not given, or not the one given, a cut does not
// name what is left, or an error is swallowed.
import { describe, expect, test } from 'vitest'
import { requestDrainMachine } from '#src/machines/phases/request-drain.ts'
import { never, phaseScene, rejects, resolves, type Script } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

const unlimited = (script: Script) => phaseScene(requestDrainMachine, script, { limitMs: undefined })
const limited = (script: Script, limitMs = 500) => phaseScene(requestDrainMachine, script, { limitMs })

describe('request-drain with a limit of its own', () => {
  test('ends when the last request has, and leaves no timer', async () => {
    const drain = await limited({ drainRequests: resolves(499) })
    await drain.clock.runToEnd()
    expect([drain.endedAt, drain.output]).toEqual([499, { outcome: 'ok' }])
    expect(drain.effects.called).toEqual(['drainRequests'])
  })

  test('breaks off what is left when it is over, which is a cut that costs as much as any', async () => {
    const drain = await limited({ drainRequests: never })
    await drain.clock.advance(499)
    expect(drain.state).toBe('drainingWithin')
    await drain.clock.advance(1)
    expect(drain.effects.called).toEqual(['drainRequests', 'breakOffRequests'])
    expect(drain.effects.left).toEqual(['drainRequests'])
    expect([drain.endedAt, drain.output]).toEqual([500, { outcome: 'cut' }])
  })

  test('fails with the error of breaking off', async () => {
    const drain = await limited({ drainRequests: never, breakOffRequests: rejects('no socket') })
    await drain.clock.runToEnd()
    expect(drain.output).toMatchObject({ outcome: 'failed', error: { message: 'no socket' } })
  })

  test('is cut before that by the budget, also while it breaks off', async () => {
    const early = await limited({ drainRequests: never })
    await early.cut()
    expect([early.effects.called.at(-1), early.output, early.clock.pending]).toEqual(['cutRequests', { outcome: 'cut' }, 0])
    const late = await limited({ drainRequests: never, breakOffRequests: never })
    await late.clock.advance(500)
    expect(late.state).toBe('breakingOff')
    await late.cut()
    expect([late.effects.called.at(-1), late.output]).toEqual(['cutRequests', { outcome: 'cut' }])
  })

  test('is moved by nothing else', async () => {
    const drain = await limited({ drainRequests: never, breakOffRequests: never })
    await expectOnly(drain, 'cut')
    await drain.clock.advance(500)
    await expectOnly(drain, 'cut')
  })
})

describe('request-drain', () => {
  test('ends when the last request has, however long that takes', async () => {
    const drain = await unlimited({ drainRequests: resolves(3_600_000) })
    expect(drain.clock.pending).toBe(1)
    await drain.clock.runToEnd()
    expect([drain.endedAt, drain.output]).toEqual([3_600_000, { outcome: 'ok' }])
    expect(drain.effects.called).toEqual(['drainRequests'])
  })

  test('fails with the error of the drain', async () => {
    const drain = await unlimited({ drainRequests: rejects('miscounted') })
    expect(drain.output).toMatchObject({ outcome: 'failed', error: { message: 'miscounted' } })
  })

  test('cut, it leaves the drain and has the rest named and told', async () => {
    const drain = await unlimited({ drainRequests: never })
    await drain.cut()
    expect(drain.effects.called).toEqual(['drainRequests', 'cutRequests'])
    expect(drain.effects.left).toEqual(['drainRequests'])
    expect(drain.output).toEqual({ outcome: 'cut' })
  })

  test('a late answer after the cut changes nothing', async () => {
    const drain = await unlimited({ drainRequests: resolves(100), cutRequests: resolves(200) })
    await drain.cut()
    await drain.clock.advance(150)
    expect(drain.state).toBe('cutting')
    await drain.clock.runToEnd()
    expect([drain.endedAt, drain.output]).toEqual([200, { outcome: 'cut' }])
    expect(drain.facts).toMatchObject([{ type: 'late', what: 'drainRequests', answer: 'resolved', lateMs: 100 }])
  })

  test('a cut that fails is a cut with that error', async () => {
    const drain = await unlimited({ drainRequests: never, cutRequests: rejects('no socket') })
    await drain.cut()
    expect(drain.output).toMatchObject({ outcome: 'cut', error: { message: 'no socket' } })
  })

  test('a second cut ends a cut that hangs', async () => {
    const drain = await unlimited({ drainRequests: never, cutRequests: never })
    await drain.cut()
    expect(drain.state).toBe('cutting')
    await drain.cut()
    expect(drain.output).toEqual({ outcome: 'cut' })
  })

  test('is moved by nothing else', async () => {
    const drain = await unlimited({ drainRequests: never, cutRequests: never })
    await expectOnly(drain, 'cut')
    await drain.cut()
    await expectOnly(drain, 'cut')
    await drain.cut()
    await expectOnly(drain)
  })
})
