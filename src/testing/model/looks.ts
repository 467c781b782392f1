import { PairMap } from './pair-map.ts'
import type { Region } from './regions.ts'
import type { Standing } from './standing.ts'

/**
 * What xstate looked at while it computed a step. Two standings that look the same in all of it are answered in the same way,
 * whatever else they differ in; that is why a step can be remembered for both.
 *
 * Regions are looked at as a whole, and once: `hears`, `exits` and `all` say how those regions stand that the question concerns and
 * that no earlier question of the same step has shown. The others have not moved.
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

/** What somebody sees who looks, as a short text. `seen` marks the regions that have been looked at; it is changed. */
function see(look: Look, { frame, regions, contextState, children }: Standing, seen: Uint8Array): string | number | boolean {
  switch (look.kind) {
    case 'hears':
      return seeRegions(regions, frame.hearing(look.type), seen, (region) => region.isEventless || region.hears(look.type))
    case 'exits':
      return seeRegions(regions, frame.withExit, seen, ({ hasExit }) => hasExit)
    case 'all':
      return seeRegions(regions, regions.keys(), seen, () => true)
    case 'final':
      return regions.every(({ isFinal }, i) => seen[i] || isFinal)
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

function seeRegions(
  regions: readonly Region[],
  candidates: Iterable<number>,
  seen: Uint8Array,
  concerns: (region: Region) => boolean,
): string | number {
  // One is the rule, and a number is the faster key.
  let sight: string | number = -1
  for (const i of candidates) {
    const region = regions[i]
    if (!region || seen[i] || !concerns(region)) continue
    seen[i] = 1
    sight = sight === -1 ? region.index : `${sight} ${region.index}`
  }
  return sight
}

interface Question<T> {
  readonly look: Look
  readonly answers: Map<string | number | boolean, Question<T> | Answer<T>>
}

interface Answer<T> {
  readonly answer: T
}

/** Answers by what was looked at to find them: a tree of questions. */
export class LookTree<T> {
  readonly #roots = new PairMap<Question<T> | Answer<T>>()

  /** The answer to an event, by its number, of a standing that looks the same. */
  find(event: number, standing: Standing): T | undefined {
    let node = this.#roots.get(standing.frame.index, event)
    const seen = new Uint8Array(standing.regions.length)
    while (node && 'look' in node) node = node.answers.get(see(node.look, standing, seen))
    return node?.answer
  }

  /**
   * Remembers an answer with the looks that were needed to find it. Steps that see the same go the same way, so they also ask the
   * same next question; where that is not so in detail the answer is not remembered, which only costs time.
   */
  add(event: number, standing: Standing, looks: readonly Look[], answer: T): void {
    const seen = new Uint8Array(standing.regions.length)
    let attach = (node: Question<T> | Answer<T>): unknown => this.#roots.set(standing.frame.index, event, node)
    let node = this.#roots.get(standing.frame.index, event)
    for (const look of looks) {
      if (!node) {
        node = { look, answers: new Map() }
        attach(node)
      }
      if (!('look' in node) || !isSame(node.look, look)) return
      const { answers } = node
      const sight = see(look, standing, seen)
      attach = (next) => answers.set(sight, next)
      node = answers.get(sight)
    }
    if (!node) attach({ answer })
  }
}

const isSame = (one: Look, other: Look): boolean => one.kind === other.kind && subject(one) === subject(other)

const subject = (look: Look): string | undefined => {
  if (look.kind === 'hears') return look.type
  if (look.kind === 'key') return look.key
  return look.kind === 'child' ? look.id : undefined
}
