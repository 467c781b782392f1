import { existsSync, readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { nodeServers } from '#src/actors/server-factories.ts'
import { systemClock } from '#src/base/clock.ts'
import { deferred } from '#src/base/deferred.ts'
import type { LifecycleEvent } from '#src/base/events.ts'
import { createServerOn } from '#src/create-server.ts'
import type { ServerOptions } from '#src/index.ts'
import type { Report } from '#src/report/report.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { aborted } from '../support/life.ts'
import { temporaryFolder } from '../support/process.ts'

/**
 * The process ends while a life is under way, by an exit that is not ours. Real processes:
 * test/processes/exit.test.ts.
 */

function lifeIn(process: FakeProcess, options: ServerOptions, listener: RequestListener = (_, response) => response.end()) {
  const host = { clock: systemClock, random: () => 0, process: process.asHostProcess(), servers: nodeServers }
  const reportFile = join(temporaryFolder(), 'report.json')
  const life = createServerOn(
    host,
    { listener },
    { port: 0, host: '127.0.0.1', platform: 'unknown', shutdownDelay: 0, logger: false, reportFile, ...options },
  )
  const read = (): Report | undefined => (existsSync(reportFile) ? (JSON.parse(readFileSync(reportFile, 'utf8')) as Report) : undefined)
  return { life, read }
}

test('the report of an end by force is written when everything is broken off, and names that', async () => {
  const process = new FakeProcess()
  const asked: string[] = []
  const { life, read } = lifeIn(process, {}, (request) => void asked.push(request.url ?? ''))
  life.run().catch(() => {})
  await expect.poll(() => life.addresses).toHaveLength(1)
  const { port } = life.addresses[0] as { readonly port: number }
  const answer = fetch(`http://127.0.0.1:${port}/never`)
  answer.catch(() => {})
  await expect.poll(() => asked).toEqual(['/never'])
  const written: unknown[] = []
  process.on('exit', () => void written.push(read()))
  await life.stop({ now: true })
  expect(process.exits).toEqual([1])
  // What was not written by then never is.
  expect(written[0]).toMatchObject({
    forced: 'stop-now',
    requests: { after: 1, cut: [{ name: expect.stringContaining('/never') as string }] },
    connections: { forced: 1, forcedNames: [{ name: expect.stringContaining('/never') as string }] },
  })
  await expect(answer).rejects.toThrow()
})

test('the report that was written names lines of the log that were lost after it', async () => {
  const process = new FakeProcess()
  const said: string[] = []
  const line = (_fields: object, message: string): void => void said.push(message)
  // The reader of the log goes when the report is in its file.
  const lostLines = (): number => (read() === undefined ? 0 : 3)
  const logger = { debug: line, info: line, warn: line, error: line, lostLines }
  const { life, read } = lifeIn(process, { logger })
  await life.start()
  await life.stop()
  expect(said).toContain('the server is exiting')
  expect(read()).toMatchObject({
    exitCode: 0,
    warnings: [{ message: 'log lines were lost', details: { code: 'WARN_LOG_LOST', lines: 3 } }],
  })
  expect(process.stderrText).toContain('quiesce: 3 log lines were lost')
})

describe('the exit of the process', () => {
  test('is listened to from the beginning of a life to its end, once for all lives', async () => {
    const process = new FakeProcess()
    const [one, two] = [lifeIn(process, {}).life, lifeIn(process, {}).life]
    expect(process.listenerCount('exit')).toBe(0)
    await Promise.all([one.start(), two.start()])
    expect(process.listenerCount('exit')).toBe(1)
    await one.stop()
    expect(process.listenerCount('exit')).toBe(1)
    await two.stop()
    expect(process.listenerCount('exit')).toBe(0)
  })

  test('is in the report of every life that it cuts off, without run() too', async () => {
    const process = new FakeProcess()
    const [one, two] = [lifeIn(process, {}), lifeIn(process, {})]
    await Promise.all([one.life.start(), two.life.start()])
    // Nobody listens to crashes without run().
    process.crash(new Error('nobody caught it'))
    for (const { read, life } of [one, two]) {
      expect(read()).toMatchObject({ exitCode: 1, forced: 'process-exit', forcedBy: { exitCode: 1 } })
      await life.stop()
    }
    expect(process.exits).toEqual([1])
  })

  test('is told to observers when the report is written: one may end the process on the spot', async () => {
    const process = new FakeProcess()
    const { life, read } = lifeIn(process, {})
    await life.start()
    const written: unknown[] = []
    life.events$.subscribe(({ type }) => void (type === 'forced' && written.push(read()?.forced)))
    expect(() => process.exit(7)).toThrow('process.exit(7)')
    expect(written).toEqual(['process-exit'])
    await life.stop()
  })

  test('is logged before a logger writes, at the exit, what it has kept: pino does where it is not synchronous', async () => {
    const process = new FakeProcess()
    const kept: string[] = []
    const written: string[] = []
    process.on('exit', () => void written.push(...kept.splice(0)))
    const line = (_: object, message: string): void => void kept.push(message)
    const { life } = lifeIn(process, { logger: { debug: line, info: line, warn: line, error: line } })
    await life.start()
    expect(() => process.exit(3)).toThrow('process.exit(3)')
    expect(written).toContain('ending by force')
    expect(kept).toEqual([])
    await life.stop()
  })

  test('flushes no logger of the user’s, which says no way to do so in time', async () => {
    const process = new FakeProcess()
    const flushes: string[] = []
    const lines: string[] = []
    const quiet = (): void => undefined
    const logger = {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: (_: object, message: string) => void lines.push(message),
      flush: (done?: () => void) => {
        flushes.push('flush')
        done?.()
      },
    }
    const { life } = lifeIn(process, { logger })
    await life.start()
    expect(() => process.exit(0)).toThrow('process.exit(0)')
    expect(lines).toEqual(['ending by force'])
    expect(flushes).toEqual([])
    await life.stop()
  })

  test.each([0, 7])('of a program in the middle of a stop, with %i, names the hooks that it leaves out', async (code) => {
    const process = new FakeProcess()
    const { life } = lifeIn(process, {})
    const begun = deferred<void>()
    life.addPreShutdownHook('leave', () => {
      begun.resolve()
      return new Promise(() => {})
    })
    await life.start()
    life.stop().catch(() => {})
    await begun.promise
    expect(() => process.exit(code)).toThrow(`process.exit(${code})`)
    expect(process.stderrText).toBe(
      `quiesce: the process exits with ${code} before its server has ended: not run to their end: pre-shutdown "leave"\n`,
    )
  })

  test.each([
    ['at the first signal', 1, 'on'],
    ['at the first signal, heard once', 1, 'once'],
    ['at the second signal', 2, 'on'],
  ] as const)('by a listener of its own %s names the signal, unlike one by other code', async (_, at, how) => {
    for (const isListeners of [true, false]) {
      const process = new FakeProcess()
      const { life } = lifeIn(process, {})
      const left = deferred<void>()
      life.addPreShutdownHook('leave', () => left.promise)
      let heard = 0
      const exit = (): void => {
        if (++heard === at) process.exit(9)
      }
      if (isListeners) process[how]('SIGTERM', exit)
      const running = life.run()
      await aborted(life.signal('PostStartHooksLaunched'))
      const signal = (): void => void process.emit('SIGTERM', 'SIGTERM')
      if (at === 2) signal()
      if (!isListeners) signal()
      expect(isListeners ? signal : () => process.exit(9)).toThrow('process.exit(9)')
      expect(process.stderrText).toBe(
        `quiesce: the process exits with 9 before its server has ended: not run to their end: pre-shutdown "leave"${
          isListeners ? '; a listener of SIGTERM may have called process.exit(): leave the end to run()' : ''
        }\n`,
      )
      left.resolve()
      await expect(running).rejects.toThrow('process.exit')
    }
  })

  test('names what it cuts off, and how many', async () => {
    const process = new FakeProcess()
    const { life, read } = lifeIn(process, { longRunning: ({ url }) => url === '/watch' }, () => {})
    const events: LifecycleEvent[] = []
    life.events$.subscribe((event) => void events.push(event))
    await life.start()
    const { port } = life.addresses[0] as { readonly port: number }
    for (const path of ['/never', '/watch']) fetch(`http://127.0.0.1:${port}${path}`).catch(() => {})
    await expect.poll(() => life.counts()).toMatchObject({ requests: 1, watches: 1 })
    expect(() => process.exit(7)).toThrow('process.exit(7)')
    expect(process.stderrText).toBe('quiesce: the process exits with 7 before its server has ended: 2 in flight cut off\n')
    expect(read()).toMatchObject({
      requests: { cut: [{ name: expect.stringContaining('/never') as string }] },
      watches: { cut: [{ name: expect.stringContaining('/watch') as string }] },
    })
    expect(events.at(-1)).toMatchObject({ type: 'ended', exitCode: 1 })
    expect(process.listenerCount('exit')).toBe(0)
    await life.stop({ now: true }).catch(() => {})
  })

  test('names the handlers that still run', async () => {
    const process = new FakeProcess()
    const { life, read } = lifeIn(process, {}, (() => new Promise(() => {})) as unknown as RequestListener)
    await life.start()
    const { port } = life.addresses[0] as { readonly port: number }
    fetch(`http://127.0.0.1:${port}/never`).catch(() => {})
    await expect.poll(() => life.counts()).toMatchObject({ requests: 1 })
    expect(() => process.exit(7)).toThrow('process.exit(7)')
    expect(read()?.handlers).toMatchObject([{ name: expect.stringContaining('/never') as string }])
    await life.stop({ now: true }).catch(() => {})
  })

  test('with nothing in flight says nothing, but what was lost of the log', async () => {
    const process = new FakeProcess()
    const quiet = (): void => undefined
    const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, lostLines: () => 2 }
    const { life } = lifeIn(process, { logger })
    const events: string[] = []
    life.events$.subscribe(({ type }) => void events.push(type))
    await life.start()
    expect(() => process.exit(0)).toThrow('process.exit(0)')
    expect(process.stderrText).toBe('quiesce: 2 log lines were lost [WARN_LOG_LOST]\n')
    expect(events).not.toContain('handlers')
    await life.stop()
  })
})
