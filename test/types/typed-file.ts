import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The compiler reads the types of all of node first. */
export const COMPILING_MS = 120_000

/** A file that is only typed, as in an editor, with this project's compiler options. */
export class TypedFile {
  readonly #path: string
  readonly #before: string
  readonly #service: ts.LanguageService
  #text = ''
  #version = 0

  /** @param before stands at the begin of the file, whatever is typed */
  constructor(name: string, before: string) {
    this.#path = `${ROOT}test/types/${name}`
    this.#before = before
    const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, (path) => ts.sys.readFile(path)) as { config: object }
    const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, ROOT)
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => ({ ...options, noUnusedLocals: false }),
      getScriptFileNames: () => [this.#path],
      getScriptVersion: (path) => (path === this.#path ? String(this.#version) : '0'),
      getScriptSnapshot: (path) => {
        const content = path === this.#path ? this.#text : ts.sys.readFile(path)
        return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
      },
      getCurrentDirectory: () => ROOT,
      getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
      fileExists: (path) => path === this.#path || ts.sys.fileExists(path),
      readFile: (path) => ts.sys.readFile(path),
      readDirectory: (...given) => ts.sys.readDirectory(...given),
      directoryExists: (path) => ts.sys.directoryExists(path),
      getDirectories: (path) => ts.sys.getDirectories(path),
    })
  }

  /** What an editor offers at `|`. */
  offered(code: string): string[] {
    const text = `${this.#before}${code}\n`
    this.#write(text.replace('|', ''))
    return (this.#service.getCompletionsAtPosition(this.#path, text.indexOf('|'), undefined)?.entries ?? []).map(({ name }) => name)
  }

  /** What the compiler says against it, each with its line. */
  refused(code: string): string[] {
    this.#write(`${this.#before}${code}\n`)
    return [...this.#service.getSyntacticDiagnostics(this.#path), ...this.#service.getSemanticDiagnostics(this.#path)].map(
      ({ messageText, start = 0 }) => `${ts.flattenDiagnosticMessageText(messageText, '\n')}: ${this.#lineAt(start)}`,
    )
  }

  #lineAt(position: number): string {
    const from = this.#text.lastIndexOf('\n', position - 1) + 1
    return this.#text.slice(from, this.#text.indexOf('\n', position)).trim()
  }

  #write(text: string): void {
    this.#text = text
    this.#version++
  }
}
