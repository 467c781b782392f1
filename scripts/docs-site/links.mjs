// @ts-check
// Links between the pages of the documentation: where they lead on the site, and which lead
// nowhere.
import { posix } from 'node:path'

/** The page that a document becomes. @param {string} document path from the root of the repository */
export const pageOf = (document) =>
  document === 'README.md' ? 'readme.html' : document === 'docs/start.md' ? 'index.html' : document.replace(/\.md$/, '.html')

/** The anchor that a hosting site makes of a heading; a second one of the same name is numbered. */
export class Anchors {
  /** @type {Map<string, number>} */
  #seen = new Map()

  /** @param {string} heading its text, without markup */
  of(heading) {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-')
    const earlier = this.#seen.get(anchor) ?? 0
    this.#seen.set(anchor, earlier + 1)
    return earlier === 0 ? anchor : `${anchor}-${earlier}`
  }
}

/**
 * Where a link of a document leads on the site. What is no part of it is in the repository; an
 * address there leads to the site when it has that.
 * @param {string} target @param {{ document: string, documents: ReadonlySet<string>, copied: (path: string) => boolean, repository: string }} site
 */
export function linkOf(target, { document, documents, copied, repository }) {
  const files = `${repository}/blob/main/`
  const inRepository = target.startsWith(files)
  if ((!inRepository && /^[a-z][a-z+.-]*:/i.test(target)) || target.startsWith('#')) return target
  const [path = '', anchor] = (inRepository ? target.slice(files.length).replace('?raw=true', '') : target).split('#')
  const file = posix.normalize(posix.join(inRepository ? '' : posix.dirname(document), path))
  const to = documents.has(file) ? pageOf(file) : copied(file) ? file : undefined
  const suffix = anchor === undefined ? '' : `#${anchor}`
  if (to === undefined) return `${files}${file}${suffix}`
  return `${posix.relative(posix.dirname(pageOf(document)), to)}${suffix}`
}

/**
 * Links of pages to files and places of the site that are not there.
 * @param {ReadonlyMap<string, string>} files by path; of a file that is no page the text does not matter
 */
export function brokenLinks(files) {
  /** @type {string[]} */
  const broken = []
  for (const [page, html] of files) {
    if (!page.endsWith('.html')) continue
    const visible = html.replace(/<script[\s\S]*?<\/script>|<!--[\s\S]*?-->/g, '')
    for (const [, target = ''] of visible.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      if (/^[a-z][a-z+.-]*:/i.test(target)) continue
      const [path = '', anchor] = target.replaceAll('&amp;', '&').split('#')
      const to = path === '' ? page : posix.normalize(posix.join(posix.dirname(page), decodeURI(path)))
      const text = files.get(to)
      const isThere = text !== undefined && (anchor === undefined || anchor === '' || text.includes(` id="${decodeURI(anchor)}"`))
      if (!isThere) broken.push(`${page}: ${target}`)
    }
  }
  return broken
}
