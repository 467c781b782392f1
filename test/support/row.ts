import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** The acceptance rows this test covers; the rows reporter collects them. */
    rows?: readonly string[]
  }
}

interface AcceptanceRow {
  readonly id: string
  readonly group: string
  readonly scope: 'engine' | 'later'
}

const table = JSON.parse(readFileSync(new URL('../upstream/rows.json', import.meta.url), 'utf8')) as readonly AcceptanceRow[]
const known = new Set(table.map(({ id }) => id))

/**
 * A test that covers acceptance rows. An id that is not in test/upstream/rows.json fails the whole
 * file at load, so that a misspelt row is never silently uncovered. `npm run coverage:rows` prints
 * what is covered.
 *
 * @param ids the row, or the rows, that the test observes from outside
 * @param timeoutMs as vitest's, default the project's `testTimeout`
 */
export function row(ids: string | readonly string[], title: string, fn: (context: TestContext) => unknown, timeoutMs?: number): void {
  const rows = [ids].flat()
  const unknown = rows.filter((id) => !known.has(id))
  if (unknown.length > 0 || rows.length === 0) throw new Error(`row(): no such acceptance row: ${unknown.join(', ') || '(none given)'}`)
  const options = timeoutMs === undefined ? { meta: { rows } } : { meta: { rows }, timeout: timeoutMs }
  test(`${rows.join(' ')} ${title}`, options, async (context) => {
    await fn(context)
  })
}
