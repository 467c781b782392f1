// A life whose process stood still until its deadline was over. Fails when: nobody is told, or not
// where it can still be read: in the log before it is flushed, in the report before it is written,
// and on standard error when both are done.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nodeServers } from '#src/actors/server-factories.ts'
import { systemClock } from '#src/base/clock.ts'
import { createServerOn } from '#src/create-server.ts'
import type { Report } from '#src/report/report.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { temporaryFolder } from '../support/process.ts'

const MISSED = 'the deadline was missed by'

/** A life, and what moves its clock on by two minutes, while its timers wait. */
async function serving() {
  let blockedMs = 0
  const clock = {
    now: () => systemClock.now() + blockedMs,
    wall: () => systemClock.wall() + blockedMs,
    setTimeout: (fn: () => void, ms: number) => systemClock.setTimeout(fn, ms),
    clearTimeout: (timer: unknown) => systemClock.clearTimeout(timer),
  }
  const standStill = (): void => {
    blockedMs = 120_000
  }
  const process = new FakeProcess()
  const said: string[] = []
  const line = (_fields: object, message: string): void => void said.push(message)
  const onFlush = { run: (): void => {}, said: [] as string[] }
  const flush = (done: () => void): void => {
    onFlush.said = said.filter((message) => message.startsWith(MISSED))
    onFlush.run()
    done()
  }
  const reportFile = join(temporaryFolder(), 'report.json')
  const life = createServerOn(
    { clock, random: () => 0, process: process.asHostProcess(), servers: nodeServers },
    { listener: (_, response) => void response.end('hello') },
    {
      port: 0,
      host: '127.0.0.1',
      platform: 'unknown',
      shutdownDelay: 0,
      deadline: '60s',
      reportFile,
      logger: { debug: line, info: line, warn: line, error: line, flush },
    },
  )
  const written = () => JSON.parse(readFileSync(reportFile, 'utf8')) as Report
  return { life, process, onFlush, standStill, written }
}

const warned = [{ message: expect.stringContaining(MISSED) as string }]

test('stood still before its log was flushed: the log has it, and the report', async () => {
  const { life, process, onFlush, standStill, written } = await serving()
  life.addDestroy('blocks', standStill)
  await life.start()
  await life.stop()
  expect(onFlush.said).toHaveLength(1)
  expect(written().warnings).toMatchObject(warned)
  expect(process.stderrText).toBe('')
})

test('stood still while its log was flushed: the report has it', async () => {
  const { life, process, onFlush, standStill, written } = await serving()
  onFlush.run = standStill
  await life.start()
  await life.stop()
  expect(onFlush.said).toEqual([])
  expect(written().warnings).toMatchObject(warned)
  expect(process.stderrText).toBe('')
})

test('stood still before it was ended by force: the report has it', async () => {
  const { life, process, standStill, written } = await serving()
  await life.start()
  const held = life.hold('job')
  const ended = life.stop()
  standStill()
  void life.stop({ now: true })
  expect(await ended).toMatchObject({ forced: 'stop-now', exitCode: 1 })
  expect(written()).toMatchObject({ forced: 'stop-now', exitCode: 1 })
  held[Symbol.dispose]()
  expect(written().warnings).toMatchObject(warned)
  expect(process.stderrText).toBe('')
})

test('stood still when its report was written: standard error has it', async () => {
  const { life, process, standStill, written } = await serving()
  life.events$.subscribe((event) => {
    if (event.type === 'phase.ended' && event.phase === 'report') standStill()
  })
  await life.start()
  await life.stop()
  expect(written().warnings).toEqual([])
  expect(process.stderrText).toContain(`quiesce: ${MISSED}`)
})

test('stood still when all was over: the last that is called says it', async () => {
  const { life, process, standStill } = await serving()
  await life.start()
  await life.stop()
  life.running.sayIfLate()
  expect(process.stderrText).toBe('')
  standStill()
  life.running.sayIfLate()
  expect(process.stderrText).toContain(`quiesce: ${MISSED}`)
})
