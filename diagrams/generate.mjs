// @ts-check
// `npm run generate`: writes what is derived from the code: the dependency flowcharts of both modes (diagrams/wiring.md, Mermaid text that
// GitHub draws) from the wiring table, docs/options.md from the option table and docs/errors.md from the table of error codes. With `--check` it fails when a file is stale instead.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ERROR_CODES } from '../dist/errors.js'
import { effectiveWiring } from '../dist/machines/lifecycle.js'
import { OPTION_NAMES, OPTION_TABLE, SERVER_ONLY_OPTIONS } from '../dist/options/option-table.js'

const check = process.argv.includes('--check')
const file = (/** @type {string} */ name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** @typedef {import('../dist/machines/wiring.js').PhaseRow} PhaseRow */

/** @param {'refuse' | 'retry-after'} mode */
function flowchart(mode) {
  const rows = /** @type {[string, PhaseRow][]} */ (Object.entries(effectiveWiring({ mode })))
  const firedBy = new Map(rows.map(([phase, { fires }]) => [fires, phase]))
  const node = (/** @type {string} */ phase, /** @type {PhaseRow} */ { fires, work }) =>
    `    ${phase}${work ? '["' : '(["'}${phase}<br/><b>${fires}</b>${work ? '"]' : '"])'}`
  const lane = (/** @type {'start' | 'stop'} */ name, /** @type {string} */ title) => [
    `  subgraph ${name}lane["${title}"]`,
    ...rows.filter(([, row]) => row.lane === name).map(([phase, row]) => node(phase, row)),
    '  end',
  ]
  const given = (/** @type {string} */ signal) => `given_${signal.replaceAll('.', '_')}(("${signal}"))`
  const edges = rows.flatMap(([phase, row]) => row.after.map((signal) => `  ${firedBy.get(signal) ?? given(signal)} --> ${phase}`))
  const until = rows.flatMap(([phase, row]) => (row.until ? [`  ${firedBy.get(row.until[mode])} -. ends .-> ${phase}`] : []))
  const unless = rows.flatMap(([phase, row]) => (row.unless ? [`  ${firedBy.get(row.unless)} -. arms .-> ${phase}`] : []))
  return ['```mermaid', 'flowchart TD', ...lane('start', 'Start'), ...lane('stop', 'Stop'), ...edges, ...until, ...unless, '```'].join('\n')
}

const wiring = `# The dependency graph

Generated from \`src/machines/wiring.ts\` by \`npm run generate\`; do not edit. A box does work, a rounded box only fires its signal (bold). An arrow is a
transition on the signal of its origin; a phase with several arrows waits for all of them. StopRequested skips what is left of the Start lane.

## whileDraining: 'refuse'

${flowchart('refuse')}

## whileDraining: 'retry-after'

${flowchart('retry-after')}
`

const cell = (/** @type {string | undefined} */ text) => (text ?? '').replaceAll('|', '\\|')
/** @param {readonly string[]} names */
const optionRows = (names) =>
  names.map((name) => {
    const row = /** @type {Record<string, import('../dist/options/option-table.js').OptionRow>} */ (OPTION_TABLE)[name]
    const flag = row?.flag ? `\`--${row.flag}\`${row.cliDefault ? ` (${row.cliDefault})` : ''}` : ''
    return `| \`${name}\` | ${cell(row?.meaning)} | ${cell(row?.allowed)} | ${cell(row?.default)} | ${cell(flag)} | ${cell(row?.upstream)} |`
  })
const head = '| option | meaning | allowed | default | flag of `quiesce serve` (its default) | upstream |\n|---|---|---|---|---|---|'
const both = OPTION_NAMES.filter((name) => !(/** @type {readonly string[]} */ (SERVER_ONLY_OPTIONS).includes(name)))
const options = `# Options

Generated from \`src/options/option-table.ts\` by \`npm run generate\`; do not edit. An option that cannot be used is refused with ERR_OPTION_INVALID, which lists
every problem: the option, what was given, what is allowed. Flags have an environment variable \`QUIESCE_…\` and a key in the config file of the same name.

## createServer and attachLifecycle

${head}
${optionRows(both).join('\n')}

## createServer only

${head}
${optionRows(SERVER_ONLY_OPTIONS).join('\n')}
`

/** @type {Record<import('../dist/errors.js').Fault, string>} */
const faults = {
  caller: 'Of the program that uses quiesce',
  environment: 'Of what the program runs in',
  work: 'Of work that quiesce runs or waits for',
  quiesce: 'Of quiesce',
}
const errors = `# Errors

Generated from \`src/errors.ts\` by \`npm run generate\`; do not edit. Every error of quiesce is a QuiesceError: \`code\` is stable and what programs decide on,
\`message\` is for people and may change, \`details\` has the data behind it, \`cause\` what led to it.

${Object.entries(faults)
  .map(([fault, title]) => {
    const rows = Object.entries(ERROR_CODES).filter(([, code]) => code.fault === fault)
    return `## ${title}\n\n| code | when |\n|---|---|\n${rows.map(([code, { meaning }]) => `| \`${code}\` | ${cell(meaning)} |`).join('\n')}`
  })
  .join('\n\n')}
`

for (const [name, text] of Object.entries({ 'diagrams/wiring.md': wiring, 'docs/options.md': options, 'docs/errors.md': errors })) {
  if (!check) {
    writeFileSync(file(name), text)
  } else if (readFileSync(file(name), 'utf8') !== text) {
    console.error(`${name} is stale: run npm run generate and commit the result`)
    process.exitCode = 1
  }
}
