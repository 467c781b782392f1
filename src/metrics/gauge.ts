import type { MetricSample } from './family.ts'
import { Metric, type MetricOptions } from './metric.ts'

/** One value, that goes up and down. */
export class Level {
  value = 0

  /** What is no number leaves it as it is; NaN, which says that it is not known, is one. */
  set(value: number): void {
    if (typeof value === 'number') this.value = value
  }

  /** @param by below zero it goes down; what is no number, NaN too, is not added */
  add(by = 1): void {
    if (typeof by === 'number' && !Number.isNaN(by)) this.value += by
  }
}

/** How much of something there is. */
export class Gauge extends Metric<Level> {
  readonly type = 'gauge'

  constructor(options: MetricOptions) {
    super(options, () => new Level())
  }

  /** Sets a gauge without labels. */
  set(value: number): void {
    this.with().set(value)
  }

  protected samplesOf({ value }: Level, labels: MetricSample['labels']): readonly MetricSample[] {
    return [{ labels, value }]
  }
}
