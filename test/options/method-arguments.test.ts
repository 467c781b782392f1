// What methods of the objects that users are given are called with. Fails when: a method takes a
// wrong argument, or answers it with anything but an error of ours that has a code and names the
// argument; or an object has a method without a row here. Not here: what a metric counts with and
// what a storage is asked with, on the way of each request, by the type of the value that is kept.
import { EventEmitter } from 'node:events'
import http from 'node:http'
import { describe, expect, test } from 'vitest'
import * as apiserver from '#apiserver/index.ts'
import { attachLifecycle, createLife } from '#src/index.ts'
import { MetricRegistry } from '#src/metrics/index.ts'
import * as testing from '#src/testing/index.ts'
import { faultsOf, parse } from '../support/wrong-arguments.ts'

const nothing = () => {}
const life = () => createLife({ signals: [], platform: 'unknown' })
const memory = () => apiserver.memoryStorage()
const server = () => apiserver.createApiServer(apiserver.completeConfig({ platform: 'unknown' }))
const labelled = { name: 'jobs', help: 'Jobs.', labels: ['queue'] }
const clock = () => new testing.VirtualClock()
const world = () => new testing.TestWorld()

/** Of what all lives have. */
const LIFE = {
  'run()': [],
  'releaseProcess()': [],
  'start()': [],
  'stop(=reason?)': ['why'],
  'signal(signal)': ['Serving'],
  'addPostStartHook(name, run)': ['a', nothing],
  'addPreShutdownHook(name, run, options?)': ['a', nothing, {}],
  'addDestroy(name, run, options?)': ['a', nothing, {}],
  'addPhase(name, run, options?)': ['a', nothing, {}],
  'addMuxCompleteSignal(name, complete)': ['a', Promise.resolve()],
  'hold(name, work?)': ['a', nothing],
  'every(name, period, work, options?)': ['a', 1_000, nothing, {}],
  'counts()': [],
  'setReady(ready, reason?)': [true, 'why'],
  'addHealthzCheck(name, check, options?)': ['a', nothing, {}],
  'addReadyzCheck(name, check, options?)': ['a', nothing, {}],
  'addLivezCheck(name, check, options?)': ['a', nothing, {}],
  'addHealthCheck(name, check, options?)': ['a', nothing, {}],
  'addMetrics(source)': [{ collect: () => [] }],
}
const CHECKS = {
  'addHealthzCheck(name, check, options?)': ['a', nothing, {}],
  'addReadyzCheck(name, check, options?)': ['a', nothing, {}],
  'addLivezCheck(name, check, options?)': ['a', nothing, {}],
  'addHealthCheck(name, check, options?)': ['a', nothing, {}],
}

type Rows = Readonly<Record<string, readonly unknown[]>>
interface Of {
  readonly make: () => object | Promise<object>
  readonly rows: Rows
  /** For the rest of quiesce, and in no type that is exported. */
  readonly inner?: readonly string[]
}

const INNER_OF_LIFE = [
  'record',
  'plan',
  'hasFinishedHook',
  'join',
  'requestsUnderWay',
  'takeOver',
  'furtherHealth',
  'sayUnrecorded',
  'watchActors',
]

