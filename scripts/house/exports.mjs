// @ts-check
// What each entry exports, types included.
import { join } from 'node:path'
import ts from 'typescript'
import { ENTRIES } from '../bundles.mjs'
import { ROOT } from './sources.mjs'

/**
 * The names that an entry exports.
 * @param {Readonly<Record<string, string>>} entries paths from the root, by name
 * @returns {Readonly<Record<string, readonly string[]>>}
 */
export function exportedNames(entries = { ...ENTRIES, model: 'packages/model/src/index.ts' }) {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, ROOT)
  const paths = Object.values(entries).map((path) => join(ROOT, path))
  const program = ts.createProgram(paths, { ...options, types: [], noResolve: false })
  const checker = program.getTypeChecker()
  return Object.fromEntries(
    Object.entries(entries).map(([name, path]) => {
      const source = program.getSourceFile(join(ROOT, path))
      const module = source && checker.getSymbolAtLocation(source)
      return [name, module ? checker.getExportsOfModule(module).map((symbol) => symbol.name) : []]
    }),
  )
}
