// Fails when: a table of which test notices which mistake cannot be read, so that the command that
// looks for further ones ends at its first line.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test.each(['scripts/mutation/code/caught.json', 'scripts/mutation/caught.json'])('%s can be read', (file) => {
  const table = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>
  expect(Object.keys(table).length).toBeGreaterThan(100)
})
