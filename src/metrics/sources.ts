import { optionError, QuiesceError, show } from '../base/errors.ts'
import { checkedFamilies } from './checked-families.ts'
import { type MetricFamily, type MetricSource, type OwnMetrics, openMetricsName } from './family.ts'

/**
 * What one `/metrics` prints: its own families, and those of sources that were added. A name is
 * printed once: what would come twice is refused when it is added, or, where its source had not
 * said it, left out and reported.
 */
export class MetricSources {
  readonly #own: OwnMetrics
  readonly #added = new Set<MetricSource>()
  readonly #failed: (error: unknown) => void

  /** @param failed is told of a source that fails, and of a name that comes twice */
  constructor(own: OwnMetrics, failed: (error: unknown) => void) {
    this.#own = own
    this.#failed = failed
  }

  /**
   * @throws QuiesceError ERR_DUPLICATE for a name that is there already, in it or in another;
   * ERR_OPTION_INVALID for what is no source
   */
  add(source: MetricSource): Disposable {
    if (!isSource(source)) throw optionError('metrics', source, 'an object with names and collect()')
    const taken = new Set([this.#own, ...this.#added].flatMap(({ names }) => names))
    for (const name of source.names) {
      if (taken.has(name)) throw duplicate(name)
      taken.add(name)
    }
    this.#added.add(source)
    return { [Symbol.dispose]: () => void this.#added.delete(source) }
  }

  /** In the same step, unless a source takes time. Never throws or rejects. */
  collect(): readonly MetricFamily[] | Promise<readonly MetricFamily[]> {
    const own = this.#own.collect()
    if (this.#added.size === 0) return own
    return this.#all(own)
  }

  async #all(own: readonly MetricFamily[]): Promise<readonly MetricFamily[]> {
    const collected = await Promise.all([...this.#added].map((source) => this.#ask(source)))
    const names = new Set<string>()
    return [...own, ...collected.flat()].filter((family) => {
      const { name } = family
      const ofOpenMetrics = openMetricsName(family)
      const isFirst = !names.has(name) && !names.has(ofOpenMetrics)
      if (!isFirst) this.#failed(duplicate(name))
      names.add(name).add(ofOpenMetrics)
      return isFirst
    })
  }

  async #ask(source: MetricSource): Promise<readonly MetricFamily[]> {
    try {
      return checkedFamilies(await source.collect(), this.#failed)
    } catch (error) {
      this.#failed(error)
      return []
    }
  }
}

const isSource = (given: unknown): boolean =>
  typeof given === 'object' &&
  given !== null &&
  'collect' in given &&
  typeof given.collect === 'function' &&
  'names' in given &&
  Array.isArray(given.names)

const duplicate = (name: string): QuiesceError =>
  new QuiesceError('ERR_DUPLICATE', `metrics: ${show(name)} is there already: every metric has a name of its own`, { name })
