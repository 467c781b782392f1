// The table of the log's fields in docs/telemetry.md. Fails when: a line of the log has a field
// that is not in it, or a field of it is in no line, or stands for two things.
import ts from 'typescript'
import { expect, test } from 'vitest'
import { read, sources, walk } from './sources.ts'

const LINES = 'src/log/log-lines.ts'
const LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error']

/** The names of the fields of an object, those of objects that are spread into it included. */
function fieldsOf(given: ts.Expression): string[] {
  if (ts.isObjectLiteralExpression(given))
    return given.properties.flatMap((property) =>
      ts.isSpreadAssignment(property) ? fieldsOf(property.expression) : [(property.name as ts.PropertyName).getText().replaceAll("'", '')],
    )
  if (ts.isParenthesizedExpression(given)) return fieldsOf(given.expression)
  if (ts.isBinaryExpression(given)) return fieldsOf(given.right)
  return ts.isConditionalExpression(given) ? [...fieldsOf(given.whenTrue), ...fieldsOf(given.whenFalse)] : []
}

/** Whether it writes a line, or makes one where all lines of events are made. */
function writesLine(path: string, called: ts.Expression): boolean {
  if (path === LINES) return ts.isIdentifier(called) && [...LEVELS, 'byOutcome'].includes(called.text)
  if (!ts.isPropertyAccessExpression(called)) return false
  return called.name.text === 'sayUnrecorded' || (/(?:^|[.#])log$/.test(called.expression.getText()) && LEVELS.includes(called.name.text))
}

const written = new Set<string>()
for (const { path, ast } of [...sources('src'), ...sources('packages/apiserver/src')])
  walk(ast, (node) => {
    if (ts.isCallExpression(node) && writesLine(path, node.expression))
      for (const field of node.arguments.flatMap(fieldsOf)) written.add(field)
    // What several lines have is made before them.
    const isShared = path === LINES && ts.isVariableDeclaration(node) && ['counts', 'fields', 'why'].includes(node.name.getText())
    if (isShared && node.initializer) for (const field of fieldsOf(node.initializer)) written.add(field)
  })

const table = /## Fields of the log\n[\s\S]*?\n## /.exec(read('docs/telemetry.md'))?.[0] ?? ''
const names = [...table.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = '']) => cell.replaceAll('`', '').split(', '))
const named = new Set(names)

test('has every field of every line', () => {
  expect(written.size).toBeGreaterThan(40)
  expect([...written].filter((field) => !named.has(field))).toEqual([])
})

/** Of lines whose fields another function makes. */
const MADE_ELSEWHERE = ['err']

test('has no field that no line has', () => {
  expect([...named].filter((field) => !written.has(field) && !MADE_ELSEWHERE.includes(field))).toEqual([])
})

test('has a field once, as it is one thing of one kind in every line', () => {
  expect(names).toEqual([...named])
})
