// What a look at the installed packages says, for rows that are no behaviour: their types, what they
// depend on, what they use of Node, and words that they would have if they had the feature.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TEXT = /\.(?:[cm]?js|d\.[cm]?ts|md)$/i

/** Bench's own copy comes first, as Node resolves it. @param {string} name */
export function folderOf(name) {
  const found = ['bench/features/systems/effect', 'bench', '.']
    .map((folder) => join(ROOT, folder, 'node_modules', name))
    .find((folder) => existsSync(join(folder, 'package.json')))
  if (!found) throw new Error(`${name} is not installed`)
  return found
}

const manifestOf = (name) => JSON.parse(readFileSync(join(folderOf(name), 'package.json'), 'utf8'))

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
    const folders = names.map(folderOf)
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
  const walk = (name) => {
    const { dependencies: own = {} } = manifestOf(name)
    for (const dependency of Object.keys(own)) {
      if (seen.has(dependency)) continue
      seen.add(dependency)
      try {
        walk(dependency)
      } catch {
        // Another copy of it, or one for another platform.
      }
    }
  }
  if (system.packages.length) for (const name of system.packages) walk(name)
  else {
    for (const name of Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).dependencies)) {
      seen.add(name)
      walk(name)
    }
  }
  for (const name of system.packages) seen.delete(name)
  return seen.size
}

export const hasTypes = (system) =>
  system.packages.length
    ? system.packages.every((name) =>
        textsOf(system).some(({ file }) => file.includes(`node_modules/${name}/`) && /\.d\.[cm]?ts$/.test(file)),
      )
    : textsOf(system).some(({ file }) => /\.d\.ts$/.test(file))

export const versionsOf = (system) => Object.fromEntries(system.packages.map((name) => [name, manifestOf(name).version]))
