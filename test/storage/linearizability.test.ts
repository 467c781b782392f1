// What concurrent clients of a store have seen, recorded and searched for an order in which all of
// it can have been done one after the other, also where the store was killed and writes have no
// answer. Fails when: there is no such order for a store in memory or in a file, or a store that
// is wrong is not found to be.
import { mkdtemp, rm } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fileEngine } from '#apiserver/store/file-engine.ts'
import { memoryEngine } from '#apiserver/store/memory-engine.ts'
import { type Interval, linearize, type SequentialModel } from '../support/linearizability.ts'
import { generator } from '../support/random.mjs'
import { seed } from '../support/seed.ts'
import { CLIENTS, expectLinearizable, HistoryRecorder, openEngine, type Recorded } from './history.ts'
import { MUTANTS, SlowStore } from './mutant-stores.ts'
import { faultsOf, orderFaults, type StoreOperation } from './register-model.ts'
import { RemoteStore, StoreProcess } from './store-process.ts'

/** `npm run test:crash` has two hundred lives, of which five are one history. */
const CRASHES = Number(process.env['CRASH_RUNS'] ?? 5)
const LIVES = 5

async function fileOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quiesce-history-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'store.db')
}

/** Clients of a store, each of some operations. */
async function record(store: Recorded, random: () => number, count: number): Promise<readonly StoreOperation[]> {
  const recorder = new HistoryRecorder(random)
  await Promise.all(Array.from({ length: CLIENTS }, (_, at) => recorder.client(`client ${at}`, store, count)))
  await recorder.readAll(store)
  return recorder.history
}

describe('the search for an order', () => {
  interface Step extends Interval {
    readonly write?: number | undefined
    readonly read?: number | undefined
  }
  const register: SequentialModel<number, Step> = {
    initial: 0,
    textOf: String,
    after: (state, { write, read }) => write ?? (read === state ? state : undefined),
  }
  const isLinearizable = (...steps: readonly Step[]): boolean => linearize(register, steps).isLinearizable

  test('finds one where what overlaps may have been in any order', () => {
    expect(isLinearizable()).toBe(true)
    expect(isLinearizable({ calledAt: 1, answeredAt: 4, write: 1 }, { calledAt: 2, answeredAt: 3, read: 0 })).toBe(true)
    expect(isLinearizable({ calledAt: 1, answeredAt: 4, write: 1 }, { calledAt: 2, answeredAt: 3, read: 1 })).toBe(true)
    // One that was not answered is done late, or never.
    expect(
      isLinearizable({ calledAt: 1, write: 1 }, { calledAt: 2, answeredAt: 3, read: 0 }, { calledAt: 4, answeredAt: 5, read: 1 }),
    ).toBe(true)
    expect(isLinearizable({ calledAt: 1, write: 1 }, { calledAt: 2, answeredAt: 3, read: 0 })).toBe(true)
  })

  test('finds none where an answer is older than what had been answered before', () => {
    expect(isLinearizable({ calledAt: 1, answeredAt: 2, write: 1 }, { calledAt: 3, answeredAt: 4, read: 0 })).toBe(false)
    expect(
      isLinearizable(
        { calledAt: 1, answeredAt: 6, write: 1 },
        { calledAt: 2, answeredAt: 3, read: 1 },
        { calledAt: 4, answeredAt: 5, read: 0 },
      ),
    ).toBe(false)
    // Nor one that would have to be undone, or done before it was asked for.
    expect(
      isLinearizable({ calledAt: 1, write: 1 }, { calledAt: 2, answeredAt: 3, read: 1 }, { calledAt: 4, answeredAt: 5, read: 0 }),
    ).toBe(false)
    expect(isLinearizable({ calledAt: 1, answeredAt: 2, read: 1 }, { calledAt: 3, write: 1 })).toBe(false)
  })

  test('says how far it came, and what cannot have been next', () => {
    const steps = [
      { calledAt: 1, answeredAt: 2, write: 1 },
      { calledAt: 3, answeredAt: 4, read: 2 },
    ]
    expect(linearize(register, steps)).toEqual({ isLinearizable: false, order: [steps[0]], state: 1, stuck: [steps[1]] })
  })

  test('finds what trying all orders finds', () => {
    /**
     * Any order that keeps what was answered before what was called later, with any of those
     * without an answer.
     */
    function isExplained(rest: readonly Step[], state: number): boolean {
      if (rest.every(({ answeredAt }) => answeredAt === undefined)) return true
      return rest.some((step, at) => {
        const others = rest.filter((_, index) => index !== at)
        if (others.some(({ answeredAt }) => answeredAt !== undefined && answeredAt < step.calledAt)) return false
        const next = register.after(state, step)
        return next !== undefined && isExplained(others, next)
      })
    }
    const value = fc.integer({ min: 0, max: 2 })
    const shape = fc.record({ from: fc.nat(20), takes: fc.option(fc.integer({ min: 1, max: 8 })), isRead: fc.boolean(), value })
    const verdicts = new Set<boolean>()
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 6 }), (shapes) => {
        const steps = shapes.map(
          ({ from, takes, isRead, value: one }, at): Step => ({
            // No two moments are one.
            calledAt: from * 10 + at,
            answeredAt: takes === null ? undefined : (from + takes) * 10 + at,
            ...(isRead ? { read: one } : { write: one }),
          }),
        )
        const expected = isExplained(steps, register.initial)
        verdicts.add(expected)
        expect(linearize(register, steps).isLinearizable).toBe(expected)
      }),
      { numRuns: 2_000 },
    )
    expect(verdicts.size).toBe(2)
  })
})

