// A logger whose flush hangs or fails. Fails when: it takes the deadline, costs an exit code, is
// told nowhere, or its last, synchronous try is longer than there is time.
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import type { Logger } from '#src/log/logger.ts'
import { never, newLife } from '../support/life.ts'

const DEADLINE_MS = 8_000
const nothing = (): void => undefined

/** Ends a life whose logger flushes like that. */
async function endWith(flush: (callback: (error?: Error) => void) => unknown, hookTimeout: '1s' | '8s' = '1s') {
  const clock = new VirtualClock()
  const flushes: { readonly at: number; readonly ms: number }[] = []
  const flushSync = (ms: number): number => flushes.push({ at: clock.now(), ms })
  const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, flush, flushSync } as Logger
  const t = newLife({ clock, options: { deadline: DEADLINE_MS, hookTimeout, logger } })
  await t.life.start()
  const stoppedAt = clock.now()
  const { exitCode, warnings, phases } = await t.end()
  const { start = 0, end } = phases.find(({ name }) => name === 'report') ?? {}
  return {
    ...{ exitCode, warnings, tookMs: (end ?? Number.NaN) - start, stderr: t.process.stderrText },
    flushes: flushes.map(({ at, ms }) => ({ at: at - stoppedAt, ms })),
    reserveMs: t.life.options.reservesMs.flush,
  }
}

const warned = (how: string) => [
  { message: `lines of the log may be lost: flush() of the option logger ${how}`, details: { code: 'WARN_LOG_LOST' } },
]

describe('a logger that does not flush costs no exit code, and the report and standard error say so', () => {
  test.each([
    ['never calls back', (_callback: unknown) => undefined],
    ['never resolves', () => never],
  ])('%s: it has the time of a hook', async (_, flush) => {
    const { exitCode, warnings, tookMs, stderr, flushes, reserveMs } = await endWith(flush)
    expect({ exitCode, warnings }).toEqual({ exitCode: 0, warnings: warned('has not ended within 1s') })
    expect(stderr).toBe(`quiesce: ${warnings[0]?.message} [WARN_LOG_LOST]\n`)
    expect(tookMs).toBe(1_000)
    expect(flushes).toMatchObject([{ ms: reserveMs }])
  })

  test('a longer time of a hook ends before the deadline, and so does the last, synchronous try', async () => {
    const { exitCode, warnings, flushes, reserveMs } = await endWith(() => never, '8s')
    expect({ exitCode, warnings }).toMatchObject({ exitCode: 0, warnings: [{ details: { code: 'WARN_LOG_LOST' } }] })
    expect(flushes).toHaveLength(1)
    const [{ at, ms }] = flushes as [{ at: number; ms: number }]
    expect(at + ms).toBeLessThan(DEADLINE_MS)
    expect(ms).toBeLessThan(reserveMs)
  })

  test.each<[string, Parameters<typeof endWith>[0]]>([
    ['calls back with an error', (callback) => callback(new Error('disk full'))],
    ['rejects', () => Promise.reject(new Error('disk full'))],
    [
      'throws',
      () => {
        throw new Error('disk full')
      },
    ],
  ])('%s: nothing is waited for', async (_, flush) => {
    const { exitCode, warnings, tookMs, stderr, flushes } = await endWith(flush)
    expect({ exitCode, warnings, tookMs, flushes }).toEqual({
      exitCode: 0,
      warnings: warned('failed with "disk full"'),
      tookMs: 0,
      flushes: [],
    })
    expect(stderr).toBe(`quiesce: ${warnings[0]?.message} [WARN_LOG_LOST]\n`)
  })
})
