import { PairMap } from './pair-map.ts'
import type { Region } from './regions.ts'
import type { MachineStanding } from './standing.ts'

/**
 * What xstate looked at while it computed a step. Two standings that look the same in all of it are
 * answered in the same way, whatever else they differ in; that is why a step can be remembered for
 * both.
 *
 * Regions are looked at as a whole, and once: `hears`, `exits` and `all` say how those regions
 * stand that the question concerns and that no earlier question of the same step has shown. The
 * others have not moved.
 */
export type Look =
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
 * A look as a question of the tree: of the regions it may concern, only those that no question
 * before it has shown.
 */
interface Question<T> {
  readonly look: Look
  readonly positions: readonly number[]
  readonly answers: Map<Sight, Question<T> | Answer<T>>
}

interface Answer<T> {
  readonly answer: T
}

/** Result of an observation. */
type Sight = string | number | boolean

function see(
  { look, positions }: Pick<Question<unknown>, 'look' | 'positions'>,
  { regions, contextState, children }: MachineStanding,
): Sight {
  switch (look.kind) {
    case 'hears':
    case 'exits':
    case 'all':
      return seeRegions(look, positions, regions)
    case 'final':
      return positions.every((i) => regions[i]?.isFinal)
    case 'key':
      return contextState.values.get(look.key) ?? -1
    case 'context':
      return contextState.index
    case 'child':
      return children.includes(look.id)
    case 'children':
      return children.join('\n')
  }
}

function seeRegions(look: Look, positions: readonly number[], regions: readonly Region[]): Sight {
  // One is the rule, and a number is the faster key.
  let sight: string | number = -1
  for (const i of positions) {
    const region = regions[i] as Region
    if (concerns(look, region)) sight = sight === -1 ? region.index : `${sight} ${region.index}`
  }
  return sight
}

/** Whether a look shows how this region stands. */
function concerns(look: Look, region: Region): boolean {
  switch (look.kind) {
    case 'hears':
      return region.isEventless || region.hears(look.type)
    case 'exits':
      return region.hasExit
    default:
      return look.kind === 'all'
  }
}

/** Positions of the regions that a look may concern. */
function candidates(look: Look, { frame, regions }: MachineStanding): readonly number[] {
  if (look.kind === 'hears') return frame.hearing(look.type)
  if (look.kind === 'exits') return frame.withExit
  return look.kind === 'all' || look.kind === 'final' ? [...regions.keys()] : []
}

/** Answers by what was looked at to find them: a tree of questions. */
export class LookTree<T> {
  readonly #roots = new PairMap<Question<T> | Answer<T>>()

  /** The answer to an event, by its number, of a standing that looks the same. */
  find(event: number, standing: MachineStanding): T | undefined {
    let node = this.#roots.get(standing.frame.index, event)
    while (node && 'look' in node) node = node.answers.get(see(node, standing))
    return node?.answer
  }

  /**
   * Remembers an answer with the looks that were needed to find it. Steps that see the same go the
   * same way, so they also ask the same next question; where that is not so in detail the answer is
   * not remembered, which only costs time.
   */
  add(event: number, standing: MachineStanding, looks: readonly Look[], answer: T): void {
    const seen = new Set<number>()
    let attach = (node: Question<T> | Answer<T>): unknown => this.#roots.set(standing.frame.index, event, node)
    let node = this.#roots.get(standing.frame.index, event)
    for (const look of looks) {
      const positions = candidates(look, standing).filter((i) => !seen.has(i))
      for (const i of positions) if (concerns(look, standing.regions[i] as Region)) seen.add(i)
      if (!node) {
        node = { look, positions, answers: new Map() }
        attach(node)
      }
      if (!('look' in node) || textOfLook(node.look) !== textOfLook(look)) return
      const { answers } = node
      const sight = see(node, standing)
      attach = (next) => answers.set(sight, next)
      node = answers.get(sight)
    }
    if (!node) attach({ answer })
  }
}

/** Equal texts for equal looks. */
export const textOfLook = (look: Look): string => {
  if (look.kind === 'hears') return `hears ${look.type}`
  if (look.kind === 'key') return `key ${look.key}`
  return look.kind === 'child' ? `child ${look.id}` : look.kind
}
