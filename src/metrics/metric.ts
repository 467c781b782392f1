import { optionError } from '../base/errors.ts'
import { isLabelName, isMetricName, type LabelValue, METRIC_NAME_ALLOWED, type MetricFamily, type MetricSample } from './family.ts'
import { SERIES_MAX, SeriesMap } from './series.ts'

/** What every metric is made from. */
export interface MetricOptions {
  /** Letters, digits, `_` and `:`; that of a counter should end in `_total`. */
  readonly name: string
  /** One line for people. */
  readonly help: string
  /** Names of its labels; their values come in this order. Default: none. */
  readonly labels?: readonly string[]
  /** How many series it may have; further values count as `other`. @default 1000 */
  readonly seriesMax?: number
}

/** One metric of a registry: its series, and what they are called. */
export abstract class Metric<S> {
  readonly name: string
  readonly help: string
  abstract readonly type: MetricFamily['type']
  protected readonly series: SeriesMap<S>
  readonly #hasLabels: boolean

  /** @param reserved labels that the metric has itself */
  constructor({ name, help, labels = [], seriesMax = SERIES_MAX }: MetricOptions, make: () => S, reserved: readonly string[] = []) {
    if (!isMetricName(name)) throw optionError('name', name, METRIC_NAME_ALLOWED)
    if (typeof help !== 'string') throw optionError(`help of ${name}`, help, 'text')
    for (const label of labels)
      if (typeof label !== 'string' || !isLabelName(label) || label.startsWith('__') || reserved.includes(label))
        throw optionError(
          `labels of ${name}`,
          label,
          'letters, digits and _, not a digit or two _ first, and no label of the format itself',
        )
    const twice = labels.find((label, at) => labels.indexOf(label) < at)
    if (twice !== undefined) throw optionError(`labels of ${name}`, twice, 'each once')
    if (!Number.isInteger(seriesMax) || seriesMax < 1) throw optionError(`seriesMax of ${name}`, seriesMax, 'a whole number above 0')
    this.name = name
    this.help = help
    this.#hasLabels = labels.length > 0
    this.series = new SeriesMap(labels, make, seriesMax)
    this.reset()
  }

  /**
   * The series of these values of its labels, in their order. Looked up without making anything;
   * where the values are known beforehand, keep it: what it counts stays the metric's.
   * @throws QuiesceError ERR_OPTION_INVALID for another number of values than it has labels, and
   * for a value that is neither text nor a number, such as undefined
   */
  with(...values: readonly LabelValue[]): S {
    return this.series.of(values)
  }

  /** The same for a list, which may be used again for the next. */
  of(values: readonly LabelValue[]): S {
    return this.series.of(values)
  }

  /** The same without making one: undefined for values that were not counted yet. */
  known(values: readonly LabelValue[]): S | undefined {
    return this.series.known(values)
  }

  /** What it has counted is forgotten; series that are kept from before count nowhere. */
  reset(): void {
    this.series.clear()
    // Without labels there is one, from the start: that nothing was counted is said.
    if (!this.#hasLabels) this.series.of([])
  }

  collect(): MetricFamily {
    const { name, help, type } = this
    return { name, help, type, samples: this.series.all.flatMap(({ labels, series }) => this.samplesOf(series, labels)) }
  }

  protected abstract samplesOf(series: S, labels: MetricSample['labels']): readonly MetricSample[]
}
