import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nodeServers } from '#src/actors/server-factories.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { createServerOn } from '#src/create-server.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { temporaryFolder } from '../support/process.ts'

const DEADLINE_MS = 8_000
const nothing = (): void => undefined

/** Synchronous flushing stops the whole process. */
test('what is flushed in the last moment takes no more than the deadline leaves, and the report that is written then says that it was cut', async () => {
  const clock = new VirtualClock()
  const flushes: { readonly at: number; readonly ms: number }[] = []
  const neverFlushes = { debug: nothing, info: nothing, warn: nothing, error: nothing, flush: (_callback: unknown) => undefined }
  const flushSync = (ms: number): number => flushes.push({ at: clock.now(), ms })
  const reportFile = join(temporaryFolder(), 'report.json')
  const life = createServerOn(
    { clock, random: () => 0, process: new FakeProcess().asHostProcess(), servers: nodeServers },
    { listener: (_, response) => response.end() },
    { port: 0, host: '127.0.0.1', platform: 'unknown', deadline: DEADLINE_MS, reportFile, logger: { ...neverFlushes, flushSync } },
  )
  await life.start()
  const stoppedAt = clock.now()
  const ended = life.stop()
  await clock.advance(DEADLINE_MS)

  expect(await ended).toMatchObject({ exitCode: 5 })
  expect(JSON.parse(readFileSync(reportFile, 'utf8'))).toMatchObject({ exitCode: 5 })
  expect(flushes).toHaveLength(1)
  const [{ at, ms }] = flushes as [{ at: number; ms: number }]
  expect(ms).toBe(stoppedAt + DEADLINE_MS - at)
  expect(ms).toBeLessThan(life.options.reservesMs.flush)
})
