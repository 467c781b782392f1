// Fails when: MuxAndDiscoveryComplete comes before the last mux-complete signal or after a stop, a
// signal that fails, answers late or never is not named, or one that is not there is named twice.
import { describe, expect, test } from 'vitest'
import { muxCompleteMachine, muxSignalsWaiting } from '#src/machines/phases/mux-complete.ts'
import type { MuxAnswer } from '#src/machines/phases/mux-signal.ts'
import { FakeLife, phaseScene, servingLife } from '../support/fake-effects.ts'

const FAILED: MuxAnswer = { type: 'failed', error: { name: 'Error', message: 'no paths' } }

async function scene(...signals: string[]) {
  const made = await phaseScene(muxCompleteMachine, {}, { signals })
  return Object.assign(made, {
    answer: async (name: string, answer: MuxAnswer = { type: 'complete' }) => {
      made.effects.answerMux(name, answer)
      await made.clock.advance(0)
    },
    ends: () => made.facts.flatMap((fact) => (fact.type === 'mux-signal' ? [`${fact.name} ${fact.state}`] : [])),
    named: () => made.facts.flatMap((fact) => (fact.type === 'warning' ? [fact.details?.['muxSignal']] : [])),
    waiting: () => made.actor.getSnapshot().context.waiting,
  })
}

describe('mux-complete', () => {
  test('is complete with the last of its signals, in whichever order they come', async () => {
    const mux = await scene('apis', 'crds')
    await mux.answer('crds')
    expect([mux.state, mux.waiting()]).toEqual(['unserved', ['apis']])
    await mux.answer('apis')
    expect([mux.output, mux.ends()]).toEqual([{ outcome: 'ok' }, ['crds complete', 'apis complete']])
  })

  test('names once what is not there 5 s after requests are served', async () => {
    const mux = await scene('apis', 'crds', 'webhooks')
    await mux.clock.advance(60_000)
    await mux.send({ type: 'serving' })
    await mux.clock.advance(4_999)
    await mux.answer('crds')
    expect(mux.named()).toEqual([])
    await mux.clock.advance(1)
    expect(mux.named()).toEqual(['apis', 'webhooks'])
    await mux.send({ type: 'stop' })
    expect(mux.named()).toEqual(['apis', 'webhooks'])
    expect(mux.facts.find(({ type }) => type === 'warning')).toMatchObject({
      message: expect.stringMatching(/^mux-complete signal "apis" has not completed: until it does, /),
    })
  })

  test.each([
    ['served', ['apis']],
    ['not yet served', []],
  ])('names at the stop what is not there when requests are %s', async (when, named) => {
    const mux = await scene('apis')
    if (when === 'served') await mux.send({ type: 'serving' })
    await mux.send({ type: 'stop' })
    expect([mux.state, mux.named()]).toEqual(['outlived', named])
  })

  test('goes on after the stop: what answers is late, by how much, and what does not was left', async () => {
    const mux = await scene('apis', 'crds', 'webhooks')
    await mux.send({ type: 'stop' })
    await mux.answer('apis')
    await mux.answer('crds', FAILED)
    expect(mux.facts.filter(({ type }) => type === 'late')).toMatchObject([
      { what: 'mux-complete signal apis', answer: 'resolved' },
      { what: 'mux-complete signal crds', answer: 'rejected', error: { message: 'no paths' } },
    ])
    await mux.send({ type: 'end' })
    expect([mux.output, mux.ends()]).toEqual([{ outcome: 'skipped' }, ['apis late', 'crds late', 'webhooks left']])
  })

  test('takes an answer that is there already, and one answer of each', async () => {
    const life = new FakeLife({ muxSignals: ['apis'] })
    life.effects.answerMux('apis', { type: 'complete' })
    await life.start()
    await life.mux('apis', FAILED)
    expect(life.signals.filter((name) => name === 'MuxAndDiscoveryComplete')).toHaveLength(1)
    expect(life.facts.filter(({ type }) => type === 'mux-signal' || type === 'error')).toMatchObject([{ name: 'apis', state: 'complete' }])
  })
})

describe('a life', () => {
  test('serves on when a signal fails, which is named and costs exit code 4', async () => {
    const life = await servingLife({ muxSignals: ['apis', 'crds'] })
    await life.mux('apis', FAILED)
    await life.mux('crds')
    expect(life.signals).not.toContain('MuxAndDiscoveryComplete')
    expect(life.facts.filter(({ type }) => type === 'error')).toMatchObject([{ where: 'mux-complete signal apis', error: FAILED.error }])
    await life.stop()
    await life.toEnd()
    expect([life.exitCode, life.outcomes['mux-complete']]).toEqual([4, 'skipped'])
  })

  test('knows which signals it waits for, from Start until they have answered', async () => {
    const life = new FakeLife({ muxSignals: ['apis', 'crds'] })
    expect(muxSignalsWaiting(life.actor)).toEqual([])
    await life.start()
    await life.mux('apis')
    expect(muxSignalsWaiting(life.actor)).toEqual(['crds'])
    await life.mux('crds')
    expect(muxSignalsWaiting(life.actor)).toEqual([])
  })

  test.each([
    ['before it starts', new FakeLife({ muxSignals: ['apis'] })],
    ['while it serves', undefined],
  ])('leaves what has not answered when it is stopped %s', async (_, given) => {
    const life = given ?? (await servingLife({ muxSignals: ['apis'] }))
    await life.stop()
    await life.toEnd()
    expect(life.facts.filter(({ type }) => type === 'mux-signal')).toMatchObject([{ name: 'apis', state: 'left' }])
    expect([life.exitCode, life.outcomes['mux-complete']]).toEqual([0, 'skipped'])
  })

  test('counts for how long an answer was late from the stop on', async () => {
    const life = await servingLife({ muxSignals: ['apis'] })
    await life.stop()
    await life.clock.advance(3_000)
    await life.mux('apis')
    expect(life.facts.filter(({ type }) => type === 'late')).toMatchObject([{ lateMs: 3_000 }])
  })
})
