import { measured } from '../base/protocol.ts'
import type { MetricWords } from '../base/wording.ts'
import { MetricsEndpoint } from '../endpoints/metrics-endpoint.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import { type Labels, type MetricFamily, type MetricSource, type OwnMetrics, ownMetrics } from '../metrics/family.ts'
import { MetricSources, type SourceFailures, type SourcesWorld } from '../metrics/sources.ts'
import { leftUntil } from '../report/ending.ts'
import type { Gauges } from '../report/gauges.ts'
import type { LifeView } from '../report/view.ts'

/** What `/metrics` of a life prints: its own families, and behind them those of added sources. */
export class LifeMetrics {
  readonly #families: (() => readonly MetricFamily[])[] = []
  readonly #sources: MetricSources
  readonly own: OwnMetrics = ownMetrics(() => this.#families.flatMap((families) => families()))
  readonly endpoint: MetricsEndpoint

  /** @param checks what `/metrics/slis` prints */
  constructor(world: SourcesWorld, checks: () => readonly MetricFamily[]) {
    this.#sources = new MetricSources(this.own, world)
    this.endpoint = new MetricsEndpoint({ '/metrics': () => this.#sources.collect(), '/metrics/slis': checks })
  }

  /** Families of the life itself, made at each scrape, in the order in which they are printed. */
  print(families: () => readonly MetricFamily[]): void {
    this.#families.push(families)
  }

  add(source: MetricSource): Disposable {
    return this.#sources.add(source)
  }

  get sourceFailures(): SourceFailures {
    return this.#sources.failures
  }
}

/** Open connections, by protocol. */
export function connectionMetric({ connections }: MetricWords, traffic: Traffic): MetricFamily {
  const samples = measured(traffic.snapshot.connectionsByProtocol).map(({ protocol, tls, open }) => ({
    labels: { protocol, tls },
    value: open,
  }))
  return { ...connections, type: 'gauge', samples }
}

interface Seen {
  readonly view: LifeView
  readonly gauges: Gauges
  readonly sourceFailures: SourceFailures
  /** Milliseconds since the life began. */
  readonly now: number
  /** Milliseconds since the epoch when it began. */
  readonly wallAtStart: number
}

/** What a life says of itself to whatever scrapes it: made at each scrape, counted nowhere else. */
export function lifeMetrics(words: MetricWords, { view, gauges, sourceFailures, now, wallAtStart }: Seen): readonly MetricFamily[] {
  const { connections, rejected, requests, watches, holds, handlers } = gauges
  const by = (label: string, values: Readonly<Record<string, number>>) =>
    Object.entries(values).map(([name, value]) => ({ labels: { [label]: name } as Labels, value }))
  const leftMs = leftUntil(view, 'forced', now)
  return [
    { ...words.notified, type: 'gauge', samples: [{ labels: {}, value: connections.notified }] },
    {
      ...words.inFlight,
      type: 'gauge',
      samples: by('kind', { request: requests, watch: watches, hold: holds, handler: handlers }),
    },
    { ...words.rejections, type: 'counter', samples: by('kind', rejected) },
    {
      ...words.signals,
      type: 'gauge',
      samples: [...view.signals.values()].map(({ name, at }) => ({ labels: { signal: name }, value: (wallAtStart + at) / 1_000 })),
    },
    {
      ...words.phases,
      type: 'gauge',
      samples: [...view.phases.values()].map(({ name, startedAt, endedAt = now, outcome = 'running' }) => ({
        labels: { phase: name, outcome },
        value: (endedAt - startedAt) / 1_000,
      })),
    },
    { ...words.sourceFailures, type: 'counter', samples: by('reason', { ...sourceFailures }) },
    {
      ...words.budgetLeft,
      type: 'gauge',
      samples: Number.isFinite(leftMs) ? [{ labels: {}, value: Math.max(0, leftMs) / 1_000 }] : [],
    },
  ]
}
