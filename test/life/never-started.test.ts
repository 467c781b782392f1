// Fails when: a process does not say that its lives were never begun, says it of others or twice,
// or is kept alive by looking. Whole programs: test/processes/warned-process.test.ts.
import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { lifeBegun, lifeCreated, lifeOnlyChecked, serversAttached } from '#src/process/never-started.ts'

const ATTACHED = 10_000
const LISTENS =
  'quiesce: a server listens, but run() was not called on its lifecycle: SIGTERM will drop the requests in flight. Call run() [WARN_NOT_STARTED]'

function world({ env = {}, signals = 0 } = {}) {
  const said: string[] = []
  const source = Object.assign(new EventEmitter(), { stderr: { write: (text: string) => said.push(text.trimEnd()) }, env })
  for (let i = 0; i < signals; i++) source.on('SIGTERM', () => {})
  const clock = new VirtualClock()
  return { said, source, clock, attach: (...servers: Server[]) => serversAttached(source, clock, servers) }
}

async function open(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return server
}

describe('the end of a process', () => {
  test('tells of one life that was never begun, once', () => {
    const { said, source } = world()
    lifeCreated(source)
    expect(said).toEqual([])
    // What is said may let the process come to its end again.
    source.emit('beforeExit')
    source.emit('beforeExit')
    expect(said).toEqual([
      'quiesce: a lifecycle was created and never started, so nothing was served: call run() on it, or start() [WARN_NOT_STARTED]',
    ])
    expect(source.listenerCount('beforeExit')).toBe(0)
  })

  test('tells of several in one line, with one listener', () => {
    const { said, source } = world()
    for (let i = 0; i < 3; i++) lifeCreated(source)
    expect(source.listenerCount('beforeExit')).toBe(1)
    source.emit('beforeExit')
    expect(said).toEqual([
      'quiesce: 3 lifecycles were created and never started, so nothing was served: call run() on them, or start() [WARN_NOT_STARTED]',
    ])
  })

  test('tells of none when one was begun, and nobody listens then', () => {
    const { said, source } = world()
    lifeCreated(source)
    lifeBegun(source)
    lifeCreated(source)
    expect(source.listenerCount('beforeExit')).toBe(0)
    source.emit('beforeExit')
    expect(said).toEqual([])
  })

  test('tells of none that was looked at, as a model checker does, and of the others', () => {
    const { said, source } = world()
    lifeCreated(source)
    lifeCreated(source)
    lifeOnlyChecked(source)
    source.emit('beforeExit')
    expect(said).toEqual([
      'quiesce: a lifecycle was created and never started, so nothing was served: call run() on it, or start() [WARN_NOT_STARTED]',
    ])
    const other = world()
    lifeCreated(other.source)
    lifeOnlyChecked(other.source)
    expect(other.source.listenerCount('beforeExit')).toBe(0)
    lifeCreated(other.source)
    lifeBegun(other.source)
    lifeOnlyChecked(other.source)
    other.source.emit('beforeExit')
    expect(other.said).toEqual([])
  })

  test('tells of none that came after the beginning of another', () => {
    const { source } = world()
    lifeBegun(source)
    lifeCreated(source)
    expect(source.listenerCount('beforeExit')).toBe(0)
  })

  test('tells of the lives of its own process', () => {
    const [one, other] = [world(), world()]
    lifeCreated(one.source)
    lifeBegun(other.source)
    one.source.emit('beforeExit')
    expect(one.said).toHaveLength(1)
  })
})

describe('a server that listens, with a life that was never begun', () => {
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

  test('is found among those that were attached after it', async () => {
    const { said, clock, attach } = world()
    attach(await open())
    attach(createServer())
    await clock.advance(ATTACHED)
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

  test('is looked at once: no matter when it listens later', async () => {
    const { said, clock, attach } = world()
    const server = createServer()
    attach(server)
    await clock.advance(ATTACHED)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    attach(createServer())
    await clock.advance(ATTACHED)
    expect(said).toEqual([])
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

  test('is looked for with one timer, which keeps no process, and none where nothing is to be found', () => {
    const timers: { kept: boolean }[] = []
    const setTimeout = () => {
      const timer = { kept: true, unref: () => Object.assign(timer, { kept: false }) }
      timers.push(timer)
      return timer
    }
    const clock = { now: () => 0, wall: () => 0, setTimeout, clearTimeout: () => {} }
    const [own, begun, tested] = [world(), world(), world({ env: { NODE_ENV: 'test' } })]
    lifeBegun(begun.source)
    for (const { source } of [own, own, begun, tested]) serversAttached(source, clock, [createServer()])
    expect(timers).toMatchObject([{ kept: false }])
  })
})

test('a life that begins in a world of tests says nothing about those of the process', async () => {
  // Lives of the process that other tests have begun are known to the modules that they share.
  vi.resetModules()
  const [{ createLife }, { newLife }] = await Promise.all([import('#src/create-life.ts'), import('../support/life.ts')])
  const others = process.listenerCount('beforeExit')
  const own = createLife()
  expect(process.listenerCount('beforeExit')).toBe(others + 1)
  const tested = newLife()
  await tested.life.start()
  await tested.end()
  expect(process.listenerCount('beforeExit')).toBe(others + 1)
  await own.stop()
  expect(process.listenerCount('beforeExit')).toBe(others)
})
