// A store in an etcd that is killed, stopped and started again, and two that compact. Fails when:
// an acknowledged write is lost, a watch misses a change or gets one twice, a write is sent into
// the dark, the store hangs, does not say that it is lost, or does not come back by itself.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { EtcdClient, loadGrpc } from '#apiserver/store/etcd/etcd-client.ts'
import { EtcdCompactor } from '#apiserver/store/etcd/etcd-compactor.ts'
import { type EtcdEngineOptions, etcdEngine, ordersProgress } from '#apiserver/store/etcd/etcd-engine.ts'
import { EtcdHistory, HistoryLost } from '#apiserver/store/etcd/etcd-history.ts'
import { type KeyValueStore, type StoreCondition, withPrefix } from '#apiserver/store/key-value-store.ts'
import { StoreError } from '#apiserver/store/store-error.ts'
import { systemClock } from '#src/base/clock.ts'
import { pairFor } from '../support/certificates.ts'
import { leastOf } from '../support/cost.ts'
import { EtcdProcess, hasEtcd } from '../support/etcd-process.mjs'
import { freePort } from '../support/free-port.mjs'
import { recorder } from './store-suite.ts'

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))

async function opened(url: string, options: EtcdEngineOptions = {}) {
  const conditions: StoreCondition['is'][] = []
  const engine = etcdEngine(url, { compactionInterval: 0, healthInterval: 300, timeout: '2s', ...options })
  const store = await engine.open({ signal: new AbortController().signal, onCondition: ({ is }) => void conditions.push(is) })
  onTestFinished(() => store.close())
  return { store, conditions }
}

const etcdctlOf =
  (endpoint: string) =>
  (...args: readonly string[]): void =>
    void execFileSync('etcdctl', [`--endpoints=${endpoint}`, ...args], { env: { ...process.env, ETCDCTL_API: '3' }, stdio: 'pipe' })

const reasonOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'done',
    (error: unknown) => (error instanceof StoreError ? error.reason : String(error)),
  )

