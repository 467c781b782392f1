// Fails when: user code has no bound, its failure is lost, or its late answer is heard.
import { describe, expect, test } from 'vitest'
import { hookMachine } from '#src/machines/phases/hook.ts'
import { type Answer, never, phaseScene, rejects, resolves } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

const plan = { kind: 'pre-shutdown', name: 'leave', timeoutMs: 3_000 } as const
const scene = (answer: Answer) => phaseScene(hookMachine, { runHook: answer }, plan)

describe('hook', () => {
  test('runs what it is given and ends with it', async () => {
    const hook = await scene(resolves(2_999))
    expect(hook.effects.calls).toMatchObject([{ effect: 'pre-shutdown:leave', input: plan }])
    await hook.clock.runToEnd()
    expect([hook.endedAt, hook.output]).toEqual([2_999, { outcome: 'ok' }])
  })

  test('fails with the error of the code', async () => {
    expect((await scene(rejects('no consul'))).output).toMatchObject({ outcome: 'failed', error: { message: 'no consul' } })
  })

  test.each([
    undefined,
    null,
    'text',
    {
      toString: () => {
        throw new Error('hostile')
      },
    },
  ])('fails when the code throws %o', async (error) => {
    const hook = await scene({ kind: 'reject', afterMs: 0, error })
    expect(hook.output).toMatchObject({ outcome: 'failed', error: { name: 'Error' } })
  })

  test('code that does not answer in time has failed, and says so', async () => {
    const hook = await scene(never)
    await hook.clock.runToEnd()
    expect([hook.endedAt, hook.output]).toMatchObject([
      3_000,
      { outcome: 'failed', error: { code: 'ERR_TIMEOUT', message: 'pre-shutdown hook "leave" did not end within 3s' } },
    ])
    expect(hook.effects.left).toEqual(['pre-shutdown:leave'])
  })

  test.each([resolves(4_000), rejects('late', 4_000)])('a late answer is reported and changes nothing: %o', async (answer) => {
    const hook = await scene(answer)
    await hook.clock.advance(3_000)
    const { output } = hook
    await hook.clock.runToEnd()
    expect(hook.output).toBe(output)
    expect(hook.facts).toMatchObject([{ type: 'late', what: 'pre-shutdown:leave', lateMs: 1_000 }])
  })

  test('is moved by nothing else', async () => {
    const hook = await scene(never)
    await expectOnly(hook)
    await hook.clock.advance(3_000)
    await expectOnly(hook)
  })
})
