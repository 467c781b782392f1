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

test('every code of the checker is in the README of its package', () => {
  const document = readFileSync('packages/model/README.md', 'utf8')
  expect(Object.keys(MODEL_ERROR_CODES).filter((code) => !document.includes(`\`${code}\``))).toEqual([])
})

/** Files with lines that have no code: how a server ended, errors of its program, and news. */
const WITHOUT_CODE = ['src/lifecycle/final-output.ts', 'src/log/said-errors.ts', 'src/process/run.ts']

test('lines on standard error have a code, but for those that say why a server ended, and errors of its program', () => {
  const plain: string[] = []
  for (const { path, ast } of sources('src'))
    walk(ast, (node) => {
      if (ts.isCallExpression(node) && node.expression.getText() === 'sayOnStandardError') plain.push(path)
    })
  expect([...new Set(plain)].sort()).toEqual([...WITHOUT_CODE, 'src/log/terminal.ts'].sort())
})
