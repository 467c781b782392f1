// Candidates over one storage of leases, on virtual time. Fails when: two lead at a time, a leader
// that cannot renew goes on, one that stops leaves the others to wait, or work of a leader goes on
// when it leads no more.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ResourceClient } from '#apiserver/client/resource-client.ts'
import {
  addLeaderElection,
  conflict,
  createLeaderElector,
  createStore,
  LEASES as LEASE_KIND,
  type LeaderElector,
  type Lease,
  leaseGroup,
  memoryEngine,
  StatusError,
  storageOver,
} from '#apiserver/index.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { serveApi } from '../support/api-server.ts'
import { seed } from '../support/seed.ts'

const KEY = { namespace: 'kube-system', name: 'orders' }
const LEASES = { group: 'coordination.k8s.io', resource: 'leases' }

/** The stored lease, which is read and written in no time. */
class Box {
  #lease: Lease | undefined
  #version = 0

  get(_key: typeof KEY): Lease | undefined {
    return this.#lease
  }

  create(lease: Lease): Lease | undefined {
    return this.#lease === undefined ? this.#put(lease) : undefined
  }

  update(lease: Lease, expected: string): Lease | undefined {
    return this.#lease?.metadata.resourceVersion === expected ? this.#put(lease) : undefined
  }

  #put(lease: Lease): Lease {
    this.#lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#version) } }
    return this.#lease
  }
}

/** A client of leases in memory, whose requests and answers take the time that is said. */
class SlowLeases implements Pick<ResourceClient<Lease>, 'get' | 'create' | 'update'> {
  readonly memory: Box
  readonly #clock: VirtualClock
  /** Milliseconds on the way there, and on the way back; never: the answer is lost. */
  travel: () => readonly [there: number, back: number] = () => [0, 0]
  writes = 0

  constructor(clock: VirtualClock, memory: Box = new Box()) {
    this.#clock = clock
    this.memory = memory
  }

  get(): Promise<Lease | undefined> {
    return this.#ask(() => this.memory.get(KEY) as Lease | undefined)
  }

  create(lease: Lease): Promise<Lease> {
    return this.#ask(() => this.#written(this.memory.create(lease)))
  }

  update(lease: Lease): Promise<Lease> {
    return this.#ask(() => this.#written(this.memory.update(lease, lease.metadata.resourceVersion ?? '')))
  }

  #written(lease: object | undefined): Lease {
    this.writes++
    if (lease === undefined) throw conflict(LEASES, KEY.name)
    return lease as Lease
  }

  async #ask<R>(act: () => R): Promise<R> {
    const [there, back] = this.travel()
    await this.#pass(there)
    try {
      return act()
    } finally {
      await this.#pass(back)
    }
  }

  #pass(ms: number): Promise<void> | undefined {
    if (ms === 0) return undefined
    return new Promise((resolve, reject) => {
      if (ms === Number.POSITIVE_INFINITY) this.#clock.setTimeout(() => reject(new Error('no answer')), 10_000)
      else this.#clock.setTimeout(resolve, ms)
    })
  }
}

function scene(names: readonly string[] = ['one', 'two'], chance = 0.5) {
  const clock = new VirtualClock()
  const memory = new Box()
  const clients = names.map(() => new SlowLeases(clock, memory))
  const [leases] = clients as [SlowLeases]
  const leading: string[] = []
  const working = new Set<string>()
  const failures: string[] = []
  const electors = names.map((identity, at) =>
    createLeaderElector(clients[at] as unknown as ResourceClient<Lease>, {
      name: KEY.name,
      identity,
      clock,
      random: () => chance,
      failed: (error) => void failures.push(`${identity}: ${(error as Error).message}`),
      lead: ({ signal }) => {
        leading.push(identity)
        working.add(identity)
        return new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => {
            working.delete(identity)
            resolve()
          }),
        )
      },
    }),
  ) as [LeaderElector, LeaderElector]
  return { clock, leases, clients, leading, working, failures, electors }
}

const spec = ({ memory }: SlowLeases) => (memory.get(KEY) as Lease | undefined)?.spec

