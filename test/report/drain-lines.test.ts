import { describe, expect, test } from 'vitest'
import { cells } from '#src/base/cells.ts'
import type { LifecycleEvent } from '#src/base/events.ts'
import { WIRING } from '#src/machines/wiring.ts'
import { type Gauges, gaugesOf } from '#src/report/gauges.ts'
import { type Progress, progressOf } from '#src/report/progress.ts'
import { cutsOf, type LifeView, NOTHING_KNOWN, reduceLife } from '#src/report/view.ts'
import { type DrainLinesOptions, drainLines } from '#src/terminal/drain-lines.ts'

const NOTHING: Gauges = {
  requests: 0,
  watches: 0,
  holds: 0,
  handlers: 0,
  connections: { active: 0, idle: 0, notified: 0 },
  rejected: {},
  blocking: { requests: [], watches: [], holds: [], handlers: [], connections: [], hooks: [] },
}
const STOP_AT = 60_000
const NOW = STOP_AT + 3_270
/** 3.27 of 25 seconds are over. */
const BAR = `[${`${'='.repeat(15)}>`.padEnd(117)}]`
const WIDE = { width: 120, height: 23, color: false }

const gauges = ({ blocking, ...counts }: Partial<Omit<Gauges, 'blocking'>> & { blocking?: Partial<Gauges['blocking']> }): Gauges => ({
  ...NOTHING,
  ...counts,
  blocking: { ...NOTHING.blocking, ...blocking },
})

/** A phase that began a second ago. */
const phase = (name: string, limitMs?: number): LifecycleEvent => ({
  at: NOW - 1_000,
  type: 'phase.started',
  phase: name,
  ...(limitMs !== undefined && { limitMs }),
})
const hook = (kind: 'pre-shutdown' | 'destroy', name: string, ageMs: number, limitMs?: number): LifecycleEvent => ({
  at: NOW - ageMs,
  type: 'hook.started',
  kind,
  name,
  ...(limitMs !== undefined && { limitMs }),
})

/** A life that was stopped 3.27 seconds ago and has 25. */
function viewOf(events: readonly LifecycleEvent[]): LifeView {
  const cutsMs = { hooks: 11_570, requests: 17_570, connections: 20_000, audit: 21_000, destroy: 23_000, flush: 24_000 }
  const budget = { delayMs: 5_070, lastCallMs: 0, watchGraceMs: 0, deadlineMs: 25_000, cutsMs }
  const reason = { kind: 'os-signal', signal: 'SIGTERM' } as const
  const stop: LifecycleEvent = { at: STOP_AT, type: 'signal', name: 'StopRequested', outcome: 'ok', reason, budget }
  return [stop, ...events].reduce(reduceLife, { ...NOTHING_KNOWN, cuts: { ...cutsOf(WIRING), 'flush-queue': 'Cut.destroy' } })
}

/** What such a life shows. */
function drain(events: readonly LifecycleEvent[], traffic: Gauges = NOTHING, frame: DrainLinesOptions = WIDE): string[] {
  const view = viewOf(events)
  const read = gaugesOf(traffic, view, NOW)
  return drainLines(progressOf(view, 'refuse', read, NOW) as Progress, read, frame)
}

describe('the lines of a drain say', () => {
  test('what blocks the exit and when that is over, what is waited for, for how long still, and who is the oldest', () => {
    const lines = drain(
      [phase('pre-shutdown-hooks'), hook('pre-shutdown', 'leave-registry', 3_200), phase('request-drain'), phase('watch-drain', 7_190)],
      gauges({
        requests: 2,
        holds: 1,
        watches: 1,
        connections: { active: 3, idle: 1, notified: 5 },
        blocking: {
          requests: [
            { name: 'GET /slow', ageMs: 12_345 },
            { name: 'POST /upload', ageMs: 2_000 },
          ],
          holds: [{ name: 'job 7', ageMs: 9_150 }],
          watches: [{ name: 'GET /watch', ageMs: 65_000 }],
        },
      }),
    )
    expect(lines).toEqual([
      'draining for 3.2s (SIGTERM, refuse): at most 21.7s more',
      BAR,
      'GET /slow and 4 more block the exit; cut in 14.3s',
      '  pre-shutdown-hooks   8.3s left  pre-shutdown hook "leave-registry" 3.2s',
      '  request-drain       14.3s left  2 requests, 1 hold: GET /slow 12.3s, job 7 9.1s, POST /upload 2.0s',
      '  watch-drain          6.1s left  1 watch: GET /watch 1m5s',
      '  connections                     3 active, 1 idle, 5 told to leave',
    ])
  })

  test('what is in flight while no phase waits for it yet, and what is refused meanwhile', () => {
    const blocking = {
      requests: [{ name: 'GET /slow', ageMs: 2_000 }],
      watches: [
        { name: 'GET /watch', ageMs: 3_000 },
        { name: 'GET /events', ageMs: 1_000 },
      ],
    }
    const rejected = { draining: 12, late: 0 }
    expect(drain([phase('shutdown-delay', 2_800)], gauges({ requests: 1, watches: 2, rejected, blocking }))).toEqual([
      'draining for 3.2s (SIGTERM, refuse): at most 21.7s more',
      BAR,
      'waiting for shutdown-delay; over in 1.8s',
      '  shutdown-delay       1.8s left  still serving, while traffic finds its way elsewhere',
      '  in flight                       1 request, 2 watches: GET /watch 3.0s, GET /slow 2.0s, GET /events 1.0s',
      '  refused                         12 draining',
    ])
  })

  test('what the late phases wait for, also a phase of the user’s, of which only the name is known', () => {
    const lines = drain(
      [phase('close-connections', 1_250), phase('handlers'), phase('destroy'), hook('destroy', 'pool', 100, 1_100), phase('flush-queue')],
      gauges({
        handlers: 1,
        blocking: {
          connections: [{ name: '10.0.0.7:4711', ageMs: 60_000 }],
          handlers: [{ name: 'GET /left', ageMs: 4_000 }],
        },
      }),
    )
    expect(lines.slice(2)).toEqual([
      'GET /left and 2 more block the exit; cut in 16.7s',
      '  close-connections    0.2s left  10.0.0.7:4711 1m0s',
      '  handlers            16.7s left  1 handler: GET /left 4.0s',
      '  destroy             19.7s left  destroy hook "pool" 0.1s',
      '  flush-queue         19.7s left',
    ])
  })
})

