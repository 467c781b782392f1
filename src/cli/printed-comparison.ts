import { BOLD, cells, clip, column, oneLine, painter, RED } from '../base/cells.ts'
import { formatDuration } from '../base/format-duration.ts'
import { type Comparison, type Difference, shownSide } from '../report/compare.ts'

/** A longer name has a line of its own, above what is different: its end tells it from others. */
const NAME_WIDTH = 34
const SIDE_WIDTH = 20

/**
 * What is different in two ends, for people: a line each, and a last one that says whether the
 * second is worse and by what.
 */
export function comparisonText({ differences, isWorse }: Comparison, names: readonly [string, string], color: boolean): string {
  const paint = painter(color)
  const line = (what: string, a: string, b: string, remark = ''): string => {
    const isLong = cells(what) > NAME_WIDTH
    const name = isLong ? `${oneLine(what)}\n  ${column('', NAME_WIDTH)}` : column(what, NAME_WIDTH)
    return `  ${name}  ${column(a, SIDE_WIDTH)}  ${column(b, SIDE_WIDTH)}  ${remark}`.trimEnd()
  }
  const rows = [...groupedByName(differences).entries()].map(([what, all]) => {
    const side = (of: 'a' | 'b'): string => all.map((difference) => shownSide(difference, difference[of])).join(' ')
    const text = line(what, side('a'), side('b'), remarksOn(all))
    return all.some((difference) => difference.isWorse) ? paint(RED, text) : text
  })
  const worse = [...new Set(differences.filter((difference) => difference.isWorse).map(({ what }) => what))]
  const verdict = isWorse ? oneLine(`worse: ${worse.join(', ')}`) : differences.length === 0 ? 'no difference' : 'different, but not worse'
  return [
    ...(rows.length > 0 ? [line('', ending(names[0]), ending(names[1])), ...rows, ''] : []),
    paint(isWorse ? RED : BOLD, verdict),
    '',
  ].join('\n')
}

/** The outcome of a phase or hook and its time are one line. */
function groupedByName(differences: readonly Difference[]): ReadonlyMap<string, readonly Difference[]> {
  const groups = new Map<string, Difference[]>()
  for (const difference of differences) groups.set(difference.what, [...(groups.get(difference.what) ?? []), difference])
  return groups
}

const remarksOn = (all: readonly Difference[]): string =>
  [...all.map(changeOf), all.some(({ isWorse }) => isWorse) ? 'worse' : ''].filter(Boolean).join(' ')

function changeOf({ a, b, unit }: Difference): string {
  if (unit === 'word' || typeof a !== 'number' || typeof b !== 'number') return ''
  const apart = Math.abs(b - a)
  return `${b > a ? '+' : '-'}${unit === 'ms' ? formatDuration(Math.round(apart)) : apart}`
}

/** The end of a long path, which says which file it is. */
const ending = (name: string): string => (name.length > SIDE_WIDTH ? `…${clip(name.slice(1 - SIDE_WIDTH), SIDE_WIDTH - 1)}` : name)
