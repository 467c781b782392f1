import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Anchors } from '../../scripts/docs-site/links.mjs'
import { files, read } from './sources.ts'

const documents = files.filter((path) => path.endsWith('.md'))

/** A document without its code: what is between fences or backticks links nowhere. */
const prose = (text: string): string => text.replace(/^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2$/gm, '').replace(/`[^`\n]*`/g, '')

/** The anchors a hosting site makes of a document's headings. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Anchors()
  const headings = [...text.replace(/^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2$/gm, '').matchAll(/^#+ +(.*)$/gm)]
  return new Set(headings.map(([, heading = '']) => anchors.of(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))))
}

/** Links of a document that lead nowhere inside the project; other sites are not asked. */
function brokenLinks(path: string, text: string, exists: (file: string) => boolean, readOther: (file: string) => string): string[] {
  const targets = [...prose(text).matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|\b(?:src|href)="([^"]+)"|^\[[^\]]+\]:\s+(\S+)/gm)]
  return targets
    .map(([, inline, attribute, reference]) => inline ?? attribute ?? reference ?? '')
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target))
    .filter((target) => {
      const [file = '', anchor] = decodeURI(target).split('#')
      const to = file === '' ? path : join(dirname(path), file)
      if (!exists(to)) return true
      return anchor !== undefined && to.endsWith('.md') && !anchorsOf(to === path ? text : readOther(to)).has(anchor)
    })
    .map((target) => `${path}: ${target}`)
}

describe('documents', () => {
  test.each(documents)('the links of %s lead somewhere', (path) => {
    expect(brokenLinks(path, read(path), existsSync, read)).toEqual([])
  })

  test('the check sees a missing file, a missing anchor and an image that is not there', () => {
    const text = '# A b\n[x](gone.md) [y](#a-b) [z](#c) [w](other.md#here) [v](other.md#there)\n<img src="pic.svg">\n`[u](code.md)`\n'
    const broken = brokenLinks(
      'docs/a.md',
      text,
      (file) => ['docs/a.md', 'docs/other.md'].includes(file),
      () => '## Here',
    )
    expect(broken).toEqual(['docs/a.md: gone.md', 'docs/a.md: #c', 'docs/a.md: other.md#there', 'docs/a.md: pic.svg'])
  })
})
