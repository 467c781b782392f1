// The counts of `npm run house`, on made-up sources.
// Fails when: a count misses what it is there for, or counts what it should leave.
import { describe, expect, test } from 'vitest'
import { docComments } from '../../scripts/house/comments.mjs'
import { readmeWords } from '../../scripts/house/readme-words.mjs'
import { retiredWords } from '../../scripts/house/retired-words.mjs'
import { classes, files } from '../../scripts/house/sizes.mjs'
import { floors, upward } from '../../scripts/house/upward.mjs'

const texts = (all: Readonly<Record<string, string>>): ReadonlyMap<string, string> => new Map(Object.entries(all))

test('upward: what names a file of a later floor, in a type too', () => {
  const all = texts({
    'src/base/a.ts': "import type { B } from '../http/b.ts'\nimport './c.ts'",
    'src/base/c.ts': '',
    'src/http/b.ts': "import '../base/a.ts'",
  })
  expect(upward(all, ['src/base/', 'src/http/'])).toEqual(['src/base/a.ts -> src/http/b.ts'])
})

test('the floors are those of the imports test', () => {
  expect(floors()).toEqual(expect.arrayContaining(['src/base/', 'src/machines/', 'src/lifecycle/', 'src/cli/']))
  expect(floors("const LAYERS = [{ place: 'a/' }]\nconst other = [{ place: 'b/' }]")).toEqual(['a/'])
})

test('classes: lines without the comment, members of one name once, the constructor not at all', () => {
  const text =
    '/** A comment. */\nclass A {\n  #x = 1\n  constructor() {}\n  get x() { return 1 }\n  set x(_) {}\n  f(): void\n  f(a?: 1) {}\n}\n'
  expect(classes(texts({ 'a.ts': text }))).toEqual([{ name: 'A', path: 'a.ts', lines: 8, members: 3 }])
  expect(files(texts({ 'a.ts': text }))).toEqual([{ path: 'a.ts', lines: 9 }])
})

test('README: words outside code and targets of links, and those before the install', () => {
  const text = '# A name\n\nOne [two](https://x.example/three).\n\n```sh\nnpm install a\n```\n\nFour\n'
  expect(readmeWords(text)).toEqual({ words: 5, beforeInstall: 4 })
})

describe('doc comments', () => {
  const ofComment = (comment: string) => docComments(texts({ 'a.ts': `/** ${comment} */\nexport const a = 1\n` }))

  test.each([
    'Of those that are closed.',
    'Told of servers.',
    'It waits.',
    'Also when it is late.',
    'All or none.',
    'One that is late.',
    'Nothing for it.',
  ])('without a subject: %s', (comment) => {
    expect(ofComment(comment)).toMatchObject([{ place: 'a.ts:1', hasSubject: false }])
  })

  test.each([
    'The listeners.',
    'Whether it serves.',
    'Closes them all.',
    '`for` is a word here.',
    'All listeners.',
    'Its own limit.',
    'Where it listens.',
    'Nothing is left.',
  ])('with one: %s', (comment) => {
    expect(ofComment(comment)).toMatchObject([{ hasSubject: true }])
  })

  test('tags alone are no comment to read', () => {
    expect(ofComment('@throws never')).toEqual([])
  })
})

describe('retired words', () => {
  const countsIn = (text: string, path = 'a.ts') => Object.entries(retiredWords(texts({ [path]: text }))).filter(([, count]) => count > 0)

  test('are counted in names, taken apart at their capitals, and in texts of one word', () => {
    expect(countsIn("const idleTold = ERR_LOOKED_AT\nlastWords('tell')")).toEqual([
      ['told', 1],
      ['tell', 1],
      ['lookedat', 1],
      ['lastwords', 1],
    ])
    expect(countsIn('', 'src/telling/spoken.ts')).toEqual([['spoken', 1]])
  })

  test('good English in a sentence is none, and words that are not are counted there, too', () => {
    expect(countsIn("// It was told, and looked at.\nsay('clients are told to leave')")).toEqual([])
    expect(countsIn('/** The keeper of it. */\nconst a = 1')).toEqual([['keeper', 1]])
  })

  test('names of others are none', () => {
    expect(countsIn('const code = constants.NGHTTP2_ENHANCE_YOUR_CALM')).toEqual([])
  })
})
