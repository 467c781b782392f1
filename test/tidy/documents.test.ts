import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { brokenLinks, REPOSITORY_FILES } from '../../scripts/document-links.mjs'
import { files, read } from './sources.ts'

const documents = files.filter((path) => path.endsWith('.md'))

describe('documents', () => {
  test.each(documents)('the links of %s lead somewhere', (path) => {
    expect(brokenLinks(path, read(path), { exists: existsSync, read, hasRepository: true })).toEqual([])
  })

  const few = {
    exists: (file: string) => ['docs/a.md', 'docs/other.md', 'code.ts'].includes(file),
    read: () => '## Here',
  }

  test('the check sees a missing file, a missing anchor and an image that is not there', () => {
    const text =
      '# A b\n[x](gone.md) [y](#a-b) [z](#c) [w](other.md#here) [v](other.md#there)\n<img src="pic.svg"><source srcset="set.svg">\n`[u](code.md)`\n'
    expect(brokenLinks('docs/a.md', text, { ...few, hasRepository: true })).toEqual([
      'docs/a.md: gone.md',
      'docs/a.md: #c',
      'docs/a.md: other.md#there',
      'docs/a.md: pic.svg',
      'docs/a.md: set.svg',
    ])
  })

  test('an address in our own repository is one of its files; in the package it is another site', () => {
    const text = ['code.ts', 'gone.ts', 'docs/other.md#here', 'docs/other.md#there'].map((to) => `[x](${REPOSITORY_FILES}${to})`).join('\n')
    expect(brokenLinks('docs/a.md', text, { ...few, hasRepository: true })).toEqual([
      `docs/a.md: ${REPOSITORY_FILES}gone.ts`,
      `docs/a.md: ${REPOSITORY_FILES}docs/other.md#there`,
    ])
    expect(brokenLinks('docs/a.md', text, { ...few, hasRepository: false })).toEqual([])
  })
})
