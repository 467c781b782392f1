import ts from 'typescript'
import { compiler, ROOT, STRICT } from './compiler.ts'

/** A file that is only typed, as in an editor, with this project's compiler options. */
export class TypedFile {
  readonly #path: string
  readonly #before: string
  readonly #service: ts.LanguageService
  #text: string
  #version = 0

  /** @param before stands at the begin of the file, whatever is typed */
  constructor(name: string, before: string) {
    this.#path = `${ROOT}test/types/${name}`
    this.#before = before
    this.#text = before
    this.#service = compiler([this.#path], STRICT, () => ({ text: this.#text, version: this.#version }))
  }

  /** All that is compiled with it. */
  get program(): ts.Program {
    return this.#service.getProgram() as ts.Program
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
