// @ts-check
// `npm run check:package`: what is published, judged from the tarballs and not from the tree.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { brokenLinks } from './document-links.mjs'
import { pack } from './pack.mjs'

const tarball = pack('.results/package')
const model = pack('.results/package', 'packages/model')
const apiServer = pack('.results/package', 'packages/apiserver')
/** What packages of this project import: theirs are ES modules. */
const ES_ALONE = ['apiserver', 'engine', 'engine/main', 'engine/command']
let failed = false

/** Silent unless it fails: both tools say much when all is well. @param {string} name @param {string[]} args */
function tool(name, ...args) {
  const { status, stdout, stderr } = spawnSync('npx', ['--no-install', name, ...args], { encoding: 'utf8' })
  console.log(`${name}: ${status === 0 ? 'nothing to complain about' : `exit code ${status}\n${stdout}${stderr}`}`)
  if (status !== 0) failed = true
}
for (const packed of [tarball, model, apiServer]) {
  tool('publint', 'run', packed, '--strict')
  tool('attw', packed, '--no-emoji', ...(packed === tarball ? ['--exclude-entrypoints', ...ES_ALONE] : ['--profile', 'esm-only']))
}

/** Files of a tarball, with their modes. @param {string} packed */
const entriesOf = (packed) =>
  new Map(
    execFileSync('tar', ['-tvzf', packed], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((line) => [line.replace(/^.* package\//, './'), line.slice(0, 10)]),
  )
const { bin, main, exports, typesVersions } = JSON.parse(readFileSync('package.json', 'utf8'))
const entries = entriesOf(tarball)

/** @param {string} what */
function complain(what) {
  console.error(`check:package: ${what}`)
  failed = true
}
for (const file of Object.values(bin)) {
  if (!entries.get(file)?.includes('x')) complain(`${file} is a command and not an executable file in the tarball`)
}
/** @param {string | object} entry @returns {string[]} */
const targetsOf = (entry) => (typeof entry === 'string' ? [entry] : Object.values(entry).flatMap(targetsOf))
for (const target of [main, ...targetsOf(exports), ...targetsOf(typesVersions).map((name) => `./${name.replace(/^\.\//, '')}`)]) {
  if (!entries.has(target)) complain(`${target} is exported and not in the tarball`)
}
for (const name of ['LICENSE', 'NOTICE', 'README.md', 'CHANGELOG.md']) {
  if (!entries.has(`./${name}`)) complain(`${name} is not in the tarball`)
}
if (!entries.has('./dist/inspector-page.cjs')) complain("the inspector's page is not in the tarball")
for (const packed of [tarball, model, apiServer]) {
  const files = [...entriesOf(packed).keys()]
  /** @param {string} path */
  const read = (path) => execFileSync('tar', ['-xOzf', packed, `package/${path}`], { encoding: 'utf8' })
  const manifest = JSON.parse(read('package.json'))
  for (const field of ['repository', 'homepage', 'bugs']) {
    if (manifest[field] === undefined) complain(`package.json of ${manifest.name} has no ${field}: the registry's page has nothing to link`)
  }
  // A reader of the tarball has no more than it.
  const inTarball = {
    /** @param {string} path */
    exists: (path) => files.some((entry) => entry === `./${path}` || entry.startsWith(`./${path.replace(/\/?$/, '/')}`)),
    read,
    hasRepository: false,
  }
  for (const path of files.map((entry) => entry.slice('./'.length)).filter((name) => name.endsWith('.md'))) {
    for (const broken of brokenLinks(path, read(path), inTarball)) complain(`${broken} leads nowhere in the tarball of ${manifest.name}`)
  }
}
for (const file of entries.keys()) {
  if (
    !/^\.\/(dist\/[\w-]+\.(js|d\.ts)|dist\/chunks\/[\w-]+\.js|dist\/types\/[\w-]+\.d\.ts|dist\/cjs\/[\w-]+\.(cjs|d\.cts)|dist\/inspector-page\.cjs|schema\/.*\.json|package\.json|LICENSE|NOTICE|README\.md|CHANGELOG\.md)$/.test(
      file,
    )
  ) {
    complain(`${file} is in the tarball and should not be`)
  }
}
const MB = 1e6
const unpacked = Number(execFileSync('sh', ['-c', `gzip -dc ${tarball} | tar -x --to-stdout | wc -c`], { encoding: 'utf8' }))
if (unpacked > 2.5 * MB || entries.size > 120)
  complain(`${(unpacked / MB).toFixed(2)} MB in ${entries.size} files: at most 2.5 MB and 120 files`)
console.log(`${tarball}: ${entries.size} files, ${(unpacked / MB).toFixed(2)} MB unpacked`)
process.exitCode = failed ? 1 : 0
