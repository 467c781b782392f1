// @ts-check
// The pages of the documentation: one frame for all, and the first one with the chart.
import { posix } from 'node:path'
import { CLOSED } from './navigation.mjs'

/** @typedef {{ path: string, title: string, group: string }} Entry */

/** @param {string} text */
export const escaped = (text) =>
  text.replace(/[&<>"]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[character] ?? '')

/**
 * @param {{ path: string, title: string, body: string, scripts?: readonly string[], sprite?: string }} page
 * @param {readonly Entry[]} entries
 */
export function pageHtml({ path, title, body, scripts = [], sprite = '' }, entries) {
  const from = (/** @type {string} */ to) => posix.relative(posix.dirname(path), to)
  const groups = [...new Set(entries.map(({ group }) => group))]
  const item = (/** @type {Entry} */ entry) =>
    `<li><a href="${from(entry.path)}"${entry.path === path ? ' aria-current="page"' : ''}>${escaped(entry.title)}</a></li>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}${title === 'quiesce' ? '' : ' · quiesce'}</title>
<link rel="icon" href="${from('icon.svg')}">
<link rel="stylesheet" href="${from('site.css')}">
${scripts.map((script) => `<script src="${from(script)}" defer></script>`).join('\n')}
</head>
<body>
${sprite}
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Documents">
<a class="brand" href="${from('index.html')}">quiesce</a>
<details class="menu">
<summary>All pages</summary>
<div class="groups">
${groups
  .map(
    (group) =>
      `<details${entries.some((entry) => entry.group === group && (entry.path === path || !CLOSED.has(group))) ? ' open' : ''}><summary>${escaped(group)}</summary><ul>${entries
        .filter((entry) => entry.group === group)
        .map(item)
        .join('')}</ul></details>`,
  )
  .join('\n')}
</div>
</details>
</nav>
<main id="content">
${body}
</main>
</body>
</html>
`
}

/** @typedef {{ readonly html: string, readonly text: string }} Cell */

/** A column whose cells have more text than this, on average, is read line by line, and gets the room for it. */
const LONG_TEXT = 40
/** A column whose cells all have at most this is never broken, and needs no more room than they do. */
const BRIEF_TEXT = 7
/** From so many columns on, a row is a list of its cells on a small screen. */
const STACKED_FROM = 3
/** And from so many on, it is written smaller on a large one. */
const DENSE_FROM = 7

/**
 * A table that is whole on every screen: a long name in it breaks where its words do, and on a phone
 * each cell says what its column is.
 * @param {readonly Cell[]} header @param {readonly (readonly Cell[])[]} rows
 */
export function tableHtml(header, rows) {
  const widths = header.map((name, at) => {
    const lengths = rows.map((row) => row[at]?.text.length ?? 0)
    if (Math.max(name.text.length, ...lengths) <= BRIEF_TEXT) return ' class="brief"'
    return lengths.reduce((sum, length) => sum + length, 0) > LONG_TEXT * rows.length ? ' class="long"' : ''
  })
  const cell = (/** @type {string} */ tag, /** @type {Cell} */ { html }, /** @type {number} */ at) => {
    const { text = '' } = header[at] ?? {}
    const label = tag === 'td' && text !== '' ? ` data-label="${escaped(text)}"` : ''
    return `<${tag}${widths[at] ?? ''}${label}>${tag === 'td' ? `<div>${breakable(html)}</div>` : breakable(html)}</${tag}>`
  }
  const line = (/** @type {readonly Cell[]} */ cells, /** @type {string} */ tag) =>
    `<tr>${cells.map((each, at) => cell(tag, each, at)).join('')}</tr>`
  const stacked = header.length >= STACKED_FROM ? ' stacked' : ''
  const dense = header.length >= DENSE_FROM ? ' dense' : ''
  return `<div class="table${stacked}${dense}"><table><thead>${line(header, 'th')}</thead><tbody>${rows.map((row) => line(row, 'td')).join('\n')}</tbody></table></div>\n`
}

/** Code may break behind what joins its words. @param {string} html */
const breakable = (html) =>
  html.replace(
    /(<code>)([^<]*)(<\/code>)/g,
    (_, open, text, close) => `${open}${text.replace(/(?<=[_/.,])(?=.)|(?<=\w-)(?=\w)|(?<=[a-z])(?=[A-Z])/g, '<wbr>')}${close}`,
  )

/**
 * @param {Readonly<Record<string, unknown>>} charts by mode
 * @param {{ key: string }} words
 */
export function chartPage(charts, { key }) {
  const modes = Object.keys(charts)
  // A closing tag inside would end the data.
  const data = (/** @type {unknown} */ chart) => JSON.stringify(chart).replaceAll('<', '\\u003c')
  return `<h1>Who waits for whom</h1>
<p>A server’s life as phases that wait for each other’s signals: the lifecycle of the Kubernetes API server for any Node HTTP server.</p>
<section class="panel" aria-labelledby="chart-title">
<div class="panel-head">
<h2 id="chart-title">Phases and their signals</h2>
<fieldset><legend>whileDraining</legend>${modes
    .map((mode, i) => `<label><input type="radio" name="mode" value="${mode}"${i === 0 ? ' checked' : ''}> ${mode}</label>`)
    .join(' ')}</fieldset>
<div class="buttons" role="group" aria-label="Size of the chart">
<button type="button" id="chart-smaller" aria-label="Smaller">−</button>
<button type="button" id="chart-fit">Fit</button>
<button type="button" id="chart-larger" aria-label="Larger">+</button>
</div>
</div>
${key}
<div class="chart-space" id="chart-space">
<div class="chart-body" id="chart-body" tabindex="0" role="group" aria-labelledby="chart-title"></div>
</div>
<p class="chart-notified"><output id="chart-notified">Point at a phase: what it waits for, and what waits for it, is lit. A click, or Enter, shows its states.</output></p>
</section>
<noscript><p><img src="diagrams/wiring-refuse.svg" alt="Who waits for whom, in the mode refuse"></p></noscript>
<p>Without a script: in the mode <a href="diagrams/wiring-refuse.svg">refuse</a>, in the mode <a href="diagrams/wiring-retry-after.svg">retry-after</a>; <a href="diagrams/lifecycle-states.svg">with every state</a>.</p>
${modes.map((mode) => `<script type="application/json" id="chart-${mode}">${data(charts[mode])}</script>`).join('\n')}
`
}
