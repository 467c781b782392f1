/**
 * Names beside places on one axis, so that none stands on another. All lengths are parts of the
 * axis.
 */

export interface Anchored {
  readonly place: number
  /** Of its name, with the gap to the next. */
  readonly width: number
}

export interface Lane {
  /** From 0. */
  readonly lane: number
  /** On which side of its place the name stands. */
  readonly side: 'after' | 'before'
}

/** A lane for each, the first that has room; undefined when none has. */
export function lanesOf(names: readonly Anchored[], lanes: number): readonly (Lane | undefined)[] {
  const taken: (readonly [number, number])[][] = Array.from({ length: lanes }, () => [])
  return names.map(({ place, width }) => {
    for (const [lane, others] of taken.entries()) {
      for (const side of ['after', 'before'] as const) {
        const [from, to] = side === 'after' ? [place, place + width] : [place - width, place]
        if (from < 0 || to > 1 || others.some(([a, b]) => from < b && a < to)) continue
        others.push([from, to])
        return { lane, side }
      }
    }
    return undefined
  })
}
