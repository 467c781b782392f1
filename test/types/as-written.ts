// Programs as people write them, under the settings that most have. Fails when: a value that the
// option is there for (a WebSocketServer, a logger of pino) does not compile where it is written,
// or a type that we publish says what one version of node's types makes of it.
import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { COMPILING_MS, compiler, ROOT, STRICT } from './compiler.ts'

test.each([false, true])(
  'what options are there for compiles inline, with exactOptionalPropertyTypes %s',
  { timeout: COMPILING_MS },
  (exact) => {
    const file = `${ROOT}test/types/uses.ts`
    const { getSemanticDiagnostics, getSyntacticDiagnostics } = compiler([file], {
      ...STRICT,
      skipLibCheck: true,
      exactOptionalPropertyTypes: exact,
      noUncheckedIndexedAccess: exact,
    })
    const problems = [...getSyntacticDiagnostics(file), ...getSemanticDiagnostics(file)]
    expect(
      problems.map(({ messageText, start = 0, file: of }) => {
        const { line = 0 } = of?.getLineAndCharacterOfPosition(start) ?? {}
        return `${line + 1}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
      }),
    ).toEqual([])
  },
)

// Since 25 the types of node refuse `EventEmitter<[never]>`, which is what those of 20 infer.
test('no published type says what was inferred of an EventEmitter', () => {
  const folders = ['dist', 'dist/types', 'packages/apiserver/dist']
  const inferred = folders.flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`)
      .filter((name) => name.endsWith('.d.ts'))
      .flatMap((name) => readFileSync(`${ROOT}${folder}/${name}`, 'utf8').match(/^.*\bEventEmitter<.*$/gm) ?? []),
  )
  expect(inferred).toEqual([])
})
