import type { MetricSample } from './family.ts'
import { Metric, type MetricOptions } from './metric.ts'

/** One count, that only grows. */
export class Count {
  value = 0
  /** Seconds since the epoch. */
  readonly createdAt: number

  constructor(createdAt: number) {
    this.createdAt = createdAt
  }

  /** @param by 0 or more; anything else is not counted */
  add(by = 1): void {
    if (typeof by === 'number' && by >= 0) this.value += by
  }
}

/** How often something has happened. */
export class Counter extends Metric<Count> {
  readonly type = 'counter'

  constructor(options: MetricOptions, wallSeconds: () => number) {
    super(options, () => new Count(wallSeconds()))
  }

  /** Adds to a counter without labels. */
  add(by?: number): void {
    this.of(NONE).add(by)
  }

  protected samplesOf({ value, createdAt }: Count, labels: MetricSample['labels']): readonly MetricSample[] {
    return [{ labels, value, createdAt }]
  }
}

const NONE: readonly string[] = []
