import ts from 'typescript'
import { expect, test } from 'vitest'
import { MODEL_ERROR_CODES } from '#model'
import { ERROR_CODES } from '#src/base/errors.ts'
import { sources, walk } from './sources.ts'

/** Codes by the files that name them as a value; what a comment says of a code makes no error. */
const named = new Map<string, string[]>()
for (const { path, ast } of [...sources('src'), ...sources('packages')]) {
  walk(ast, (node) => {
    if (ts.isStringLiteral(node) && /^ERR_[A-Z_]+$/.test(node.text)) named.set(node.text, [...(named.get(node.text) ?? []), path])
  })
}

test.each(Object.keys({ ...ERROR_CODES, ...MODEL_ERROR_CODES }))('%s is an error that can come', (code) => {
  expect(named.get(code)).toBeDefined()
})
