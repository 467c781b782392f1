// Rollup
// packages: rollup
// variants: ES modules; CommonJS
import { outputOf, PROGRAM } from '../bundled.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ variant, modules, write, run, drains }) => {
  const { isCommonJs, file } = outputOf(variant)
  write('program.mjs', PROGRAM)
  await run([
    process.execPath,
    `${modules}/rollup/dist/bin/rollup`,
    'program.mjs',
    `--file=out/${file}`,
    `--format=${isCommonJs ? 'cjs' : 'es'}`,
    '--inlineDynamicImports',
    '--silent',
    '--plugin=node-resolve={preferBuiltins:true,exportConditions:["node"]}',
    '--plugin=commonjs',
    '--plugin=json',
  ])
  await drains([process.execPath, `out/${file}`])
}
