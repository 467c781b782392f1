// Fails when: what is in front of a server decides something else than documented, wins over what
// is given, or lengthens a stop where no request comes after it.
import { expect, test } from 'vitest'
import { resolveServerOptions } from '#src/options/options.ts'
import type { PlatformFacts } from '#src/platforms/platform.ts'

const KUBERNETES = { KUBERNETES_SERVICE_HOST: '10.0.0.1' }
const resolved = (options: Parameters<typeof resolveServerOptions>[0], env: PlatformFacts['env'] = KUBERNETES) =>
  resolveServerOptions(options, { facts: { env, pid: 12, terminal: false, containerFile: false } })

test.each([
  [undefined, 5_000, 25_000, 75_000],
  ['service', 5_000, 25_000, 75_000],
  ['alb', 70_000, 90_000, 75_000],
  ['nlb', 120_000, 140_000, 360_000],
  ['gclb', 40_000, 60_000, 620_000],
  ['envoy', 10_000, 30_000, 3_660_000],
] as const)(
  'behind %s on Kubernetes the delay is %i, the deadline %i, and idle connections are kept %i',
  (behind, delay, deadline, idle) => {
    expect(resolved({ behind })).toMatchObject({ shutdownDelayMs: delay, deadlineMs: deadline, keepAliveTimeoutMs: idle })
  },
)

test('the report says whose numbers they are', () => {
  expect(resolved({ behind: 'gclb' }).chosen).toMatchObject({
    shutdownDelay: { because: 'behind gclb' },
    deadline: { because: 'behind gclb' },
  })
})

test.each([
  ['ECS', { ECS_CONTAINER_METADATA_URI_V4: 'x' }, 25_000],
  ['Fly.io', { FLY_MACHINE_ID: 'x' }, 4_000],
] as const)('%s has taken the traffic elsewhere: only the keep-alive timeout is another one', (_, env, deadlineMs) => {
  expect(resolved({ behind: 'gclb' }, env)).toMatchObject({ shutdownDelayMs: 0, deadlineMs, keepAliveTimeoutMs: 620_000 })
})

test('what is given stays', () => {
  expect(resolved({ behind: 'alb', shutdownDelay: '3s', deadline: '20s', keepAliveTimeout: '9s' })).toMatchObject({
    shutdownDelayMs: 3_000,
    deadlineMs: 20_000,
    keepAliveTimeoutMs: 9_000,
  })
})
