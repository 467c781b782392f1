// @ts-check
// Being there: what it takes to install, import and start it.
import { barsOf, COLOURS } from './chart.mjs'
import { rowsTable } from './document.mjs'
import { CONTROL } from './end-subjects.mjs'
import { ATTACH, HONO, HONO_AGAIN, HTTP_LOADED } from './presence.mjs'
import { measuredText, rowsOf, tableOf } from './verdict.mjs'

/** @typedef {import('./presence.mjs').Presence} Presence */

/** Times bare Hono's, by the major version of Node that it is promised for. @type {Record<string, number>} */
const IMPORT_MAX = { 20: 1.25, 24: 1.5 }

/** @param {Presence} result */
const rows = ({ imports }) =>
  byLoaded(imports).flatMap(([loaded, byMajor]) =>
    Object.entries(byMajor).flatMap(([major, byName]) => {
      const target = IMPORT_MAX[major]
      const what = `import on Node ${major}, ${loaded}`
      return [
        ...rowsOf(`${what}: CPU, times bare Hono's`, byName[ATTACH]?.ofHono, target ? { target: { atMost: target } } : {}),
        ...rowsOf(`${what}: A/A`, byName[HONO_AGAIN]?.ofHono),
      ]
    }),
  )

/** By how node:http was loaded, in words. @param {Presence['imports']} imports */
const byLoaded = (imports) => Object.entries(HTTP_LOADED).map(([name, words]) => /** @type {const} */ ([words, imports[name] ?? {}]))

/** @param {Presence} result */
function markdown(result) {
  const { installs, imports, servers } = result
  return `**Import** is the CPU time of the import in a process that has loaded \`node:http\`, as every server has; bare Hono is \`hono\` with \`@hono/node-server\`, and *attached and started* is a life whose \`start()\` is over. CommonJS (Express, Fastify, Nest) *requires* \`node:http\`. An ES module *imports* it, and from Node 22 on that loads undici, the \`fetch\` of node, too. Bare Hono needs undici and pays for it where the program has not loaded it; quiesce does not need it.

${rowsTable('', rows(result))}

${byLoaded(imports)
  .map(([loaded, byMajor]) => {
    const majors = Object.keys(byMajor)
    const names = Object.keys(byMajor[majors[0] ?? ''] ?? {})
    return tableOf(
      [`${loaded}: ms of CPU`, ...majors.map((major) => `Node ${major}`)],
      names.map((name) => [name, ...majors.map((major) => (byMajor[major]?.[name] ? measuredText(byMajor[major][name].cpuMs, 1) : ''))]),
    )
  })
  .join('\n\n')}

![CPU of the import, beside bare Hono](images/imports.svg)

**Install** is \`npm install\` into an empty folder with a warm cache, of quiesce as it is packed; MB are those of the library and all that it needs.

${tableOf(
  ['library', 'packages', 'MB', 'seconds to install', 'import, ms of CPU'],
  Object.entries(installs).map(([name, { packages, megabytes, seconds, importMs }]) => [
    name,
    String(packages),
    megabytes.toFixed(1),
    measuredText(seconds, 1),
    measuredText(importMs, 0),
  ]),
)}

**A start** is the time from the start of a process to the word that its server listens, and its resident memory half a second later.

![From the start of the process to listening](images/starts.svg)

${tableOf(
  ['server', 'to listening, ms', 'times `server.close()`', 'memory, MiB'],
  Object.entries(servers).map(([name, { listeningMs, ofPlain, rssMiB }]) => [
    name,
    measuredText(listeningMs, 0),
    measuredText(ofPlain),
    measuredText(rssMiB, 0),
  ]),
)}`
}

/** @param {Presence} result @returns {Record<string, import('./chart.mjs').Picture>} */
const pictures = ({ imports, servers }) => ({
  imports: {
    width: 860,
    height: 320,
    option: {
      legend: { top: 8, left: 60, itemGap: 30 },
      grid: { left: 70, right: 20, top: 44, bottom: 60 },
      xAxis: {
        type: 'category',
        axisLabel: { interval: 0 },
        data: byLoaded(imports).flatMap(([loaded, byMajor]) =>
          Object.keys(byMajor).map((major) => `Node ${major}\n${loaded.replaceAll('`', '').replace(' ', '\n')}`),
        ),
      },
      yAxis: { type: 'value', name: 'ms of CPU', nameLocation: 'middle', nameGap: 44, min: 0 },
      series: [HONO, ATTACH].map((name, index) => ({
        name,
        type: 'bar',
        color: [COLOURS.others, COLOURS.ours][index] ?? '',
        label: { show: true, position: 'top' },
        data: byLoaded(imports).flatMap(([, byMajor]) =>
          Object.values(byMajor).map((byName) => Number(byName[name]?.cpuMs.median.toFixed(1))),
        ),
      })),
    },
  },
  starts: barsOf({
    title: 'From the start of the process to listening',
    unit: 'ms',
    bars: Object.entries(servers).map(([name, { listeningMs }]) => ({
      name,
      value: listeningMs.median,
      interval: listeningMs.interval,
      colour: name.startsWith('quiesce') ? COLOURS.ours : name === CONTROL ? COLOURS.control : COLOURS.others,
    })),
  }),
})

/** @type {import('./sections.mjs').Section<Presence>} */
export const section = {
  name: 'presence',
  title: 'Being there',
  minutes: 5,
  packages: [
    'hono',
    '@hono/node-server',
    'express',
    'http-terminator',
    '@godaddy/terminus',
    'lightship',
    'stoppable',
    'http-graceful-shutdown',
    'close-with-grace',
  ],
  run: async (how) => (await import('./presence.mjs')).measurePresence(how),
  rows,
  markdown,
  pictures,
}
