import type { RequestListener } from 'node:http'
import { errorRecord } from '../base/events.ts'
import type { MetricsEndpoint } from '../endpoints/metrics-endpoint.ts'
import type { ExchangeView, PlacedStep } from '../http/chain.ts'
import type { Health } from '../http/health/health.ts'
import { readingOf } from '../http/reading.ts'
import { Traffic } from '../http/traffic/traffic.ts'
import { transportOf } from '../http/transports.ts'
import { safeLongRunning } from '../http/watch-rule.ts'
import type { Recorder } from '../report/recorder.ts'
import type { LifecycleParts } from './parts.ts'

export interface TrafficSources {
  readonly parts: LifecycleParts
  readonly record: Recorder['record']
  readonly health: Health
  readonly metrics: MetricsEndpoint
  readonly ownAnswer: OwnAnswer
}

/**
 * What listeners of the life itself answer health with; all of them do so in the same way, and the
 * first that is open says it here.
 */
export interface OwnAnswer {
  listener: RequestListener | undefined
}

/** The gate of a life, with the endpoints that the life answers in front of its handler. */
export function trafficOf(sources: TrafficSources): Traffic {
  const { parts, record } = sources
  const { options, host, failureAnswer } = parts
  return new Traffic({
    clock: host.clock,
    random: host.random,
    mode: options.whileDraining,
    isLongRunning: safeLongRunning(options.longRunning, (error) =>
      record({ type: 'error', where: 'longRunning', error: errorRecord(error) }),
    ),
    transportOf,
    readingOf,
    record,
    wording: options.wording,
    goawayChance: options.goawayChance,
    exempt: options.exempt,
    failureAnswer,
    steps: [...(options.health ? healthSteps(sources) : []), ...(options.metrics ? [metricsStep(sources)] : []), ...(options.steps ?? [])],
  })
}

const healthSteps = ({ parts, health, ownAnswer }: TrafficSources): readonly PlacedStep[] => [
  {
    name: 'health',
    onPublic: !parts.healthIsHandlers,
    admit: ({ request, response }: ExchangeView) => response === undefined || !health.handle(request, response),
  },
  // Listeners of ours would answer them as well, but behind the steps whose place is after this
  // one.
  {
    name: 'health on the admin listener',
    after: 'health',
    onAdmin: true,
    onPublic: false,
    admit: ({ request, response }: ExchangeView) => {
      if (response === undefined || !ownAnswer.listener || !health.answers(request)) return true
      ownAnswer.listener(request, response)
      return false
    },
  },
]

const metricsStep = ({ metrics }: TrafficSources): PlacedStep => ({
  name: 'metrics',
  before: 'retry-after',
  admit: ({ request, response }: ExchangeView) => response === undefined || !metrics.handle(request, response),
})
