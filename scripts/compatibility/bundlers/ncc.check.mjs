// ncc
// packages: @vercel/ncc
// variants: CommonJS
import { PROGRAM } from '../bundled.mjs'

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ modules, write, run, drains }) => {
  write('package.json', '{ "private": true }')
  write('program.js', PROGRAM)
  await run([process.execPath, `${modules}/@vercel/ncc/dist/ncc/cli.js`, 'build', 'program.js', '-o', 'out', '-q'])
  await drains([process.execPath, 'out/index.js'])
}
