// Links and navigation of the documentation's site. Fails when a link that leads nowhere is not
// seen, a document has no place, or pages that are not for users stand between those that are.
import { describe, expect, test } from 'vitest'
import { Anchors, brokenLinks, linkOf, pageOf } from '../../scripts/docs-site/links.mjs'
import { CLOSED, navigated } from '../../scripts/docs-site/navigation.mjs'
import { tableHtml } from '../../scripts/docs-site/page.mjs'
import { files } from './sources.ts'

const SITE = {
  document: 'docs/options.md',
  documents: new Set(['README.md', 'docs/options.md', 'docs/errors.md']),
  copied: (path: string) => path === 'diagrams/wiring-refuse.svg',
  repository: 'https://example.com/quiesce',
}

describe('a link of a document', () => {
  test.each([
    ['errors.md#of-the-caller', 'errors.html#of-the-caller'],
    ['../README.md', '../readme.html'],
    ['../diagrams/wiring-refuse.svg', '../diagrams/wiring-refuse.svg'],
    ['../src/machines/wiring.ts', 'https://example.com/quiesce/blob/main/src/machines/wiring.ts'],
    ['https://example.com/quiesce/blob/main/docs/errors.md#of-the-caller', 'errors.html#of-the-caller'],
    ['https://example.com/quiesce/blob/main/test/upstream', 'https://example.com/quiesce/blob/main/test/upstream'],
    ['#stop', '#stop'],
    ['https://stately.ai/docs', 'https://stately.ai/docs'],
  ])('%s leads to %s', (target, expected) => {
    expect(linkOf(target, SITE)).toBe(expected)
  })
})

test('anchors are those of a hosting site, numbered where two are the same', () => {
  const anchors = new Anchors()
  expect([anchors.of('Of `what` is lost?'), anchors.of('Stop'), anchors.of('Stop')]).toEqual(['of-what-is-lost', 'stop', 'stop-1'])
  expect(pageOf('docs/decisions/0001-a.md')).toBe('docs/decisions/0001-a.html')
})

test('a link to a page, a place or a picture that is not there is broken', () => {
  const page =
    '<h1 id="here"></h1><a href="b.html#there"></a><a href="#here"></a><a href="gone.html"></a><a href="#gone"></a><img src="x.svg">'
  const files = new Map([
    ['docs/a.html', `${page}<script>"<a href="no.html">"</script><a href="https://example.com/"></a>`],
    ['docs/b.html', '<h1 id="other"></h1>'],
  ])
  expect(brokenLinks(files)).toEqual(['docs/a.html: b.html#there', 'docs/a.html: gone.html', 'docs/a.html: #gone', 'docs/a.html: x.svg'])
})

test('each document has one place, and those for users come first', () => {
  const inFolder = (folder: string) => files.filter((path) => path.startsWith(folder) && /^[^/]+\.md$/.test(path.slice(folder.length)))
  const entries = navigated(inFolder)
  const places = entries.map(({ document }) => document)
  const documents = files.filter((path) =>
    /^(docs\/(decisions\/)?[^/]+|diagrams\/[^/]+|[^/]+|packages\/(apiserver|model)\/README)\.md$/.test(path),
  )
  expect(documents).toContain('docs/options.md')
  expect(places.filter((place) => place.endsWith('.md')).sort()).toEqual(documents.sort())
  const groups = [...new Set(entries.map(({ group }) => group))]
  expect(groups.slice(-CLOSED.size)).toEqual([...CLOSED])
  expect(places[0]).toBe('docs/start.md')
})

test('a cell of a table says what its column is, and breaks where the words of its code do', () => {
  const cell = (html: string) => ({ html, text: html.replaceAll(/<[^>]*>/g, '') })
  const html = tableHtml(
    [cell('option'), cell('<code>flag</code>'), cell('')],
    [[cell('<code>hookTimeout</code>'), cell('<code>--hook-timeout</code>'), cell('x')]],
  )
  expect(html).toContain('<td data-label="option"><div><code>hook<wbr>Timeout</code></div></td>')
  expect(html).toContain('<td data-label="flag"><div><code>--hook-<wbr>timeout</code></div></td>')
  expect(html).toContain('<td class="brief"><div>x</div></td>')
})

test('a column has room for what it says: a brief one no more than that, a long one more', () => {
  const cell = (text: string) => ({ html: text, text })
  const header = [cell('Q'), cell('feature'), cell('more than brief'), cell('E')]
  const html = tableHtml(header, [
    [cell('yes'), cell('what takes a whole line of words to be said'), cell('yes'), cell('not applicable')],
    [cell('partly'), cell('what takes a whole line of words to be said'), cell('no'), cell('no')],
  ])
  expect([...html.matchAll(/<th(?: class="(\w+)")?>/g)].map(([, width]) => width)).toEqual(['brief', 'long', undefined, undefined])
})
