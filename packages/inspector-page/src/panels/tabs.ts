import { element } from '../dom.ts'

/**
 * Panels of which one lies behind another where there is no room for all of them: the timeline and
 * the statechart, the log and the machines. What is behind is as large as what is before it, and
 * out of reach until it is shown.
 */
const BEHIND: Readonly<Record<string, string>> = { timeline: 'chart', chart: 'timeline', log: 'machines', machines: 'log' }
const SHOWN_FIRST = ['timeline', 'log']
/** The widths at which panels lie behind each other, as in style.css. */
const lieBehind = matchMedia('(min-width: 1000px) and (max-width: 1799.98px)')

export class Tabs {
  readonly #shown = new Set(SHOWN_FIRST)

  constructor() {
    for (const tab of document.querySelectorAll<HTMLElement>('.tab')) {
      const { shows = '' } = tab.dataset
      tab.addEventListener('click', () => {
        this.show(shows)
        // The way back, which stands where this one stood.
        element(shows).querySelector<HTMLElement>('.tab')?.focus()
      })
    }
    for (const link of document.querySelectorAll<HTMLAnchorElement>('.skip'))
      link.addEventListener('click', () => this.show(link.hash.slice(1)))
    lieBehind.addEventListener('change', () => this.#apply())
    this.#apply()
  }

  /** Brings a panel to the front, if it is behind another. */
  show(id: string): void {
    const other = BEHIND[id]
    if (other === undefined) return
    this.#shown.delete(other)
    this.#shown.add(id)
    this.#apply()
  }

  #apply(): void {
    for (const id of Object.keys(BEHIND)) element(id).inert = lieBehind.matches && !this.#shown.has(id)
  }
}
