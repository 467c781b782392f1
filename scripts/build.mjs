// @ts-check
// src -> dist, and only when something changed. `--clean` starts from nothing: that is what gets packed.
// The inspector's page is a project of its own, because it runs in browsers; what is not TypeScript there is copied, and
// what it shares with the rest is put into its folder.
// Besides calling tsc it deletes outputs whose source is gone and makes the CLI executable, which tsc does not.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src')
const dist = join(root, 'dist')
/** Written by tsc; its time is set to when the last build that succeeded began, or to 0 after one that did not. */
const stamp = join(dist, 'build.tsbuildinfo')
const page = 'inspector/page/'
/** What the page's `core/shared.ts` names: files that import nothing, so that all of them together are one. */
const shared = ['base/format-duration.js', 'machines/exit-codes.js', 'report/words.js']
const projects = ['tsconfig.build.json', `src/${page}tsconfig.json`]
const configs = ['package.json', 'package-lock.json', 'tsconfig.json', ...projects].map((name) => join(root, name))

/** @param {string} folder @returns {string[]} the files below it, relative to it */
const filesBelow = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    : []

const sources = filesBelow(src).filter((file) => file.endsWith('.ts'))
const copied = filesBelow(src).filter((file) => file.startsWith(page) && /\.(html|css|svg)$/.test(file))
/** @param {string} file a source @returns {string[]} what becomes of it; nobody imports the page, so it needs no types */
const outputs = (file) => (file.startsWith(page) ? ['.js'] : ['.js', '.d.ts']).map((end) => file.replace(/\.ts$/, end))
const wanted = new Set([...sources.flatMap(outputs), ...copied])

function isFresh() {
  if (!existsSync(stamp)) return false
  const built = statSync(stamp).mtimeMs
  const inputs = [...configs, ...[...sources, ...copied].map((file) => join(src, file))]
  return inputs.every((file) => statSync(file).mtimeMs < built) && [...wanted].every((file) => existsSync(join(dist, file)))
}

if (process.argv.includes('--clean')) rmSync(dist, { recursive: true, force: true })
if (!isFresh()) {
  const begun = new Date()
  // tsc trusts its stamp and does not miss an output that somebody deleted.
  if ([...wanted].some((file) => !existsSync(join(dist, file)))) rmSync(stamp, { force: true })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const status = Math.max(
    // In this order: the page is checked against the types that the first one has written.
    ...projects.map((project) => spawnSync(process.execPath, [tsc, '-p', project], { cwd: root, stdio: 'inherit' }).status ?? 1),
  )
  for (const file of copied) {
    mkdirSync(dirname(join(dist, file)), { recursive: true })
    copyFileSync(join(src, file), join(dist, file))
  }
  const together = shared.map((file) => join(dist, file)).filter((file) => existsSync(file))
  if (together.length > 0) writeFileSync(join(dist, page, 'core/shared.js'), together.map((file) => readFileSync(file, 'utf8')).join(''))
  for (const file of filesBelow(dist)) {
    if (!wanted.has(file) && join(dist, file) !== stamp) rmSync(join(dist, file))
  }
  const cli = join(dist, 'cli/main.js')
  if (existsSync(cli)) chmodSync(cli, 0o755)
  if (existsSync(stamp)) utimesSync(stamp, begun, status === 0 ? begun : 0)
  process.exitCode = status
}
