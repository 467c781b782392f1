// What a look at the installed packages says, for rows that are no behaviour: their types, what they
// depend on, what they use of Node, and words that they would have if they had the feature.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TEXT = /\.(?:[cm]?js|d\.[cm]?ts|md)$/i

/** A file beside the deepest node_modules in which systems have theirs. */
const FROM = join(ROOT, 'bench/features/systems/effect/adapter.mjs')

/** As Node looks for it from a file, whose own copy comes first. @param {string} name @param {string} [from] */
export function folderOf(name, from = FROM) {
  const found = (createRequire(from).resolve.paths(name) ?? [])
    .map((folder) => join(folder, name))
    .find((folder) => existsSync(join(folder, 'package.json')))
  if (!found) throw new Error(`${name} is not installed`)
  return found
}

const manifestIn = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (/^(?:node_modules|test|tests|benchmarks|docs|scripts|build|examples|CHANGELOG.*|changelog.*)$/i.test(entry.name)) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : TEXT.test(entry.name) ? [path] : []
  })
}

/** Code and README of a package as published, ours as built. */
const texts = new Map()
function textsOf(system) {
  const names = system.packages.length ? system.packages : []
  const key = system.file
  if (!texts.has(key)) {
    const folders = names.map((name) => folderOf(name))
    const files = folders.length ? folders.flatMap(filesBelow) : [...filesBelow(join(ROOT, 'dist')), join(ROOT, 'README.md')]
    texts.set(
      key,
      files.map((file) => ({ file: file.slice(ROOT.length), text: readFileSync(file, 'utf8') })),
    )
  }
  return texts.get(key)
}

/** The first place that has it. @param {RegExp} pattern @param {RegExp} in_ which files */
export function search(system, pattern, in_ = /./) {
  const files = textsOf(system).filter(({ file }) => in_.test(file))
  const found = files.find(({ text }) => pattern.test(text))
  const [match] = found ? (pattern.exec(found.text) ?? []) : []
  return { files: files.length, found: found && `${found.file.replace(/^.*node_modules\//, '')}: ${match}` }
}

/** How many packages are installed with it, itself not counted. */
export function dependencies(system) {
  const seen = new Set()
  const walk = (folder) => {
    for (const name of Object.keys(manifestIn(folder).dependencies ?? {})) {
      if (seen.has(name)) continue
      seen.add(name)
      walk(folderOf(name, join(folder, 'package.json')))
    }
  }
  if (system.packages.length === 0) walk(ROOT)
  for (const name of system.packages) walk(folderOf(name))
  for (const name of system.packages) seen.delete(name)
  return seen.size
}

export const hasTypes = (system) =>
  system.packages.length
    ? system.packages.every((name) =>
        textsOf(system).some(({ file }) => file.includes(`node_modules/${name}/`) && /\.d\.[cm]?ts$/.test(file)),
      )
    : textsOf(system).some(({ file }) => /\.d\.ts$/.test(file))

export const versionsOf = (system) => Object.fromEntries(system.packages.map((name) => [name, manifestIn(folderOf(name)).version]))
