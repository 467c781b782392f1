import { type OutcomeLine, outcomeOf } from '../core/outcome.ts'
import { element, make, type Part, Parts, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'

/** What came of it, and both documents to keep: the server that had them is gone by then. */
export class ReportPanel implements Panel {
  readonly #lines: Parts<OutcomeLine>
  readonly #empty = make('p', 'muted')
  readonly #saveReport = element<HTMLButtonElement>('save-report')
  readonly #saveJournal = element<HTMLButtonElement>('save-journal')
  #frame: Frame | undefined

  constructor() {
    const list = make('dl', 'outcome')
    element('report-body').append(this.#empty, list)
    this.#lines = new Parts(list, ({ what, text }) => `${what} ${text}`, linePart)
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
    const lines = outcomeOf(frame.view)
    this.#lines.show(lines)
    this.#empty.hidden = lines.length > 0
    setText(this.#empty, frame.link.kind === 'closed' ? 'There is no report.' : 'Nothing has failed so far. The report comes with the end.')
    this.#saveReport.disabled = frame.journal.last.report === undefined
    this.#saveJournal.disabled = frame.journal.length === 0
  }
}

const linePart = ({ what, text, tone }: OutcomeLine): Part<OutcomeLine> => ({
  node: make('div', tone, make('dt', '', what), make('dd', '', text)),
  show: () => {},
})

function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = make('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
