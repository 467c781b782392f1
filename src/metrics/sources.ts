import type { Clock } from '../base/clock.ts'
import { formatDuration } from '../base/duration.ts'
import { optionError, QuiesceError, show, toError } from '../base/errors.ts'
import { checkedFamilies } from './checked-families.ts'
import { type MetricFamily, type MetricSource, type OwnMetrics, openMetricsName, SOURCES_BESIDE } from './family.ts'

/**
 * How long a source may take before a scrape answers without it: half of the ten seconds that
 * Prometheus waits for a scrape.
 */
export const SOURCE_MS_MAX = 5_000

export interface SourcesWorld {
  readonly clock: Clock
  /**
   * Reports a source that fails, and a name that comes twice.
   * @param isNew false: the source failed in the same way at the last scrape
   */
  readonly failed: (error: unknown, isNew: boolean) => void
  /** Reports a source that has failed and is printed again, by its names. */
  readonly recovered: (source: string) => void
}

/**
 * How often sources were left out of a scrape, by reason; `refused` are those of which families or
 * samples were, because they could not be printed.
 */
export interface SourceFailures {
  error: number
  timeout: number
  refused: number
}

interface SourceState {
  /** Scrapes share it: one that never answers is asked once. */
  asked: { readonly answer: Promise<unknown>; readonly until: number } | undefined
  failure: Error | undefined
  /** What of it could not be printed at the last scrape. */
  refused: ReadonlySet<unknown>
}

/**
 * What one `/metrics` prints: its own families, and those of sources that were added. A name is
 * printed once: what would come twice is refused when it is added, or, where its source had not
 * said it, left out and reported.
 */
export class MetricSources {
  readonly #own: OwnMetrics
  readonly #added = new Map<MetricSource, SourceState>()
  readonly #world: SourcesWorld
  /** Names that came twice at the last scrape. */
  #twice: ReadonlySet<string> = new Set()
  readonly failures: SourceFailures = { error: 0, timeout: 0, refused: 0 }

  constructor(own: OwnMetrics, world: SourcesWorld) {
    this.#own = own
    this.#world = world
    Object.defineProperty(own, SOURCES_BESIDE, { value: () => [...this.#added.keys()] })
  }

  /**
   * @throws QuiesceError ERR_DUPLICATE for a name that is there already, in it or in another;
   * ERR_OPTION_INVALID for what is no source
   */
  add(source: MetricSource): Disposable {
    if (!isSource(source)) throw optionError('metrics', source, 'an object with names and collect()')
    const taken = new Set([this.#own, ...this.#added.keys()].flatMap(({ names }) => names))
    for (const name of source.names) {
      if (taken.has(name)) throw duplicate(name)
      taken.add(name)
    }
    this.#added.set(source, { asked: undefined, failure: undefined, refused: new Set() })
    return { [Symbol.dispose]: () => void this.#added.delete(source) }
  }

  /**
   * Collects in the same step, unless there are sources; within {@link SOURCE_MS_MAX} in any case.
   * Never throws or rejects.
   */
  collect(): readonly MetricFamily[] | Promise<readonly MetricFamily[]> {
    return this.#added.size === 0 ? this.#own.collect() : this.#all()
  }

  async #all(): Promise<readonly MetricFamily[]> {
    const collected = await Promise.all(Array.from(this.#added, ([source, state]) => this.#ask(source, state)))
    const names = new Set<string>()
    const twice = new Set<string>()
    // Ours come behind the answers, because they count the sources that gave none.
    const printed = [...this.#own.collect(), ...collected.flat()].filter((family) => {
      const { name } = family
      const ofOpenMetrics = openMetricsName(family)
      const isFirst = !names.has(name) && !names.has(ofOpenMetrics)
      if (!isFirst) {
        this.#world.failed(duplicate(name), !this.#twice.has(name))
        twice.add(name)
      }
      names.add(name).add(ofOpenMetrics)
      return isFirst
    })
    this.#twice = twice
    return printed
  }

  async #ask(source: MetricSource, state: SourceState): Promise<readonly MetricFamily[]> {
    const { failed, recovered } = this.#world
    try {
      const refused = new Set<unknown>()
      const families = checkedFamilies(await this.#answerOf(source, state), (error) => {
        // Its place, because values change from scrape to scrape.
        const place = (error as QuiesceError).details['field']
        failed(error, !state.refused.has(place))
        refused.add(place)
      })
      if (refused.size > 0) this.failures.refused++
      else if (state.failure || state.refused.size > 0) recovered(nameOf(source))
      state.failure = undefined
      state.refused = refused
      return families
    } catch (thrown) {
      const error = toError(thrown)
      this.failures[thrown instanceof SourceTimeout ? 'timeout' : 'error']++
      failed(error, state.failure?.message !== error.message)
      state.failure = error
      return []
    }
  }

  #answerOf(source: MetricSource, state: SourceState): Promise<unknown> {
    const { clock } = this.#world
    if (!state.asked) {
      const answer: Promise<unknown> = Promise.resolve(source.collect())
      const settled = (): void => {
        state.asked = undefined
      }
      state.asked = { answer, until: clock.now() + SOURCE_MS_MAX }
      answer.then(settled, settled)
    }
    const { answer, until } = state.asked
    const leftMs = until - clock.now()
    const timeout = (): Error => new SourceTimeout(nameOf(source))
    if (leftMs <= 0) return Promise.reject(timeout())
    return new Promise((resolve, reject) => {
      const timer = clock.setTimeout(() => reject(timeout()), leftMs)
      // The scrape keeps the process alive, not the wait.
      ;(timer as { unref?: () => void }).unref?.()
      void answer.then(resolve, reject).finally(() => clock.clearTimeout(timer))
    })
  }
}

class SourceTimeout extends QuiesceError {
  constructor(source: string) {
    const words = `metrics: ${source} did not answer within ${formatDuration(SOURCE_MS_MAX)}, and is left out until it does`
    super('ERR_TIMEOUT', words, { source })
  }
}

/** The name of a source: its first one, if it has one. */
function nameOf({ names: [first, ...others] }: MetricSource): string {
  if (first === undefined) return 'a source without names'
  return `the source of ${show(first)}${others.length > 0 ? ` and ${others.length} more` : ''}`
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
