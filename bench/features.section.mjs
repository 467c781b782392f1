// @ts-check
// The section of features: the table of all rows and systems is a page of its own, docs/features.md.

import { SECTIONS } from './features/features.mjs'
import { tableOf } from './verdict.mjs'

/**
 * @typedef {{ verdict: string, evidence: string }} Verdict
 * @typedef {{ date: string, commit: string }} Run
 * @typedef {{ name: string, packages: Record<string, string>, verdicts: Record<string, Verdict>, run?: Run }} System
 * @typedef {object} Measured
 * @property {Record<string, System>} systems
 */

const SIGNS = /** @type {Record<string, string>} */ ({ yes: 'yes', partly: 'partly', no: 'no', 'not applicable': '–', 'not run': '?' })
const WORDS = ['yes', 'partly', 'no', 'not applicable', 'not run']
const OURS = 'quiesce'
/** What a column is called, by the file of its system: names in full would be wider than any screen. */
const SHORT = /** @type {Record<string, string>} */ ({
  quiesce: 'Q',
  'node-core': 'N',
  terminus: 'T',
  lightship: 'L',
  'http-terminator': 'HT',
  stoppable: 'S',
  'http-graceful-shutdown': 'HG',
  fastify: 'F',
  nest: 'Ne',
  effect: 'E',
  go: 'Go',
  kubernetes: 'K8',
  uvicorn: 'U',
  spring: 'SB',
  pekko: 'PK',
  aspnet: 'AN',
  envoy: 'En',
})

const rowsOfAll = () => Object.values(SECTIONS).flatMap((rows) => Object.keys(rows))
/** @param {System} system @param {string} row @returns {Verdict} */
const verdictOf = (system, row) => system.verdicts[row] ?? { verdict: 'not run', evidence: '' }

/** @param {Measured} result */
function countsTable({ systems }) {
  const rows = Object.entries(systems).map(([file, system]) => {
    const all = rowsOfAll().map((row) => verdictOf(system, row).verdict)
    return [`${SHORT[file] ?? file}: ${system.name}`, ...WORDS.map((word) => String(all.filter((one) => one === word).length))]
  })
  return tableOf(['system', ...WORDS], rows)
}

/** Rows in which ours is not better than all others. @param {Measured} result @param {(ours: string, others: string[]) => boolean} which */
function rowsWhere({ systems }, which) {
  return Object.values(SECTIONS).flatMap((rows) =>
    Object.entries(rows).filter(([row]) => {
      const ours = systems[OURS] ? verdictOf(systems[OURS], row).verdict : 'not run'
      return which(
        ours,
        Object.entries(systems).flatMap(([file, system]) => (file === OURS ? [] : [verdictOf(system, row).verdict])),
      )
    }),
  )
}

/** @param {Measured} result */
function whereOthersAre(result) {
  const better = rowsWhere(result, (ours, others) => ours !== 'yes' && others.includes('yes'))
  const lines = better.map(([row, feature]) => {
    const who = Object.entries(result.systems).filter(([file, system]) => file !== OURS && verdictOf(system, row).verdict === 'yes')
    return `- ${row}, ${feature}: ${who.map(([, { name }]) => name).join('; ')}`
  })
  return lines.length ? lines.join('\n') : 'Nowhere.'
}

const INTRODUCTION = `Each verdict is what a probe has observed: a server of each system runs in a process of its own, as the documentation of the system says, and the probe looks at it from outside with raw sockets, signals, exit codes and output. Where a row is no behaviour (types, dependencies), the probe looks into the installed package. A \`?\` says that nothing was run, and is no claim; \`–\` says that it is not the job of that system. One life of a server answers several rows.`

/** Signs that Markdown would read as its own. @param {string} text */
const plain = (text) => text.replaceAll(/\s+/g, ' ').replaceAll(/[<>|`*_[\]]/g, (sign) => `\\${sign}`)

/** What was seen, once for all systems of which the same was. @param {System[]} systems @param {string} row */
function seenIn(systems, row) {
  /** @type {Map<string, string[]>} */
  const names = new Map()
  for (const system of systems) {
    const { verdict, evidence } = verdictOf(system, row)
    const seen = `${verdict}${evidence ? `: ${plain(evidence)}` : ''}`
    names.set(seen, [...(names.get(seen) ?? []), system.name])
  }
  return [...names].map(([seen, who]) => `- ${who.join('; ')}: ${seen}`).join('\n')
}

/** Which were observed in earlier runs, where some were observed alone. @param {System[]} systems */
function earlierRuns(systems) {
  const runs = new Set(systems.flatMap(({ run }) => (run ? [`${run.date}, commit ${run.commit}`] : [])))
  return [...runs].map((run) => {
    const names = systems
      .filter((system) => system.run && `${system.run.date}, commit ${system.run.commit}` === run)
      .map(({ name }) => name)
    return ` Observed before, ${run}: ${names.join('; ')}.`
  })
}

/** The page of its own. @param {Measured & import('./sections.mjs').About} result */
function page(result) {
  const systems = Object.values(result.systems)
  const tables = Object.entries(SECTIONS).map(([title, rows]) => {
    const lines = Object.entries(rows).map(([row, feature]) => [
      row,
      feature,
      ...systems.map((system) => SIGNS[verdictOf(system, row).verdict] ?? '?'),
    ])
    return `## ${title}\n\n${tableOf(['', 'feature', ...Object.keys(result.systems).map((file) => SHORT[file] ?? file)], lines)}`
  })
  const evidence = Object.entries(SECTIONS).map(([title, rows]) => {
    const lines = Object.entries(rows).map(([row, feature]) => `**${row}. ${feature}.**\n\n${seenIn(systems, row)}`)
    return `### ${title}: what was seen\n\n${lines.join('\n\n')}`
  })
  const versions = new Set(systems.flatMap(({ packages }) => Object.entries(packages).map(([name, version]) => `${name} ${version}`)))
  return `# Features, beside other systems

<!-- Generated from bench/results/features.json by npm run generate; do not edit. -->

${INTRODUCTION}

In a checkout of the repository, \`${result.command ?? 'npm run bench -- features'}\`, ${result.date}, commit ${result.commit}, Node ${result.versions['Node']}; ${[...versions].join(', ')}.${earlierRuns(systems).join('')}

${countsTable(result)}

Where another system has what quiesce does not have in full:

${whereOthersAre(result)}

${tables.join('\n\n')}

## What was seen

${evidence.join('\n\n')}
`
}

/** @type {import('./sections.mjs').Section<Measured>} */
export const section = {
  name: 'features',
  title: 'Features, beside other systems',
  minutes: 20,
  run: async (how) => (await import('./features/measure.mjs')).measureFeatures(how),
  rows: () => [],
  markdown: (result) => `${INTRODUCTION}

${countsTable(result)}

All ${rowsOfAll().length} rows, with what was observed of each system: [features](features.md).`,
  pages: (result) => ({ features: page(result) }),
}
