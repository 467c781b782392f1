// Fails when: the demonstration of `quiesce serve` asks for more than its own settings leave time
// for, so that its end is not graceful.
import { expect, test } from 'vitest'
import { parseDuration } from '#src/base/duration.ts'
import { DEMO_SETTINGS, DEMO_SLOW_MS } from '#src/example/demo.ts'
import { runCommand } from '../support/run-cli.ts'

/** For what a busy machine adds: the request on its way, and timers that are late. */
const SPARE_MS = 1_000

test('a slow request of the demo that begins at the end of the delay is answered before the cut', async () => {
  const { code, out } = await runCommand('plan', ...Object.entries(DEMO_SETTINGS).map(([flag, value]) => `--${flag}=${value}`))
  expect(code).toBe(0)
  const timesOf = (row: string) => {
    const [stop = '', interactive = ''] = new RegExp(`^ {2}${row} +(.*)$`, 'm').exec(out)?.[1]?.split(/ +/) ?? []
    return [stop, interactive].map((time) => parseDuration(row, time.replace('+', '') as `${number}s`))
  }
  const delays = timesOf('shutdown delay')
  const cuts = timesOf('requests have until')
  expect(delays).toEqual([3_000, 3_000])
  for (const [at, cut] of cuts.entries()) expect(cut - (delays[at] ?? 0)).toBeGreaterThanOrEqual(DEMO_SLOW_MS + SPARE_MS)
})
