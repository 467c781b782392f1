import { blockingOf } from '../core/blocking.ts'
import { GLOSSARY, type GlossaryWord, glossaryTerm, meaningOf } from '../core/glossary.ts'
import type { BlockingGroup, BlockingItem } from '../core/groups.ts'
import { countOf } from '../core/groups.ts'
import { type OutcomeLine, outcomeOf } from '../core/outcome.ts'
import { element, Icon, KeyedParts, make, type Part, setAttribute, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'

/**
 * What the end waits for, or would wait for, and what came of it; with both documents to keep: the
 * server that had them is gone by then.
 */
export class OutcomePanel implements Panel {
  readonly #title = element('outcome-title')
  readonly #headline = element('outcome-headline')
  readonly #groups = new KeyedParts(element('blocking-body'), ({ kind }: BlockingGroup) => kind, groupPart)
  readonly #lines: KeyedParts<OutcomeLine>
  readonly #empty = make('p', 'muted')
  readonly #saveReport = element<HTMLButtonElement>('save-report')
  readonly #saveJournal = element<HTMLButtonElement>('save-journal')
  #frame: Frame | undefined

  constructor() {
    const list = make('dl', 'outcome')
    element('report-body').append(this.#empty, list)
    element('glossary').append(
      ...(Object.keys(GLOSSARY) as GlossaryWord[]).flatMap((word) => [
        make('dt', '', glossaryTerm(word)),
        make('dd', '', GLOSSARY[word].replaceAll('`', '')),
      ]),
    )
    this.#lines = new KeyedParts(list, ({ what, text }) => `${what} ${text}`, linePart)
    this.#saveReport.addEventListener('click', () => {
      const report = this.#frame?.journal.last.report
      if (report) save('quiesce-report.json', 'application/json', `${JSON.stringify(report, undefined, 2)}\n`)
    })
    this.#saveJournal.addEventListener('click', () => {
      const entries = this.#frame?.journal.entries ?? []
      save('quiesce-journal.ndjson', 'application/x-ndjson', entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    })
  }

  draw(frame: Frame): void {
    this.#frame = frame
    const { view, now, journal } = frame
    const { headline, groups } = blockingOf(view, now)
    setText(this.#title, view.life.exitCode === undefined ? 'What blocks the exit' : 'Report')
    setText(this.#headline, headline)
    this.#groups.show(groups)
    const lines = outcomeOf(view)
    this.#lines.show(lines)
    this.#empty.hidden = lines.length > 0 || view.life.exitCode === undefined
    setText(this.#empty, 'There is no report.')
    this.#saveReport.disabled = journal.last.report === undefined
    this.#saveJournal.disabled = journal.length === 0
  }
}

function linePart({ what, text, tone }: OutcomeLine): Part<OutcomeLine> {
  const node = make('div', tone, make('dt', '', what), make('dd', '', text))
  const word = WORD_OF[what]
  if (word) node.title = meaningOf(word)
  return { node, show: () => {} }
}

/** What the lines of a report are called, by the word that says what they are about. */
const WORD_OF: Readonly<Record<string, GlossaryWord>> = {
  cut: 'cut',
  forced: 'forced',
  'last call': 'last call',
  requests: 'drain',
  watches: 'watch',
  connections: 'notify',
}

function groupPart({ kind }: BlockingGroup): Part<BlockingGroup> {
  const label = make('span')
  const items = make('ul', 'blockers')
  const node = make('div', `blocking-group of-${kind}`, make('h3', '', new Icon(kind).node, label), items)
  const parts = itemParts(items)
  return {
    node,
    show: (group) => {
      const shown = countOf(group.items)
      const some = shown > 0 && shown < group.count
      setText(label, some ? `${group.title}, here the ${kind === 'planned' ? 'first' : 'oldest'} ${shown}` : group.title)
      parts.show(group.items)
    },
  }
}

const itemParts = (list: Element): KeyedParts<BlockingItem> =>
  new KeyedParts(list, ({ key, members }: BlockingItem) => `${members ? 'all ' : ''}${key}`, itemPart)

function itemPart({ members }: BlockingItem): Part<BlockingItem> {
  const icon = new Icon('waiting')
  const name = make('span', 'name')
  const note = make('span', 'note')
  const age = make('span', 'age')
  const row = make(members ? 'summary' : 'div', 'blocker', icon.node, name, note, age)
  const list = make('ul', 'blockers')
  const inner = itemParts(list)
  const all = members && make('details', '', row, list)
  const node = make('li', '', all ?? row)
  const show = (item: BlockingItem): void => {
    icon.node.toggleAttribute('hidden', item.workStatus === undefined)
    if (item.workStatus) icon.show(item.workStatus)
    setAttribute(node, 'data-status', item.workStatus)
    setText(name, item.members ? `${item.name} ×${item.members.length}` : item.name)
    setText(note, item.note)
    setAttribute(row, 'title', `${item.name}${item.note === '' ? '' : `: ${item.note}`}`)
    setText(age, item.age)
    last = item
    if (all?.open) inner.show(item.members ?? [])
  }
  let last: BlockingItem | undefined
  // While it is closed, they are in no document.
  all?.addEventListener('toggle', () => inner.show(all.open ? (last?.members ?? []) : []))
  return { node, show }
}

function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = make('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
