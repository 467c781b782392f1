import { describe, expect, test } from 'vitest'
import { cells } from '#src/base/cells.ts'
import { drainLines } from '#src/cli/live/drain-lines.ts'
import type { Gauges } from '#src/lifecycle/gauges.ts'
import type { Progress } from '#src/lifecycle/progress.ts'

const NOTHING: Gauges = {
  requests: 0,
  watches: 0,
  holds: 0,
  handlers: 0,
  connections: { active: 0, idle: 0, told: 0 },
  blocking: { requests: [], watches: [], holds: [], handlers: [], connections: [], hooks: [] },
}
const SIGTERM: Progress = {
  reason: { kind: 'os-signal', signal: 'SIGTERM' },
  sinceMs: 3_270,
  leftMs: 21_730,
  requestsLeftMs: 14_300,
  phases: [],
}
const WIDE = { width: 120, height: 23, color: false }

const gauges = ({ blocking, ...counts }: Partial<Omit<Gauges, 'blocking'>> & { blocking?: Partial<Gauges['blocking']> }): Gauges => ({
  ...NOTHING,
  ...counts,
  blocking: { ...NOTHING.blocking, ...blocking },
})
const phase = (name: string, leftMs?: number, sinceMs = 1_000) => ({ name, sinceMs, leftMs })

describe('the lines of a drain say', () => {
  test('what is waited for, for how long still, and who is the oldest', () => {
    const lines = drainLines(
      {
        ...SIGTERM,
        phases: [phase('pre-shutdown-hooks', 8_300), phase('request-drain', 14_300), phase('watch-drain', 6_190)],
      },
      gauges({
        requests: 2,
        holds: 1,
        watches: 1,
        connections: { active: 3, idle: 1, told: 5 },
        blocking: {
          hooks: [
            { name: 'pre-shutdown hook "leave-registry"', ageMs: 3_200 },
            { name: 'post-start hook "refresh"', ageMs: 99_000 },
          ],
          requests: [
            { name: 'GET /slow', ageMs: 12_345 },
            { name: 'POST /upload', ageMs: 2_000 },
          ],
          holds: [{ name: 'job 7', ageMs: 9_150 }],
          watches: [{ name: 'GET /watch', ageMs: 65_000 }],
        },
      }),
      WIDE,
    )
    expect(lines).toEqual([
      'draining for 3.2s (SIGTERM): at most 21.7s more',
      '  pre-shutdown-hooks   8.3s left  pre-shutdown hook "leave-registry" 3.2s',
      '  request-drain       14.3s left  2 requests, 1 hold: GET /slow 12.3s, job 7 9.1s, POST /upload 2.0s',
      '  watch-drain          6.1s left  1 watch: GET /watch 1m5s',
      '  connections                     3 active, 1 idle, 5 told to leave',
    ])
  })

  test('what is in flight while nobody waits for it yet', () => {
    const blocking = {
      requests: [{ name: 'GET /slow', ageMs: 2_000 }],
      watches: [
        { name: 'GET /watch', ageMs: 3_000 },
        { name: 'GET /events', ageMs: 1_000 },
      ],
    }
    const lines = drainLines({ ...SIGTERM, phases: [phase('shutdown-delay', 1_800)] }, gauges({ requests: 1, watches: 2, blocking }), WIDE)
    expect(lines).toEqual([
      'draining for 3.2s (SIGTERM): at most 21.7s more',
      '  shutdown-delay       1.8s left  still serving, while traffic finds its way elsewhere',
      '  in flight                       1 request, 2 watches: GET /watch 3.0s, GET /slow 2.0s, GET /events 1.0s',
    ])
  })

  test('what the late phases wait for, also a phase of the user’s, of which only the name is known', () => {
    const lines = drainLines(
      { ...SIGTERM, phases: [phase('close-connections', 250), phase('handlers', 250), phase('destroy', 1_000), phase('flush-queue')] },
      gauges({
        handlers: 1,
        blocking: {
          connections: [{ name: '10.0.0.7:4711', ageMs: 60_000 }],
          handlers: [{ name: 'GET /left', ageMs: 4_000 }],
          hooks: [{ name: 'destroy hook "pool"', ageMs: 100 }],
        },
      }),
      WIDE,
    )
    expect(lines.slice(1)).toEqual([
      '  close-connections    0.2s left  10.0.0.7:4711 1m0s',
      '  handlers             0.2s left  1 handler: GET /left 4.0s',
      '  destroy              1.0s left  destroy hook "pool" 0.1s',
      '  flush-queue',
    ])
  })
})

describe('the lines of a drain', () => {
  const phases = [phase('request-drain', 14_300), phase('watch-drain', 100)]
  const blocking = { requests: Array.from({ length: 50 }, (_, index) => ({ name: `GET /slow/${index}`, ageMs: 1_000 })) }

  test.each([200, 100, 80, 40, 20, 3, 1])('fit a terminal of %d columns', (width) => {
    for (const line of drainLines({ ...SIGTERM, phases }, gauges({ requests: 50, blocking }), { ...WIDE, width })) {
      expect(cells(line)).toBeLessThan(width)
    }
  })

  test('fit a terminal of few rows, the heading first', () => {
    const lines = drainLines({ ...SIGTERM, phases }, NOTHING, { ...WIDE, height: 2 })
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain('draining for')
  })

  test('hold no control characters of a client’s', () => {
    const name = 'GET /\u001b[2J\u0007\u009b31m\u202e'
    const lines = drainLines({ ...SIGTERM, phases }, gauges({ requests: 1, blocking: { requests: [{ name, ageMs: 0 }] } }), WIDE)
    expect(lines.join('')).not.toMatch(/\p{C}/u)
  })

  test('are coloured when time runs short, and only if colour is wanted', () => {
    const color = drainLines({ ...SIGTERM, phases }, NOTHING, { ...WIDE, color: true })
    expect(color[0]).toBe('\u001b[1mdraining for 3.2s (SIGTERM): at most 21.7s more\u001b[0m')
    expect(color[1]).not.toContain('\u001b')
    expect(color[2]).toBe('\u001b[33m  watch-drain          0.1s left\u001b[0m')
    expect(drainLines({ ...SIGTERM, phases }, NOTHING, WIDE).join('')).not.toContain('\u001b')
  })
})
