// rolldown
// packages: rolldown
// variants: ES modules; CommonJS; ES modules, minified; CommonJS, minified
import { outputOf, PROGRAM } from '../bundled.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ variant, write, run, drains }) => {
  const { isCommonJs, file, isMinified } = outputOf(variant)
  write('program.mjs', PROGRAM)
  const output = { file: `out/${file}`, format: isCommonJs ? 'cjs' : 'esm', codeSplitting: false, minify: isMinified }
  write(
    'build.mjs',
    `import { build } from 'rolldown'\nawait build({ input: 'program.mjs', platform: 'node', output: ${JSON.stringify(output)} })\n`,
  )
  await run([process.execPath, 'build.mjs'])
  await drains([process.execPath, `out/${file}`])
}