describe('candidates', () => {
  test('elect the first, who renews every two seconds, and the second waits', async () => {
    const { clock, leases, electors, working } = scene()
    electors[0].start()
    await clock.advance(1)
    electors[1].start()
    await clock.advance(60_000)
    expect([electors[0].isLeader, electors[1].isLeader, electors[1].leader, [...working]]).toEqual([true, false, 'one', ['one']])
    expect(leases.writes).toBe(31)
    expect(spec(leases)).toEqual({
      holderIdentity: 'one',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:01:00.000000Z',
      leaseTransitions: 0,
    })
  })

  test('elect another soon when the leader stops, whose work has ended before', async () => {
    const { clock, leases, electors, working, leading } = scene()
    for (const elector of electors) elector.start()
    await clock.advance(10_000)
    const [leader, other] = electors[0].isLeader ? electors : ([electors[1], electors[0]] as const)
    const stopped = leader.stop()
    await clock.advance(0)
    await stopped
    expect([leader.state, working.size, spec(leases)?.holderIdentity]).toEqual(['stopped', 0, ''])
    await clock.advance(3_200)
    expect([other.isLeader, spec(leases)?.leaseTransitions, leading]).toEqual([true, 1, [leader.identity, other.identity]])
  })

  test('elect another when the leader is gone, after the whole lease as they have seen it', async () => {
    const { clock, leases, electors } = scene()
    electors[0].start()
    await clock.advance(1)
    electors[1].start()
    await clock.advance(1_000)
    // Its clock is an hour late: what it says of the time means nothing.
    const lease = leases.memory.get(KEY) as Lease
    leases.memory.update(
      { ...lease, spec: { ...lease.spec, holderIdentity: 'gone', renewTime: '2025-12-31T23:00:00.000000Z' } },
      lease.metadata.resourceVersion ?? '',
    )
    await clock.advance(2_500)
    expect(electors.map(({ isLeader }) => isLeader)).toEqual([false, false])
    await clock.advance(12_000)
    expect(electors.map(({ isLeader }) => isLeader)).toEqual([false, false])
    await clock.advance(6_000)
    expect(electors.filter(({ isLeader }) => isLeader)).toHaveLength(1)
  })

  test('lead no more ten seconds after the last renewal was asked for', async () => {
    const { clock, leases, electors, working, failures } = scene()
    electors[0].start()
    await clock.advance(2_000)
    leases.travel = () => [Number.POSITIVE_INFINITY, 0]
    await clock.advance(9_999)
    expect([...working]).toEqual(['one'])
    await clock.advance(1)
    expect([[...working], electors[0].state, failures.every((text) => text.startsWith('one: '))]).toEqual([[], 'candidate', true])
  })

  test('whose renewal is answered late count from when they asked', async () => {
    const { clock, leases, electors, working } = scene(undefined, 0)
    electors[0].start()
    await clock.advance(1)
    electors[1].start()
    await clock.advance(1_000)
    // Renewed at once, and known to be so 7.9 s later; then nothing more is.
    const travels: (readonly [number, number])[] = [[0, 7_900]]
    leases.travel = () => travels.shift() ?? [Number.POSITIVE_INFINITY, 0]
    const leaders = new Set<string>()
    while (clock.now() < 40_000) {
      await clock.runToNext()
      expect(working.size).toBeLessThan(2)
      for (const name of working) leaders.add(name)
    }
    expect([...leaders]).toEqual(['one', 'two'])
  })

  test('whose work fails give the lease up', async () => {
    const { clock, leases } = scene()
    const failures: unknown[] = []
    const elector = createLeaderElector(leases as unknown as ResourceClient<Lease>, {
      name: KEY.name,
      clock,
      failed: (error) => void failures.push(error),
      lead: () => Promise.reject(new Error('no database')),
    })
    elector.start()
    await clock.advance(0)
    expect([failures.map(String), spec(leases)?.holderIdentity, elector.state]).toEqual([['Error: no database'], '', 'candidate'])
    const stopped = elector.stop()
    await clock.advance(0)
    await stopped
    expect(clock.pending).toBe(0)
  })

  test('that stop while they ask leave no lease behind', async () => {
    const { clock, leases, electors } = scene()
    leases.travel = () => [500, 500]
    electors[0].start()
    await clock.advance(1_200)
    const stopped = electors[0].stop()
    await clock.advance(5_000)
    await stopped
    expect([spec(leases)?.holderIdentity, electors[0].state, clock.pending]).toEqual(['', 'stopped', 0])
  })

  test.each([
    [{ renewDeadline: '15s' }, 'renewDeadline of the leader election: got "15s", allowed: less than leaseDuration'],
    [{ retryPeriod: '9s' }, 'retryPeriod of the leader election: got "9s"'],
    [{ leaseDuration: 100 }, 'leaseDuration of the leader election: got 100'],
    [{ name: '' }, 'name of the leader election: got ""'],
    [{ lead: undefined }, 'lead of the leader election: got undefined'],
  ])('are refused with %o', (wrong, message) => {
    const given = { name: 'orders', lead: () => {}, ...wrong } as Parameters<typeof createLeaderElector>[1]
    expect(() => createLeaderElector(new SlowLeases(new VirtualClock()) as unknown as ResourceClient<Lease>, given)).toThrow(message)
  })
})

