// The types as they are published, under the strictest settings a program may have. Fails when: a
// program that does not skip the check of its libraries has an error, wherever that stands. Types
// of xstate, which have some with exactOptionalPropertyTypes, are named by quiesce/testing alone,
// whose model checker looks into machines.
import { readdirSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { COMPILING_MS, compiler, ROOT, STRICT } from './compiler.ts'

const filesOf = (...entries: readonly string[]): string[] =>
  entries.flatMap((name) => [`${ROOT}dist/${name}.d.ts`, `${ROOT}dist/cjs/${name}.d.cts`])
const ABOUT_XSTATE = filesOf('testing')
const API_SERVER = ['index', 'testing', 'opentelemetry'].map((name) => `${ROOT}packages/apiserver/dist/${name}.d.ts`)
const ES_ALONE = ['apiserver', 'engine', 'engine-main', 'engine-command'].map((name) => `${ROOT}dist/${name}.d.ts`)
const OTHERS = [...filesOf('index', 'metrics', 'opentelemetry', 'hono', 'fastify', 'nest'), ...ES_ALONE, ...API_SERVER]

test('are those of all entries', () => {
  const published = ['dist', 'packages/apiserver/dist'].flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`).flatMap((file) => (file.endsWith('.d.ts') ? [`${ROOT}${folder}/${file}`] : [])),
  )
  expect(published.sort()).toEqual([...ABOUT_XSTATE, ...OTHERS].filter((file) => file.endsWith('.d.ts')).sort())
})

test.each([
  { about: 'all but quiesce/testing', entries: OTHERS, exact: true },
  { about: 'all but quiesce/testing', entries: OTHERS, exact: false },
  { about: 'quiesce/testing', entries: ABOUT_XSTATE, exact: true },
])('hold without skipLibCheck: $about, with exactOptionalPropertyTypes $exact', { timeout: COMPILING_MS }, ({ entries, exact }) => {
  const { getSemanticDiagnostics, getSyntacticDiagnostics, getProgram } = compiler(entries, {
    ...STRICT,
    skipLibCheck: false,
    exactOptionalPropertyTypes: exact,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.esnext.disposable.d.ts'],
  })
  const files = getProgram()?.getSourceFiles() ?? []
  const ofXstate = files.filter(({ fileName }) => fileName.includes('/node_modules/xstate/'))
  expect(ofXstate.length > 0).toBe(entries === ABOUT_XSTATE)
  const problems = files
    .filter((file) => !ofXstate.includes(file))
    .flatMap(({ fileName }) => [...getSyntacticDiagnostics(fileName), ...getSemanticDiagnostics(fileName)])
  expect(problems.map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)).toEqual([])
})
