import type { ErrorRecord, Straggler } from '../base/events.ts'
import { formatDuration } from '../base/format-duration.ts'
import { largest } from '../base/largest.ts'
import { fateSums, fateWords, protocolLabel } from '../base/protocol.ts'
import { CUT_SIGNALS, type CutSignal } from '../machines/signals.ts'
import type { PhaseName } from '../machines/wiring.ts'
import { describeReason } from './describe-reason.ts'
import { endSentence, exitCodeSeen } from './end-meaning.ts'
import { lastCallWords } from './last-call-words.ts'
import { PAGE_STYLE } from './page-style.ts'
import type { Report, ReportedPhase } from './report.ts'
import { skippedHooks, skippedWords } from './skipped-hooks.ts'
import { tookMs } from './took.ts'

/**
 * A report as one page for the record of an incident: no script, nothing loaded from anywhere, so
 * it reads the same from a disk, in a mail and in ten years. Light or dark as the reader's system
 * is.
 */
export function reportPage(report: Report): string {
  const { exitCode } = report
  const verdict = endSentence(report)
  const why = report.reason ? `Stopped by ${describeReason(report.reason)}` : 'No stop was requested'
  const sections = [
    section('What took how long', phasesTable(report)),
    section('Cut before it was done', stragglers(report)),
    section('Failures', failures(report)),
    section('Hooks', `${neverRan(report)}${hooksTable(report)}`),
    section('Requests and connections', traffic(report)),
    section('Warnings', list(report.warnings.map(({ message }) => escaped(message)))),
    section('Late answers', late(report)),
    section('Signals', signalsTable(report)),
    section('Times that were chosen', chosenTable(report)),
    `<details><summary>The report itself</summary><pre>${escaped(JSON.stringify(report, undefined, 2))}</pre></details>`,
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(`${why}, exit code ${exitCodeSeen(report)}, ${report.endedAt}`)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>${escaped(why)}</h1>
<p class="verdict ${exitCode === 0 ? 'ok' : 'failed'}">${escaped(verdict)}</p>
${facts(report)}
</header>
<main>
${sections.filter((one) => one !== '').join('\n')}
</main>
</body>
</html>
`
}

function facts(report: Report): string {
  const { platform, startedAt, stopRequestedAt, endedAt, budget, forced, forcedBy, listeners } = report
  const took = tookMs(report)
  const force = [forced, forcedBy?.reason, forcedBy?.signal, forcedBy?.error?.message].filter(Boolean).join(': ')
  return definitions([
    ['Started', startedAt],
    ['Stop requested', stopRequestedAt ?? 'never'],
    ['Ended', took === undefined ? endedAt : `${endedAt}, after ${formatDuration(took)}`],
    ['Deadline', budget ? formatDuration(Math.round(budget.deadline)) : undefined],
    ['Ended by force', force === '' ? undefined : force],
    ['Platform', `${platform.name} (${platform.reason})`],
    [
      'Listened on',
      listeners.map(({ url, admin, inspector }) => `${url}${inspector ? ' (inspector)' : admin ? ' (admin)' : ''}`).join(', ') || undefined,
    ],
  ])
}

/**
 * A phase per row, with its bar in the time of the whole end. The one that writes the report cannot
 * be over in it.
 */
function phasesTable({ phases, stopRequestedAt, signals }: Report): string {
  const shown = phases.filter(
    ({ name, start, end, outcome }) =>
      (stopRequestedAt === null || start >= 0) &&
      end !== start &&
      outcome !== 'skipped' &&
      !(end === null && name === ('report' satisfies PhaseName)),
  )
  const whole = largest(1, [...shown.map(({ start, end }) => end ?? start), ...signals.map(({ at }) => at)])
  const percent = (ms: number): string => `${Math.max(0, Math.min(100, (ms / whole) * 100)).toFixed(2)}%`
  const bar = ({ start, end, outcome, budget }: ReportedPhase): string => {
    const to = end ?? whole
    const bound =
      budget === null || start + budget > whole
        ? ''
        : `<b style="left:min(${percent(start + budget)},100% - 2px)" title="its time was over here"></b>`
    return `<i class="${outcome ?? 'cut'}" style="left:min(${percent(start)},100% - 3px);width:max(3px,${percent(to - start)})"></i>${bound}`
  }
  return table(
    ['phase', 'from the stop request to the end', 'began', 'took', 'had', ''],
    shown.map((phase) => [
      escaped(phase.name),
      { cell: bar(phase), class: 'track' },
      moment(phase.start),
      phase.end === null ? 'not over' : length(phase.end - phase.start),
      phase.budget === null ? '' : length(phase.budget),
      outcomeWord(phase.outcome),
    ]),
  )
}

function stragglers({ requests, watches, handlers, connections }: Report): string {
  const of = (what: string, all: readonly Straggler[]): Cell[][] =>
    all.map((straggler) => [
      what,
      escaped(straggler.name),
      length(straggler.ageMs),
      escaped(protocolLabel(straggler)),
      straggler.undeliveredBytes === undefined
        ? straggler.streaming
          ? 'streaming'
          : ''
        : `${straggler.undeliveredBytes} bytes undelivered`,
    ])
  return table(
    ['what', 'name', 'age', '', ''],
    [
      ...of('request', requests.cut),
      ...of('watch', watches.cut),
      ...of('connection', connections.forcedNames),
      ...of('handler that outlived its response', handlers),
    ],
  )
}

const failures = ({ errors }: Report): string =>
  errors
    .map(
      ({ where, error, count }) =>
        `<article><h3>${escaped(where)}${count === undefined ? '' : ` (${count} times)`}</h3>${failure(error)}</article>`,
    )
    .join('')

function failure({ name, message, code, stack }: ErrorRecord): string {
  const words = `<p class="failed">${escaped(`${name}${code === undefined ? '' : ` [${code}]`}: ${message}`)}</p>`
  return stack === undefined ? words : `${words}<details><summary>Stack</summary><pre>${escaped(stack)}</pre></details>`
}

function neverRan({ hooks }: Report): string {
  const words = skippedWords(skippedHooks(hooks), Number.POSITIVE_INFINITY)
  return words === undefined ? '' : `<p class="failed">${escaped(words)}</p>`
}

const hooksTable = ({ hooks }: Report): string =>
  table(
    ['hook', 'kind', 'took', '', ''],
    hooks.map(({ kind, name, durationMs, outcome, error }) => [
      escaped(name),
      { cell: kind, class: 'kind' },
      durationMs === null ? 'not over' : length(durationMs),
      outcomeWord(outcome),
      escaped(error?.message ?? ''),
    ]),
  )

function traffic(report: Report): string {
  const { requests, watches, connections, rejections, audit } = report
  const { lastRequestMs, upgraded, byProtocol } = connections
  const refused = Object.entries(rejections).filter(([, count]) => count > 0)
  return definitions([
    ['Requests', `${requests.before} to drain, ${requests.after} left`],
    ['Watches', `${watches.before} to end, ${watches.after} left`],
    ['Last call', lastCallWords(report)],
    ['Connections', fateSums(connections)],
    ...fateWords(byProtocol).map((words) => ['By protocol', words] as const),
    [
      'Upgraded',
      upgraded &&
        Object.entries(upgraded)
          .map(([how, count]) => `${count} ${how}`)
          .join(', '),
    ],
    ['Last request', lastRequestMs === undefined ? undefined : `${length(lastRequestMs)} after the stop`],
    ['Refused', refused.map(([kind, count]) => `${count} ${kind}`).join(', ') || undefined],
    ['Audit', audit ? `${audit.delivered} events stored, ${audit.lost} lost` : undefined],
  ])
}

const late = ({ lateAnswers }: Report): string =>
  list(lateAnswers.map(({ what, answer, lateMs }) => escaped(`${what} ${answer} ${formatDuration(Math.round(lateMs))} too late`)))

const signalsTable = ({ signals }: Report): string =>
  table(
    ['signal', 'at', '', ''],
    signals.map(({ name, at, outcome }) => [
      escaped(name),
      moment(at),
      outcomeWord(outcome),
      escaped(CUT_SIGNALS[name as CutSignal] ?? ''),
    ]),
  )

/** What `quiesce plan` prints as well; a report of another version may have something else here. */
const chosenTable = ({ platform }: Report): string =>
  table(
    ['option', 'time', 'because'],
    Object.entries(platform.defaults).flatMap(([name, chosen]) => {
      const { ms, because } = (chosen ?? {}) as { readonly ms?: unknown; readonly because?: unknown }
      return typeof ms === 'number' ? [[escaped(name), length(ms), escaped(String(because ?? ''))]] : []
    }),
  )

/** HTML, or with a class. */
type Cell = string | { readonly cell: string; readonly class: string }

function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return ''
  const cell = (given: Cell, column: number): string => {
    const { cell: html, class: name = '' } = typeof given === 'string' ? { cell: given } : given
    return `<td${name && ` class="${name}"`}${column > 0 && heads[column] ? ` data-head="${heads[column]}"` : ''}>${html}</td>`
  }
  const head = heads.map((name) => (name === '' ? '<td></td>' : `<th scope="col">${name}</th>`)).join('')
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n')}</tbody></table></div>`
}

const list = (items: readonly string[]): string =>
  items.length === 0 ? '' : `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`

const definitions = (pairs: readonly (readonly [string, string | undefined])[]): string =>
  `<dl>${pairs.flatMap(([term, words]) => (words === undefined ? [] : [`<dt>${term}</dt><dd>${escaped(words)}</dd>`])).join('')}</dl>`

const section = (title: string, content: string): string => (content === '' ? '' : `<section><h2>${title}</h2>${content}</section>`)

const outcomeWord = (outcome: string | null): Cell => ({ cell: outcome ?? 'not over', class: `outcome ${outcome ?? 'cut'}` })
const length = (ms: number): string => formatDuration(Math.round(ms))
const moment = (at: number): string => `${at < 0 ? '-' : '+'}${length(Math.abs(at))}`

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Controls, which no page may have, and marks that turn the direction of what is behind them. */
const UNPRINTABLE = /(?![\n\r\t\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/gu

/** Names and messages come from users and clients. */
const escaped = (text: string): string =>
  text.replace(UNPRINTABLE, '\ufffd').replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
