// @ts-check
// `npm run docs:site`: the documents as a static site in build/site, which needs no server: open
// build/site/index.html. Fails when a link of a page leads nowhere. `--out FOLDER` writes it there.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Marked } from 'marked'
import { build } from 'rolldown'
import { lifecycleChart } from '../build/src/diagram/index.js'
import { createServer } from '../build/src/index.js'
import { planOf } from '../build/src/model/life/lifecycle-model.js'
import { Anchors, brokenLinks, linkOf, pageOf } from './docs-site/links.mjs'
import { navigated } from './docs-site/navigation.mjs'
import { chartPage, escaped, pageHtml, tableHtml } from './docs-site/page.mjs'
import { givenArguments } from './usage.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const { out } = givenArguments({ options: { out: { type: 'string', default: 'build/site' } } }).values

const COPIED = ['diagrams', 'docs/images']
const PAGE = 'packages/inspector-page/static'

const repository = String(JSON.parse(readFileSync('package.json', 'utf8')).repository?.url ?? '').replace(/^git\+|\.git$/g, '') || '..'
const markdownIn = (/** @type {string} */ folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${folder}${name}`)
const entries = navigated(markdownIn).map(({ group, document, title }) => ({
  document,
  path: pageOf(document),
  title: title ?? titleOf(document),
  group,
}))
const grouped = entries.filter(({ document }) => document.endsWith('.md'))
const documents = new Set(grouped.map(({ document }) => document))
const copied = (/** @type {string} */ path) =>
  /\.(svg|png)$/.test(path) && COPIED.some((folder) => path.startsWith(`${folder}/`)) && existsSync(path)

/** @param {string} document */
function rendered(document) {
  const anchors = new Anchors()
  const site = { document, documents, copied, repository }
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens)
        return `<h${depth} id="${anchors.of(this.parser.parseInline(tokens, this.parser.textRenderer))}">${html}</h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escaped(linkOf(href, site))}">${this.parser.parseInline(tokens)}</a>`
      },
      image({ href, text }) {
        return `<img src="${escaped(linkOf(href, site))}" alt="${escaped(text)}">`
      },
      table({ header, rows }) {
        const inline = (/** @type {import('marked').Tokens.TableCell} */ { tokens }) => ({
          html: this.parser.parseInline(tokens),
          text: String(this.parser.parseInline(tokens, this.parser.textRenderer)),
        })
        return tableHtml(
          header.map(inline),
          rows.map((row) => row.map(inline)),
        )
      },
      code({ lang, text }) {
        const block = `<pre><code>${escaped(text)}</code></pre>\n`
        return lang === 'mermaid' ? `<details><summary>Mermaid</summary>${block}</details>\n` : block
      },
    },
  })
  return String(marked.parse(readFileSync(document, 'utf8')))
}

/** @param {string} document */
function titleOf(document) {
  return /^# (.*)$/m.exec(readFileSync(document, 'utf8'))?.[1]?.replaceAll('`', '') ?? document
}

/** The chart of a life in each mode, as in `diagrams/generate.mjs`. */
const charts = Object.fromEntries(
  /** @type {const} */ (['refuse', 'retry-after']).map((whileDraining) => {
    const server = createServer({ listener: () => {} }, { logger: false, platform: 'kubernetes', whileDraining })
    server.addPostStartHook('warm-cache', () => {})
    return [whileDraining, lifecycleChart(planOf(server))]
  }),
)

const page = readFileSync(`${PAGE}/index.html`, 'utf8')
const part = (/** @type {RegExp} */ pattern) => {
  const [found] = pattern.exec(page) ?? []
  if (found === undefined) throw new Error(`${PAGE}/index.html has nothing like ${pattern}`)
  return found
}
const sprite = part(/<svg class="sprite"[\s\S]*?<\/svg>\s*(?=<a )/)
const key = part(/<ul class="chart-key"[\s\S]*?<\/ul>/).replaceAll(/\n\s*<li class="(working|ok|failed|cut|skipped)">.*/g, '')
const colours = /:root \{[\s\S]*?\n\}/.exec(readFileSync(`${PAGE}/style.css`, 'utf8'))?.[0].replace(/\n\s*font:[^;]*;/, '') ?? ''
/** @type {Map<string, string>} */
const files = new Map([
  [
    'chart.html',
    pageHtml({ path: 'chart.html', title: 'Who waits for whom', body: chartPage(charts, { key }), scripts: ['site.js'], sprite }, entries),
  ],
  ['site.css', [colours, readFileSync(`${PAGE}/chart.css`, 'utf8'), readFileSync('scripts/docs-site/site.css', 'utf8')].join('\n')],
  ['icon.svg', readFileSync(`${PAGE}/icon.svg`, 'utf8')],
  ...grouped.map(
    ({ document }) =>
      /** @type {[string, string]} */ ([
        pageOf(document),
        pageHtml({ path: pageOf(document), title: titleOf(document), body: rendered(document) }, entries),
      ]),
  ),
])

rmSync(out, { recursive: true, force: true })
for (const [path, text] of files) {
  mkdirSync(dirname(join(out, path)), { recursive: true })
  writeFileSync(join(out, path), text)
}
for (const folder of COPIED) cpSync(folder, join(out, folder), { recursive: true, filter: (path) => !/\.(md|mjs)$/.test(path) })
// One classic script: a module is not loaded from a disk.
await build({
  input: 'packages/inspector-page/src/site.ts',
  platform: 'browser',
  output: { file: join(out, 'site.js'), format: 'iife' },
})

const all = readdirSync(out, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', posix.sep))
const broken = brokenLinks(new Map(all.map((path) => [path, files.get(path) ?? ''])))
for (const link of broken) console.error(`leads nowhere: ${link}`)
console.log(`${out}: ${entries.length} pages${broken.length > 0 ? `, ${broken.length} links lead nowhere` : ''}`)
process.exitCode = broken.length > 0 ? 1 : 0
