/** What a label may be given; it is printed as text. */
export type LabelValue = string | number | boolean

/** Labels of one sample, by name. */
export type Labels = Readonly<Record<string, string>>

export interface MetricSample {
  readonly labels: Labels
  readonly value: number
  /** What follows the name of the family: `_bucket`, `_sum`, `_count`. Default: nothing. */
  readonly suffix?: string
  /**
   * Seconds since the epoch when it began to count; on one sample of each that counts. OpenMetrics
   * has it, the older format has not.
   */
  readonly createdAt?: number
}

/** Whether it is a name in both formats. */
export const isMetricName = (given: unknown): given is string => typeof given === 'string' && /^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(given)
export const METRIC_NAME_ALLOWED = 'letters, digits, _ and :, not a digit first'

export const isLabelName = (given: string): boolean => /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(given)

export const FAMILY_TYPES = ['counter', 'gauge', 'histogram', 'summary'] as const

/**
 * One metric with all its samples. Those of a histogram are cumulative `_bucket`s, with their upper
 * bound in the label `le`, then `_sum` and `_count`; of a summary quantiles, then the same.
 */
export interface MetricFamily {
  readonly name: string
  /** One line for people. */
  readonly help: string
  readonly type: (typeof FAMILY_TYPES)[number]
  readonly samples: readonly MetricSample[]
}

/** What `/metrics` asks for families, at each scrape. */
export interface MetricSource {
  /** Names of all families that it may ever have. */
  readonly names: readonly string[]
  /**
   * Gives the families. A source that throws, or takes longer than 5 seconds, is left out of that
   * scrape, and so is a family that cannot be printed; all of it is reported. Scrapes that come at
   * once share an answer.
   */
  collect(): readonly MetricFamily[] | PromiseLike<readonly MetricFamily[]>
}

/** Where metrics have what tells the sources that are printed beside them. */
export const SOURCES_BESIDE: unique symbol = Symbol.for('quiesce.metrics.sourcesBeside') as never
/** Where a source of prom-client has its registry. */
export const REGISTRY_READ: unique symbol = Symbol.for('quiesce.metrics.registryRead') as never

/** A source that is asked in the same step, and does not throw. */
export interface OwnMetrics extends MetricSource {
  collect(): readonly MetricFamily[]
}

/** The metrics that a function makes, whenever it is asked; what has the same name is one. */
export const ownMetrics = (make: () => readonly MetricFamily[]): OwnMetrics => ({
  get names() {
    return make().map(({ name }) => name)
  },
  collect: () => joinFamilies(make()),
})

/** OpenMetrics has the name of a counter without its `_total`. */
export const bareName = (name: string): string => name.replace(/_total$/, '')

/** What a family is called there. */
export const openMetricsName = ({ name, type }: Pick<MetricFamily, 'name' | 'type'>): string => (type === 'counter' ? bareName(name) : name)

/** Families of one name as one, where the first stands. */
function joinFamilies(families: readonly MetricFamily[]): readonly MetricFamily[] {
  const byName = new Map<string, MetricFamily>()
  for (const family of families) {
    const known = byName.get(family.name)
    byName.set(family.name, known ? { ...known, samples: [...known.samples, ...family.samples] } : family)
  }
  return [...byName.values()]
}
