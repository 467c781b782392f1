// @ts-check
// The wiring table with other rows, edited in place as a developer would: everything that reads the
// table, the properties too, sees the edit.

/**
 * @typedef {import('../../build/src/machines/wiring.js').PhaseRow} Row
 * @typedef {Readonly<Record<string, Row>>} Table
 */

/**
 * What something gives while rows of the table are others.
 * @template T
 * @param {Table} table the one that the machines are composed from
 * @param {Partial<Table>} rows
 * @param {() => T} run
 * @returns {T}
 */
export function withRows(table, rows, run) {
  const original = { ...table }
  Object.assign(table, rows)
  try {
    return run()
  } finally {
    Object.assign(table, original)
  }
}
