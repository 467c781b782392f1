import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { lifeBegun, serversAttached } from '#src/process/never-started.ts'
import { startProgram } from '../support/process.ts'

/** Programs with lives that they made and never began: until their end, or without one. */

async function endOf(plan: object, nodeOptions: readonly string[] = []) {
  const program = startProgram('never-started.mjs', plan, { nodeOptions })
  expect((await program.ended()).code).toBe(0)
  return program.lines
}

const ONE = 'quiesce: a life was created and never started, so nothing was served: call run() on it, or start()'

describe('a process that ends with a life that was never begun', () => {
  test.each(['server', 'life'])('says so in one line: %s', async (kind) => {
    expect(await endOf({ made: [kind] })).toEqual(['listeners 1', ONE])
  })

  test('says how many, in one line too', async () => {
    const made = Array.from({ length: 200 }, () => 'server')
    expect(await endOf({ made })).toEqual(['listeners 1', ONE.replace('a life was', '200 lives were').replace('on it', 'on them')])
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
    expect(lines).toEqual(['kept 0', 'listeners 1', expect.stringContaining('3 lives were created') as string])
  })
})

const LISTENS =
  'quiesce: a server listens whose life was never started, so SIGTERM ends the process with all that is in flight: call run() on the life'

describe('a server that listens, with a life that was never begun', () => {
  const ATTACHED = 10_000

  test('is told of by the process itself, which dies of SIGTERM', { timeout: 60_000 }, async () => {
    const program = startProgram('never-started.mjs', { made: ['listening', 'listening'] })
    await program.said(LISTENS)
    program.child.kill('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: null, signal: 'SIGTERM' })
    expect(program.lines).toEqual(['listeners 0', LISTENS])
  })

  function world({ env = {}, signals = 0 } = {}) {
    const said: string[] = []
    const source = {
      stderr: { write: (text: string) => said.push(text.trimEnd()) },
      env,
      listenerCount: () => signals,
      on: () => {},
      off: () => {},
    }
    const clock = new VirtualClock()
    return { said, source, clock, attach: (...servers: Server[]) => serversAttached(source, clock, servers) }
  }

  async function open(): Promise<Server> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return server
  }

  test('is told of once', async () => {
    const { said, clock, attach } = world()
    attach(createServer(), await open())
    attach(await open())
    await clock.advance(ATTACHED - 1)
    expect(said).toEqual([])
    await clock.advance(1)
    attach(await open())
    await clock.advance(2 * ATTACHED)
    expect(said).toEqual([LISTENS])
  })

  test('is looked at anew when it was attached after the last look', async () => {
    const { said, clock, attach } = world()
    attach(createServer())
    await clock.advance(ATTACHED)
    expect(said).toEqual([])
    attach(await open())
    await clock.advance(ATTACHED)
    expect(said).toEqual([LISTENS])
  })

  test.each([
    ['one life of the process has begun', {}, true],
    ['the program listens to SIGTERM', { signals: 1 }, false],
    ['a test runner runs it', { env: { NODE_ENV: 'test' } }, false],
    ["node's own runner does", { env: { NODE_TEST_CONTEXT: 'child-v8' } }, false],
  ])('is no matter where %s', async (_, given, begins) => {
    const { said, source, clock, attach } = world(given)
    attach(await open())
    if (begins) lifeBegun(source)
    await clock.advance(2 * ATTACHED)
    expect(said).toEqual([])
  })

  test('is no matter when it does not listen any more', async () => {
    const { said, clock, attach } = world()
    const server = await open()
    attach(server)
    server.close()
    await clock.advance(2 * ATTACHED)
    expect(said).toEqual([])
  })
})