/** Writes one key after the other until it is told to end; each with what has become of it. */
function writing(store: KeyValueStore) {
  const acknowledged = new Map<string, number>()
  const outcomes = new Set<string>()
  let isOver = false
  const lane = async (name: string): Promise<void> => {
    for (let at = 0; !isOver; at++) {
      const key = `/w/${name}-${String(at).padStart(5, '0')}`
      try {
        const written = await store.put({ key, value: bytes(key), expected: 0 })
        if (written.isDone) acknowledged.set(key, written.revision)
        outcomes.add('done')
      } catch (error) {
        outcomes.add(error instanceof StoreError ? error.reason : String(error))
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }
  const lanes = Promise.all(['a', 'b', 'c', 'd'].map(lane))
  const end = async (): Promise<void> => {
    isOver = true
    await lanes
  }
  return { acknowledged, outcomes, end }
}

test('a version says whether progress comes in order', () => {
  expect(['3.4.30', '3.4.31', '3.5.12', '3.5.13', '3.6.0', '3.7.1', '4.0.0', ''].map(ordersProgress)).toEqual([
    false,
    true,
    false,
    true,
    true,
    true,
    true,
    false,
  ])
})

describe('a history', () => {
  const error = (asked: () => void): string => {
    try {
      asked()
      return ''
    } catch (thrown) {
      return String(thrown instanceof HistoryLost && thrown.message)
    }
  }

  test('is lost by a revision that goes back, of a call that was sent behind it', () => {
    const history = new EtcdHistory()
    const lost: string[] = []
    history.onLost = ({ message }) => void lost.push(message)
    const [early, first] = [history.sent(), history.sent()]
    first({ cluster_id: 1, revision: 9 })
    early({ cluster_id: 1, revision: 8 })
    // A watch is told by a member that may be behind.
    history.heard({ cluster_id: 1, revision: 3 })
    history.sent()(undefined)
    const [late, behind] = [history.sent(), history.sent()]
    expect(lost).toEqual([])
    expect(error(() => behind({ cluster_id: 1, revision: 2 }))).toContain('its newest revision is 2, and 9 was seen before')
    expect(error(() => late({ cluster_id: 1, revision: 10 }))).toContain('of a history that is lost')
    history.sent()({ cluster_id: 1, revision: 3 })
    expect(lost).toHaveLength(1)
  })

  test('is lost by another cluster, whatever its revision', () => {
    for (const hear of [(history: EtcdHistory) => history.heard.bind(history), (history: EtcdHistory) => history.sent()]) {
      const history = new EtcdHistory()
      history.sent()({ cluster_id: 1, revision: 9 })
      expect(error(() => hear(history)({ cluster_id: 2, revision: 50 }))).toContain('another cluster')
      history.sent()({ cluster_id: 2, revision: 51 })
    }
  })
})

test.each([
  ['etcd://user:secret@host/x', 'url of etcdEngine()'],
  ['http://host', 'url of etcdEngine()'],
  ['etcd://host:99999999/x', 'url of etcdEngine()'],
])('%s is refused', (url, message) => {
  expect(() => etcdEngine(url)).toThrow(message)
})

test('the name of an engine has its members and its prefix', () => {
  expect(etcdEngine('etcd://a,b:1234/shop/', { user: 'me', password: 'secret' }).name).toBe('etcd://a:2379,b:1234/shop')
  expect(() => etcdEngine('etcd://a', { user: 'me' })).toThrow('user of etcdEngine()')
})

if (!hasEtcd) test('etcd is not on this machine: install etcd-server', () => void expect(hasEtcd).toBe(false))
else
  describe('a store in etcd', () => {
    const processes: EtcdProcess[] = []
    afterEach(async () => void (await Promise.all(processes.splice(0).map((etcd) => etcd.dispose()))))
    const start = async (...flags: readonly string[]): Promise<EtcdProcess> => {
      const etcd = await EtcdProcess.start(...flags)
      processes.push(etcd)
      return etcd
    }

    test('has every acknowledged write, and its watch every change once, when etcd is killed and started again', async () => {
      const etcd = await start()
      const { store, conditions } = await opened(`etcd://${etcd.endpoint}/shop`)
      const from = await store.revision()
      const { acknowledged, outcomes, end } = writing(store)
      await expect.poll(() => acknowledged.size).toBeGreaterThan(50)
      for (let round = 1; round <= 3; round++) {
        await etcd.kill()
        if (round === 3) await expect.poll(() => conditions.at(-1)).toBe('lost')
        await etcd.start()
        const before = acknowledged.size
        await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 50)
      }
      await end()
      await expect.poll(() => conditions.at(-1)).toBe('ready')
      const { entries } = await store.range(withPrefix('/w/'))
      const stored = new Map(entries.map(({ key, modRevision }) => [key, modRevision]))
      expect([...acknowledged].filter(([key, revision]) => stored.get(key) !== revision)).toEqual([])
      const watch = recorder(store, { ...withPrefix('/w/'), after: from })
      await watch.upTo(await store.revision())
      expect(watch.changes.map(({ key, revision }) => [key, revision])).toEqual([...stored].sort(([, a], [, b]) => a - b))
      expect([...outcomes].every((outcome) => ['done', 'unavailable', 'unknown'].includes(outcome))).toBe(true)
    })

    test('goes on with a watch through a short break, and ends it when etcd is lost', async () => {
      const etcd = await start()
      const { store, conditions } = await opened(`etcd://${etcd.endpoint}/shop`, { healthInterval: '1h' })
      const watch = recorder(store, withPrefix('/w/'))
      await expect.poll(() => watch.state.revision).toBeDefined()
      await store.put({ key: '/w/a', value: bytes('1') })
      await expect.poll(() => watch.changes.length).toBe(1)
      await etcd.kill()
      // Found by the broken stream, not by a look that is due in an hour.
      await expect.poll(() => conditions).toEqual(['lost'])
      expect(watch.state.ended?.reason).toBe('unavailable')
      expect([await reasonOf(store.put({ key: '/w/b', value: bytes('1') })), await reasonOf(store.get('/w/a'))]).toEqual([
        'unavailable',
        'unavailable',
      ])
      const late = recorder(store, withPrefix('/w/'))
      await expect.poll(() => late.state.ended?.reason).toBe('unavailable')
    })

    test('that stands still is lost, refuses writes at once, and comes back', async () => {
      const etcd = await start()
      const { store, conditions } = await opened(`etcd://${etcd.endpoint}/shop`)
      const watch = recorder(store, withPrefix('/'))
      await expect.poll(() => watch.state.revision).toBeDefined()
      await etcd.pause()
      // It may have been done: nobody can know.
      expect(await reasonOf(store.put({ key: '/sent', value: bytes('1'), expected: 0 }))).toBe('unknown')
      await expect.poll(() => conditions.at(-1)).toBe('lost')
      expect(watch.state.ended?.reason).toBe('unavailable')
      const refusedAfterMs = async (): Promise<number> => {
        const began = performance.now()
        expect(await reasonOf(store.put({ key: '/refused', value: bytes('1') }))).toBe('unavailable')
        return performance.now() - began
      }
      expect(await leastOf(500, refusedAfterMs)).toBeLessThan(500)
      etcd.resume()
      await expect.poll(() => conditions.at(-1)).toBe('ready')
      await store.put({ key: '/after', value: bytes('1') })
      expect((await store.get('/refused')).entry).toBeUndefined()
    })

    test.each([
      ['was wiped', (etcd: EtcdProcess) => etcd.wipe()],
      [
        'is another cluster at the same address',
        async (etcd: EtcdProcess) => {
          await etcd.kill()
          const other = new EtcdProcess([Number(etcd.endpoint.split(':')[1]), await freePort()], [])
          processes.push(other)
          await other.start()
        },
      ],
    ])('that %s is lost, and used again from its beginning', async (_, change) => {
      const etcd = await start()
      const said: StoreCondition[] = []
      const engine = etcdEngine(`etcd://${etcd.endpoint}/shop`, { compactionInterval: 0, healthInterval: 300, timeout: '2s' })
      const store = await engine.open({ signal: new AbortController().signal, onCondition: (each) => void said.push(each) })
      onTestFinished(() => store.close())
      for (let at = 0; at < 20; at++) await store.put({ key: '/w/a', value: bytes('old') })
      const seen = await store.revision()
      const watch = recorder(store, withPrefix('/w/'))
      await expect.poll(() => watch.state.revision).toBe(seen)
      await change(etcd)
      const messages = () => said.map((each) => (each.is === 'ready' ? 'ready' : each.error.message))
      await expect.poll(() => messages().filter((message) => message.includes('has lost its history')).length).toBe(1)
      expect(watch.state.ended?.reason).toBe('unavailable')
      expect(watch.changes).toEqual([])
      await expect.poll(() => said.at(-1)?.is).toBe('ready')
      expect((await store.get('/w/a')).entry).toBeUndefined()
      const again = recorder(store, withPrefix('/w/'))
      const written = await store.put({ key: '/w/a', value: bytes('new'), expected: 0 })
      if (!written.isDone) throw new Error('it is there')
      expect(written.revision).toBeLessThan(seen)
      await again.upTo(written.revision)
      expect(again.changes.map(({ revision }) => revision)).toEqual([written.revision])
    })

    test('that was wiped answers neither a read nor a write as if nothing had happened', async () => {
      const etcd = await start()
      const url = `etcd://${etcd.endpoint}/shop`
      const [reads, writes] = await Promise.all([opened(url, { healthInterval: '1h' }), opened(url, { healthInterval: '1h' })])
      for (const { store } of [reads, writes]) for (let at = 0; at < 20; at++) await store.put({ key: '/a', value: bytes('old') })
      await etcd.wipe()
      // What comes first may find that the connection is gone, and is not sent.
      const read = await reasonOf(reads.store.get('/a'))
      const write = await reasonOf(writes.store.put({ key: '/b', value: bytes('new'), expected: 0 }))
      expect([read, ['unknown', 'unavailable'].includes(write)]).toEqual(['unavailable', true])
      expect([reads.conditions, writes.conditions]).toEqual([['lost'], ['lost']])
    })

    test('asks another member when one is gone', async () => {
      const etcd = await start()
      const { store } = await opened(`etcd://127.0.0.1:1,${etcd.endpoint}/shop`)
      expect(await reasonOf(store.put({ key: '/a', value: bytes('1') }))).toBe('done')
      const watch = recorder(store, withPrefix('/'))
      await expect.poll(() => watch.state.revision).toBeDefined()
    })

    test('is compacted by one of two, who do not get in each other’s way', async () => {
      const etcd = await start()
      const parts = {
        endpoints: [etcd.endpoint],
        tls: undefined,
        user: undefined,
        password: undefined,
        timeoutMs: 5_000,
        clock: systemClock,
      }
      const clients = [new EtcdClient(await loadGrpc(), parts), new EtcdClient(await loadGrpc(), parts)] as const
      onTestFinished(() => {
        for (const client of clients) client.close()
      })
      const [one, two] = clients.map((client) => new EtcdCompactor(client, systemClock, 0, () => {})) as [EtcdCompactor, EtcdCompactor]
      const { store } = await opened(`etcd://${etcd.endpoint}/shop`)
      const write = async (): Promise<number> => {
        const written = await store.put({ key: '/a', value: bytes('1') })
        return written.isDone ? written.revision : 0
      }
      const first = await write()
      expect([await one.compact(), await two.compact()]).toEqual([undefined, undefined])
      const second = await write()
      // The first knows of its turn; the second has seen that it was not its own.
      const compacted = await one.compact()
      expect(compacted).toBeGreaterThanOrEqual(first)
      expect(compacted).toBeLessThan(second)
      expect(await two.compact()).toBeUndefined()
      const third = await write()
      // The first has not come meanwhile, as if it had ended: the second is in its place, up to
      // where it had looked.
      const taken = await two.compact()
      expect(taken).toBeGreaterThanOrEqual(second)
      expect(taken).toBeLessThan(third)
      expect(await one.compact()).toBeUndefined()
      expect(await reasonOf(store.get('/a', first - 1))).toBe('compacted')
      expect(await reasonOf(store.get('/a', third))).toBe('done')
    })

    test('speaks TLS, with the certificate of a client', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'quiesce-tls-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const file = (name: string, text: string): string => {
        writeFileSync(join(folder, name), text)
        return join(folder, name)
      }
      const pair = pairFor({ names: ['localhost', '127.0.0.1'] })
      const [certFile, keyFile] = [file('cert', pair.cert), file('key', pair.key)]
      const etcd = await start(`--cert-file=${certFile}`, `--key-file=${keyFile}`, '--client-cert-auth', `--trusted-ca-file=${certFile}`)
      const { store } = await opened(`etcd://${etcd.endpoint}/shop`, { tls: { caFile: certFile, certFile, keyFile } })
      expect(await reasonOf(store.put({ key: '/a', value: bytes('1') }))).toBe('done')
      await expect(opened(`etcd://${etcd.endpoint}/shop`, { tls: { caFile: certFile } })).rejects.toMatchObject({ reason: 'unavailable' })
      await expect(opened(`etcd://${etcd.endpoint}/shop`)).rejects.toMatchObject({ reason: 'unavailable' })
    })

    test('has a user with a password, whose token it renews', async () => {
      const etcd = await start()
      const etcdctl = etcdctlOf(etcd.endpoint)
      etcdctl('user', 'add', 'root:secret')
      etcdctl('auth', 'enable')
      const url = `etcd://${etcd.endpoint}/shop`
      const { store, conditions } = await opened(url, { user: 'root', password: 'secret' })
      expect(await reasonOf(store.put({ key: '/a', value: bytes('1') }))).toBe('done')
      await expect(opened(url, { user: 'root', password: 'wrong' })).rejects.toThrow('refuses')
      // Tokens are forgotten by an etcd that is started again.
      await etcd.kill()
      await expect.poll(() => conditions.at(-1)).toBe('lost')
      await etcd.start()
      await expect.poll(() => conditions.at(-1)).toBe('ready')
      expect(await reasonOf(store.put({ key: '/a', value: bytes('2') }))).toBe('done')
      const watch = recorder(store, withPrefix('/'))
      await expect.poll(() => watch.state.revision).toBeDefined()
    })

    test.each(['', '/shop'])('needs no more than what begins with its prefix, %j, and a slash', async (prefix) => {
      const etcd = await start()
      const etcdctl = etcdctlOf(etcd.endpoint)
      etcdctl('user', 'add', 'root:secret')
      etcdctl('role', 'add', 'own')
      etcdctl('role', 'grant-permission', 'own', '--prefix=true', 'readwrite', `${prefix}/`)
      etcdctl('user', 'add', 'server:secret')
      etcdctl('user', 'grant-role', 'server', 'own')
      etcdctl('auth', 'enable')
      const { store } = await opened(`etcd://${etcd.endpoint}${prefix}`, { user: 'server', password: 'secret' })
      const first = await store.put({ key: '/a', value: bytes('1') })
      await store.put({ key: '/a', value: bytes('2') })
      const newest = await store.revision()
      expect(newest).toBe(((first.isDone && first.revision) || 0) + 1)
      expect((await store.range({ from: '' })).count).toBe(1)
      const watch = recorder(store, { ...withPrefix('/'), after: newest - 1 })
      await watch.upTo(newest)
      await store.compact(newest)
      await expect(store.get('/a', newest - 1)).rejects.toMatchObject({ reason: 'compacted', details: { compacted: newest } })
      const outside = etcdEngine(`etcd://${etcd.endpoint}/other`)
      const other = await outside.open({ signal: new AbortController().signal, onCondition: () => {} })
      onTestFinished(() => other.close())
      await expect(other.revision()).rejects.toThrow(/other refuses: etcdserver: /)
    })

    test('does not say of the write that fills it that nothing was changed', async () => {
      const etcd = await start('--quota-backend-bytes=3000000')
      const { store, conditions } = await opened(`etcd://${etcd.endpoint}/shop`, { healthInterval: '1h' })
      const reasons: string[] = []
      const wrong: string[] = []
      // When it is full depends on how it puts writes together; the one after that is refused.
      while (reasons.at(-2) !== 'unknown' && reasons.length < 20) {
        const at = reasons.length
        const reason = await reasonOf(store.put({ key: `/${at}`, value: new Uint8Array(1_000_000) }))
        const isThere = (await store.get(`/${at}`)).entry !== undefined
        if (reason !== 'unknown' && isThere !== (reason === 'done')) wrong.push(`${at}: ${reason}`)
        reasons.push(reason)
      }
      expect(wrong).toEqual([])
      expect(reasons.filter((reason) => reason === 'unknown')).toHaveLength(1)
      expect(reasons.at(-1)).toBe('unavailable')
      expect(conditions).toEqual(['degraded'])
    })
  })

