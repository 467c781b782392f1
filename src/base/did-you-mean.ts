/**
 * ` (did you mean "…"?)` for a misspelt word, or nothing when it is not misspelt or no candidate is
 * near.
 * @param prefix what the word and all candidates begin with. It says nothing about how near they
 * are.
 */
export function didYouMean(word: string, candidates: readonly string[], prefix = ''): string {
  if (candidates.includes(word)) return ''
  const own = (name: string): string => name.slice(prefix.length)
  const best = nearest(own(word), candidates.map(own))
  return best && best.distance <= mistakesMax(own(word)) ? meant(`${prefix}${best.name}`) : ''
}

/**
 * The number of mistakes allowed: two in a word of three letters are most of it, and make another
 * name.
 */
const mistakesMax = ({ length }: string): number => (length <= 3 ? 1 : Math.max(2, Math.floor(length / 3)))

/** ` (did you mean "…"?)` */
export const meant = (name: string): string => ` (did you mean "${name}"?)`

/**
 * The candidate that a word is beyond doubt: of six letters at most one is wrong. Short words are
 * never in doubt, because they may be names of their own.
 */
export function misspelt(word: string, candidates: readonly string[]): string | undefined {
  const best = nearest(word, candidates)
  return best && best.distance <= Math.floor(word.length / 6) ? best.name : undefined
}

const nearest = (word: string, names: readonly string[]) =>
  names.map((name) => ({ name, distance: editDistance(word.toLowerCase(), name.toLowerCase()) })).sort((a, b) => a.distance - b.distance)[0]

/**
 * How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one
 * word into the other.
 */
function editDistance(a: string, b: string): number {
  let beforeThat: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 0; i < a.length; i++) {
    const current = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const replaced = (previous[j] as number) + (a[i] === b[j] ? 0 : 1)
      const isSwapped = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j]
      const swapped = isSwapped ? (beforeThat[j - 1] as number) + 1 : Number.POSITIVE_INFINITY
      current.push(Math.min(replaced, swapped, (previous[j + 1] as number) + 1, (current[j] as number) + 1))
    }
    beforeThat = previous
    previous = current
  }
  return previous.at(-1) as number
}
