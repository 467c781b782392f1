// Links of the documentation's site. Fails when one that leads nowhere is not seen.
import { describe, expect, test } from 'vitest'
import { Anchors, brokenLinks, linkOf, pageOf } from '../../scripts/docs-site/links.mjs'

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
    ['https://example.com/quiesce/blob/main/test/rows', 'https://example.com/quiesce/blob/main/test/rows'],
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