describe('the lines of a drain', () => {
  const phases = [phase('request-drain'), phase('watch-drain', 1_100)]
  const blocking = { requests: Array.from({ length: 50 }, (_, index) => ({ name: `GET /slow/${index}`, ageMs: 1_000 })) }

  test.each([200, 100, 80, 40, 20, 3, 1])('fit a terminal of %d columns', (width) => {
    for (const line of drain(phases, gauges({ requests: 50, blocking }), { ...WIDE, width })) expect(cells(line)).toBeLessThan(width)
  })

  test('fit a terminal of few rows, the heading first, then what blocks the exit', () => {
    const lines = drain(phases, gauges({ requests: 60, blocking }), { ...WIDE, height: 3 })
    expect(lines).toHaveLength(3)
    expect(lines[0]).toContain('draining for')
    expect(lines[1]).toBe(BAR)
    expect(lines[2]).toBe('GET /slow/0 and 59 more block the exit; cut in 14.3s')
  })

  test('count idle connections that have no name here, too', () => {
    const connections = [{ name: '127.0.0.1:5', ageMs: 0 }]
    const closing = gauges({ connections: { active: 0, idle: 5_000, notified: 0, blocking: 5_000 }, blocking: { connections } })
    const lines = drain([phase('close-connections')], closing)
    expect(lines.join('\n')).toMatch(/127\.0\.0\.1:5 and 4999 more block the exit/)
  })

  test('hold no control characters of a client’s', () => {
    const name = 'GET /\u001b[2J\u0007\u009b31m\u202e'
    expect(drain(phases, gauges({ requests: 1, blocking: { requests: [{ name, ageMs: 0 }] } })).join('')).not.toMatch(/\p{C}/u)
  })

  test('are coloured when time runs short, and only if colour is wanted', () => {
    const color = drain(phases, NOTHING, { ...WIDE, color: true })
    expect(color[0]).toBe('\u001b[1mdraining for 3.2s (SIGTERM, refuse): at most 21.7s more\u001b[0m')
    expect(color[3]).not.toContain('\u001b')
    expect(color[4]).toBe('\u001b[33m  watch-drain          0.1s left\u001b[0m')
    expect(drain(phases).join('')).not.toContain('\u001b')
  })

  test('have the hint beside the bar, below it where there is no room for both, and alone where there is none for a bar', () => {
    const hint = 'press Ctrl-C again to end now'
    const shown = (width: number): string[] => drain(phases, NOTHING, { ...WIDE, width, hint }).slice(1, 3)
    expect(shown(60)[0]).toBe(`[===>                      ]  ${hint}`)
    expect(shown(45)).toEqual(['[=====>                                    ]', hint])
    expect(shown(14)[0]).toBe('press Ctrl-C…')
  })

  test('have a bar that is full when the time is over', () => {
    const view = viewOf([])
    const barAt = (now: number) => drainLines(progressOf(view, 'refuse', NOTHING, now) as Progress, NOTHING, { ...WIDE, width: 23 })[1]
    expect([STOP_AT, STOP_AT + 12_500, STOP_AT + 25_000, STOP_AT + 30_000].map(barAt)).toEqual([
      '[>                   ]',
      '[==========>         ]',
      '[===================>]',
      '[===================>]',
    ])
  })
})
