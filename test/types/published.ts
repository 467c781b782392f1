// The types as they are published, under the strictest settings a program may have. Fails when: a
// program that does not skip the check of its libraries has an error that is ours to mend.
import ts from 'typescript'
import { expect, test } from 'vitest'
import { COMPILING_MS, compiler, ROOT, STRICT } from './compiler.ts'

const ENTRIES = ['index', 'apiserver', 'metrics', 'testing', 'opentelemetry', 'hono', 'fastify', 'nest'].flatMap((name) => [
  `${ROOT}dist/${name}.d.ts`,
  `${ROOT}dist/cjs/${name}.d.cts`,
])

test.each([false, true])('hold without skipLibCheck, with exactOptionalPropertyTypes %s', { timeout: COMPILING_MS }, (exact) => {
  const { getSemanticDiagnostics, getSyntacticDiagnostics, getProgram } = compiler(ENTRIES, {
    ...STRICT,
    skipLibCheck: false,
    exactOptionalPropertyTypes: exact,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.esnext.disposable.d.ts'],
  })
  // xstate's own are not for us to mend: with exactOptionalPropertyTypes it has some.
  const ours = (getProgram()?.getSourceFiles() ?? []).filter(({ fileName }) => fileName.startsWith(`${ROOT}dist/`))
  expect(ours.length).toBeGreaterThan(ENTRIES.length)
  const problems = ours.flatMap(({ fileName }) => [...getSyntacticDiagnostics(fileName), ...getSemanticDiagnostics(fileName)])
  expect(problems.map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)).toEqual([])
})
