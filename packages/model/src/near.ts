/**
 * A hint for a name that names nothing: what there is, and first the name that is meant when one is
 * near enough to be a slip of the hand.
 */
export function hint(word: string, names: Iterable<string>): string {
  const all = [...new Set(names)].sort()
  const near = nearest(word, all)
  const first = all.filter((name) => contains(name, word))
  const meant = near === undefined ? '' : ` (did you mean "${near}"?)`
  return `${meant}; there is ${all.length === 0 ? 'none' : listed([...first, ...all.filter((name) => !first.includes(name))])}`
}

/**
 * The shortest name that has the word in it, or the one that it is with a letter or two wrong, of a
 * long word with a third of them.
 */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const limit = Math.max(2, Math.floor(word.length / 3))
  const [best] = names
    .map((name) => ({ name, distance: contains(name, word) ? 0 : lettersBetween(word.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance || a.name.length - b.name.length)
  return best && best.distance <= limit ? best.name : undefined
}

/** Whether a word is a name with a letter or two wrong. A short word may be a name of its own. */
export const isSlip = (word: string, names: Iterable<string>): boolean =>
  word.length > 3 && [...names].some((name) => lettersBetween(word.toLowerCase(), name.toLowerCase()) <= 2)

/** `child` for `children`, `leave` for `pre-shutdown leave starts`. */
const contains = (name: string, word: string): boolean => word.length > 2 && name.toLowerCase().includes(word.toLowerCase())

/** A message has to stay readable. */
const SHOWN = 20

const listed = (names: readonly string[]): string =>
  `${names.slice(0, SHOWN).join(', ')}${names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ''}`

/** Letters to insert, drop or replace; two neighbours in each other's place count as two. */
function lettersBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] as number) + (letter === b[j] ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1))
    }
    row = next
  }
  return row.at(-1) as number
}
