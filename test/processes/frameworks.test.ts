// The helpers for frameworks as programs, under load, with a request of three seconds under way at
// the stop. Fails when: a request is lost, the end is not graceful, hooks of the framework do not
// run or the end waits for itself, a close() of Fastify's answers 503, or work after a response is
// lost.
import { Agent, get } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startProgram, type TestProcess } from '../support/process.ts'

async function urlOf(program: TestProcess): Promise<string> {
  const beginning = 'Serving on '
  for (;;) {
    const line = program.log.find(({ msg }) => msg.startsWith(beginning))
    if (line) return line.msg.slice(beginning.length)
    if (program.child.exitCode !== null) throw new Error(`it ended without serving:\n${program.stderr}`)
    await program.next()
  }
}

/** How a request ended: its status, or the error of its connection. */
const ask = (url: string, agent: Agent): Promise<string> =>
  new Promise((resolve) => {
    get(url, { agent }, (response) => {
      response.resume().once('end', () => resolve(String(response.statusCode)))
      response.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    }).once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })

/** Clients that ask until there is no server any more; counts how each request ended. */
function load(url: string, clients: number): Promise<Record<string, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  onTestFinished(() => agent.destroy())
  const outcomes: Record<string, number> = {}
  const client = async (): Promise<void> => {
    for (;;) {
      const outcome = await ask(url, agent)
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      if (outcome !== '200') return
    }
  }
  return Promise.all(Array.from({ length: clients }, client)).then(() => outcomes)
}

/** Stops it in the middle of a slow request, under load. */
async function stopUnderLoad(program: TestProcess, stop: () => void) {
  const url = await urlOf(program)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const slow = ask(`${url}/slow`, agent)
  await program.said('arrived')
  const outcomes = load(url, 8)
  // The load is under way.
  await ask(url, agent)
  stop()
  expect(await slow).toBe('200')
  const { 200: answered, ECONNREFUSED: refused, ...others } = await outcomes
  expect(answered).toBeGreaterThan(0)
  // Told to leave, a client connects anew, where there is no listener any more; 503 is an answer.
  expect(Object.keys(others).filter((outcome) => outcome !== '503')).toEqual([])
  expect(refused ?? 0).toBeLessThanOrEqual(8)
  const { code, signal } = await program.ended()
  return { code, signal, said: program.lines, unavailable: others['503'] ?? 0 }
}

describe('a request of three seconds is answered, and no other is lost', () => {
  test('Hono: so is what goes on after the response', async () => {
    const program = startProgram('with-hono.mjs')
    const url = await urlOf(program)
    expect(await (await fetch(`${url}/background`)).text()).toBe('begun')
    const { code, signal, said } = await stopUnderLoad(program, () => void program.signal('SIGTERM'))
    expect({ code, signal }).toEqual({ code: 0, signal: null })
    expect(said).toEqual(expect.arrayContaining(['work done', 'late work done']))
  })

  test('Hono: what goes on after the response may fail', async () => {
    const program = startProgram('with-hono.mjs')
    const url = await urlOf(program)
    expect(await (await fetch(`${url}/failing`)).text()).toBe('begun')
    expect(await (await fetch(url)).text()).toBe('hello')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
    expect(program.log).toContainEqual(expect.objectContaining({ where: 'waitUntil', msg: 'no e-mail' }))
  })

  test('Fastify', async () => {
    const program = startProgram('with-fastify.mjs')
    const { code, signal, said } = await stopUnderLoad(program, () => void program.signal('SIGTERM'))
    expect({ code, signal, said }).toEqual({ code: 0, signal: null, said: ['arrived', 'leaving by a signal', 'onClose'] })
    // Fastify's own lines, and those of the life, by the app's logger.
    expect(program.log).toContainEqual(expect.objectContaining({ msg: expect.stringMatching(/^Server listening/) as string }))
  })

  test('Fastify, ended by its own close()', async () => {
    const program = startProgram('with-fastify.mjs', {}, { env: { CLOSE: '1' } })
    const { code, signal, said, unavailable } = await stopUnderLoad(program, () => void program.signal('SIGUSR2'))
    // Fastify by itself answers 503 from its close() on.
    expect({ code, signal, unavailable }).toEqual({ code: 0, signal: null, unavailable: 0 })
    expect(said).toEqual(['arrived', 'leaving by close()', 'onClose', 'closed'])
  })

  // Only Linux answers on every address of the loopback.
  test.skipIf(process.platform !== 'linux')('Fastify on its default host, whose other address has a server of its own', async () => {
    const program = startProgram('with-fastify.mjs', {}, { env: { LOCALHOST: '1' } })
    const url = (await urlOf(program)).replace('127.0.0.1', '127.0.0.2')
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const slow = ask(`${url}/slow`, agent)
    await program.said('arrived')
    program.signal('SIGTERM')
    expect(await slow).toBe('200')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
    // Nor has the other server been left open.
    expect(program.stderr).not.toContain('still alive')
  })

  test('NestJS', async () => {
    const program = startProgram('with-nest.mjs')
    const { code, signal, said } = await stopUnderLoad(program, () => void program.signal('SIGTERM'))
    expect({ code, signal, said }).toEqual({
      code: 0,
      signal: null,
      said: ['arrived', 'leaving', 'beforeApplicationShutdown SIGTERM', 'onApplicationShutdown SIGTERM'],
    })
  })

  test('NestJS, ended by its own close(), which is called twice', async () => {
    const program = startProgram('with-nest.mjs')
    const { code, signal, said } = await stopUnderLoad(program, () => void program.signal('SIGUSR2'))
    expect({ code, signal, said }).toEqual({
      code: 0,
      signal: null,
      said: ['arrived', 'leaving', 'beforeApplicationShutdown undefined', 'onApplicationShutdown undefined', 'closed', 'closed'],
    })
  })
})
