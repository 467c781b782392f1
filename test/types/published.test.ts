// The types as they are published, under the strictest settings a program may have. Fails when: a
// program that does not skip the check of its libraries has an error that is ours to mend.
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { COMPILING_MS } from './typed-file.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ENTRIES = ['index', 'metrics', 'testing', 'opentelemetry'].map((name) => `${ROOT}dist/${name}.d.ts`)

test.each([false, true])('hold without skipLibCheck, with exactOptionalPropertyTypes %s', { timeout: COMPILING_MS }, (exact) => {
  const program = ts.createProgram(ENTRIES, {
    strict: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: exact,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.esnext.disposable.d.ts'],
    types: ['node'],
    noEmit: true,
  })
  // xstate's own are not for us to mend: with exactOptionalPropertyTypes it has some.
  const ours = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(`${ROOT}dist/`))
  expect(ours.length).toBeGreaterThan(ENTRIES.length)
  const problems = ours.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
  expect(problems.map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)).toEqual([])
})
