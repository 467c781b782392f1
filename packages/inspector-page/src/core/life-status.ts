import { describeReason, endMeaning, exitCodeMeaning, tookMs } from '../quiesce.ts'
import { blockingHeadline } from './blocking.ts'
import { readinessTrouble } from './setup.ts'
import { spentOf } from './spent.ts'
import { refusals, unitsOf, type View } from './view.ts'
import { count, FORCED_WORDS, listText, running } from './words.ts'

/** Where the entries come from and whether more will. */
export type SourceStatus =
  /** Not connected yet. */
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** Everything has been received: a life that has ended, or all of a recording. */
  | { readonly kind: 'closed'; readonly source: 'live' | 'recording' }
  /** Gone without a report; tried again at `retryInMs`. */
  | { readonly kind: 'lost'; readonly attempts: number }

/** What a reader wants to know first, as a word, a sentence and a shape. */
export interface LifeStatus {
  readonly shape: 'connecting' | 'starting' | 'serving' | 'stopping' | 'ok' | 'failed' | 'cut' | 'forced' | 'lost'
  readonly headline: string
  readonly detail: string
  /** What has failed so far, by name; empty when nothing has. */
  readonly trouble: string
}

/** `looking back`: the view is of an earlier time, so that whatever came after it is not known. */
export const lifeStatusOf = (view: View, link: SourceStatus, now: number, lookingBack = false): LifeStatus => ({
  ...summaryOf(view, link, now, lookingBack),
  trouble: troubleOf(view),
})

type Summary = Omit<LifeStatus, 'trouble'>

function summaryOf(view: View, link: SourceStatus, now: number, lookingBack: boolean): Summary {
  const lost = link.kind === 'lost' && !lookingBack
  if (view.opening === undefined) return beforeAnything(link)
  const ended = view.life.exitCode !== undefined
  if (ended) return endedSummary(view, link, lookingBack)
  if (lost) return lostSummary(view, link)
  if (link.kind === 'closed' && !lookingBack) return brokenOff(view, link.source)
  if (view.life.stop) return stoppingSummary(view, now)
  return view.life.signals.has('Serving') ? servingSummary(view) : startingSummary(view)
}

function beforeAnything(link: SourceStatus): Summary {
  if (link.kind === 'lost')
    return { shape: 'lost', headline: 'No connection', detail: `Nothing answers here yet. Trying again (${link.attempts}).` }
  return { shape: 'connecting', headline: 'Connecting', detail: 'Waiting for the first entries.' }
}

function endedSummary(view: View, link: SourceStatus, lookingBack: boolean): Summary {
  const { stop, exitCode = 0 } = view.life
  const forced = view.life.forced?.why
  const seen = (forced === 'process-exit' ? view.life.forced?.exitCode : undefined) ?? exitCode
  const tookFor = stop && ((view.report && tookMs(view.report)) ?? view.at - stop.at)
  const took = tookFor === undefined ? '' : ` ${unitsOf(view).duration(tookFor)} after the stop request`
  const why = forced ? ` because ${FORCED_WORDS[forced]}` : ''
  const meaning = view.report ? endMeaning({ ...view.report, exitCode }) : exitCodeMeaning(exitCode)
  const headline = forced === 'deadline' ? 'Cut by the deadline' : forced ? 'Ended by force' : capital(meaning)
  return {
    shape: endShape(view.life),
    headline: `${headline}, exit code ${seen}`,
    detail: `${capital(`ended${took}${why}`)}.${lookingBack ? '' : afterwards(view, link)}`,
  }
}

function endShape({ forced, exitCode }: View['life']): LifeStatus['shape'] {
  if (exitCode === 5 || forced?.why === 'deadline') return 'cut'
  if (forced || exitCode === 1) return 'forced'
  return exitCode === 0 ? 'ok' : 'failed'
}

function afterwards({ opening, report }: View, link: SourceStatus): string {
  if (opening?.source === 'counter-example') return ''
  if (link.kind === 'live') return ' The last entries are on their way.'
  if (link.kind === 'closed' && link.source === 'recording') return ' This is a recording.'
  return report
    ? ' The server is gone; its final state and report stay here.'
    : ' The server is gone; its final state stays here, its report did not arrive.'
}

function lostSummary(view: View, { attempts }: { readonly attempts: number }): Summary {
  const state = view.life.stop ? 'in the middle of its shutdown' : 'while it was serving'
  return {
    shape: 'lost',
    headline: 'Connection lost without a report',
    detail: `Last heard of ${state}. The page shows what was known then. Trying again (${attempts}).`,
  }
}

function brokenOff(view: View, source: 'live' | 'recording'): Summary {
  if (view.opening?.source === 'counter-example') {
    return { shape: 'failed', headline: 'Counter-example', detail: `${view.opening.title}. It ends here.` }
  }
  const what = source === 'recording' ? 'The recording' : 'The connection'
  return {
    shape: 'lost',
    headline: 'No end on record',
    detail: `${what} ends here without a report: the process was killed, or is still alive.`,
  }
}

function stoppingSummary(view: View, now: number): Summary {
  const spent = spentOf(view, now)
  const { stop } = view.life
  const elapsed = unitsOf(view).running(now - (stop?.at ?? now))
  const reason = stop?.reason ? `, asked by ${describeReason(stop.reason)}` : ''
  const left = spent ? `, ${running(spent.leftMs)} left` : ''
  return {
    shape: 'stopping',
    headline: `Shutting down: ${blockingHeadline(view, now)}`,
    detail: `For ${elapsed}${left}${reason}. ${underWay(view)}${refusedSoFar(view)}`,
  }
}

/** Failures once each, the last of them named when there is no room for all. */
function troubleOf({ failures }: View): string {
  const names = [...new Set(failures.map(({ where }) => where))]
  if (names.length === 0) return ''
  return `${names.length} failed: ${names.length > FAILURES_NAMED ? `${listText(names.slice(0, FAILURES_NAMED))} and more` : listText(names)}`
}

const FAILURES_NAMED = 3

function refusedSoFar({ gauges }: View): string {
  const refused = refusals(gauges)
  return refused > 0 ? ` ${count(refused, 'request')} refused.` : ''
}

/** Which phases work, and what the next ones wait for. */
function underWay(view: View): string {
  const working = [...view.phases.values()].filter(({ workStatus }) => workStatus === 'working').map(({ name }) => name)
  return working.length > 0 ? `Under way: ${listText(working)}.` : 'Between two phases.'
}

function servingSummary(view: View): Summary {
  const urls = view.life.listeners.filter(({ admin, isOpen }) => isOpen && !admin).map(({ url }) => url)
  const { requests = 0, eventStreams = 0, watches = 0 } = view.gauges ?? {}
  const streams = eventStreams > 0 ? ` (of them ${count(eventStreams, 'event stream')})` : ''
  return {
    shape: 'serving',
    headline: 'Serving',
    detail: `${urls.length > 0 ? `On ${listText(urls)}, with` : 'With'} ${count(requests, 'request')}${streams} and ${count(watches, 'watch')} open.${readinessTrouble(view)}`,
  }
}

function startingSummary(view: View): Summary {
  const working = [...view.phases.values()].filter(({ workStatus }) => workStatus === 'working').map(({ name }) => name)
  return {
    shape: 'starting',
    headline: 'Starting',
    detail: working.length > 0 ? `Under way: ${listText(working)}.` : 'Nothing is served yet.',
  }
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
