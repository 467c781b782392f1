// Fails when: a row of delegates has another life than one server with all that they have: a
// signal, a hook or a phase is lost or doubled on the way; or that life breaks an invariant; or it
// is not what is drawn.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type ApiServer, completeConfig, createApiServer, notFoundDelegate } from '#apiserver/index.ts'
import type { Life } from '#src/index.ts'
import { assertHolds, checkLife, planOf } from '#src/testing/index.ts'

const nothing = (): void => {}
const never = (): Promise<never> => new Promise(() => {})
const config = completeConfig({ logger: false, platform: 'kubernetes' })

/** What is started and stopped with the life. */
const ofExtensions = (server: ApiServer): void => void server.addMuxCompleteSignal('definitions', never())
const ofCore = (server: ApiServer): void => {
  server.addMuxCompleteSignal('groups', never())
  server.addPreShutdownHook('leases', nothing)
}
const destroys = (server: ApiServer, name: string): void => void server.addDestroy(name, nothing)

/** Three servers as kube-apiserver has them. */
function row(): Life {
  const extensions = createApiServer(config, { name: 'extensions', delegate: notFoundDelegate() })
  ofExtensions(extensions)
  destroys(extensions, 'definitions')
  const core = createApiServer(config, { name: 'core', delegate: extensions })
  ofCore(core)
  destroys(core, 'store')
  const aggregator = createApiServer(config, { name: 'aggregator', delegate: core })
  destroys(aggregator, 'services')
  return aggregator.prepare().life
}

function single(): Life {
  const server = createApiServer(config, { delegate: notFoundDelegate() })
  ofExtensions(server)
  ofCore(server)
  // What stands in front is destroyed before what it stands on.
  for (const name of ['services', 'store', 'definitions']) destroys(server, name)
  return server.prepare().life
}

test('a row of delegates has the wiring of a single server', () => {
  const plan = planOf(row())
  expect(plan.muxSignals).toEqual(['definitions', 'groups'])
  expect(plan).toEqual(planOf(single()))
})

test.each(['refuse', 'retry-after'] as const)('and its life holds what every life holds: %s', (mode) => {
  assertHolds(checkLife(row(), { mode, outside: ['stop'] }))
})

test('it is drawn', () => {
  const picture = readFileSync(new URL('../../diagrams/delegates.md', import.meta.url), 'utf8')
  for (const name of ['waits for definitions, groups', 'MuxAndDiscoveryComplete']) expect(picture).toContain(name)
})
