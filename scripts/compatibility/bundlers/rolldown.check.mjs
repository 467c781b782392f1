// rolldown
// packages: rolldown
// variants: ES modules; CommonJS; ES modules, minified; CommonJS, minified
import { outputOf, PROGRAM } from '../bundled.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ variant, write, run, drains }) => {
  const { isCommonJs, file, isMinified } = outputOf(variant)
  write('program.mjs', PROGRAM)
  const names = { entryFileNames: file, chunkFileNames: file.replace('server', '[name]') }
  const output = { dir: 'out', ...names, format: isCommonJs ? 'cjs' : 'esm', minify: isMinified }
  write(
    'build.mjs',
    `import { build } from 'rolldown'\nawait build({ input: 'program.mjs', platform: 'node', output: ${JSON.stringify(output)} })\n`,
  )
  await run([process.execPath, 'build.mjs'])
  await drains([process.execPath, `out/${file}`])
}