type Reply = (error: { readonly code: number; readonly details: string } | null, answer?: Buffer) => void

test.each([
  ['an answer that cannot be read', null, Buffer.from([0xff])],
  ['a stream that ends with an error of its own', { code: 13, details: 'Received RST_STREAM with code 2' }, undefined],
  ['a proxy that has lost its etcd', { code: 2, details: 'Received HTTP status code 500' }, undefined],
] as const)('a write that ends with %s may have been done', async (_, error, answer) => {
  const { Server, ServerCredentials } = await loadGrpc()
  const proxy = new Server()
  const asIs = (bytes: Buffer): Buffer => bytes
  const rest = { requestStream: false, responseStream: false, requestSerialize: asIs, responseSerialize: asIs } as const
  const call = (path: string) => ({ ...rest, path: `/etcdserverpb.${path}`, requestDeserialize: asIs, responseDeserialize: asIs })
  proxy.addService(
    { status: call('Maintenance/Status'), txn: call('KV/Txn') },
    {
      status: (_request: unknown, reply: Reply) => reply(null, Buffer.alloc(0)),
      txn: (_request: unknown, reply: Reply) => reply(error, answer),
    },
  )
  onTestFinished(() => proxy.forceShutdown())
  const port = await new Promise<number>((resolve, reject) =>
    proxy.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (failed, bound) => (failed ? reject(failed) : resolve(bound))),
  )
  const { store } = await opened(`etcd://127.0.0.1:${port}/shop`, { healthInterval: '1h' })
  expect(await reasonOf(store.put({ key: '/a', value: bytes('1') }))).toBe('unknown')
})
