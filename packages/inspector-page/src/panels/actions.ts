import { lifeStatusOf } from '../core/life-status.ts'
import { element, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'
import type { Session } from '../quiesce.ts'
import { route } from '../source.ts'

interface Question {
  readonly path: 'stop' | 'drill'
  readonly title: string
  readonly text: string
  readonly yes: string
}

const STOP: Question = {
  path: 'stop',
  title: 'Begin the shutdown?',
  text: 'The server will drain what it has, refuse what is new, and end. There is no way back.',
  yes: 'Begin shutdown',
}
const DRILL: Question = {
  path: 'drill',
  title: 'Run a drill?',
  text: 'The example server sends itself requests and watches, and is then shut down under that load. The process ends.',
  yes: 'Run the drill',
}

/** What the page may ask of the server, each after a confirmation. */
export class Actions implements Panel {
  readonly #stop = element<HTMLButtonElement>('stop')
  readonly #drill = element<HTMLButtonElement>('drill')
  readonly #reconnect = element<HTMLButtonElement>('reconnect')
  readonly #problem = element('problem')
  #session: Session | undefined

  constructor(reconnect: () => void) {
    this.#stop.addEventListener('click', () => void this.#ask(STOP))
    this.#drill.addEventListener('click', () => void this.#ask(DRILL))
    this.#reconnect.addEventListener('click', reconnect)
  }

  allow(session: Session): void {
    this.#session = session
  }

  draw({ journal, link, now }: Frame): void {
    const { canStop = false, canDrill = false } = this.#session ?? {}
    const { stop, exitCode } = journal.last.life
    const possible = link.kind === 'live' && stop === undefined && exitCode === undefined
    const { shape } = lifeStatusOf(journal.last, link, now)
    this.#stop.hidden = !canStop
    this.#drill.hidden = !canDrill
    this.#stop.disabled = !possible
    this.#drill.disabled = !possible || shape !== 'serving'
    this.#reconnect.hidden = !(link.kind === 'closed' && link.source === 'live')
  }

  async #ask(question: Question): Promise<void> {
    if (!(await confirmed(question))) return
    try {
      const response = await fetch(route(question.path), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{}',
      })
      this.#notify(response.ok ? '' : `${question.yes}: ${(await response.text()).trim() || response.status}`)
    } catch {
      this.#notify(`${question.yes}: the server did not answer.`)
    }
  }

  #notify(problem: string): void {
    setText(this.#problem, problem)
    this.#problem.hidden = problem === ''
  }
}

function confirmed({ title, text, yes }: Question): Promise<boolean> {
  const dialog = element<HTMLDialogElement>('confirm')
  setText(element('confirm-title'), title)
  setText(element('confirm-text'), text)
  setText(element('confirm-yes'), yes)
  dialog.returnValue = 'no'
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true })
  })
}
