import { now } from './clock.ts'
import { ReceivedJournal } from './core/journal.ts'
import type { SourceStatus } from './core/life-status.ts'
import type { Frame, Panel } from './frame.ts'
import { Actions } from './panels/actions.ts'
import { ChartPanel } from './panels/chart-panel.ts'
import { LifeStatusPanel } from './panels/life-status-panel.ts'
import { LogPanel } from './panels/log-panel.ts'
import { MachinesPanel } from './panels/machines-panel.ts'
import { OutcomePanel } from './panels/outcome-panel.ts'
import { PlaybackControls } from './panels/playback-controls.ts'
import { Tabs } from './panels/tabs.ts'
import { TimelinePanel } from './panels/timeline/timeline-panel.ts'
import { EntrySource, LifeTime } from './source.ts'

/**
 * The inspector's page: entries come in, a frame goes to every panel. What a frame says is worked
 * out in `core/`, which needs no browser; panels only draw.
 */

/**
 * A picture at most this often while something happens, and this often while only time goes on.
 * What the user does is shown at once.
 */
const FRAME_MS = 60
const IDLE_FRAME_MS = 250

const journal = new ReceivedJournal()
const time = new LifeTime()
let link: SourceStatus = { kind: 'connecting' }
let stale = true
let asked = false
let drawnAt = Number.NEGATIVE_INFINITY

const redraw = (): void => {
  stale = true
}
const redrawNow = (): void => {
  asked = true
}

const playback = new PlaybackControls(journal, new Tabs(), redrawNow)
const chart = new ChartPanel()
const source = new EntrySource({
  session: (session) => {
    time.forget()
    time.heard(session.at)
    actions.allow(session)
    void chart.load().then(redraw)
  },
  entry: (entry) => {
    time.heard(entry.at)
    journal.append(entry)
    redraw()
  },
  link: (changed) => {
    link = changed
    redraw()
  },
})
const actions = new Actions(() => source.connect())
/** What moves with the slider while it is dragged; the others follow a moment later. */
const prompt: readonly Panel[] = [new LifeStatusPanel(), new TimelinePanel(redrawNow), playback]
const others: readonly Panel[] = [
  new OutcomePanel(),
  chart,
  new LogPanel(redrawNow, (position) => playback.goTo(position)),
  new MachinesPanel(redrawNow),
  actions,
]

function frame(): Frame {
  const { position, at } = playback.cursor
  if (position !== undefined) {
    const view = journal.viewAt(position)
    return { view, now: at, position, journal, link, lookingBack: position < journal.length - 1 }
  }
  const view = journal.last
  const goesOn = link.kind === 'live' && view.life.exitCode === undefined
  return {
    view,
    now: goesOn ? Math.max(view.at, time.now()) : view.at,
    position: Math.max(0, journal.length - 1),
    journal,
    link,
    lookingBack: false,
  }
}

function tick(): void {
  requestAnimationFrame(tick)
  const since = now() - drawnAt
  const { playing, position } = playback.cursor
  const timeGoesOn = playing || (position === undefined && link.kind === 'live' && journal.last.life.exitCode === undefined)
  const isDue = since >= FRAME_MS && (stale || playing || (timeGoesOn && since >= IDLE_FRAME_MS))
  if (!asked && !isDue) return
  if (isDue && Number.isFinite(since)) playback.pass(since)
  const drawn = frame()
  for (const panel of prompt) panel.draw(drawn)
  stale = !isDue
  asked = false
  if (!isDue) return
  drawnAt = now()
  for (const panel of others) panel.draw(drawn)
}

source.connect()
tick()
