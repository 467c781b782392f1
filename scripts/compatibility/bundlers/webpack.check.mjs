// webpack
// packages: webpack
// variants: ES modules; CommonJS
// note: optional packages, such as ws, stay out of the bundle
import { outputOf, PROGRAM } from '../bundled.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ variant, folder, modules, write, run, drains }) => {
  const { isCommonJs, file } = outputOf(variant)
  write('program.mjs', PROGRAM)
  write(
    'build.cjs',
    `require('webpack')({
  mode: 'production',
  target: 'node20',
  entry: './program.mjs',
  optimization: { minimize: false },
  output: { path: '${folder}/out', filename: '${file}'${isCommonJs ? '' : ", module: true, chunkFormat: 'module'"} },
  ${isCommonJs ? '' : 'experiments: { outputModule: true },'}
}, (error, stats) => {
  if (error || stats.hasErrors()) throw error ?? new Error(stats.toString())
})
`,
  )
  await run([process.execPath, 'build.cjs'], { NODE_PATH: modules })
  await drains([process.execPath, `out/${file}`])
}
