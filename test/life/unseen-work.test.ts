import { expect, test } from 'vitest'
import type { HostProcess } from '#src/actors/host.ts'
import { ownTimers } from '#src/base/clock.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { UnseenWork } from '#src/process/work-left.ts'

/** What is left at the end, by what node says of the process. */
function scene(before: readonly string[], ...then: readonly (readonly [atMs: number, active: readonly string[]])[]) {
  const clock = new VirtualClock()
  let active = before
  // Lives of earlier tests may have timers left in this process: node would name those, too.
  const own = (): string[] => Array.from({ length: ownTimers() }, () => 'Timeout')
  const process = { getActiveResourcesInfo: () => [...active, ...own()] } as unknown as HostProcess
  const work = new UnseenWork(process, clock)
  work.servingBegins()
  for (const [atMs, resources] of then) {
    if (atMs === 0) active = resources
    else
      clock.setTimeout(() => {
        active = resources
      }, atMs)
  }
  return { clock, over: (leftMs = 5_000, signal = new AbortController().signal) => work.over(leftMs, signal) }
}

test('nothing is left when only what was there before is', async () => {
  expect(await scene(['Timeout', 'TCPServerWrap']).over()).toBeUndefined()
})

test('before it has served there is none, whatever goes on', async () => {
  const process = { getActiveResourcesInfo: () => ['Timeout', 'ProcessWrap'] } as unknown as HostProcess
  expect(await new UnseenWork(process, new VirtualClock()).over(5_000, new AbortController().signal)).toBeUndefined()
})

test('sockets, pipes and ports are no work, however many there are', async () => {
  expect(await scene([], [0, ['TCPSocketWrap', 'PipeWrap', 'MessagePort', 'TTYWrap', 'TCPServerWrap', 'UDPWrap']]).over()).toBeUndefined()
})

test.each(['Timeout', 'Immediate', 'ProcessWrap', 'FSReqCallback', 'GetAddrInfoReqWrap', 'PBKDF2Job'])('%s is', async (name) => {
  const { clock, over } = scene([], [0, [name, name]])
  const left = over()
  await clock.runToEnd()
  expect(await left).toEqual({ what: `2 ${name}`, exitCode: 5, afterMs: 1_000 })
})

test('what was there before is taken off', async () => {
  const { clock, over } = scene(['Timeout', 'Timeout'], [0, ['Timeout', 'Timeout', 'Timeout']])
  const left = over()
  await clock.runToEnd()
  expect(await left).toMatchObject({ what: '1 Timeout' })
})

test('what winds up costs nothing', async () => {
  const { clock, over } = scene([], [0, ['Timeout']], [500, []])
  const left = over()
  await clock.runToEnd()
  expect(await left).toBeUndefined()
})

test('what ends within the grace has still outlived its pools', async () => {
  const { clock, over } = scene([], [0, ['Timeout']], [700, []])
  const left = over()
  await clock.runToEnd()
  expect(await left).toMatchObject({ what: '1 Timeout', exitCode: 4 })
})

test('it is waited for no longer than the process may live', async () => {
  const { clock, over } = scene([], [0, ['Timeout']])
  const left = over(300)
  await clock.runToEnd()
  expect(await left).toMatchObject({ exitCode: 5, afterMs: 300 })
})

test('a cut ends the wait', async () => {
  const cut = new AbortController()
  const { clock, over } = scene([], [0, ['Timeout']])
  const left = over(5_000, cut.signal)
  clock.setTimeout(() => cut.abort(), 100)
  await clock.runToEnd()
  expect(await left).toMatchObject({ exitCode: 5, afterMs: 100 })
})
