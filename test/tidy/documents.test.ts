import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { brokenLinks, foreignCommands, REPOSITORY_FILES } from '../../scripts/document-links.mjs'
import { files, read } from './sources.ts'

/** Pages below docs/ that are written for those who have the repository. */
const FOR_CONTRIBUTORS = ['architecture', 'messages', 'mutation', 'mutation-code'].map((name) => `docs/${name}.md`)
/** Read by people who have the package and not the repository. */
const isForUsers = (path: string): boolean =>
  ['README.md', 'CHANGELOG.md'].includes(path) || (/^docs\/[\w-]+\.md$/.test(path) && !FOR_CONTRIBUTORS.includes(path))

/** What a program of a document imports beside it. Of an excerpt the reader has the rest. */
function filesNotShown(text: string): string[] {
  const shown = new Set([...text.matchAll(/<!-- file: (\S+) -->/g)].map(([, name]) => name))
  const blocks = [...text.matchAll(/```(?:js|ts)\n([\s\S]*?)```/g)].map(([, code = '']) => code)
  const imported = blocks.flatMap((code) => [...code.matchAll(/(?:from |import\(|import )'\.\/([^']+)'/g)].map(([, name = '']) => name))
  return [...new Set(imported)].filter((name) => !shown.has(name))
}

const documents = files.filter((path) => path.endsWith('.md'))

describe('documents', () => {
  test.each(documents)('the links of %s lead somewhere', (path) => {
    expect(brokenLinks(path, read(path), { exists: existsSync, read, hasRepository: true })).toEqual([])
  })

  const forUsers = files.filter(isForUsers)

  test.each(forUsers)('%s names no command that a user of the package has not', (path) => {
    expect(foreignCommands(read(path))).toEqual([])
  })

  test.each(documents)('programs in %s can be pasted: each file that one imports is shown', (path) => {
    expect(filesNotShown(read(path))).toEqual([])
  })

  test('a file that is imported and not shown is seen', () => {
    const program = "```js\nimport { db } from './db.mjs'\nconst { q } = await import('./q.mjs')\n```\n"
    expect(filesNotShown(program)).toEqual(['db.mjs', 'q.mjs'])
    expect(filesNotShown(`<!-- file: q.mjs -->\n${program}`)).toEqual(['db.mjs'])
  })

  test('a command of the repository is seen, unless it is said before or with it where it is run', () => {
    expect(forUsers).toContain('docs/options.md')
    expect(files).toEqual(expect.arrayContaining(FOR_CONTRIBUTORS))
    expect(
      foreignCommands('Start it by `npm run start:apiserver`.\n\nIn a checkout of the repository, `npm run generate` writes it.'),
    ).toEqual(['npm run start:apiserver'])
    expect(foreignCommands('```sh\nnpm ci && npm test\n```\n')).toEqual(['npm ci && npm test'])
    expect(foreignCommands('`npm run generate` in a checkout of the repository; later `npm run build`.')).toEqual([])
    expect(foreignCommands('<!-- npm run generate -->\nYour `npm run lint-all`, `npm start` and `npx quiesce plan`.')).toEqual([])
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
