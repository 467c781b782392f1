// Fails when: a life goes otherwise than its script in test/testing/scripts tells.
// `UPDATE_SCRIPTS=1` rewrites them; read the difference before you commit it.
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { traceScript } from '#src/testing/trace/trace-script.ts'

const FOLDER = fileURLToPath(new URL('./scripts/', import.meta.url))
const scripts = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))

test('there are scripts', () => {
  expect(scripts.length).toBeGreaterThanOrEqual(10)
})

test.each(scripts)('%s', (name) => traceScript(`${FOLDER}${name}`))
