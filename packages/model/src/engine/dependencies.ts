import type { MachineConfiguration } from './configuration.ts'
import { PairMap } from './pair-map.ts'
import type { Region } from './regions.ts'

/**
 * Something that xstate read while it computed a step. Two configurations that agree in every
 * dependency of a step take the same step, whatever else they differ in; so one result serves both.
 *
 * Regions are read whole, and once: `hears`, `exits` and `all` give the states of those regions
 * that the question concerns and that no earlier question of the same step has read. The others
 * have not moved.
 */
export type Dependency =
  /** Regions that have a transition for this type of event, or eventless ones. */
  | { readonly kind: 'hears'; readonly type: string }
  /** Regions that do something when they are left: the step leaves all of them. */
  | { readonly kind: 'exits' }
  /** Every region. */
  | { readonly kind: 'all' }
  /** Whether all other regions are final. */
  | { readonly kind: 'final' }
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'context' }
  | { readonly kind: 'child'; readonly id: string }
  | { readonly kind: 'children' }

/**
 * A dependency as a question of the tree: of the regions it may concern, only those that no
 * question before it has read.
 */
interface Question<T> {
  readonly dependency: Dependency
  readonly positions: readonly number[]
  readonly answers: Map<Observed, Question<T> | Answer<T>>
}

interface Answer<T> {
  readonly answer: T
}

/** The value of a dependency in one configuration. */
type Observed = string | number | boolean

function see(
  { dependency, positions }: Pick<Question<unknown>, 'dependency' | 'positions'>,
  { regions, contextState, children }: MachineConfiguration,
): Observed {
  switch (dependency.kind) {
    case 'hears':
    case 'exits':
    case 'all':
      return seeRegions(dependency, positions, regions)
    case 'final':
      return positions.every((i) => regions[i]?.isFinal)
    case 'key':
      return contextState.values.get(dependency.key) ?? -1
    case 'context':
      return contextState.index
    case 'child':
      return children.includes(dependency.id)
    case 'children':
      return children.join('\n')
  }
}

function seeRegions(dependency: Dependency, positions: readonly number[], regions: readonly Region[]): Observed {
  // One is the rule, and a number is the faster key.
  let observed: string | number = -1
  for (const i of positions) {
    const region = regions[i] as Region
    if (concerns(dependency, region)) observed = observed === -1 ? region.index : `${observed} ${region.index}`
  }
  return observed
}

/** Whether a dependency reads this region. */
function concerns(dependency: Dependency, region: Region): boolean {
  switch (dependency.kind) {
    case 'hears':
      return region.isEventless || region.hears(dependency.type)
    case 'exits':
      return region.hasExit
    default:
      return dependency.kind === 'all'
  }
}

/** Positions of the regions that a dependency may read. */
function candidates(dependency: Dependency, { frame, regions }: MachineConfiguration): readonly number[] {
  if (dependency.kind === 'hears') return frame.regionsFor(dependency.type)
  if (dependency.kind === 'exits') return frame.withExit
  return dependency.kind === 'all' || dependency.kind === 'final' ? [...regions.keys()] : []
}

/** Results by what they depend on: a tree of questions. */
export class MemoTree<T> {
  readonly #roots = new PairMap<Question<T> | Answer<T>>()

  /** The result for an event, by its number, of a configuration that agrees in all dependencies. */
  find(event: number, configuration: MachineConfiguration): T | undefined {
    let node = this.#roots.get(configuration.frame.index, event)
    while (node && 'dependency' in node) node = node.answers.get(see(node, configuration))
    return node?.answer
  }

  /**
   * Remembers a result with its dependencies. Steps that read the same values go the
   * same way, so they also ask the same next question; where that is not so in detail the answer is
   * not remembered, which only costs time.
   */
  add(event: number, configuration: MachineConfiguration, dependencies: readonly Dependency[], answer: T): void {
    const seen = new Set<number>()
    let attach = (node: Question<T> | Answer<T>): unknown => this.#roots.set(configuration.frame.index, event, node)
    let node = this.#roots.get(configuration.frame.index, event)
    for (const dependency of dependencies) {
      const positions = candidates(dependency, configuration).filter((i) => !seen.has(i))
      for (const i of positions) if (concerns(dependency, configuration.regions[i] as Region)) seen.add(i)
      if (!node) {
        node = { dependency, positions, answers: new Map() }
        attach(node)
      }
      if (!('dependency' in node) || textOfDependency(node.dependency) !== textOfDependency(dependency)) return
      const { answers } = node
      const observed = see(node, configuration)
      attach = (next) => answers.set(observed, next)
      node = answers.get(observed)
    }
    if (!node) attach({ answer })
  }
}

/** Equal texts for equal dependencies. */
export const textOfDependency = (dependency: Dependency): string => {
  if (dependency.kind === 'hears') return `hears ${dependency.type}`
  if (dependency.kind === 'key') return `key ${dependency.key}`
  return dependency.kind === 'child' ? `child ${dependency.id}` : dependency.kind
}
