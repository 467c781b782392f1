// Vitest
// packages: vitest
// variants: as it comes
import { ES_TEST } from '../es-test.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ modules, write, run }) => {
  write('life.test.mjs', `import { test } from 'vitest'\n${ES_TEST}`)
  await run([process.execPath, `${modules}/vitest/vitest.mjs`, 'run'])
}
