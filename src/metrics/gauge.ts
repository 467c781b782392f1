import type { MetricSample } from './family.ts'
import { Metric, type MetricOptions } from './metric.ts'

/** One value, that goes up and down. */
export class Level {
  value = 0

  set(value: number): void {
    this.value = value
  }

  /** @param by below zero it goes down */
  add(by = 1): void {
    this.value += by
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