const OBJECTS: Readonly<Record<string, Of>> = {
  'what createLife() returns': { make: life, rows: LIFE, inner: INNER_OF_LIFE },
  'what attachLifecycle() returns': {
    make: () => attachLifecycle(http.createServer(), { signals: [], platform: 'unknown' }),
    rows: { ...LIFE, 'dispose()': [] },
    inner: INNER_OF_LIFE,
  },
  'what createApiServer() returns': {
    make: server,
    rows: {
      'installApiGroups(...groups)': [apiserver.apiGroup({ group: 'a.example', versions: {} })],
      'installApiGroupsWhen(name, groups)': ['a', Promise.resolve([])],
      'installLegacyApiGroup(prefix, group)': ['/api', apiserver.apiGroup({ group: '', versions: {} })],
      'watchActors(root)': [{ sessionId: 'x', system: {} }],
      'enableGarbageCollection(...resources)': [apiserver.LEASES],
      'holdWrites(barrier)': [nothing],
      'handle(path, handler, options?)': ['/a', nothing, {}],
      'handlePrefix(path, handler, options?)': ['/a/', nothing, {}],
      'handleUpgrade(path, handler)': ['/a', nothing],
      'handleUpgradePrefix(path, handler)': ['/a/', nothing],
      'unregister(path)': ['/a'],
      'addPostStartHook(name, run)': ['a', nothing],
      'hasPostStartHook(name)': ['a'],
      'warn(message, details?)': ['m', {}],
      'addPreShutdownHook(name, run, options?)': ['a', nothing, {}],
      'addMuxCompleteSignal(name, complete)': ['a', Promise.resolve()],
      'addDestroy(name, run, options?)': ['a', nothing, {}],
      ...CHECKS,
      'prepare()': [],
    },
    inner: ['prepareFor', 'routeOf', 'actors'],
  },
  loopback: { make: () => server().loopback, rows: { 'fetch(path, init?)': ['/a', {}] }, inner: ['become', 'check'] },
  storageReadiness: { make: () => server().storageReadiness, rows: { 'register(resource, probe)': ['a', nothing] }, inner: ['hook'] },
  MemoryStorage: { make: memory, rows: { 'resource()': [] } },
  MetricRegistry: {
    make: () => new MetricRegistry(),
    rows: {
      'counter(options)': [labelled],
      'gauge(options)': [labelled],
      'histogram(options)': [labelled],
      'collect()': [],
      'reset()': [],
    },
  },
  VirtualClock: {
    make: clock,
    rows: {
      'now()': [],
      'wall()': [],
      'setTimeout(fn, ms)': [nothing, 1],
      'clearTimeout(=handle)': [1],
      'sleep(duration)': [0],
      'stop()': [],
      'advance(duration)': [0],
      'runToNext()': [],
      'runToEnd()': [],
      'runUntil(isOver)': [() => true],
      'waitForTimers(count?)': [0],
    },
  },
  TestLife: {
    make: () => testing.testServer(() => new Response(''), { run: false }),
    rows: {
      'hasFired(signal)': ['Serving'],
      'run()': [],
      'end()': [],
      'stop(=reason?)': ['why'],
      'connect(=place?)': [1],
      'request(options)': ['/a'],
    },
  },
  FakeProcess: {
    make: () => new testing.FakeProcess(),
    rows: {
      'signal(name)': ['SIGTERM'],
      'crash(=thrown, origin?)': [new Error('x'), 'uncaughtException'],
      'message(=message)': [{}],
    },
    inner: ['asHostProcess', 'getActiveResourcesInfo', 'exit'],
  },
  TestWorld: {
    make: world,
    rows: {
      'createServer(handler, options?)': [() => new Response(''), {}],
      'createLife(options?)': [{}],
      'attachLifecycle(server, options?)': [http.createServer(), {}],
      'create(make)': [nothing],
    },
  },
}

/** Of an object and of its classes. */
function methodsOf(object: object): readonly string[] {
  const found = new Set<string>()
  for (let of = object; of !== Object.prototype && of !== EventEmitter.prototype; of = Object.getPrototypeOf(of) as object)
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(of)))
      if (typeof value === 'function' && name !== 'constructor') found.add(name)
  return [...found]
}

describe.each(Object.entries(OBJECTS))('%s', (_, { make, rows, inner = [] }) => {
  test('has a row here for each of its methods', async () => {
    expect(methodsOf(await make()).toSorted()).toEqual([...Object.keys(rows).map((call) => parse(call).name), ...inner].toSorted())
  })

  test.each(Object.entries(rows))('%s names the argument that is wrong', async (written, right) => {
    const faults = await faultsOf(written, async () => {
      const object = (await make()) as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>
      return { called: (...args) => object[parse(written).name]?.(...args), right }
    })
    expect(faults).toEqual([])
  })
})

test('hasFired() of a name that no phase fires is a mistake in the test, and not false', async () => {
  await using t = await testing.testServer(() => new Response(''))
  expect(t.hasFired('Serving')).toBe(true)
  expect(() => t.hasFired('RequestsDraind')).toThrow(/did you mean "RequestsDrained"/)
})
