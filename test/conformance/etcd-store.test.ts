// The suite of all stores over a real etcd, whose versions order what they say of progress or do
// not. Fails as stores.test.ts does.
import { afterAll, expect, test } from 'vitest'
import { etcdEngine } from '#apiserver/store/etcd/etcd-engine.ts'
import { EtcdProcess, hasEtcd } from '../support/etcd-process.mjs'
import { storeSuite } from './store-suite.ts'

if (hasEtcd) {
  const etcd = await EtcdProcess.start()
  afterAll(() => etcd.dispose())
  let places = 0
  storeSuite({
    name: 'etcd',
    place: async () => {
      const url = `etcd://${etcd.endpoint}/place-${++places}`
      // How long etcd takes for a thousand writes at a time is up to the machine.
      return { engine: () => etcdEngine(url, { compactionInterval: 0, timeout: '2m' }), dispose: async () => {} }
    },
    survives: true,
    isShared: true,
  })
} else test('etcd is not on this machine: install etcd-server', () => void expect(hasEtcd).toBe(false))
