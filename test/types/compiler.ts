import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The compiler reads the types of all of node first. */
export const COMPILING_MS = 120_000

const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, (path) => ts.sys.readFile(path)) as { config: object }
const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, ROOT)

/** This project's, without what leads from the published types back to the sources. */
export const STRICT: ts.CompilerOptions = { ...options, customConditions: [], noUnusedLocals: false }

/** What is read once is shared by all that ask. */
const registry = ts.createDocumentRegistry()

/** The compiler as an editor asks it. What `typed` gives stands in for the files of these names. */
export function compiler(
  names: readonly string[],
  settings: ts.CompilerOptions,
  typed?: (path: string) => { text: string; version: number },
) {
  const isTyped = (path: string): boolean => typed !== undefined && names.includes(path)
  return ts.createLanguageService(
    {
      getCompilationSettings: () => settings,
      getScriptFileNames: () => [...names],
      getScriptVersion: (path) => (isTyped(path) ? String(typed?.(path).version) : '0'),
      getScriptSnapshot: (path) => {
        const content = isTyped(path) ? typed?.(path).text : ts.sys.readFile(path)
        return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
      },
      getCurrentDirectory: () => ROOT,
      getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
      fileExists: (path) => isTyped(path) || ts.sys.fileExists(path),
      readFile: (path) => ts.sys.readFile(path),
      readDirectory: (...given) => ts.sys.readDirectory(...given),
      directoryExists: (path) => ts.sys.directoryExists(path),
      getDirectories: (path) => ts.sys.getDirectories(path),
    },
    registry,
  )
}
