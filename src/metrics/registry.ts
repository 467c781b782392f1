import { checkArguments, withFields, withOptions } from '../base/arguments.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { show } from '../base/errors.ts'
import { Registry } from '../base/registry.ts'
import { Counter } from './counter.ts'
import { bareName, type MetricFamily, type MetricSource } from './family.ts'
import { Gauge } from './gauge.ts'
import { Histogram, type HistogramOptions } from './histogram.ts'
import type { Metric, MetricOptions } from './metric.ts'

const OF_ANY = withOptions<MetricOptions>('name', 'help', 'labels', 'seriesMax')
const OF_HISTOGRAM = withOptions<HistogramOptions>('name', 'help', 'labels', 'seriesMax', 'bounds')

/**
 * Metrics of one program, or one part of it. Observing one costs a look-up and an addition, and
 * makes nothing: it is meant for the path of every request.
 * @example
 * const metrics = new MetricRegistry()
 * const jobs = metrics.counter({
 *   name: 'jobs_total',
 *   help: 'Jobs done, by queue.',
 *   labels: ['queue'],
 * })
 * life.addMetrics(metrics)
 * jobs.with('mail').add()
 */
export class MetricRegistry implements MetricSource {
  readonly #wallSeconds: () => number
  /** The metrics by what their names stand for. */
  readonly #metrics = new Registry<Metric<unknown>>({
    of: 'a metric',
    tooLate: (name) => `unable to add the metric ${show(name)}`,
    duplicate: (name, at) => `unable to add the metric ${show(name)} because it was already registered by: ${at}`,
  })

  /** @param clock says since when something is counted; default: that of the system */
  constructor(clock: Pick<Clock, 'wall'> = systemClock) {
    checkArguments('new MetricRegistry(clock?)', [clock, withFields('a clock with wall()', 'wall')])
    this.#wallSeconds = () => clock.wall() / 1_000
  }

  /**
   * How often something has happened.
   * @throws QuiesceError ERR_DUPLICATE for a name that is taken: `a` and `a_total` are one;
   * ERR_OPTION_INVALID
   */
  counter(options: MetricOptions): Counter {
    checkArguments('counter(options)', [options, OF_ANY])
    return this.#add(new Counter(options, this.#wallSeconds))
  }

  /** How much of something there is. Throws as {@link counter}. */
  gauge(options: MetricOptions): Gauge {
    checkArguments('gauge(options)', [options, OF_ANY])
    return this.#add(new Gauge(options))
  }

  /** How values are distributed. Throws as {@link counter}. */
  histogram(options: HistogramOptions): Histogram {
    checkArguments('histogram(options)', [options, OF_HISTOGRAM])
    return this.#add(new Histogram(options, this.#wallSeconds))
  }

  get names(): readonly string[] {
    return this.#all.map(({ name }) => name)
  }

  collect(): readonly MetricFamily[] {
    return this.#all.map((metric) => metric.collect())
  }

  /** What was counted is forgotten. Series that were kept count nowhere from then on. */
  reset(): void {
    for (const metric of this.#all) metric.reset()
  }

  get #all(): readonly Metric<unknown>[] {
    return this.#metrics.entries().map(([, metric]) => metric)
  }

  #add<M extends Metric<unknown>>(metric: M): M {
    this.#metrics.add(bareName(metric.name), metric)
    return metric
  }
}
