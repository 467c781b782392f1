// What a life promises beside its phases. Fails when: something is registered by halves, an answer
// is about what is not asked for, a life is begun by who only looks at it, or one whose machine has
// failed leaves something open or says nothing.
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { nodeServers } from '#src/actors/server-factories.ts'
import { systemClock } from '#src/base/clock.ts'
import { importOnly } from '#src/base/import-only.ts'
import { createServerOn } from '#src/create-server.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { newAttachedLife, newLife } from '../support/life.ts'
import { temporaryFolder } from '../support/process.ts'
import { connectTo } from '../support/raw-client.ts'
import { fresh, REFUSED } from '../support/upstream-client.ts'

test('a life that has not begun has nothing to complain of', () => {
  const { life } = newLife()
  expect(life.root.exitCode).toBe(0)
  expect(life.status.report.exitCode).toBe(0)
})

test.each(['start', 'run'] as const)('whose module is only imported does not %s', async (call) => {
  const { life } = newLife()
  await expect(importOnly(async () => life[call]())).rejects.toMatchObject({
    code: 'ERR_IMPORT_ONLY',
    message: `${call}() is called while its module is imported: export the server instead of running it`,
  })
  expect(life.root.hasBegun).toBe(false)
})

test.each(['start', 'stop'] as const)('a subscriber that answers the first warning by %s() has no second life begin', async (call) => {
  const { life } = newLife({ options: { health: false } })
  life.addReadyzCheck('never asked', () => {})
  const warnings: string[] = []
  let answered: Promise<unknown> | undefined
  life.events$.subscribe((event) => {
    if (event.type !== 'warning') return
    warnings.push(event.message)
    answered ??= life[call]()
  })
  const started = life.start().catch(() => {})
  await Promise.all([started, answered])
  await life.stop()
  expect(warnings).toEqual([expect.stringContaining('never asked')])
})

test('a second start waits for the first, and asks for nothing again', async () => {
  const askedBy = async (starts: number): Promise<number> => {
    const { life } = newLife()
    let asked = 0
    const then = (done: () => void): void => {
      asked++
      queueMicrotask(done)
    }
    life.addMuxCompleteSignal('routes', { then } as PromiseLike<void>)
    await Promise.all(Array.from({ length: starts }, () => life.start()))
    await life.start()
    return asked
  }
  expect(await askedBy(2)).toBe(await askedBy(0))
})

test('a report that cannot be written is known before anything is served', async () => {
  const { life } = newLife({ options: { reportFile: join(temporaryFolder(), 'nowhere', 'report.json') } })
  await expect(life.start()).rejects.toMatchObject({ code: 'ERR_START' })
  expect(life.addresses).toEqual([])
})

test('the log says who is ready by hand, and why if that was said', async () => {
  const t = newLife()
  await t.life.start()
  t.life.setReady(false, 'busy')
  t.life.setReady(true)
  const lines = t.log.filter(({ message }) => message === 'readiness switched by hand')
  expect(lines.map(({ fields }) => fields)).toEqual([{ ready: false, why: 'busy' }, { ready: true }])
})

describe('health', () => {
  test('is answered before the application, and stands in readiness()', async () => {
    const t = newLife()
    t.life.addReadyzCheck('db', () => {
      throw new Error('no db')
    })
    await t.life.start()
    expect(await t.get('/readyz')).toMatchObject({ status: 500 })
    expect(t.log.filter(({ level }) => level === 'debug')).toContainEqual({
      level: 'debug',
      message: 'db check failed: readyz',
      fields: { failed: [expect.objectContaining({ name: 'db' })] },
    })
    expect(t.life.status.readiness()).toBeDefined()
  })

  test('is the application’s where it is off', async () => {
    const t = newLife({ options: { health: false } })
    await t.life.start()
    expect(await t.get('/readyz')).toMatchObject({ status: 200, body: 'hello' })
    expect(t.life.status.readiness()).toBeUndefined()
  })
})

test('health is the handler’s where it answers that itself, but on an admin listener', async () => {
  const process = new FakeProcess()
  const host = { clock: systemClock, random: () => 0, process: process.asHostProcess(), servers: nodeServers }
  const place = { port: 0, host: '127.0.0.1' }
  const options = { ...place, admin: place, platform: 'unknown', logger: false, health: true, shutdownDelay: 0, lastCall: 0 } as const
  const own = { listener: (_: unknown, response: ServerResponse) => void response.end('own') }
  const life = createServerOn(host, own, options, undefined, { healthIsHandlers: true })
  const ports: number[] = []
  life.events$.subscribe((event) => {
    if (event.type === 'listening') ports.push(event.port)
  })
  await life.start()
  onTestFinished(async () => void (await life.stop()))
  expect(await Promise.all(ports.map(async (port) => (await fresh(port, '/readyz')).body))).toEqual(['own', 'ok'])
})

