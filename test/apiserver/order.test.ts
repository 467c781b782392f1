import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { buildChain } from '#apiserver/chain/chain.ts'
import { CHAIN_ORDER, type ChainPlace, type UserFilter } from '#apiserver/index.ts'

/**
 * Outermost first, each that a server without alpha features may have. What measures the time of
 * another one is part of that one here.
 * @see kubernetes/apiserver pkg/server/config.go DefaultBuildHandlerChain
 */
const UPSTREAM = [
  'WithAuditInit',
  'WithPanicRecovery',
  'WithMuxAndDiscoveryComplete',
  'WithRequestReceivedTimestamp',
  'WithRequestInfo',
  'WithLatencyTrackers',
  'WithHTTPLogging',
  'WithRetryAfter',
  'WithHSTS',
  'WithCacheControl',
  'WithProbabilisticGoaway',
  'WithWatchTerminationDuringShutdown',
  'WithWaitGroup',
  'WithRequestDeadline',
  'WithTimeoutForNonLongRunningRequests',
  'WithWarningRecorder',
  'WithCORS',
  'WithAuthentication',
  'WithFailedAuthenticationAudit',
  'WithTracing',
  'WithAudit',
  'WithImpersonation',
  'WithMaxInFlightLimit',
  'WithPriorityAndFairness',
  'WithAuthorization',
]

const order: readonly ChainPlace[] = CHAIN_ORDER

describe('the order of the filters', () => {
  test("is upstream's", () => {
    expect(order.flatMap(({ upstream }) => upstream.split(', '))).toEqual(UPSTREAM)
  })

  test('goes from one part to the next, and never back', () => {
    const parts = order.map(({ part }) => part).filter((part, at, all) => part !== all[at - 1])
    expect(parts).toEqual(['outer', 'engine', 'between', 'engine', 'inner'])
  })

  test('has a reason for every place, and a name for each once', () => {
    expect(order.filter(({ why }) => why.length < 10)).toEqual([])
    expect(new Set(order.map(({ name }) => name)).size).toBe(order.length)
  })

  test('is drawn, with every status that a request may end with', () => {
    const picture = readFileSync(new URL('../../diagrams/api-server-chain.md', import.meta.url), 'utf8')
    expect(picture).toContain(`arrives --> ${order.map(({ name }) => name).join(' --> ')} --> handler`)
    const ends = order.flatMap(({ name, ends: statuses = [] }) => statuses.map((status) => `${name} -.-> ${name}-${status}(["${status}"])`))
    expect(ends.filter((end) => !picture.includes(end))).toEqual([])
  })
})

describe("a filter of the user's beside a place of the engine", () => {
  test.each<[Pick<UserFilter, 'before' | 'after'>, string]>([
    [{ before: 'retry-after' }, 'outer'],
    [{ after: 'retry-after' }, 'between'],
    [{ before: 'count' }, 'between'],
    [{ after: 'count' }, 'inner'],
  ])('%j is asked on its side of the refusal', (place, part) => {
    const chain = buildChain([], [{ name: 'mine', admit: () => true, ...place }])
    const asked = Object.entries(chain).map(([name, filters]) => [name, filters.map((filter) => filter.name)] as const)
    expect(asked.filter(([, names]) => names.length > 0)).toEqual([[part, ['mine']]])
  })
})
