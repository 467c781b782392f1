/**
 * ` (did you mean "…"?)` for a misspelt word, or nothing when no candidate is near.
 * @param prefix what the word and all candidates begin with. It says nothing about how near they
 * are.
 */
export function didYouMean(word: string, candidates: readonly string[], prefix = ''): string {
  const own = (name: string): string => name.slice(prefix.length).toLowerCase()
  const near = Math.max(2, Math.floor(own(word).length / 3))
  const best = candidates
    .map((candidate) => ({ candidate, distance: editDistance(own(word), own(candidate)) }))
    .sort((a, b) => a.distance - b.distance)[0]
  return best && best.distance <= near ? ` (did you mean "${best.candidate}"?)` : ''
}

/** How many letters must be inserted, deleted or replaced to turn one word into the other. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a].entries()) {
    const current = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const replace = (previous[j] as number) + (letter === other ? 0 : 1)
      current.push(Math.min(replace, (previous[j + 1] as number) + 1, (current[j] as number) + 1))
    }
    previous = current
  }
  return previous.at(-1) as number
}