describe('a history of a store in memory', () => {
  test('has an order', async () => {
    for (let run = 0; run < 20; run++) {
      const random = generator(seed + run)
      expectLinearizable(await record(new SlowStore(await openEngine(memoryEngine()), random), random, 40), seed + run)
    }
  })

  test.for(Object.entries(MUTANTS))('has none if the store %s', async ([, Mutant]) => {
    // Nine of ten histories show each of these: no seed has forty that do not.
    for (let run = 0; run < 40; run++) {
      const random = generator(seed + run)
      const history = await record(new Mutant(await openEngine(memoryEngine()), random), random, 40)
      // By the search alone, and by all that is looked at.
      if ([...orderFaults(history)].length > 0 && faultsOf(history).length > 0) return
    }
    expect.fail('none of forty histories was found to have no order')
  })
})

if (isBuiltin('node:sqlite'))
  describe('a history of a store in a file', () => {
    test('has an order', async () => {
      for (let run = 0; run < 3; run++) {
        const store = await openEngine(fileEngine({ path: await fileOf() }))
        expectLinearizable(await record(store, generator(seed + run), 60), seed + run)
      }
    })

    test(
      'has an order through lives that are killed',
      async () => {
        for (let run = 0; run < CRASHES; run += LIVES) {
          const random = generator(seed + run)
          const path = await fileOf()
          const recorder = new HistoryRecorder(random)
          for (let life = 0; life < LIVES; life++) {
            const process = new StoreProcess({ path })
            const store = new RemoteStore(process)
            await process.hears((said) => 'opened' in said)
            const clients = Array.from({ length: CLIENTS }, (_, at) =>
              recorder.client(`client ${at} of life ${life}`, store, 1_000, () => store.isOver),
            )
            const wanted = recorder.history.length + 20 + Math.floor(random() * 100)
            await expect.poll(() => recorder.history.length, { interval: 1 }).toBeGreaterThan(wanted)
            await process.kill()
            store.end()
            await Promise.all(clients)
          }
          await recorder.readAll(await openEngine(fileEngine({ path })))
          expect(recorder.history.some(({ answer }) => answer === undefined)).toBe(true)
          expectLinearizable(recorder.history, seed + run)
        }
      },
      20_000 + CRASHES * 5_000,
    )
  })
