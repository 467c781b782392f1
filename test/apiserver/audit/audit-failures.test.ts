// Events that cannot be stored, many at a time. Fails when: each of them has a line in the log, a
// line does not say how many it stands for, or one is missing from what the report counts.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createApiServerOn } from '#apiserver/api-server.ts'
import { auditFailures } from '#apiserver/audit/audit-failures.ts'
import { completeConfig } from '#apiserver/index.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { Logger } from '#src/log/logger.ts'
import { testLife } from '#src/testing/index.ts'

/** A server whose audit log takes no event but the first. */
async function full() {
  const folder = await mkdtemp(join(tmpdir(), 'quiesce-audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const said: unknown[] = []
  const error: Logger['error'] = (fields, message) => {
    const { where, times } = fields as { readonly where?: string; readonly times?: number }
    said.push([message, where, times])
  }
  const logger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error }
  const life = await testLife((world) =>
    world.create((host) => {
      const auditLog = { path: join(folder, 'audit.log'), mode: 'batch', bufferSize: 1, maxBatchSize: 100, maxBatchWait: '1h' } as const
      const auditPolicy = { rules: [{ level: 'Metadata' }] } as const
      const base = { platform: 'unknown', exit: 'natural', lastCall: 0, shutdownDelay: 0, logger } as const
      const server = createApiServerOn(host, completeConfig({ ...base, auditLog, auditPolicy }))
      server.handle('/x', (_request, response) => void response.end('x'))
      return server.prepare().life
    }),
  )
  onTestFinished(async () => void (await life[Symbol.asyncDispose]()))
  const ask = async (times: number): Promise<void> => {
    for (let at = 0; at < times; at++) expect((await life.request('/x')).status).toBe(200)
  }
  return { life, said, ask }
}

test('have a line a second, which says how many they are, and are all counted', async () => {
  const { life, said, ask } = await full()
  // Two events of each, of which the very first is stored.
  await ask(10)
  const line = (times?: number) => ['audit buffer queue blocked', 'audit buffered', times]
  expect(said).toEqual([line()])
  await life.clock.advance(1_000)
  await ask(1)
  expect(said).toEqual([line(), line(19)])
  const report = await life.stop()
  // Whether the first one is written depends on the disk: no virtual time waits for that.
  expect((report.audit?.delivered ?? 0) + (report.audit?.lost ?? 0)).toBe(22)
  const counted = report.errors.filter(({ where }) => where === 'audit buffered')
  expect(counted.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(21)
})

test('are told apart by backend and by what they say', async () => {
  const clock = new VirtualClock()
  const recorded: unknown[] = []
  const failed = auditFailures(clock, (fact) => {
    if (fact.type === 'error') recorded.push([fact.where, fact.error.message, fact.times ?? 1])
  })
  const fail = (plugin: string, message: string): void => failed(plugin, new Error(message), 1)
  fail('log', 'a')
  fail('webhook', 'a')
  fail('log', 'a')
  fail('log', 'b')
  await clock.advance(999)
  fail('log', 'b')
  await clock.advance(1)
  fail('log', 'b')
  expect(recorded).toEqual([
    ['audit log', 'a', 1],
    ['audit webhook', 'a', 1],
    ['audit log', 'a', 0],
    ['audit log', 'b', 1],
    ['audit log', 'b', 0],
    ['audit log', 'b', 2],
  ])
})