const times = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 300 }) },
  { weight: 3, arbitrary: fc.integer({ min: 300, max: 9_900 }) },
  { weight: 1, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
)

test(`never do two lead, however long requests and answers take, and one does when they do not (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(times, times), { minLength: 1, maxLength: 120 }), async (travels) => {
      const { clock, clients, electors, working } = scene(['one', 'two', 'three'])
      let at = 0
      for (const client of clients) client.travel = () => travels[at++] ?? [0, 0]
      for (const elector of electors) elector.start()
      while (at < travels.length) {
        await clock.runToNext()
        expect(working.size).toBeLessThan(2)
      }
      await clock.advance(60_000)
      expect(working.size).toBe(1)
      const stopped = Promise.all(electors.map((elector) => elector.stop()))
      await clock.advance(30_000)
      await stopped
      expect([working.size, clock.pending]).toEqual([0, 0])
    }),
    { numRuns: 60 },
  )
})

test('errors of a server are those of its client', async () => {
  const { clock, leases } = scene()
  const failures: unknown[] = []
  leases.get = () => Promise.reject(new StatusError({ message: 'no leader', reason: 'ServiceUnavailable', code: 503 }))
  const elector = createLeaderElector(leases as unknown as ResourceClient<Lease>, {
    name: 'orders',
    clock,
    failed: (error) => void failures.push(error),
    lead: () => {},
  })
  elector.start()
  await clock.advance(10_000)
  expect(failures.length).toBeGreaterThan(2)
  const stopped = elector.stop()
  await clock.advance(0)
  await stopped
})

test('a server that is told to end gives its lease up while it still serves, and another one leads soon', async () => {
  // It is closed with the last server that has it.
  const store = createStore(memoryEngine())
  const storage = storageOver(store, LEASE_KIND)
  const electors: LeaderElector[] = []
  const replica = () =>
    serveApi({
      setUp: (server) => {
        server.installApiGroups(leaseGroup(storageOver(store, LEASE_KIND)))
        electors.push(
          addLeaderElection(server, { name: 'orders', retryPeriod: '100ms', renewDeadline: '1s', leaseDuration: '60s', lead: () => {} }),
        )
      },
    })
  const first = await replica()
  await expect.poll(() => electors[0]?.isLeader).toBe(true)
  const second = await replica()
  const seen: string[] = []
  first.life.events$.subscribe((event) => {
    if (event.type === 'signal') seen.push(event.name)
  })
  const all = { namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' }
  const { resourceVersion = '' } = (await storage.list?.(all)) ?? {}
  await storage.watch?.(
    resourceVersion,
    ({ object }) => {
      if ((object as Lease).spec?.holderIdentity === '') seen.push('given up')
    },
    () => {},
  )
  expect((await first.life.stop('over')).exitCode).toBe(0)
  expect(seen.indexOf('given up')).toBeGreaterThan(seen.indexOf('ShutdownInitiated'))
  expect(seen.indexOf('NotAcceptingNewRequest')).toBeGreaterThan(seen.indexOf('given up'))
  // Not when the lease has run out, which takes a minute.
  await expect.poll(() => electors[1]?.isLeader, { timeout: 10_000 }).toBe(true)
  await second.life.stop('over')
})
