// Machines that work beside the life of an API server, in its inspector. Fails when: one that comes
// while the server serves, or behind a delegate, is not seen, or not all of it, or one that is seen
// twice.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ActorRefFrom } from 'xstate'
import { type ApiServer, createApiServer } from '#apiserver/api-server.ts'
import { completeConfig } from '#apiserver/config.ts'
import {
  addLeaderElection,
  apiGroup,
  createStore,
  type LeaderElector,
  leaseGroup,
  memoryEngine,
  memoryStorage,
  storageOver,
} from '#apiserver/index.ts'
import type { storeMachine } from '#apiserver/store/store-machine.ts'
import { planets, widgets } from '../groups/widgets.ts'
import { serveApi } from '../support/api-server.ts'
import { temporaryFolder } from '../support/process.ts'

interface Entry {
  readonly kind: string
  readonly actor?: string
  readonly name?: string
  readonly machine?: string
  readonly value?: unknown
}

/** A server with a journal, a delegate, and what comes to both while it serves. */
async function scene() {
  const journal = join(temporaryFolder(), 'journal.ndjson')
  const inspected: { readonly type: string; readonly actorRef: unknown }[] = []
  const behind = createApiServer(completeConfig({}), { name: 'behind' })
  let server: ApiServer | undefined
  let elector: LeaderElector | undefined
  const { life } = await serveApi({
    config: { journal, inspect: (event) => void inspected.push(event) },
    delegate: behind,
    setUp: (made) => {
      server = made
      made.installApiGroups(leaseGroup(memoryStorage().resource()))
      elector = addLeaderElection(made, { name: 'orders', lead: () => {} })
    },
  })
  const storeOf = (resource: typeof widgets) => {
    const store = createStore(memoryEngine())
    return { resource, storage: storageOver(store, resource) }
  }
  return {
    life,
    leads: () => elector?.isLeader,
    late: () => {
      server?.installApiGroups(apiGroup({ group: 'demo.example', versions: { v1: [storeOf(widgets)] } }))
      behind.installApiGroups(apiGroup({ group: 'demo.example', versions: { v1: [storeOf(planets)] } }))
    },
    entries: (): readonly Entry[] =>
      readFileSync(journal, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Entry),
    inspected,
  }
}

test('stores that come late and elections are seen, from their first state to their last', async () => {
  const { life, leads, late, entries, inspected } = await scene()
  late()
  await expect.poll(leads).toBe(true)
  await life.stop('over')
  const machines = (name: string): readonly Entry[] => entries().filter(({ kind, machine }) => kind === 'actor' && machine === name)
  const statesOf = (actor: string | undefined): readonly unknown[] =>
    entries().flatMap((entry) => (entry.kind === 'state' && entry.actor === actor && entry.value !== undefined ? [entry.value] : []))
  const elections = machines('leader-election')
  expect(elections.map(({ name }) => name)).toEqual(['leader-election-orders'])
  expect(statesOf(elections[0]?.actor)).toEqual(
    expect.arrayContaining([{ candidate: 'trying' }, { leading: { term: 'resting' } }, 'ending', 'releasing', 'stopped']),
  )
  const stores = machines('store')
  expect(new Set(stores.map(({ actor }) => actor)).size).toBe(3)
  expect(stores).toHaveLength(3)
  for (const { actor } of stores) expect(statesOf(actor).at(-1)).toBe('closed')
  // The same is seen by an inspector of one's own.
  const roots = inspected
    .filter(({ type }) => type === '@xstate.actor')
    .map(({ actorRef }) => (actorRef as ActorRefFrom<typeof storeMachine>).id)
  expect(roots.filter((id) => id === 'store')).toHaveLength(3)
  expect(roots.filter((id) => id === 'leader-election-orders')).toHaveLength(1)
})
