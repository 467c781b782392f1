import { expect, test } from 'vitest'
import { ownTexts } from '../../scripts/house/sources.mjs'
import { files, read } from './sources.ts'

/**
 * What is cited can be looked up: upstream by file and function, ourselves by docs/. Sections of
 * documents that are not in the repository say nothing to its readers.
 */
const PRIVATE = /\b[LS] \d+(?:\.\d+)*\b|\b[Dd]esign(?:\.md)?,? \d|\b[Dd]esign\.md\b|\bshared\/reference\b/

const PLACES = /^(?:src|docs|test|scripts|bench|packages|\.changeset)\/.*\.(?:ts|mjs|md|txt)$|^[A-Z]+\.md$/

const citations = (path: string, text: string): string[] =>
  text.split('\n').flatMap((line, at) => (PRIVATE.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : []))

test('what is cited is in the repository, or upstream', () => {
  const cited = files.filter((path) => PLACES.test(path) && !path.startsWith('test/tidy/'))
  expect(cited.length).toBeGreaterThan(300)
  expect(cited.flatMap((path) => citations(path, read(path)))).toEqual([])
})

test.each(['// L 1.4: nothing', '/** design 2 and V10 */', ' * Design 5: a watch', '(S 2.3)', 'V6 of design.md', 'rows of L 6)'])(
  'the check sees %s',
  (line) => {
    expect(citations('src/x.ts', line)).toHaveLength(1)
  },
)

/** Names in comments that the product's own code does not have: a renaming leaves them behind. */
function lostLinks(texts: ReadonlyMap<string, string>): readonly string[] {
  const known = new Set([...texts.values()].flatMap((text) => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '').match(/[\w$]+/g) ?? []))
  return [...texts].flatMap(([path, text]) =>
    [...text.matchAll(/\{@link(?:\s|\*)+([\w$.#]+)/g)].flatMap(([, link = '']) =>
      link.split(/[.#]/).every((name) => name === '' || known.has(name)) ? [] : [`${path}: ${link}`],
    ),
  )
}

test('what a comment links to is there', () => {
  expect(lostLinks(ownTexts())).toEqual([])
})

test('a link to what was renamed is seen, over two lines, too', () => {
  const texts = new Map([
    ['a.ts', '/** See {@link Traffic.gone} and {@link\n * Lost}. */\nconst x = 1'],
    ['b.ts', '// See Lost\n/** {@link Traffic#left} */\nclass Traffic { left = 1 }'],
  ])
  expect(lostLinks(texts)).toEqual(['a.ts: Traffic.gone', 'a.ts: Lost'])
})
