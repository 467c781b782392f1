import type { WorkStatus } from './words.ts'

/** Rows that differ in their ages alone, as one; and in a number, when there are many. */

export interface BlockingGroup {
  readonly kind: 'phase' | 'request' | 'watch' | 'hold' | 'handler' | 'hook' | 'connection' | 'protocol' | 'check' | 'budget' | 'planned'
  readonly title: string
  /** The number of them, of which `items` names some. */
  readonly count: number
  readonly items: readonly BlockingItem[]
}

/** Something that is there once, or several that differ in nothing that is shown, or little. */
export interface BlockingItem {
  readonly key: string
  readonly name: string
  /** What is known of it besides its age. */
  readonly note: string
  /** The age in words; of several, that of the oldest. */
  readonly age: string
  /** How it stands, where that differs within a group. */
  readonly workStatus?: WorkStatus
  /** What it stands for; one that stands for itself has none. */
  readonly members?: readonly BlockingItem[]
}

/** The number of rows that are read at a glance. */
const ROWS_MAX = 8

export function rowsTogether(items: readonly BlockingItem[]): readonly BlockingItem[] {
  const same = together(items, ({ name }) => name)
  return same.length > ROWS_MAX ? together(items, ({ name }) => shapeOf(name)) : same
}

/** How many a list of them stands for. */
export const countOf = (items: readonly BlockingItem[]): number => items.reduce((sum, { members }) => sum + (members?.length ?? 1), 0)

function together(items: readonly BlockingItem[], sameBy: (item: BlockingItem) => string): BlockingItem[] {
  const groups = new Map<string, BlockingItem[]>()
  for (const item of items) {
    const key = JSON.stringify([sameBy(item), item.note, item.workStatus])
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return [...groups].map(([key, members]) => {
    const [first] = members as [BlockingItem]
    return members.length === 1 ? first : { ...first, key, name: commonName(members.map(({ name }) => name)), members }
  })
}

/**
 * The parts of names such as `GET /v1/events/17` and `127.0.0.1:4711`, with what separates them.
 */
const partsOf = (name: string): string[] => name.split(/([/:\s])/)

/** Parts with a digit in them are most often what differs. */
const shapeOf = (name: string): string =>
  partsOf(name)
    .map((part) => (/\d/.test(part) ? '…' : part))
    .join('')

/** The common name, with a mark for each part that is not the same in all: `GET /v1/events/…`. */
function commonName([first = '', ...others]: readonly string[]): string {
  const parts = others.map(partsOf)
  return partsOf(first)
    .map((part, at) => (parts.every((own) => own[at] === part) ? part : '…'))
    .join('')
}
