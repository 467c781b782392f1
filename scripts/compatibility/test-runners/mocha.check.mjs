// Mocha
// packages: mocha
// variants: as it comes
import { ES_TEST } from '../es-test.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ modules, write, run }) => {
  write('life.test.mjs', `import { it as test } from 'mocha'\n${ES_TEST}`)
  await run([process.execPath, `${modules}/mocha/bin/mocha.js`, '--timeout', '60000', 'life.test.mjs'])
}
