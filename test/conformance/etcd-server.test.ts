// Servers whose objects are in one etcd, over HTTP. Fails when: a replica does not see what another
// has written, a write is lost in the dark instead of being refused, or clients do not go on by
// themselves when etcd is back.
import { expect, onTestFinished, test } from 'vitest'
import {
  addIdentityLease,
  addLeaderElection,
  apiGroup,
  createStore,
  etcdEngine,
  LEASES,
  type LeaderElector,
  leaseGroup,
  type SharedInformers,
  sharedInformers,
  storageOver,
} from '#apiserver/index.ts'
import { widget, widgets } from '../groups/widgets.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import { EtcdProcess, hasEtcd } from '../support/etcd-process.mjs'

const WIDGETS = '/apis/demo.example/v1/namespaces/default/widgets'
const LEASES_PATH = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'

interface Replica extends ServedApi {
  readonly informers: SharedInformers
  readonly elector: LeaderElector
}

/** What is led, by whom; the last is who leads now. */
async function replica(etcd: EtcdProcess, leads: string[]): Promise<Replica> {
  const store = createStore(etcdEngine(`etcd://${etcd.endpoint}/shop`, { healthInterval: 300, timeout: '5s' }))
  const own: Partial<{ informers: SharedInformers; elector: LeaderElector }> = {}
  const served = await serveApi({
    setUp: (server) => {
      server.installApiGroups(
        apiGroup({ group: 'demo.example', versions: { v1: [{ resource: widgets, storage: storageOver(store, widgets) }] } }),
        leaseGroup(storageOver(store, LEASES)),
      )
      own.informers = sharedInformers(server)
      own.informers.of(widgets)
      addIdentityLease(server)
      own.elector = addLeaderElection(server, { name: 'orders', lead: () => void leads.push(server.loopback.addresses[0] ?? '') })
    },
  })
  return { ...served, ...(own as Required<typeof own>) }
}

const post = ({ ask }: ServedApi, name: string): Promise<Response> =>
  ask(WIDGETS, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(widget(name)) })

const namesIn = ({ informers }: Replica): string[] =>
  informers
    .of(widgets)
    .list()
    .map(({ metadata }) => metadata.name)
    .sort()

const leases = async ({ ask }: ServedApi): Promise<string[]> =>
  ((await (await ask(LEASES_PATH)).json()) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)

/** The first answer that is one: that of a store which is lost is none. */
async function answerOf(ask: () => Promise<Response>): Promise<Response> {
  let answer = await ask()
  await expect
    .poll(async () => {
      if (answer.status >= 500) answer = await ask()
      return answer.status
    })
    .toBeLessThan(500)
  return answer
}

if (!hasEtcd) test('etcd is not on this machine: install etcd-server', () => void expect(hasEtcd).toBe(false))
else
  test('three replicas share one etcd, also when it is gone for a while', async () => {
    const etcd = await EtcdProcess.start()
    onTestFinished(() => etcd.dispose())
    const leads: string[] = []
    const replicas = [await replica(etcd, leads), await replica(etcd, leads), await replica(etcd, leads)] as const
    const [first, second, third] = replicas
    // On a machine that is busy etcd may seem lost at any time, for a moment: what a server says
    // of it is waited for.
    const says = (asked: () => Promise<Response>) => expect.poll(async () => (await asked()).status)
    await expect.poll(async () => (await leases(first)).filter((name) => name !== 'orders').length).toBe(3)
    // Where the answer to the first did not come, the second says that it is there.
    await expect.poll(async () => [201, 409].includes((await post(first, 'one')).status)).toBe(true)
    // Whoever reads behind a write sees it, on any of them.
    expect((await answerOf(() => second.ask(`${WIDGETS}/one`))).status).toBe(200)
    expect(((await (await answerOf(() => third.ask(WIDGETS))).json()) as { items: unknown[] }).items).toHaveLength(1)
    await expect.poll(() => replicas.map(namesIn)).toEqual([['one'], ['one'], ['one']])
    await expect.poll(() => leads.length).toBeGreaterThan(0)

    await etcd.kill()
    await expect
      .poll(async () => {
        const refused = await post(first, 'dark')
        return [refused.status, refused.headers.get('retry-after')]
      })
      .toEqual([503, '1'])
    expect((await first.ask('/livez')).status).toBe(200)
    for (const path of ['/readyz', '/readyz/etcd']) await says(() => first.ask(path)).toBe(500)
    expect((await first.ask('/livez/etcd')).status).toBe(404)
    await etcd.start()
    await expect.poll(async () => [201, 409].includes((await post(second, 'two')).status)).toBe(true)
    await expect
      .poll(() => replicas.map(namesIn))
      .toEqual([
        ['one', 'two'],
        ['one', 'two'],
        ['one', 'two'],
      ])
    await says(() => third.ask(`${WIDGETS}/dark`)).toBe(404)
    await says(() => first.ask('/readyz/etcd')).toBe(200)

    const leading = replicas.find(({ elector }) => elector.isLeader) ?? first
    expect((await leading.life.stop('over')).exitCode).toBe(0)
    const others = replicas.filter((each) => each !== leading) as [Replica, Replica]
    await expect.poll(async () => (await leases(others[0])).filter((name) => name !== 'orders').length).toBe(2)
    await expect.poll(() => others.filter(({ elector }) => elector.isLeader).length).toBe(1)
  }, 300_000)
