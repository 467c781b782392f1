// @ts-check
// Every text that an operator can see, for docs/messages.md (`npm run generate`): errors, log lines,
// lines on standard error, help, the report and the inspector. They are read from the sources: each
// string of several words that is not code, in the file that says it. So none can be left out.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** What an operator meets, and the folders that say it; the longest that fits decides. */
const SECTIONS = /** @type {const} */ ([
  ['Errors, checks and limits', ['src/']],
  ['The log', ['src/log/', 'src/base/neutral-wording.ts', 'src/base/wording.ts']],
  ['The start and the end of a process', ['src/process/', 'src/lifecycle/', 'src/listeners/', 'src/platforms/']],
  ['Options, as in help and in errors', ['src/options/']],
  ['The command line', ['src/cli/', 'src/example/']],
  ['The report and the terminal', ['src/report/', 'src/terminal/']],
  ['The inspector', ['src/inspector/', 'packages/inspector-page/src/']],
  ['The model checker', ['src/model/', 'packages/model/src/']],
  ['The test kit', ['src/testing/']],
  ['The API server', ['packages/apiserver/src/', 'src/base/apiserver-wording.ts']],
])
const FOLDERS = ['src', 'packages/model/src', 'packages/apiserver/src', 'packages/inspector-page/src']
/** Pictures and shell scripts, whose strings are code; and what docs/errors.md says already. */
const LEFT_OUT =
  /^(src\/base\/errors\.ts|src\/(diagram|cli\/completion)\/|src\/report\/page-style\.ts|packages\/inspector-page\/src\/(chart|site))/

/** @param {string} path */
function sectionOf(path) {
  const fitting = SECTIONS.flatMap(([title, places]) => places.filter((place) => path.startsWith(place)).map((place) => ({ title, place })))
  return fitting.sort((a, b) => b.place.length - a.place.length)[0]?.title ?? SECTIONS[0][0]
}

/** A string or a template as one text, its parts that are computed as `…`. @param {import('typescript').Node} node */
function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return node.templateSpans.reduce((text, span) => `${text}…${span.literal.text}`, node.head.text)
}

/** What the log says is short; elsewhere three words are a part of a message, such as what is allowed. */
const wordsMin = (/** @type {string} */ path) => (/^src\/(log|report|machines)\/|wording/.test(path) ? 3 : 4)

/** Of several words, two of them plain: no code, no markup, no style sheet. @param {string} text @param {number} min */
const isSentence = (text, min) =>
  text.trim().split(/\s+/).length >= min &&
  /[a-z]{2,} [a-z]{2,}/.test(text) &&
  !/<\/?[a-z]|[{};]\s*$|^\s*[.#][\w-]+\s*\{|=>|^\w+\(|\|---|^trap /m.test(text)

/** @param {import('typescript').Node} node */
function isOfTypes(node) {
  return ts.isLiteralTypeNode(node.parent) || ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent)
}

/** The code of the error that the text is of. @param {import('typescript').Node} node */
function codeOf(node) {
  for (let at = node.parent; at !== undefined && !ts.isFunctionLike(at) && !ts.isStatement(at); at = at.parent) {
    const first = ts.isNewExpression(at) || ts.isCallExpression(at) ? at.arguments?.[0] : undefined
    if (first !== undefined && ts.isStringLiteral(first) && /^(ERR|MODEL)_/.test(first.text)) return first.text
  }
  return undefined
}

/** @param {string} path @param {string} source @returns {string[]} each text once, in the order of the file */
export function messagesOf(path, source) {
  /** @type {Set<string>} */
  const found = new Set()
  /** @param {import('typescript').Node} node */
  const visit = (node) => {
    const text = textOf(node)
    if (text !== undefined && isSentence(text, wordsMin(path)) && !isOfTypes(node)) {
      const code = codeOf(node)
      found.add(`${code === undefined ? '' : `${code}: `}${text.trim().replace(/\s*\n\s*/g, ' ')}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true))
  return [...found]
}

/** @param {string} text as Markdown code, whatever is in it */
function code(text) {
  const fence = text.includes('`') ? '``' : '`'
  return `${fence}${fence.length > 1 ? ` ${text} ` : text}${fence}`
}

export function messagesMarkdown() {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts') && !LEFT_OUT.test(path)),
  ).sort()
  const all = files.map((path) => ({ path, section: sectionOf(path), texts: messagesOf(path, readFileSync(join(ROOT, path), 'utf8')) }))
  const sections = SECTIONS.map(([title]) => {
    const own = all.filter(({ section, texts }) => section === title && texts.length > 0)
    const lists = own.map(({ path, texts }) => `### ${path}\n\n${texts.map((text) => `- ${code(text)}`).join('\n')}`)
    return `## ${title}\n\n${lists.join('\n\n')}\n`
  })
  const count = all.reduce((sum, { texts }) => sum + texts.length, 0)
  return `# Messages

<!-- Generated from the sources by npm run generate; do not edit. -->

Every text of several words that an operator can see, ${count} of them, in the file that says it: errors with their codes, log lines, lines on standard error, help, the report and
the inspector. \`…\` stands for what is filled in. Codes of errors are stable, texts are not ([errors](errors.md)).

${sections.join('\n')}`
}
