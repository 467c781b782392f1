import { describe, expect, test } from 'vitest'
import { type StorageProbe, StorageReadiness } from '#apiserver/storage-readiness.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { serveApi } from '../support/api-server.ts'
import { row } from '../support/row.ts'

const HOOK = 'storage-readiness'

/** The hook of some storages, which runs. */
function waiting({ timeoutMs = 60_000, probes }: { timeoutMs?: number; probes: Readonly<Record<string, StorageProbe>> }) {
  const clock = new VirtualClock()
  const said: { readonly type: string; readonly message?: string }[] = []
  const readiness = new StorageReadiness(clock, timeoutMs, (fact) => void said.push(fact))
  for (const [resource, probe] of Object.entries(probes)) readiness.register(resource, probe)
  const stop = new AbortController()
  const run = { at: undefined as number | undefined }
  const ended = (async () => {
    await readiness.hook({ name: HOOK, signal: stop.signal, reason: undefined })
    run.at = clock.now()
  })()
  return { clock, said, readiness, stop, run, ended }
}

const fails = (): never => {
  throw new Error('no leader')
}

describe('the hook that waits for storages', () => {
  row('SR-01', 'asks every 100 ms, and ends when the last one is ready', async () => {
    const ready = new Set<number>()
    const asked: number[] = []
    const one =
      (at: number): StorageProbe =>
      () => {
        asked.push(at)
        if (!ready.has(at)) fails()
      }
    const probes = Object.fromEntries([0, 1, 2, 3, 4].map((at) => [`group/version/resource-${at}`, one(at)]))
    const { clock, run, said } = waiting({ probes })
    for (const at of [0, 1, 2, 3]) {
      ready.add(at)
      await clock.advance(100)
      expect(run.at).toBeUndefined()
    }
    ready.add(4)
    await clock.advance(99)
    expect(run.at).toBeUndefined()
    await clock.advance(1)
    expect(run.at).toBe(500)
    // At once, and then each of them again.
    expect(asked).toEqual(Array.from({ length: 6 }, () => [0, 1, 2, 3, 4]).flat())
    expect(said).toEqual([])
  })

  row('SR-02', 'waits no longer than it may, says what was not ready, and has not failed', async () => {
    const probes = { 'v1/pods': () => true, 'apps/v1/deployments': () => false, 'v1/hanging': () => new Promise(() => {}) }
    const { clock, run, ended, said } = waiting({ probes, timeoutMs: 1_000 })
    await clock.advance(999)
    expect(run.at).toBeUndefined()
    await clock.advance(1)
    await ended
    expect(run.at).toBe(1_000)
    expect(said).toEqual([
      {
        type: 'warning',
        message: 'the storage is not ready after 1s; readiness does not wait for it any longer: apps/v1/deployments, v1/hanging',
        details: { waiting: ['apps/v1/deployments', 'v1/hanging'] },
      },
    ])
    expect(clock.pending).toBe(0)
  })

  test('does not end without one that was registered while the others were asked', async () => {
    let answer = (): void => {}
    let isReady = false
    const { clock, run, ended, readiness } = waiting({ probes: { 'v1/pods': () => new Promise<void>((resolve) => (answer = resolve)) } })
    await clock.advance(1)
    readiness.register('v1/late', () => isReady)
    answer()
    await clock.advance(50)
    expect(run.at).toBeUndefined()
    await clock.advance(50)
    isReady = true
    answer()
    await clock.advance(100)
    answer()
    await clock.advance(1)
    await ended
    expect(run.at).toBeLessThan(1_000)
  })

  row('SR-03', 'ends with the server, without a word', async () => {
    const signals: AbortSignal[] = []
    const { clock, ended, said, stop } = waiting({
      probes: {
        'v1/pods': ({ signal }) => {
          signals.push(signal)
          return false
        },
      },
    })
    await clock.advance(250)
    stop.abort()
    await ended
    await clock.advance(120_000)
    expect(said).toEqual([])
    expect(signals).toHaveLength(3)
    expect(signals.every(({ aborted }) => aborted)).toBe(true)
    const { ended: never, readiness } = waiting({ probes: { 'v1/pods': fails } })
    await readiness.hook({ name: HOOK, signal: AbortSignal.abort(), reason: undefined })
    expect(await Promise.race([never, Promise.resolve('waits')])).toBe('waits')
  })

  row('SR-04', 'keeps the first probe of a resource, and logs the second as an error', async () => {
    const { clock, said, readiness, run } = waiting({ probes: { 'v1/pods': () => true } })
    readiness.register('v1/pods', fails)
    expect(said).toEqual([
      { type: 'error', where: 'storage readiness', error: expect.objectContaining({ message: expect.stringContaining('"v1/pods"') }) },
    ])
    await clock.advance(0)
    expect(run.at).toBe(0)
    expect(() => readiness.register(' ', fails)).toThrow('missing name')
    expect(() => readiness.register('v1/x', undefined as never)).toThrow('probe of storage "v1/x": got undefined, allowed: a function')
  })

  row('SR-05', 'is ready at once when there is none', async () => {
    const { clock, run } = waiting({ probes: {} })
    await clock.advance(0)
    expect(run.at).toBe(0)
  })

  test('keeps the server from being ready, when it is added', async () => {
    let isReady = false
    const { ask } = await serveApi({
      setUp: (server) => {
        server.storageReadiness.register('v1/pods', () => isReady)
        server.addPostStartHook(HOOK, server.storageReadiness.hook)
      },
    })
    const answer = await ask('/readyz')
    expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining(`[-]poststarthook/${HOOK} failed`)])
    isReady = true
    await expect.poll(async () => (await ask('/readyz')).status).toBe(200)
  })

  test('waits as long as the config says', async () => {
    const { ask, lines } = await serveApi({
      config: { storageInitializationTimeout: '50ms' },
      setUp: (server) => {
        server.storageReadiness.register('v1/pods', fails)
        server.addPostStartHook(HOOK, server.storageReadiness.hook)
      },
    })
    await expect.poll(async () => (await ask('/readyz')).status).toBe(200)
    expect(lines.find(({ level }) => level === 'warn')?.message).toMatch(/^the storage is not ready after 50ms/)
  })
})
