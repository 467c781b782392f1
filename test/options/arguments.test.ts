// What exported functions are given. Fails when: an exported function of an entry takes a wrong
// argument, or answers it with anything but an error of ours that has a code and names the
// argument; or one is exported without a row here.
import http from 'node:http'
import { Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { createMachine } from 'xstate'
import * as apiserver from '#apiserver/index.ts'
import * as apiserverTesting from '#apiserver/testing/index.ts'
import * as apiserverTracing from '#apiserver/tracing/index.ts'
import * as fastify from '#src/frameworks/fastify.ts'
import * as hono from '#src/frameworks/hono.ts'
import * as nest from '#src/frameworks/nest.ts'
import * as index from '#src/index.ts'
import { createLife } from '#src/index.ts'
import * as metrics from '#src/metrics/index.ts'
import * as opentelemetry from '#src/opentelemetry/index.ts'
import * as testing from '#src/testing/index.ts'
import { faultsOf, parse } from '../support/wrong-arguments.ts'

const ENTRIES = { index, apiserver, apiserverTesting, apiserverTracing, metrics, opentelemetry, hono, fastify, nest, testing }

/** Makes arguments that are right, or at least of the right kind. */
type Row = () => readonly unknown[]
const life = () => createLife({ signals: [] })
const RESOURCE = { group: '', resource: 'pods' }
const plan = () => testing.planOf(life())
const exploration = () => testing.explore(MACHINE)
const MACHINE = createMachine({})
const server = () => apiserver.createApiServer(apiserver.completeConfig({ platform: 'unknown' }))
const identified = () => {
  const known = server()
  apiserver.addIdentityLease(known)
  return known
}
const LIST_WATCH = () => apiserver.storageListWatch('n', apiserver.memoryStorage().resource())
const REPORT = { phases: [], signals: [] }
const FASTIFY = () => ({ server: http.createServer(), addHook: () => {}, log: console })
const AUTHORIZER = { authorize: () => ({ decision: 'allow' }) }

/** By how a call is written. */
const CALLS: Readonly<Record<keyof typeof ENTRIES, Readonly<Record<string, Row>>>> = {
  index: {
    'attachLifecycle(server, options?)': () => [http.createServer(), {}],
    'createLife(options?)': () => [{}],
    'createServer(handler, options?)': () => [() => new Response(''), {}],
    'loopbackHeaders()': () => [],
    'markRequest(request)': () => [{}],
    'markWatch(request)': () => [{}],
    'neutralWording(name?, prefix?)': () => ['a', 'b'],
    'printReport(report, options?)': () => [REPORT, {}],
    'renderReport(report, options?)': () => [REPORT, {}],
    'shutdownSignalOf(request)': () => [{}],
    'waitUntil(request, work)': () => [{}, Promise.resolve()],
  },
  apiserverTesting: {
    'authorizerFaults(authorizer, options?)': () => [AUTHORIZER, {}],
  },
  apiserverTracing: {
    'traceRequests(options?)': () => [{}],
  },
  apiserver: {
    'kubernetesLongRunning(request)': () => [{}],
    'StatusError(failure)': () => [{ message: 'm', reason: 'r', code: 500 }],
    'addAuditAnnotation(=request, key, value)': () => [{}, 'k', 'v'],
    'addLatency(=request, layer, ms)': () => [{}, 'layer', 1],
    'allowedPaths(...allowedPaths)': () => ['/a'],
    'alwaysAllow()': () => [],
    'alwaysDeny()': () => [],
    'apiExchangeOf(=request)': () => [{}],
    'apiGroup(definition)': () => [{ group: 'a.example', versions: {} }],
    'auditRequestObject(=request, =object)': () => [{}, {}],
    'auditResponseObject(=request, =object)': () => [{}, {}],
    'bearerTokenAuthenticator(tokens)': () => [{ authenticateToken: () => undefined }],
    'completeConfig(options?)': () => [{}],
    'conflict(of, name, why?)': () => [RESOURCE, 'n', 'w'],
    'StoreError(reason, message)': () => ['closed', 'm'],
    'createStore(engine)': () => [{ name: 'n', open: () => {} }],
    'fileEngine(options)': () => [{ path: 'p' }],
    'memoryEngine(options?)': () => [{}],
    'storeAt(address)': () => ['memory'],
    'storageOver(store, resource, tuning?)': () => [{ use: () => {}, hold: () => {} }, { group: '', plural: 'p' }, {}],
    'createInformer(client, options?)': () => [LIST_WATCH(), {}],
    'createWorkQueue(options?)': () => [{}],
    'loopbackResource(loopback, resource, scope?)': () => [server().loopback, apiserver.LEASES, {}],
    'sharedInformers(server, options?)': () => [server(), {}],
    'addGarbageCollector(server, options)': () => [server(), {}],
    'addNamespaceController(server, options)': () => [server(), {}],
    'namespaceGroup(storage)': () => [apiserver.memoryStorage().resource()],
    'namespaceLifecycle(namespaces)': () => [apiserver.memoryStorage().resource()],
    'addIdentityLease(server, options?)': () => [server(), {}],
    'addStorageVersions(server, options?)': () => [identified(), {}],
    'storageVersionGroup(storage)': () => [apiserver.memoryStorage().resource()],
    'addLeaderElection(server, options)': () => [server(), {}],
    'createLeaderElector(leases, options)': () => [{ get: () => {}, create: () => {}, update: () => {} }, {}],
    'leaseGroup(storage)': () => [apiserver.memoryStorage().resource()],
    'etcdEngine(url, options?)': () => ['etcd://127.0.0.1:2379/p', {}],
    'rewriteObjects(client, options)': () => [
      { list: async () => ({ items: [] }), update: () => {} },
      { signal: new AbortController().signal },
    ],
    'storageInVersion(resource, storage, failed?)': () => [{ plural: 'p', versions: {} }, {}, () => {}],
    'storageListWatch(name, storage)': () => ['n', apiserver.memoryStorage().resource()],
    'createApiServer(config)': () => [apiserver.completeConfig({})],
    'defineResource(definition)': () => [{}],
    'emptyDelegate(handler?)': () => [() => {}],
    'expired(message, continueToken?)': () => ['m', 't'],
    'memoryStorage(options?)': () => [{}],
    'notFound(of, name)': () => [RESOURCE, 'n'],
    'notFoundDelegate()': () => [],
    'parseAuditPolicy(text, name?)': () => ['apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: None }]', 'n'],
    'privilegedGroups(...groups)': () => ['g'],
    'rbac(...rbac)': () => [{ kind: 'ClusterRole', metadata: { name: 'a' }, rules: [] }],
    'rbacFile(file)': () => ['f'],
    'selfReviews()': () => [],
    'serviceUnavailable(message)': () => ['m'],
    'unionAuthenticator(authenticators, options?)': () => [[], {}],
    'unionAuthorizer(...authorizers)': () => [AUTHORIZER],
    'unionTokens(tokens, options?)': () => [[], {}],
    'userOf(=request)': () => [{}],
    'warn(=request, agent, text)': () => [{}, 'a', 't'],
    'webhookAuthorizer(options)': () => [{}],
  },
  metrics: {
    'MetricRegistry(clock?)': () => [{ wall: () => 0 }],
    'exponentialBounds(start, factor, count)': () => [1, 2, 3],
    'fromPromClient(registry)': () => [{}],
    'registerInto(registry, metrics)': () => [new Registry(), new metrics.MetricRegistry()],
    'renderMetrics(families, format?)': () => [[], 'prometheus'],
  },
  opentelemetry: {
    'meterLifecycle(life, options?)': () => [life(), {}],
    'traceLifecycle(life, options?)': () => [life(), {}],
  },
  hono: {
    'healthRoutes(life)': () => [life()],
    'metricsRoutes(life)': () => [life()],
    'profileRoutes(life, options)': () => [life(), {}],
    'serve(app, options?)': () => [{ fetch: () => new Response('') }, {}],
  },
  fastify: {
    'default(app, options)': () => [FASTIFY(), {}],
    'quiesce(app, options)': () => [FASTIFY(), {}],
  },
  nest: {},
  testing: {
    'FakeProcess(options?)': () => [{}],
    'MemoryNetwork(clock)': () => [new testing.VirtualClock()],
    'TestWorld(options?)': () => [{}],
    'VirtualClock(options?)': () => [{}],
    'assertHolds(verdicts)': () => [[{ holds: true }]],
    'checkLife(life, options?)': () => [life(), {}],
    'edgesOf(plan)': () => [plan()],
    'explore(machine, options?)': () => [MACHINE, {}],
    'check(exploration, properties)': () => [exploration(), [testing.noErrors()]],
    'exploreLifecycle(plan, options?)': () => [plan(), {}],
    'factOf(effect)': () => [{ type: 'record', params: {} }],
    'happening(effect)': () => [{ type: 'record', params: {} }],
    'signalOf(effect)': () => [{ type: 'record', params: {} }],
    'inOrder(=id, =text, =nameOf, earlier, =later)': () => ['i', 't', () => undefined, [], 'l'],
    'inWordsOfLife(trace)': () => [{ steps: [] }],
    'invariantsOf(plan)': () => [plan()],
    'mismatches(exploration, options?)': () => [exploration(), {}],
    'planOf(life, =mode)': () => [life(), 'refuse'],
    'printTrace(trace)': () => [{ steps: [] }],
    'replayed(exploration, trace)': () => [{ graph: {}, model: {} }, {}],
    'reserveOf(phase, reserveMs?)': () => ['flush', 1],
    'endsWithin(deadlineMs?)': () => [1],
    'sequenceDiagram(trace)': () => [{ steps: [] }],
    'testAttached(server, options?)': () => [http.createServer(), {}],
    'testLife(make, options?)': () => [() => life(), {}],
    'testServer(handler, options?)': () => [() => new Response(''), {}],
    'timedProperties()': () => [],
    'traceScript(file, options?)': () => ['no-such-file', {}],
    'unreached(exploration)': () => [{}],
    'untaken(exploration)': () => [{}],
  },
}

/**
 * Not called with what a caller has: classes whose instances others make, and what only puts its
 * arguments into an object, which is checked where that is used.
 */
const WITHOUT: readonly string[] = [
  'QuiesceError',
  'Quiesce',
  'QuiesceModule',
  'ModelError',
  'ProcessExit',
  'RecordingAuthenticator',
  'RecordingAuthorizer',
  'Replay',
  'Stage',
  'TestConnection',
  'TestLife',
  'TestRequest',
  'alongEdges',
  'always',
  'atMostOnce',
  'broken',
  'confluent',
  'endReachable',
  'handlesOrIgnores',
  'mayBeVacuous',
  'monitored',
  'noDeadlock',
  'noErrors',
  'rejects',
  'resolves',
  'terminates',
  'timersAnd',
  'within',
]

const functionsOf = (entry: object): readonly string[] =>
  Object.entries(entry).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []))

test.each(Object.entries(ENTRIES))('every function of %s has a row here', (entry, exported) => {
  const rows = Object.keys(CALLS[entry as keyof typeof ENTRIES]).map((call) => parse(call).name)
  expect(functionsOf(exported).filter((name) => !rows.includes(name) && !WITHOUT.includes(name))).toEqual([])
  expect(rows.filter((name) => !functionsOf(exported).includes(name))).toEqual([])
})

describe.each(Object.entries(CALLS).filter(([, rows]) => Object.keys(rows).length > 0))('%s', (entry, rows) => {
  test.each(Object.entries(rows))('%s names the argument that is wrong', async (written, right) => {
    const exported = ENTRIES[entry as keyof typeof ENTRIES] as Readonly<Record<string, unknown>>
    const called = exported[parse(written).name] as ((...args: readonly unknown[]) => unknown) &
      (new (
        ...args: readonly unknown[]
      ) => unknown)
    const isClass = /^class\b/.test(Function.prototype.toString.call(called))
    const faults = await faultsOf(written, () => ({
      called: (...args) => (isClass ? new called(...args) : called(...args)),
      right: right(),
    }))
    expect(faults).toEqual([])
  })
})
