import { describe, expect, test } from 'vitest'
import { startProgram } from '../support/process.ts'

/**
 * Programs with lives that they made and never began: until their end, or without one. What is said
 * when, case by case: test/life/never-started.test.ts.
 */

async function endOf(plan: object, nodeOptions: readonly string[] = []) {
  const program = startProgram('never-started.mjs', plan, { nodeOptions })
  expect((await program.ended()).code).toBe(0)
  return program.lines
}

const ONE = 'quiesce: a lifecycle was created and never started, so nothing was served: call run() on it, or start() [WARN_NOT_STARTED]'

describe('a process that ends with a life that was never begun', () => {
  test.each(['server', 'life'])('says so in one line: %s', async (kind) => {
    expect(await endOf({ made: [kind] })).toEqual(['listeners 1', ONE])
  })

  test('says how many, in one line too', async () => {
    const made = Array.from({ length: 200 }, () => 'server')
    expect(await endOf({ made })).toEqual([
      'listeners 1',
      ONE.replace('a lifecycle was', '200 lifecycles were').replace('on it', 'on them'),
    ])
  })

  test('says nothing once one of them was, and listens to nothing then', async () => {
    expect(await endOf({ made: ['server', 'server', 'life'], stop: 1 })).toEqual(['listeners 0'])
    expect(await endOf({ made: ['attached', 'server'], stop: 1 })).toEqual(['listeners 0'])
  })

  test('says nothing where nothing is to be said, nor of a server that may never have to listen', async () => {
    expect(await endOf({ made: ['silent', 'attached'] })).toEqual(['listeners 0'])
  })

  test('keeps none of them in memory', async () => {
    const lines = await endOf({ made: ['server', 'server', 'server'], collect: true }, ['--expose-gc'])
    expect(lines).toEqual(['kept 0', 'listeners 1', expect.stringContaining('3 lifecycles were created') as string])
  })
})

const LISTENS =
  'quiesce: a server listens, but run() was not called on its lifecycle: SIGTERM will drop the requests in flight. Call run() [WARN_NOT_STARTED]'

describe('a server that listens, with a life that was never begun', () => {
  test('is told of by the process itself, which dies of SIGTERM', async () => {
    const program = startProgram('never-started.mjs', { made: ['listening', 'listening'] })
    await program.said(LISTENS)
    program.child.kill('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: null, signal: 'SIGTERM' })
    expect(program.lines).toEqual(['listeners 0', LISTENS])
  })
})
