import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JournalEntry } from '#src/inspector/protocol.ts'
import { StreamReader } from '../inspector/client.ts'
import { type ServerPlan, startServer, type TestProcess, temporaryFolder } from '../support/process.ts'

/**
 * The journal is whole on every end that can still write; what leaves no time is what would lose
 * its last lines.
 */
function startWithJournal(plan: ServerPlan = {}) {
  const journal = join(temporaryFolder(), 'journal.ndjson')
  const server = startServer({ ...plan, options: { ...plan.options, journal, inspector: true } })
  const entries = (): JournalEntry[] =>
    readFileSync(journal, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JournalEntry)
  return { server, entries }
}

const inspectorOf = (server: TestProcess): string => server.log.find(({ msg }) => msg?.startsWith('Inspector on '))?.['url'] as string

function expectWhole(entries: readonly JournalEntry[]): void {
  expect(entries.map(({ n }) => n)).toEqual(entries.map((_, index) => index + 1))
  expect(entries[0]).toMatchObject({ kind: 'opening' })
}

const ENDS: readonly [string, ServerPlan, (server: TestProcess) => Promise<void> | void, number][] = [
  ['in order', {}, (server) => void server.signal('SIGTERM'), 0],
  [
    'by force, at a second signal',
    { hooks: [{ kind: 'pre-shutdown', name: 'leave', does: 'hangs', timeout: '1m' }], options: { deadline: '5m' } },
    async (server) => {
      let isOver = false
      void server.ended().then(() => {
        isOver = true
      })
      // Signals within half a second are one.
      await expect.poll(() => isOver || !server.child.kill('SIGTERM'), { timeout: 20_000, interval: 200 }).toBe(true)
    },
    1,
  ],
  ['cut', { options: { deadline: '500ms' }, hold: 'a job that never ends' }, (server) => void server.signal('SIGTERM'), 5],
  [
    'by a crash',
    {},
    async (server) => {
      await server.requested('GET', '/throw')
    },
    1,
  ],
]

describe('a journal', () => {
  test.each(ENDS)('of a life that ends %s is whole, for the file and for who reads along', async (_, plan, end, exitCode) => {
    const { server, entries } = startWithJournal(plan)
    await server.serving()
    await expect.poll(() => inspectorOf(server), { timeout: 20_000 }).toBeDefined()
    const reader = await StreamReader.open(inspectorOf(server))
    await reader.until((entry) => entry.kind === 'gauges')
    await end(server)
    expect(await server.ended()).toMatchObject({ code: exitCode })
    await reader.closed
    const written = entries()
    expectWhole(written)
    expect(written.at(-1)).toMatchObject({ kind: 'report', report: { exitCode } })
    expect(reader.entries).toEqual(written)
    expect(reader.hasEnded).toBe(true)
  })

  test('of a process that somebody ends in the middle has what happened until then', async () => {
    const { server, entries } = startWithJournal({ hooks: [{ kind: 'pre-shutdown', name: 'leave', does: 'exits' }] })
    await server.serving()
    server.signal('SIGTERM')
    expect(await server.ended()).toMatchObject({ code: 9 })
    const written = entries()
    expectWhole(written)
    expect(written.at(-1)).not.toMatchObject({ kind: 'report' })
    expect(written).toContainEqual(
      expect.objectContaining({ kind: 'fact', event: expect.objectContaining({ type: 'hook.started', name: 'leave' }) }),
    )
  })
})