describe('a post-start hook', () => {
  test('whose check is refused is not registered either', () => {
    const { life } = newLife()
    const taken = life.addHealthzCheck('poststarthook/informers', () => {})
    const add = () => life.addPostStartHook('informers', () => {})
    expect(add).toThrow(expect.objectContaining({ code: 'ERR_DUPLICATE' }))
    taken[Symbol.dispose]()
    add()
  })

  test('has finished when it has returned, and nothing else has by its name', async () => {
    const t = newLife()
    t.life.addPostStartHook('returns', () => {})
    t.life.addPostStartHook('fails', () => {
      throw new Error('no')
    })
    t.life.addDestroy('destroys', () => {})
    await t.life.start().catch(() => {})
    await t.end()
    expect(['returns', 'fails', 'destroys'].map((name) => t.life.hasFinishedHook(name))).toEqual([true, false, false])
  })
})

test('its addresses are those for clients', async () => {
  const t = newLife({ options: { admin: { port: 0, host: '127.0.0.1' } } })
  await t.life.start()
  expect(t.life.addresses).toHaveLength(1)
  expect(t.events.filter(({ type }) => type === 'listening')).toHaveLength(2)
})

test('its events are complete when it has ended', async () => {
  const t = newLife()
  let isComplete = false
  t.life.events$.subscribe({
    complete: () => {
      isComplete = true
    },
  })
  await t.life.start()
  expect(isComplete).toBe(false)
  await t.end()
  expect(isComplete).toBe(true)
})

describe('a life whose machine has failed', () => {
  /** Its clock breaks, which no machine of ours expects. */
  function breaking() {
    const process = new FakeProcess()
    let isBroken = false
    const clock = {
      ...systemClock,
      now: () => systemClock.now(),
      wall: () => systemClock.wall(),
      clearTimeout: (timer: unknown) => systemClock.clearTimeout(timer),
      setTimeout: (fn: () => void, ms: number) => {
        if (isBroken) throw new Error('the clock is broken')
        return systemClock.setTimeout(fn, ms)
      },
    }
    const roots: unknown[] = []
    const host = {
      clock,
      random: () => 0,
      process: process.asHostProcess(),
      servers: nodeServers,
      observe: (root: unknown) => void roots.push(root),
    }
    const reportFile = join(temporaryFolder(), 'report.json')
    const life = createServerOn(
      host,
      { listener: (_, response) => void response.end('hello') },
      { port: 0, host: '127.0.0.1', admin: { port: 0, host: '127.0.0.1' }, platform: 'unknown', logger: false, reportFile, health: true },
    )
    const events: { type: string }[] = []
    life.events$.subscribe((event) => void events.push(event))
    const breakDown = () => {
      isBroken = true
    }
    const written = (): unknown => existsSync(reportFile) && JSON.parse(readFileSync(reportFile, 'utf8'))
    return { life, events, breakDown, written, roots }
  }

  test('ends by force: nothing is left open, and the report says what it was', async () => {
    const { life, events, breakDown, written, roots } = breaking()
    await life.start()
    expect(roots).toHaveLength(1)
    const [port, admin] = events.flatMap((event) => ('port' in event ? [event.port as number] : [])) as [number, number]
    const clients = [await connectTo(port), await connectTo(admin)] as const
    expect(await clients[0].ask('GET', '/')).toMatchObject({ status: 200 })
    expect(await clients[1].ask('GET', '/livez')).toMatchObject({ status: 200 })
    const closed = Promise.all(clients.map(({ socket }) => once(socket.resume(), 'close')))
    breakDown()
    const report = await life.stop()
    expect(report).toMatchObject({
      exitCode: 70,
      forced: 'internal-error',
      errors: [{ where: 'lifecycle', error: { message: 'the clock is broken' } }],
    })
    expect(events.at(-1)).toMatchObject({ type: 'ended', exitCode: 70 })
    expect(written()).toMatchObject({ exitCode: 70, forced: 'internal-error' })
    await closed
    await expect(connectTo(port)).rejects.toEqual(REFUSED)
    await expect(connectTo(admin)).rejects.toEqual(REFUSED)
  })
})

test('what an end does is told the very error that a listener has died of', async () => {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const t = newAttachedLife(server)
  const reasons: unknown[] = []
  t.life.addDestroy('pool', ({ reason }) => void reasons.push(reason))
  await t.life.start()
  const error = new Error('the socket is gone')
  server.emit('error', error)
  await t.end(t.life.ended)
  expect(reasons).toMatchObject([{ kind: 'listener-died' }])
  expect((reasons[0] as { error: unknown }).error).toBe(error)
})
