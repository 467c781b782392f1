// @ts-check
// The groups of the site and their pages, in their order: the table of docs/README.md, which says
// where to read what. test/tidy/docs-site.test.ts holds that each document has its place.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Groups that are long, and not for those who use quiesce. */
export const CLOSED = new Set(['How quiesce is made', 'Pictures', 'Decisions'])

/** Is no document: the site draws it. @type {Place} */
const CHART = { group: 'How quiesce is made', document: 'chart.html', title: 'Who waits for whom' }

const table = readFileSync(fileURLToPath(new URL('../../docs/README.md', import.meta.url)), 'utf8')
const FILES = /^https:\/\/github\.com\/[^/]+\/[^/]+\/blob\/main\//
const rows = [...table.matchAll(/^\| ([^|[]+) \| (\[.*) \|$/gm)].map(([, group = '', links = '']) => ({
  group,
  pages: [...links.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, title = '', target = '']) => ({
    title,
    place: FILES.test(target) ? target.replace(FILES, '') : posix.join('docs', target),
  })),
}))

/** @typedef {{ group: string, document: string, title: string | undefined }} Place */

/**
 * Groups with the documents that are there; a place that ends in a slash is a folder, whose pages
 * have the titles of their documents.
 * @param {(folder: string) => readonly string[]} markdownIn
 * @returns {readonly Place[]}
 */
export const navigated = (markdownIn) =>
  rows.flatMap(({ group, pages }) => [
    ...(group === CHART.group ? [CHART] : []),
    ...pages.flatMap(({ place, title }) => {
      const documents = place.endsWith('/') ? markdownIn(place) : [place]
      return documents.map((document) => ({ group, document, title: place.endsWith('/') ? undefined : title }))
    }),
  ])
