import { checkArguments, withFields } from '../base/arguments.ts'
import { optionError, QuiesceError, show } from '../base/errors.ts'
import { FAMILY_TYPES, type MetricFamily, type MetricSource, type OwnMetrics, REGISTRY_READ, SOURCES_BESIDE } from './family.ts'

/** The part of a registry of prom-client that is needed; its own type fits. */
export interface PromRegistry {
  getMetricsAsArray(): readonly { readonly name: string }[]
  getMetricsAsJSON(): PromiseLike<readonly PromMetric[]>
  getSingleMetric(name: string): unknown
  /** Its own type takes its own classes only; it looks at no more than ours have. */
  registerMetric(metric: never): void
  removeSingleMetric(name: string): void
}

interface PromMetric {
  readonly name: string
  readonly help: string
  /** Its declared type is a number, and its value a text. */
  readonly type: unknown
  readonly values: readonly PromValue[]
}

interface PromValue {
  readonly value: number
  readonly labels: Readonly<Partial<Record<string, string | number>>>
  readonly metricName?: string | undefined
}

/**
 * The metrics of a prom-client registry, for {@link Life.addMetrics}: `/metrics` prints them among
 * ours. They are read at each scrape.
 * @throws QuiesceError ERR_OPTION_INVALID for what is no registry
 * @example
 * life.addMetrics(fromPromClient(register))
 */
export function fromPromClient(registry: PromRegistry): MetricSource {
  checkRegistry(registry)
  const source: MetricSource = {
    get names() {
      return registry.getMetricsAsArray().map(({ name }) => name)
    },
    collect: async () => (await registry.getMetricsAsJSON()).map(familyOf),
  }
  return Object.defineProperty(source, REGISTRY_READ, { value: registry })
}

function familyOf({ name, help, type, values }: PromMetric): MetricFamily {
  const samples = values.map(({ value, labels, metricName = name }) => ({
    suffix: metricName.startsWith(name) ? metricName.slice(name.length) : '',
    labels: Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, textOf(text)])),
    value,
  }))
  return { name, help, type: FAMILY_TYPES.find((known) => known === type) ?? 'gauge', samples }
}

const textOf = (label: string | number | undefined): string => (label === Number.POSITIVE_INFINITY ? '+Inf' : String(label ?? ''))

/**
 * The other way round: has a prom-client registry print ours, those of a `MetricRegistry` or of a
 * life (`life.metrics`), among its own. They are read at each of its scrapes.
 * @returns takes them away again
 * @throws QuiesceError ERR_DUPLICATE for a name that the registry has, and for a registry that the
 * life prints: none is added then; ERR_OPTION_INVALID for what is no registry
 * @example
 * registerInto(register, life.metrics)
 */
export function registerInto(registry: PromRegistry, metrics: OwnMetrics): Disposable {
  checkRegistry(registry)
  checkArguments(
    'registerInto(registry, metrics)',
    [registry, 'an object'],
    [metrics, withFields('the metrics of a life, or a MetricRegistry', 'collect')],
  )
  if (isReadBeside(metrics, registry)) {
    const message =
      'registerInto: these metrics are printed together with those of the registry already, by fromPromClient(): one direction is enough'
    throw new QuiesceError('ERR_DUPLICATE', message)
  }
  const taken = new Set(registry.getMetricsAsArray().map(({ name }) => name))
  const families = metrics.collect()
  const twice = families.find(({ name }) => taken.has(name))
  if (twice) {
    const message = `registerInto: the registry has ${show(twice.name)} already: every metric has a name of its own`
    throw new QuiesceError('ERR_DUPLICATE', message, { name: twice.name })
  }
  let asked: readonly MetricFamily[] | undefined
  /** The families of a scrape, which asks for them in one step. */
  const collected = (): readonly MetricFamily[] => {
    if (asked === undefined) queueMicrotask(() => (asked = undefined))
    asked ??= metrics.collect()
    return asked
  }
  const added = families.map((family) => new Registered(family, collected))
  for (const metric of added) registry.registerMetric(metric as never)
  return {
    [Symbol.dispose]: () => {
      for (const { key } of added) registry.removeSingleMetric(key)
    },
  }
}

/** Whether each of them would print the other. */
function isReadBeside(metrics: OwnMetrics & { readonly [SOURCES_BESIDE]?: () => readonly object[] }, registry: object): boolean {
  const beside: readonly { readonly [REGISTRY_READ]?: object }[] = metrics[SOURCES_BESIDE]?.() ?? []
  return beside.some((source) => source[REGISTRY_READ] === registry)
}

/** One family, as a registry of prom-client asks for it. */
class Registered {
  readonly key: string
  /** The name; for OpenMetrics the registry changes that of a counter. */
  name: string
  readonly help: string
  readonly type: MetricFamily['type']
  /** The aggregation between processes of a cluster. */
  readonly aggregator = 'sum'
  readonly #collected: () => readonly MetricFamily[]

  constructor({ name, help, type }: MetricFamily, collected: () => readonly MetricFamily[]) {
    this.key = name
    this.name = name
    this.help = help
    this.type = type
    this.#collected = collected
  }

  async get() {
    const { name, help, type, aggregator } = this
    const samples = this.#collected().find((family) => family.name === this.key)?.samples ?? []
    const values = samples.map(({ labels, value, suffix }) => ({ labels, value, ...(suffix && { metricName: `${name}${suffix}` }) }))
    return { name, help, type, aggregator, values }
  }

  /** What ours have counted is ours. */
  reset(): void {}
}

function checkRegistry(given: unknown): void {
  const isRegistry = typeof given === 'object' && given !== null && 'getMetricsAsJSON' in given && 'registerMetric' in given
  if (!isRegistry) throw optionError('registry', given, 'a registry of prom-client: its register, or new Registry()')
}
