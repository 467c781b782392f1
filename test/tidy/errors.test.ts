import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { MODEL_ERROR_CODES } from '#model'
import { ERROR_CODES } from '#src/base/errors.ts'
import { WARNING_CODES } from '#src/base/warnings.ts'
import { sources, walk } from './sources.ts'

/** Codes by the files that name them as a value; what a comment says of a code makes no error. */
const named = new Map<string, string[]>()
for (const { path, ast } of [...sources('src'), ...sources('packages')]) {
  walk(ast, (node) => {
    if (ts.isStringLiteral(node) && /^(?:ERR|WARN)_[A-Z_]+$/.test(node.text)) named.set(node.text, [...(named.get(node.text) ?? []), path])
  })
}

test.each(Object.keys({ ...ERROR_CODES, ...MODEL_ERROR_CODES, ...WARNING_CODES }))('%s is an error or a warning that can come', (code) => {
  expect(named.get(code)).toBeDefined()
})

test('every code of a warning is in the table, and in the document', () => {
  const warnings = [...named.keys()].filter((code) => code.startsWith('WARN_'))
  expect(warnings.sort()).toEqual(Object.keys(WARNING_CODES).sort())
  const document = readFileSync('docs/errors.md', 'utf8')
  expect(warnings.filter((code) => !document.includes(`| \`${code}\` |`))).toEqual([])
})

/** What is said of a life by `run()` is a warning with a code, or how it has ended. */
test('what run() says while a life runs has a code', () => {
  const [run] = sources('src/process').filter(({ path }) => path.endsWith('/run.ts'))
  const calls: string[] = []
  walk(run?.ast as ts.Node, (node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'say') calls.push(node.arguments[1]?.getText() ?? '')
  })
  // The first two are of a Warning; the last is what to do when it could not start.
  expect(calls).toEqual(['message', 'life.startAdvice', 'message'])
})
