// Fails when: files that cannot be watched are read less than once a minute, or that is said more
// or less often; a failure is said before it has lasted, twice, or is not tried again.
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { QuiesceError } from '#src/base/errors.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { REREAD_MS, Reloader } from '#src/tls/reloader.ts'
import { temporaryFolder } from '../support/process.ts'
import { row } from '../support/row.ts'

function reloader(files: readonly string[], failures: () => readonly QuiesceError[] = () => []) {
  const clock = new VirtualClock()
  const notified: string[] = []
  let reads = 0
  let ticks = 0
  const made = new Reloader({
    clock,
    files,
    refresh: async () => {
      reads++
      return failures()
    },
    failed: ({ message }) => void notified.push(`${clock.now()} ${message}`),
    tick: () => void ticks++,
  })
  onTestFinished(() => made.close())
  made.begin()
  /** Files take no virtual time, but real turns: the next timer is set when they were read. */
  const until = async (ms: number): Promise<void> => {
    await clock.waitForTimers()
    while (clock.now() < ms) {
      await clock.runToNext()
      await clock.waitForTimers()
    }
  }
  return { notified, until, counts: () => ({ reads, ticks }) }
}

row('DC-09', 'a folder that cannot be watched is said once a minute, and read about as often', async () => {
  const folder = join(temporaryFolder(), 'missing')
  const { notified, until, counts } = reloader([join(folder, 'tls.crt')])
  await until(3 * REREAD_MS)
  const message = expect.stringContaining(`${folder}: cannot be watched (ENOENT`)
  expect(notified.map((line) => line.split(' ', 1)[0])).toEqual(['0', '60000', '120000', '180000'])
  expect(notified.map((line) => line.replace(/^\d+ /, ''))).toEqual([message, message, message, message])
  expect(counts()).toEqual({ reads: 4, ticks: 3 })
})

describe('a failure', () => {
  const failure = new QuiesceError('ERR_TLS', 'tls.key: is not the key of the certificate')

  test('is tried again, ever more seldom, and said once it has lasted for a second', async () => {
    const { notified, until, counts } = reloader([], () => [failure])
    await until(REREAD_MS)
    expect(notified).toEqual([`1500 ${failure.message}`])
    // At once, after 100 ms, 200 ms, 400 ms and so on, and because the minute is over.
    expect(counts().reads).toBe(11)
  })

  test('that is over sooner is none', async () => {
    let reads = 0
    const { notified, until } = reloader([], () => (++reads < 4 ? [failure] : []))
    await until(REREAD_MS)
    expect(notified).toEqual([])
  })

  test('that comes again is said again', async () => {
    let isThere = true
    const { notified, until } = reloader([], () => (isThere ? [failure] : []))
    await until(2_000)
    isThere = false
    await until(2 * REREAD_MS)
    isThere = true
    await until(4 * REREAD_MS)
    expect(notified).toHaveLength(2)
  })
})
