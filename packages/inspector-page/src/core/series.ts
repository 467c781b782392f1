import { place, type Span } from './axis.ts'
import type { EntryOf } from './view.ts'

/** One line of load over time, as steps: the value holds until the next measurement. */
export interface Series {
  readonly name: string
  readonly now: number
  readonly most: number
  /** Part of the span, value. */
  readonly points: readonly (readonly [number, number])[]
}

const POINTS_MAX = 600

export function seriesOf(
  gauges: readonly EntryOf<'gauges'>[],
  now: number,
  span: Span,
  name: string,
  read: (entry: EntryOf<'gauges'>) => number,
): Series {
  const every = Math.max(1, Math.ceil(gauges.length / POINTS_MAX))
  const points: [number, number][] = []
  let most = 0
  for (let i = 0; i < gauges.length; i += every) {
    // Of several measurements the highest: a peak must not vanish because the picture is small.
    let high = 0
    for (let j = i; j < i + every && j < gauges.length; j++) high = Math.max(high, read(gauges[j] as EntryOf<'gauges'>))
    points.push([Math.max(0, place(span, (gauges[i] as EntryOf<'gauges'>).at)), high])
    most = Math.max(most, high)
  }
  const last = gauges.at(-1)
  const value = last ? read(last) : 0
  if (last) points.push([Math.min(1, place(span, now)), value])
  return { name, now: value, most, points }
}
