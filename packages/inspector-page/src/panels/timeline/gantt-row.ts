import { type Row, type RowItem, sideOf } from '../../core/rows.ts'
import { STATUS_WORDS } from '../../core/words.ts'
import { Icon, make, type Part, setAttribute, setStyle, setText } from '../../dom.ts'

/** What a row of the timeline is drawn from, when it is drawn. */
export interface RowDrawing {
  readonly item: RowItem
  readonly rowOf: (item: Exclude<RowItem, { kind: 'group' }>) => Row
  /** The width of the name of a signal, as a part of the axis. */
  readonly widthOf: (signal: string) => number
}

/** A place on the axis, as CSS takes it. */
export const part = (place: number): string => Math.min(1, Math.max(0, place)).toFixed(4)

export function rowPart({ item }: RowDrawing): Part<RowDrawing> {
  return item.kind === 'group' ? groupPart(item.name) : ganttPart(item)
}

function groupPart(title: string): Part<RowDrawing> {
  const cell = make('div', 'group-name', title)
  cell.setAttribute('role', 'rowheader')
  const node = make('div', 'row group', cell)
  node.setAttribute('role', 'row')
  return { node, show: () => {} }
}

function ganttPart(item: Exclude<RowItem, { kind: 'group' }>): Part<RowDrawing> {
  const icon = new Icon('waiting')
  const name = make('div', 'name', icon.node, make('span', 'label', item.name))
  const bar = make('div', 'bar')
  // Moved by a transform each, so that nothing has to find its place again when the axis changes.
  const barAt = make('div', 'at', bar)
  const mark = make('div', 'at', make('div', 'mark'))
  const word = make('span', 'mark-word')
  const wordAt = make('div', 'at', word)
  const unseenText = make('span', 'unseen')
  const track = make('div', 'track', barAt, mark, wordAt, unseenText)
  const note = make('div', 'note')
  const node = make('div', `row ${item.kind}`, name, track, note)
  node.setAttribute('role', 'row')
  name.setAttribute('role', 'rowheader')
  for (const cell of [track, note]) cell.setAttribute('role', 'cell')
  return {
    node,
    show: ({ rowOf, widthOf }) => {
      const row = rowOf(item)
      icon.show(row.workStatus)
      setAttribute(node, 'data-status', row.workStatus)
      setAttribute(node, 'title', row.title)
      setText(unseenText, row.title)
      setText(note, row.note === '' ? STATUS_WORDS[row.workStatus] : row.note)
      barAt.hidden = row.bar === undefined
      if (row.bar) {
        setStyle(barAt, '--at', part(row.bar.from))
        setStyle(bar, '--length', part(row.bar.to - row.bar.from))
      }
      mark.hidden = row.mark === undefined
      if (row.mark) setStyle(mark, '--at', part(row.mark.at))
      const signal = row.mark?.signal ?? ''
      const side = sideOf(row, widthOf(signal))
      wordAt.hidden = side === undefined
      if (!side) return
      setText(word, signal)
      setAttribute(word, 'data-side', side.side)
      setStyle(wordAt, '--at', part(side.at))
    },
  }
}
