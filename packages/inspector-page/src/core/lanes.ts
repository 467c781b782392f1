/**
 * Names beside places on one axis, so that none stands on another. All lengths are parts of the
 * axis.
 */

export interface Anchored {
  readonly place: number
  /** The width of its name, with the gap to the next. */
  readonly width: number
}

export interface LabelPlacement {
  /** The lane, from 0. */
  readonly lane: number
  /** The side of its place on which the name stands. */
  readonly side: 'after' | 'before'
}

/**
 * A lane for each, the first that has room; undefined when none has.
 * @param end how far behind its places the axis has room for names
 */
export function lanesOf(names: readonly Anchored[], lanes: number, end = 1): readonly (LabelPlacement | undefined)[] {
  const taken: (readonly [number, number])[][] = Array.from({ length: lanes }, () => [])
  return names.map(({ place, width }) => {
    for (const [lane, others] of taken.entries()) {
      for (const side of ['after', 'before'] as const) {
        const [from, to] = side === 'after' ? [place, place + width] : [place - width, place]
        if (from < 0 || to > end || others.some(([a, b]) => from < b && a < to)) continue
        others.push([from, to])
        return { lane, side }
      }
    }
    return undefined
  })
}
