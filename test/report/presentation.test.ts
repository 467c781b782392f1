// One life on a terminal. Fails when: it is shown before its stop or after its report, what a
// person can do about it is wrong, it is not drawn again when something happens, or an end is
// printed twice, or not at all.
import { Subject } from 'rxjs'
import { describe, expect, test } from 'vitest'
import type { LifecycleEvent, StopReason } from '#src/base/events.ts'
import type { SecondSignalState } from '#src/machines/stop.ts'
import type { Gauges } from '#src/report/gauges.ts'
import type { Progress } from '#src/report/progress.ts'
import type { Report } from '#src/report/report.ts'
import { Presentation } from '#src/terminal/presentation.ts'
import type { Terminal } from '#src/terminal/terminal.ts'
import { quietLife, reportOf } from './lives.ts'

const SIGINT: StopReason = { kind: 'os-signal', signal: 'SIGINT' }
const STOP: LifecycleEvent = { at: 0, type: 'signal', name: 'StopRequested', outcome: 'ok' }

function presented({ isStopped = false, heard = ['SIGINT'] }: { isStopped?: boolean; heard?: readonly string[] } = {}) {
  const events = new Subject<LifecycleEvent>()
  const world = {
    reason: isStopped ? SIGINT : undefined,
    report: reportOf(quietLife),
    secondSignal: 'armed' as SecondSignalState,
  }
  const done: unknown[] = []
  const terminal = {
    show: () => done.push('show'),
    refresh: () => done.push('refresh'),
    hide: () => done.push('hide'),
    print: (report: Report) => done.push(['print', report.exitCode]),
    flush: () => Promise.resolve(void done.push('flush')),
    flushNow: () => done.push('flush now'),
  }
  const life = {
    events$: events,
    get report() {
      return world.report
    },
    progress: () => world.reason && ({ reason: world.reason } as Progress),
    gauges: () => ({}) as Gauges,
    get secondSignal() {
      return world.secondSignal
    },
  }
  const presentation = new Presentation(life, (signal) => heard.includes(signal), terminal as unknown as Terminal)
  return { events, world, done, presentation }
}

const shownOf = (done: readonly unknown[]): unknown[] => done.filter((what) => what !== 'hide' && what !== 'refresh')

describe('a life on a terminal', () => {
  test('is shown from its stop request to its report, and then printed once', () => {
    const { events, world, done, presentation } = presented()
    events.next({ at: 0, type: 'signal', name: 'Serving', outcome: 'ok' })
    expect(done).not.toContain('show')
    events.next(STOP)
    events.next({ at: 1, type: 'phase.started', phase: 'request-drain' })
    expect(done).toEqual(['refresh', 'show', 'refresh', 'refresh'])
    events.next({ at: 2, type: 'phase.started', phase: 'report' })
    expect(done.slice(4)).toEqual(['hide'])
    presentation.end(world.report)
    presentation.end(world.report)
    expect(shownOf(done)).toEqual(['show', ['print', 0], 'flush'])
  })

  test('that was stopped before all this was loaded is shown at once', () => {
    expect(presented({ isStopped: true }).done).toEqual(['show'])
  })

  test('is written at once when its end was by force: the process exits in this very step', () => {
    const { events, world, done, presentation } = presented()
    events.next(STOP)
    events.next({ at: 1, type: 'forced', why: 'second-signal' })
    presentation.end({ ...world.report, forced: 'second-signal', exitCode: 1 })
    expect(shownOf(done)).toEqual(['show', ['print', 1], 'flush now'])
  })

  test('is printed with its own exit code when the process exits in its middle', () => {
    const { events, world, done } = presented()
    world.report = { ...world.report, forced: 'process-exit', exitCode: 0 }
    events.next({ at: 1, type: 'forced', why: 'process-exit', exitCode: 7 })
    events.next({ at: 1, type: 'ended', exitCode: 5 })
    expect(shownOf(done)).toEqual([['print', 5], 'flush now'])
  })

  test.each<[string, StopReason, SecondSignalState, readonly string[], string | undefined]>([
    ['Ctrl-C', SIGINT, 'armed', ['SIGINT'], 'press Ctrl-C again to end now'],
    ['Ctrl-C, half a second ago', SIGINT, 'debouncing', ['SIGINT'], undefined],
    ['SIGTERM', { kind: 'os-signal', signal: 'SIGTERM' }, 'armed', ['SIGINT'], 'press Ctrl-C to end now'],
    ['stop()', { kind: 'stop', reason: 'done' }, 'none', ['SIGINT'], 'press Ctrl-C twice to end now'],
    ['stop() and then Ctrl-C', { kind: 'stop', reason: 'done' }, 'armed', ['SIGINT'], 'press Ctrl-C to end now'],
    ['SIGTERM, where Ctrl-C is not heard', { kind: 'os-signal', signal: 'SIGTERM' }, 'armed', ['SIGTERM'], undefined],
  ])('says what a person can do about a stop by %s', (_, reason, secondSignal, heard, hint) => {
    const { world, presentation } = presented({ heard })
    Object.assign(world, { reason, secondSignal })
    expect(presentation.hint).toBe(hint)
  })
})
