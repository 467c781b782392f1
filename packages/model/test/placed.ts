import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll } from 'vitest'

const PACKAGE = join(import.meta.dirname, '..')
const SOURCES = join(PACKAGE, 'src')

const compiled = (text: string): string => {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  })
  return outputText.replaceAll(/'(\.{1,2}\/[\w./-]+)\.ts'/g, (_, name: string) =>
    name === '../src/index' ? "'@quiesce/model'" : `'${name}.mjs'`,
  )
}

/** Sources of the package by their names, as they are. */
export const sourcesOfModel = (): ReadonlyMap<string, string> =>
  new Map(ts.sys.readDirectory(SOURCES, ['.ts']).map((path) => [path.slice(SOURCES.length + 1), readFileSync(path, 'utf8')]))

/** Programs beside this package, compiled from these sources, and beside an xstate of a version. */
export class Placed {
  readonly #folder = mkdtempSync(join(tmpdir(), 'quiesce-model-placed-'))
  readonly #known = new Map<string, string>()

  constructor() {
    afterAll(() => rmSync(this.#folder, { recursive: true, force: true }))
  }

  /** As npm lays them out. */
  at(name: string, xstate: string, sources: ReadonlyMap<string, string>, programs: Readonly<Record<string, string>>): string {
    const at = join(this.#folder, name)
    const own = join(at, 'node_modules/@quiesce/model')
    for (const [path, text] of sources) this.#write(join(own, path.replace(/\.ts$/, '.mjs')), text)
    writeFileSync(join(own, 'package.json'), '{ "name": "@quiesce/model", "exports": "./index.mjs" }')
    symlinkSync(join(PACKAGE, '../../node_modules', xstate), join(at, 'node_modules/xstate'))
    for (const [program, text] of Object.entries(programs)) this.#write(join(at, `${program}.mjs`), text)
    return at
  }

  #write(path: string, text: string): void {
    mkdirSync(join(path, '..'), { recursive: true })
    let code = this.#known.get(text)
    if (code === undefined) {
      code = compiled(text)
      this.#known.set(text, code)
    }
    writeFileSync(path, code)
  }
}
