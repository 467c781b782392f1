import type { Flag } from '../options/kit/flags.ts'

/** Titles, each with what belongs to it: options by their names, flags by theirs (`--port`). */
export type FlagGroups = readonly (readonly [string, readonly string[]])[]

/** The flags by their groups, in the order of those; what has none comes first. */
export function grouped(flags: readonly Flag[], groups: FlagGroups): (readonly [string, readonly Flag[]])[] {
  const byFlag = groups.flatMap(([, members]) => members).filter((member) => member.startsWith('--'))
  const memberOf = ({ name, option }: Flag): string => (byFlag.includes(`--${name}`) ? `--${name}` : option)
  const of = (member: string): readonly Flag[] => flags.filter((flag) => memberOf(flag) === member)
  const titled = groups.map(([title, members]) => [title, members.flatMap(of)] as const)
  const rest = flags.filter((flag) => !titled.some(([, those]) => those.includes(flag)))
  return [['Flags', rest] as const, ...titled].filter(([, those]) => those.length > 0)
}
