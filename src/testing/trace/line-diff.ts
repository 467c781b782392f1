/** Lines around a difference that are shown with it. */
const CONTEXT_LINES = 3

interface Change {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
  /** The line of the expected text, from 1. */
  readonly line: number
}

/**
 * The difference of two texts by line, with the numbers of the expected one: `-` is expected, `+`
 * was there instead. Empty when they are equal.
 */
export function lineDiff(expected: string, actual: string): string {
  const changes = changesOf(expected.split('\n'), actual.split('\n'))
  const isNear = (index: number): boolean =>
    changes.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1).some(({ sign }) => sign !== ' ')
  const width = String(changes.at(-1)?.line ?? 0).length
  return changes
    .flatMap(({ sign, text, line }, index) => (isNear(index) ? [`${String(line).padStart(width)} ${sign} ${text}`] : []))
    .join('\n')
}

/** The changes by the longest common subsequence: scripts are short. */
function changesOf(expected: readonly string[], actual: readonly string[]): Change[] {
  const common: number[][] = Array.from({ length: expected.length + 1 }, () => new Array<number>(actual.length + 1).fill(0))
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0
  for (let i = expected.length - 1; i >= 0; i--) {
    for (let j = actual.length - 1; j >= 0; j--) {
      const row = common[i] as number[]
      row[j] = expected[i] === actual[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const changes: Change[] = []
  let i = 0
  let j = 0
  while (i < expected.length || j < actual.length) {
    const line = i + 1
    if (i < expected.length && j < actual.length && expected[i] === actual[j]) {
      changes.push({ sign: ' ', text: expected[i] as string, line })
      i++
      j++
    } else if (i < expected.length && (j >= actual.length || at(i + 1, j) >= at(i, j + 1))) {
      changes.push({ sign: '-', text: expected[i] as string, line })
      i++
    } else {
      changes.push({ sign: '+', text: actual[j] as string, line })
      j++
    }
  }
  return changes
}
