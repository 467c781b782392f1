import { checkArguments } from '../base/arguments.ts'
import { optionError } from '../base/errors.ts'
import type { MetricSample } from './family.ts'
import { Metric, type MetricOptions } from './metric.ts'
import { boundText } from './text.ts'

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds of its buckets, ascending; one for all that is more is always there. */
  readonly bounds: readonly number[]
}

/** How one thing is distributed. */
export class Distribution {
  readonly #bounds: readonly number[]
  /** The counts by bucket, each without those below it; the last is above all bounds. */
  readonly counts: Float64Array
  sum = 0
  /** Seconds since the epoch. */
  readonly createdAt: number

  constructor(bounds: readonly number[], createdAt: number) {
    this.#bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
    this.createdAt = createdAt
  }

  /** What is no number is not counted. */
  observe(value: number): void {
    if (typeof value !== 'number' || Number.isNaN(value)) return
    const bounds = this.#bounds
    let at = 0
    while (at < bounds.length && value > (bounds[at] as number)) at++
    this.counts[at] = (this.counts[at] as number) + 1
    this.sum += value
  }
}

/** How values are distributed, by buckets. */
export class Histogram extends Metric<Distribution> {
  readonly type = 'histogram'
  readonly #bounds: readonly string[]

  constructor({ bounds, ...options }: HistogramOptions, wallSeconds: () => number) {
    if (!Array.isArray(bounds) || bounds.length === 0 || bounds.some((bound, at) => !Number.isFinite(bound) || bound <= bounds[at - 1]))
      throw optionError(`bounds of ${options.name}`, bounds, 'one or more numbers, ascending')
    const own = [...bounds]
    super(options, () => new Distribution(own, wallSeconds()), ['le'])
    this.#bounds = [...own, Number.POSITIVE_INFINITY].map(boundText)
  }

  /** Observes a value of a histogram without labels. */
  observe(value: number): void {
    this.with().observe(value)
  }

  protected samplesOf({ counts, sum, createdAt }: Distribution, labels: MetricSample['labels']): readonly MetricSample[] {
    let count = 0
    const buckets = this.#bounds.map((le, at) => {
      count += counts[at] as number
      return { suffix: '_bucket', labels: { ...labels, le }, value: count }
    })
    return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: count, createdAt }]
  }
}

/** `count` bounds, each `factor` times the one before. */
export function exponentialBounds(start: number, factor: number, count: number): readonly number[] {
  checkArguments('exponentialBounds(start, factor, count)', [start, 'a number'], [factor, 'a number'], [count, 'a number'])
  return Array.from({ length: count }, (_, at) => Number((start * factor ** at).toPrecision(12)))
}
