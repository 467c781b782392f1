// @ts-check
// The pages of the documentation: one frame for all, and the first one with the chart.
import { posix } from 'node:path'

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
${groups
  .map(
    (group) =>
      `<details${entries.some((entry) => entry.group === group && entry.path === path) || group === groups[0] ? ' open' : ''}><summary>${escaped(group)}</summary><ul>${entries
        .filter((entry) => entry.group === group)
        .map(item)
        .join('')}</ul></details>`,
  )
  .join('\n')}
</nav>
<main id="content">
${body}
</main>
</body>
</html>
`
}

/**
 * @param {Readonly<Record<string, unknown>>} charts by mode
 * @param {{ key: string, lead: string }} words
 */
export function firstPage(charts, { key, lead }) {
  const modes = Object.keys(charts)
  // A closing tag inside would end the data.
  const data = (/** @type {unknown} */ chart) => JSON.stringify(chart).replaceAll('<', '\\u003c')
  return `<h1>quiesce</h1>
${lead}
<section class="panel" aria-labelledby="chart-title">
<div class="panel-head">
<h2 id="chart-title">Who waits for whom</h2>
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
<p class="chart-told"><output id="chart-told">Point at a phase: what it waits for, and what waits for it, is lit. A click, or Enter, shows its states.</output></p>
</section>
<noscript><p><img src="diagrams/wiring-refuse.svg" alt="Who waits for whom, in the mode refuse"></p></noscript>
<p>Without a script: in the mode <a href="diagrams/wiring-refuse.svg">refuse</a>, in the mode <a href="diagrams/wiring-retry-after.svg">retry-after</a>; <a href="diagrams/lifecycle-states.svg">with every state</a>.</p>
<p><img src="diagrams/drain.svg" alt="A drain as it happens, recorded from the example server"></p>
${modes.map((mode) => `<script type="application/json" id="chart-${mode}">${data(charts[mode])}</script>`).join('\n')}
`
}
