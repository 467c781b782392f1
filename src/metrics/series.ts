import { optionError, QuiesceError, show } from '../base/errors.ts'
import type { Labels, LabelValue } from './family.ts'

/** What stands for the values of labels when there are too many. */
export const OTHER = 'other'

/** How many series a metric may have; further values count as {@link OTHER}. */
export const SERIES_MAX = 1_000

interface Node<S> {
  readonly next: Map<string, Node<S>>
  series: S | undefined
}

const emptyNode = <S>(): Node<S> => ({ next: new Map(), series: undefined })

/**
 * The series of one metric by the values of its labels. A look-up walks from value to value and
 * makes nothing; that what is kept has an end, whatever clients send, is held here.
 */
export class SeriesMap<S> {
  readonly #labels: readonly string[]
  readonly #make: (values: readonly string[]) => S
  readonly #max: number
  #root = emptyNode<S>()
  #all: { readonly values: readonly string[]; readonly series: S }[] = []

  constructor(labels: readonly string[], make: (values: readonly string[]) => S, max = SERIES_MAX) {
    this.#labels = labels
    this.#make = make
    this.#max = max
  }

  /**
   * The series of these values, in the order of the labels. The list itself is not kept.
   * @throws QuiesceError ERR_OPTION_INVALID for another number of values than there are labels, and
   * for a value that is none
   */
  of(values: readonly LabelValue[]): S {
    const known = this.known(values)
    return known === undefined ? this.#add(values) : known
  }

  /** The same, without making one. */
  known(values: readonly LabelValue[]): S | undefined {
    let node: Node<S> | undefined = this.#root
    // By its text alone: #add() makes one of what is none.
    for (let at = 0; at < values.length && node; at++) node = node.next.get(values[at] as string)
    return node?.series
  }

  /** The series in the order in which they were made. */
  get all(): readonly { readonly labels: Labels; readonly series: S }[] {
    return this.#all.map(({ values, series }) => ({
      labels: Object.fromEntries(values.map((value, at) => [this.#labels[at] as string, value])),
      series,
    }))
  }

  clear(): void {
    this.#root = emptyNode()
    this.#all = []
  }

  #add(given: readonly LabelValue[]): S {
    if (given.length !== this.#labels.length) {
      const allowed = `${this.#labels.length} values: ${this.#labels.join(', ')}`
      throw new QuiesceError('ERR_OPTION_INVALID', `labels: got ${show(given)}, allowed: ${allowed}`, { field: 'labels', given, allowed })
    }
    const texts = given.map((value, at) => this.#textOf(value, at))
    // Numbers have missed the series of their texts.
    const known = this.known(texts)
    if (known !== undefined) return known
    const values = this.#all.length < this.#max ? texts : texts.map(() => OTHER)
    let node = this.#root
    for (const value of values) {
      const next: Node<S> = node.next.get(value) ?? emptyNode()
      node.next.set(value, next)
      node = next
    }
    if (node.series === undefined) {
      node.series = this.#make(values)
      this.#all.push({ values, series: node.series })
    }
    return node.series
  }

  /**
   * What is no text would have samples refused at each scrape, far from the code that has given it.
   */
  #textOf(value: unknown, at: number): string {
    if (typeof value === 'string') return value
    if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
    throw optionError(`label ${this.#labels[at]}`, value, 'a text or a number')
  }
}
