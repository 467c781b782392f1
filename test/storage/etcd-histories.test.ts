// What clients of three stores in one etcd have seen, also while it is killed and started again.
// Fails when: no order of what was done explains all answers.
import { expect, onTestFinished, test } from 'vitest'
import { etcdEngine } from '#apiserver/store/etcd/etcd-engine.ts'
import type { KeyValueStore } from '#apiserver/store/key-value-store.ts'
import { EtcdProcess, hasEtcd } from '../support/etcd-process.mjs'
import { generator } from '../support/random.mjs'
import { seed } from '../support/seed.ts'
import { CLIENTS, expectLinearizable, HistoryRecorder, openEngine } from './history.ts'

if (!hasEtcd) test('etcd is not on this machine: install etcd-server', () => void expect(hasEtcd).toBe(false))
else
  test('a history of three stores in one etcd has an order, also when etcd is killed', async () => {
    const etcd = await EtcdProcess.start()
    onTestFinished(() => etcd.dispose())
    const engine = () => etcdEngine(`etcd://${etcd.endpoint}/history`, { healthInterval: 50, timeout: '2s' })
    const stores = [await openEngine(engine()), await openEngine(engine()), await openEngine(engine())]
    const recorder = new HistoryRecorder(generator(seed))
    let isOver = false
    const clients = Array.from({ length: CLIENTS }, (_, at) =>
      recorder.client(`client ${at}`, stores[at % stores.length] as KeyValueStore, 10_000, () => isOver),
    )
    const more = async (): Promise<void> => {
      const wanted = recorder.history.length + 150
      await expect.poll(() => recorder.history.length, { interval: 1 }).toBeGreaterThan(wanted)
    }
    await more()
    for (let round = 0; round < 2; round++) {
      await etcd.kill()
      await etcd.start()
      await more()
    }
    isOver = true
    await Promise.all(clients)
    await recorder.readAll(stores[0] as KeyValueStore)
    expect(recorder.history.some(({ answer }) => answer === undefined)).toBe(true)
    expectLinearizable(recorder.history, seed)
  })
