// esbuild
// packages: esbuild
// variants: ES modules; CommonJS; ES modules, minified; CommonJS, minified
import { outputOf, PROGRAM } from '../bundled.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ variant, modules, write, run, drains }) => {
  const { isCommonJs, file, isMinified } = outputOf(variant)
  write('program.mjs', PROGRAM)
  const format = isCommonJs ? 'cjs' : 'esm'
  await run([
    `${modules}/.bin/esbuild`,
    'program.mjs',
    '--bundle',
    '--platform=node',
    `--format=${format}`,
    `--outfile=out/${file}`,
    ...(isMinified ? ['--minify'] : []),
  ])
  await drains([process.execPath, `out/${file}`])
}
