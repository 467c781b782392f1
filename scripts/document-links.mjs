// @ts-check
// Links of the documents. The rule: what a document of the package links stands in the package
// under the same relative path, or is linked by its address in the repository (`REPOSITORY_FILES`);
// `npm run check:package` judges that from the tarball. In the repository both have to lead to a
// file, and to a heading of it where there is an anchor: test/tidy/documents.test.ts.
// And commands: a reader of the package has none of the repository's (`foreignCommands`).
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { Anchors } from './docs-site/links.mjs'

const { repository, scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
/** What the address of each file of the repository begins with. */
export const REPOSITORY_FILES = `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`

/** A picture is shown by an address that ends in this. */
const RAW = '?raw=true'

/** @param {string} text */
const withoutFences = (text) => text.replace(/^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2$/gm, '')

/** The targets of a document's links and pictures: what is code links nowhere. @param {string} text */
function targetsOf(text) {
  const prose = withoutFences(text).replace(/`[^`\n]*`/g, '')
  const found = prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|\b(?:src|srcset|href)="([^"\s]+)|^\[[^\]]+\]:\s+(\S+)/gm)
  return [...found].map(([, inline, attribute, reference]) => inline ?? attribute ?? reference ?? '')
}

/** The anchors a hosting site makes of a document's headings. @param {string} text */
function anchorsOf(text) {
  const anchors = new Anchors()
  const headings = [...withoutFences(text).matchAll(/^#+ +(.*)$/gm)]
  return new Set(headings.map(([, heading = '']) => anchors.of(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))))
}

/**
 * Links of a document that lead nowhere among the files given; other sites are not asked.
 * @param {string} path from the root of those files
 * @param {string} text
 * @param {{ exists: (file: string) => boolean, read: (file: string) => string, hasRepository: boolean }} files
 * `hasRepository`: they are all of the repository, and its addresses are looked up in them as well
 */
export function brokenLinks(path, text, { exists, read, hasRepository }) {
  return targetsOf(text)
    .filter((target) => {
      const inRepository = hasRepository && target.startsWith(REPOSITORY_FILES)
      if (!inRepository && /^[a-z][a-z+.-]*:/i.test(target)) return false
      const [file = '', anchor] = decodeURI(inRepository ? target.slice(REPOSITORY_FILES.length).replace(RAW, '') : target).split('#')
      const to = file === '' ? path : posix.join(inRepository ? '' : posix.dirname(path), file)
      if (!exists(to)) return true
      return anchor !== undefined && to.endsWith('.md') && !anchorsOf(to === path ? text : read(to)).has(anchor)
    })
    .map((target) => `${path}: ${target}`)
}

const CHECKOUT = /checkout of (?:the|this) repository/

/**
 * Commands of the repository that a document or example of the package names before it has said
 * where they are run: they are no commands of the package.
 * @param {string} text
 */
export function foreignCommands(text) {
  const visible = text.replace(/<!--[\s\S]*?-->/g, (comment) => ' '.repeat(comment.length))
  const said = CHECKOUT.exec(visible)?.index ?? Number.POSITIVE_INFINITY
  const own = [...visible.matchAll(/\bnpm (?:run(?: --silent)? ([\w:-]+)|ci && npm (start|test))\b/g)]
  return own.flatMap(({ 0: command, 1: run, 2: name = run ?? '', index }) => {
    const line = visible.slice(0, index + visible.slice(index).search(/\n\n|$/))
    return name in scripts && said > line.length ? [command] : []
  })
}
