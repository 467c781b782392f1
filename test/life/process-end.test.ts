// What is said of a process that does not end by itself. Fails when: it is told on because of what
// is over in the same turn, what does keep it alive is not named, or it is kept alive to say so.
import { expect, test } from 'vitest'
import type { HostProcess } from '#src/actors/host.ts'
import type { Clock } from '#src/base/clock.ts'
import { ProcessEnd } from '#src/process/process-end.ts'

/** A process that its last life has left; timers run when the test says so. */
function left(graceMs: number, unref: (what: string) => void = () => {}) {
  const timers: (() => void)[] = []
  const text: string[] = []
  const exits: unknown[] = []
  let active: readonly string[] = []
  const setTimeout = (then: () => void) => {
    timers.push(then)
    return { unref: () => unref('timer') }
  }
  const clock = { setTimeout, clearTimeout: () => {} } as unknown as Clock
  const process = {
    channel: { unref: () => unref('channel') },
    on: () => {},
    prependListener: () => {},
    off: () => {},
    stderr: { write: (given: string) => text.push(given) },
    exit: (code: unknown) => exits.push(code),
    getActiveResourcesInfo: () => active,
  } as unknown as HostProcess
  const end = ProcessEnd.of(process)
  end.join()
  end.leave({ exitCode: 5, isForced: false, exit: 'explicit', signals: new Set(), graceMs, clock, exits: () => {} })
  return {
    text,
    exits,
    /** The next timer, with these alive. */
    next: (...names: readonly string[]) => {
      active = names
      timers.shift()?.()
    },
  }
}

test.each([
  [0, 'ended, out of time, and still alive because of'],
  [1_000, 'ended, but still alive after 1000 ms because of'],
])('an Immediate is not named among what keeps a process alive: grace of %d ms', (graceMs, words) => {
  const { text, exits, next } = left(graceMs)
  for (let turn = 0; turn < 3; turn++) next('Immediate', 'PipeWrap', 'Timeout', 'Immediate')
  expect(text).toEqual([`quiesce: ${words}: Timeout; exiting [WARN_STILL_ALIVE]\n`])
  expect(exits).toEqual([5])
})

test('what is destroyed in the last step has two turns to be closed, and is not named meanwhile', () => {
  const { text, exits, next } = left(0)
  next('TCPSocketWrap')
  next('Immediate')
  expect([text, exits]).toEqual([[], []])
  next('Immediate')
  const reason = 'what node does not name, such as a worker thread or a loop of setImmediate()'
  expect(text).toEqual([`quiesce: ended, out of time, and still alive because of: ${reason}; exiting [WARN_STILL_ALIVE]\n`])
  expect(exits).toEqual([5])
})

test('the wait for the end keeps no process alive, and neither does the channel to its parent', () => {
  const unref: string[] = []
  const { next } = left(1_000, (what) => unref.push(what))
  next('Immediate')
  expect(unref).toEqual(['channel', 'timer', 'timer'])
})
