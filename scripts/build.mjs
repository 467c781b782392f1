// @ts-check
// What tsc and rolldown do not do themselves: nothing when nothing changed, and to put beside the
// bundles what is no code. `--code` leaves out the declarations of types, which take four fifths of
// the time and nothing that runs needs. `--clean` starts from nothing, and checks types: that is what
// gets packed. Else `npm run typecheck` does.
//
//   build/   src/ and the packages' src/, file by file: for scripts that look into the machines
//   dist/    what is published: bundles of code and types (bundles.mjs, entry-types.mjs), the inspector's page;
//            packages/apiserver/dist/ likewise
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { givenArguments } from './usage.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

/** Their times are when the last build began that succeeded: of what runs, and of that with its types. */
const STAMPS = { code: 'build/stamp', types: 'build/stamp-of-types' }
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

const HANDS_ON = "export * from '@quiesce/apiserver'\n"

const { values } = givenArguments({ options: { clean: { type: 'boolean' }, code: { type: 'boolean' } } })
const isClean = values.clean === true
const isCodeAlone = values.code === true
const stamps = isCodeAlone ? [STAMPS.code] : Object.values(STAMPS)

function isFresh() {
  if (![...stamps, 'build/src/index.js', 'dist/index.js', 'packages/apiserver/dist/index.js'].every((file) => existsSync(file)))
    return false
  const built = Math.min(...stamps.map((stamp) => statSync(stamp).mtimeMs))
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
  const [rolldown, { default: bundles, ENTRIES, PAGE: page }] = await Promise.all([import('rolldown'), import('./bundles.mjs')])
  const isEmitted = await emitModules()
  // One after the other: the first empties the folder.
  const built = []
  for (const bundle of bundles) built.push(await rolldown.build(bundle))
  for (const folder of DISTS) chmodSync(`${folder}/cli.js`, 0o755)
  const exported = new Map([
    ['dist', exportedBy(built.at(0))],
    ['packages/apiserver/dist', exportedBy(built.at(-1))],
  ])
  const areDeclared = isCodeAlone || (await declareTypes(exported, Object.keys(ENTRIES)))
  await rolldown.build(page)
  cpSync(`${PAGE}/static`, 'build/page', { recursive: true })
  const files = Object.fromEntries(
    readdirSync('build/page').map((name) => [name, published(name, readFileSync(join('build/page', name), 'utf8'))]),
  )
  // Where people look for it first: another package, which no source of this one may import.
  writeFileSync('dist/apiserver.js', HANDS_ON)
  writeFileSync('dist/inspector-page.cjs', `module.exports = ${JSON.stringify(files, undefined, 1)}\n`)
  return isEmitted && areDeclared
}

/** A file of the page as it is packed: without indents, and a style sheet without comments. @param {string} name @param {string} text */
function published(name, text) {
  if (name.endsWith('.css')) return text.replace(/\/\*.*?\*\//gs, '').replace(/\s*\n\s*/g, ' ')
  return name.endsWith('.html') ? text.replace(/^\s+/gm, '') : text
}

/** Each source as the module that it is without its types, as tsconfig.json says. */
async function emitModules() {
  const { transformSync } = await import('rolldown/utils')
  let isWell = true
  for (const source of SOURCES.flatMap(below).filter((path) => path.endsWith('.ts'))) {
    const target = join('build', source.replace(/ts$/, 'js'))
    const { code, errors } = transformSync(resolve(source), readFileSync(source, 'utf8'), {
      tsconfig: true,
      typescript: { rewriteImportExtensions: 'rewrite' },
    })
    for (const { message } of errors) console.error(`${source}: ${message}`)
    isWell &&= errors.length === 0
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, code)
  }
  return isWell
}

/**
 * @param {ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>} exported what the entries of each folder export when they run
 * @param {readonly string[]} required the entries that can be required
 */
async function declareTypes(exported, required) {
  const tsc = ['node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json', ...(isClean ? [] : ['--noCheck'])]
  const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' })
  const [rolldown, { TYPES }, { tidyTypes, writeCommonJsTypes }] = await Promise.all([
    import('rolldown'),
    import('./bundles.mjs'),
    import('./entry-types.mjs'),
  ])
  for (const types of TYPES) await rolldown.build(types)
  for (const [folder, entries] of exported) {
    for (const file of below(folder).filter((path) => path.endsWith('.d.ts'))) forOlderCompilers(file)
    tidyTypes(folder, entries)
  }
  writeCommonJsTypes(required)
  writeFileSync('dist/apiserver.d.ts', HANDS_ON)
  return status === 0
}

if (isClean) for (const folder of ['build', ...DISTS]) rmSync(folder, { recursive: true, force: true })
if (!isFresh()) {
  const begun = new Date()
  // On standard error: what is packed is on the other. The first build takes longer than people
  // wait without a word.
  console.error(`building dist/${existsSync('build') || isCodeAlone ? '' : ' for the first time, which takes up to a minute'} ...`)
  for (const stamp of Object.values(STAMPS)) rmSync(stamp, { force: true })
  if (await build()) {
    for (const stamp of stamps) {
      writeFileSync(stamp, '')
      utimesSync(stamp, begun, begun)
    }
    console.error(`built in ${((Date.now() - begun.getTime()) / 1000).toFixed(1)} s`)
  } else process.exitCode = 1
}
