// node:test
// variants: as it comes
import { ES_TEST } from '../es-test.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ write, run }) => {
  write('life.test.mjs', `import { test } from 'node:test'\n${ES_TEST}`)
  await run([process.execPath, '--test', 'life.test.mjs'])
}
