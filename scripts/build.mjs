// @ts-check
// What tsc and rolldown do not do themselves: nothing when nothing changed, and to put beside the
// bundles what is no code. `--clean` starts from nothing, and checks types: that is what gets
// packed. Else `npm run typecheck` does, and here it would take half of the time.
//
//   build/   what tsc makes of src/ and the packages' src/, file by file: for scripts that look into the machines
//   dist/    what is published: bundles of code and types (bundles.mjs, entry-types.mjs), the inspector's page;
//            packages/apiserver/dist/ likewise
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

/** Its time is when the last build began that succeeded. */
const STAMP = 'build/stamp'
const SOURCES = ['src', 'packages/apiserver/src', 'packages/model/src']
const PAGE = 'packages/inspector-page'
const DISTS = ['dist', 'packages/apiserver/dist']
const CONFIGS = [
  'package.json',
  'package-lock.json',
  'packages/apiserver/package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/build.mjs',
  'scripts/bundles.mjs',
  'scripts/entry-types.mjs',
  'scripts/small-copy.mjs',
]

/** Everything below a folder; folders too, because they change when a file is deleted. @param {string} folder */
const below = (folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))

const isClean = process.argv.includes('--clean')

function isFresh() {
  if (![STAMP, 'build/src/index.js', 'dist/index.js', 'packages/apiserver/dist/index.js'].every((file) => existsSync(file))) return false
  const built = statSync(STAMP).mtimeMs
  return [...CONFIGS, ...[...SOURCES, `${PAGE}/src`, `${PAGE}/static`].flatMap(below)].every((path) => statSync(path).mtimeMs < built)
}

/**
 * Compilers before 5.7 know no parameter of Uint8Array, which is the default of newer ones.
 * @param {string} file of types
 */
function forOlderCompilers(file) {
  const text = readFileSync(file, 'utf8')
  const older = text.replace(/\b(Uint8Array|Buffer)<ArrayBuffer(Like)?>/g, '$1')
  if (older !== text) writeFileSync(file, older)
}

/** What each entry exports when it runs. @param {import('rolldown').RolldownOutput | undefined} bundle */
const exportedBy = (bundle) =>
  new Map(bundle?.output.flatMap((file) => (file.type === 'chunk' && file.isEntry ? [[file.name, file.exports]] : [])))

/** @returns {Promise<boolean>} whether all is well; what has errors is emitted and bundled all the same, where that can be */
async function build() {
  const tsc = ['node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json', ...(isClean ? [] : ['--noCheck'])]
  const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' })
  const [rolldown, { default: bundles, ENTRIES, PAGE: page, TYPES }, { tidyTypes, writeCommonJsTypes }] = await Promise.all([
    import('rolldown'),
    import('./bundles.mjs'),
    import('./entry-types.mjs'),
  ])
  // One after the other: the first empties the folder.
  const built = []
  for (const bundle of bundles) built.push(await rolldown.build(bundle))
  for (const folder of DISTS) chmodSync(`${folder}/cli.js`, 0o755)
  for (const types of TYPES) await rolldown.build(types)
  for (const folder of DISTS) {
    for (const file of below(folder).filter((path) => path.endsWith('.d.ts'))) forOlderCompilers(file)
    tidyTypes(folder, exportedBy(built[folder === 'dist' ? 0 : built.length - 1]))
  }
  writeCommonJsTypes(Object.keys(ENTRIES))
  await rolldown.build(page)
  cpSync(`${PAGE}/static`, 'build/page', { recursive: true })
  const files = Object.fromEntries(readdirSync('build/page').map((name) => [name, readFileSync(join('build/page', name), 'utf8')]))
  // Where people look for it first: another package, which no source of this one may import.
  for (const file of ['apiserver.js', 'apiserver.d.ts']) writeFileSync(`dist/${file}`, "export * from '@quiesce/apiserver'\n")
  writeFileSync('dist/inspector-page.cjs', `module.exports = ${JSON.stringify(files, undefined, 1)}\n`)
  return status === 0
}

if (isClean) for (const folder of ['build', ...DISTS]) rmSync(folder, { recursive: true, force: true })
if (!isFresh()) {
  const begun = new Date()
  // On standard error: what is packed is on the other. The first build takes longer than people
  // wait without a word.
  console.error(`building dist/${existsSync('build') ? '' : ' for the first time, which takes up to a minute'} ...`)
  rmSync(STAMP, { force: true })
  if (await build()) {
    writeFileSync(STAMP, '')
    utimesSync(STAMP, begun, begun)
    console.error(`built in ${((Date.now() - begun.getTime()) / 1000).toFixed(1)} s`)
  } else process.exitCode = 1
}
