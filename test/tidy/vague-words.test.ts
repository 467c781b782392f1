import { expect, test } from 'vitest'
import { files, read } from './sources.ts'

/**
 * Pronouns for people who are never named. A sentence says which caller, client or code it means.
 */
const VAGUE = /\b(nobody|somebody|whoever|anybody|everybody)\b/i

/** All but the tests of `test/`, whose titles are sentences between colleagues. */
const prose = files.filter(
  (path) =>
    (/^(src|packages|bench|scripts|diagrams|docs)\//.test(path) || /^(README|CONTRIBUTING)\.md$/.test(path)) && /\.(ts|mjs|md)$/.test(path),
)

/** `path:line: text` of every line with such a word. */
const vagueLines = (path: string, text: string): string[] =>
  text.split('\n').flatMap((line, index) => (VAGUE.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : []))

test('names who or what is meant, in every comment, message and document', () => {
  expect(prose).toContain('README.md')
  expect(prose.flatMap((path) => vagueLines(path, read(path)))).toEqual([])
})

test.each(['Nobody waits for it.', "/** somebody else's */", 'for whoever asks', 'before anybody', 'of everybody else'])(
  'finds: %s',
  (text) => {
    expect(vagueLines('src/x.ts', `const x = 1\n${text}`)).toEqual([`src/x.ts:2: ${text}`])
  },
)

/** A comment is read beside code: as long as a line of it can be without moving the eye. */
const COMMENT_COLUMNS_MAX = 100

/** A URL so long that the line has no room for it, wherever it is broken. */
const LONG_URL = /https?:\/\/\S{60}/

/** Lines that are comment and nothing else, and could be broken. */
const tooWide = (path: string, text: string): string[] =>
  text
    .split('\n')
    .flatMap((line, index) =>
      line.length > COMMENT_COLUMNS_MAX && /^\s*(\/\/|\/?\*)/.test(line) && !LONG_URL.test(line)
        ? [`${path}:${index + 1}: ${line.trim()}`]
        : [],
    )

test(`comments are at most ${COMMENT_COLUMNS_MAX} columns wide`, () => {
  const code = files.filter((path) => path.endsWith('.ts'))
  expect(code).toContain('src/index.ts')
  expect(code.flatMap((path) => tooWide(path, read(path)))).toEqual([])
})

const wide = 'word '.repeat(25).trim()

test.each([`// ${wide}`, `//   GT-01  ${wide}`, ` * | \`/hello\` | ${wide} |`, `   * const options = { ${wide} }`])(
  'a comment that is too wide is found: %s',
  (line) => {
    expect(tooWide('src/x.ts', `const x = 1\n${line}`)).toEqual([`src/x.ts:2: ${line.trim()}`])
  },
)

test('an address that has no room is let pass', () => {
  expect(tooWide('src/x.ts', `// https://github.com/${'path/'.repeat(20)}file.go`)).toEqual([])
})

/** Words that a comment says twice in a row: what an edit has left behind. */
const REPEATED = /(\S+(?: \S+){2,})[.;:,]? \1/

const repeatedIn = (path: string, text: string): string[] =>
  (text.match(/^\s*\/\*\*[\s\S]*?\*\//gm) ?? []).flatMap((comment) => {
    const [twice] = REPEATED.exec(comment.replaceAll(/[\s*]+/g, ' ')) ?? []
    return twice === undefined ? [] : [`${path}: ${twice}`]
  })

test('no comment says the same words twice in a row', () => {
  const code = files.filter((path) => /^(src|packages)\/.*\.ts$/.test(path))
  expect(code.flatMap((path) => repeatedIn(path, read(path)))).toEqual([])
})

test.each(['/** What it has: one of them. one of them. */', '/**\n * It ends, when it can\n * end, when it can\n * end.\n */'])(
  'a repetition is found: %j',
  (text) => {
    expect(repeatedIn('src/x.ts', text)).toHaveLength(1)
  },
)
