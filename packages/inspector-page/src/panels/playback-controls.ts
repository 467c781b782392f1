import type { ReceivedJournal } from '../core/journal.ts'
import { lineOf } from '../core/log-lines.ts'
import { advance, type Cursor, FOLLOWING, goTo, pause, play, SPEEDS, type Speed, step, stepSignal } from '../core/playback.ts'
import { originOf, unitsOf } from '../core/view.ts'
import { STEPS } from '../core/words.ts'
import { element, Icon, setAttribute, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'
import type { Tabs } from './tabs.ts'

/** How long a step is shown when those of a counter-example are played, in milliseconds. */
const STEP_MS = 500

/**
 * Going through time: slider, buttons, keys. The same for a life that runs, one that has ended and
 * a recording.
 */
export class PlaybackControls implements Panel {
  cursor: Cursor = FOLLOWING
  readonly #journal: ReceivedJournal
  readonly #changed: () => void
  readonly #tabs: Tabs
  readonly #slider = element<HTMLInputElement>('scrubber')
  readonly #play = element('play')
  readonly #playIcon = new Icon('play')
  readonly #live = element<HTMLButtonElement>('to-live')
  #speed: Speed = 1

  constructor(journal: ReceivedJournal, tabs: Tabs, changed: () => void) {
    this.#tabs = tabs
    this.#journal = journal
    this.#changed = changed
    this.#play.replaceChildren(this.#playIcon.node)
    const buttons: Readonly<Record<string, () => Cursor>> = {
      'to-first': () => goTo(journal, 0),
      'step-back': () => step(journal, this.cursor, -1),
      play: () => this.#toggled(),
      'step-forth': () => step(journal, this.cursor, 1),
      'to-last': () => goTo(journal, journal.length - 1),
      'to-live': () => FOLLOWING,
    }
    for (const [id, move] of Object.entries(buttons)) element(id).addEventListener('click', () => this.#move(move()))
    this.#slider.addEventListener('input', () => this.#move(goTo(journal, Number(this.#slider.value))))
    const speed = element<HTMLSelectElement>('speed')
    speed.append(...SPEEDS.map((value) => new Option(`${value}×`, String(value), value === 1, value === 1)))
    speed.addEventListener('change', () => {
      this.#speed = Number(speed.value) as Speed
    })
    document.addEventListener('keydown', (event) => this.#key(event))
    element('help').addEventListener('click', () => element<HTMLDialogElement>('keys').showModal())
  }

  goTo(position: number): void {
    this.#move(goTo(this.#journal, position))
  }

  /** Real time has passed. */
  pass(elapsedMs: number): void {
    const unit = unitsOf(this.#journal.last) === STEPS ? STEP_MS : 1
    this.cursor = advance(this.#journal, this.cursor, elapsedMs / unit, this.#speed)
  }

  draw({ journal, position, link, now }: Frame): void {
    const { playing } = this.cursor
    const last = Math.max(0, journal.length - 1)
    setAttribute(this.#slider, 'max', String(last))
    if (this.#slider.value !== String(position)) this.#slider.value = String(position)
    const entry = journal.entries[position]
    const shown = this.cursor.position === undefined ? now : this.cursor.at
    const at = unitsOf(journal.last).offset(shown - originOf(journal.last))
    setText(element('position'), entry ? `${at} · ${position + 1} of ${journal.length}` : 'no entries')
    if (entry)
      setAttribute(this.#slider, 'aria-valuetext', `${at}, entry ${position + 1} of ${journal.length}: ${unseenText(journal, position)}`)
    this.#playIcon.show(playing ? 'pause' : 'play')
    setAttribute(this.#play, 'aria-label', playing ? 'Pause' : 'Play')
    const following = this.cursor.position === undefined
    const goesOn = link.kind !== 'closed'
    setText(this.#live, goesOn ? 'Live' : 'End')
    setAttribute(this.#live, 'aria-pressed', String(following))
  }

  #toggled(): Cursor {
    return this.cursor.playing ? pause(this.cursor) : play(this.#journal, this.cursor)
  }

  #move(cursor: Cursor): void {
    this.cursor = cursor
    this.#changed()
  }

  /** Keys mean what they always mean where something is typed or chosen. */
  #key(event: KeyboardEvent): void {
    const { key, shiftKey, target } = event
    const typing = target instanceof Element && target.closest('input:not([type=range]), select, textarea, dialog, [contenteditable]')
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return
    const onButton = target instanceof Element && target.closest('button, summary, a') !== null
    const scrolls = target instanceof Element && target.matches('.scroll')
    if (key === 'F6') {
      event.preventDefault()
      this.#nextPanel(shiftKey ? -1 : 1)
      return
    }
    const direction = key === 'ArrowLeft' ? -1 : key === 'ArrowRight' ? 1 : undefined
    if (direction !== undefined && !scrolls)
      this.#move(shiftKey ? stepSignal(this.#journal, this.cursor, direction) : step(this.#journal, this.cursor, direction))
    else if (key === 'Home' && !scrolls) this.#move(goTo(this.#journal, 0))
    else if (key === 'End' && !scrolls) this.#move(goTo(this.#journal, this.#journal.length - 1))
    else if (key === ' ' && !onButton && !scrolls) this.#move(this.#toggled())
    else if (key === 'l' || key === 'L') this.#move(FOLLOWING)
    else if (key === '/') this.#goToPanel('log', 'log-text')
    else if (/^[1-5]$/.test(key)) this.#goToPanel(PANELS[Number(key) - 1] ?? 'timeline')
    else if (key === '?') element<HTMLDialogElement>('keys').showModal()
    else return
    event.preventDefault()
  }

  #nextPanel(by: 1 | -1): void {
    const places = [...PANELS, 'controls']
    const here = places.findIndex((id) => element(id).contains(document.activeElement))
    this.#goToPanel(places[(here + by + places.length) % places.length] ?? 'timeline')
  }

  #goToPanel(id: string, part = id): void {
    this.#tabs.show(id)
    element(part).focus()
  }
}

/** The panels that keys go to: by number, and by F6 in a ring. */
const PANELS = ['timeline', 'outcome', 'chart', 'log', 'machines'] as const

function unseenText(journal: ReceivedJournal, position: number): string {
  const entry = journal.entries[position]
  if (!entry) return ''
  const { who, to, text } = lineOf(entry, position, journal.last.actors)
  return `${who}${to === '' ? '' : ` to ${to}`}: ${text}`
}
