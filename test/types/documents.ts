// The code in documents: what check:readme runs, and what nothing runs. Fails when: a block names
// what there is not (any more), or one of TypeScript does not compile.
import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { COMPILING_MS, compiler, ROOT, STRICT } from './compiler.ts'

/** What blocks of TypeScript speak of; it belongs to the program that they are taken from. */
const OF_PROGRAM: Readonly<Record<string, string>> = {
  app: `import('quiesce').FetchHandler`,
  registry: '{ leave(options: { signal?: AbortSignal }): Promise<void> }',
  queue: '{ enter(name: string | undefined, signal: AbortSignal): true }',
  completeConfig: `typeof import('@quiesce/apiserver').completeConfig`,
  t: `import('quiesce/testing').TestLife`,
}

/**
 * What is looked for in JavaScript, which says no types and may be a part of a program: a name that
 * is not exported, a member or an option that there is not, arguments that are too few or too many.
 */
const OF_NAMES: readonly number[] = [2305, 2339, 2353, 2551, 2554, 2561, 2724]
/** Members that programs give to objects of others. */
const OF_OTHERS = /^Property '(shutdownSignal|clients)'/

interface Block {
  /** Of the compiler; there is no such file. */
  readonly path: string
  readonly text: string
  /** Of its first line. */
  readonly line: number
  readonly document: string
}

function blocksOf(document: string): Block[] {
  const text = readFileSync(`${ROOT}${document}`, 'utf8')
  return [...text.matchAll(/^```(ts|js)\n([\s\S]*?)^```$/gm)].map(({ 1: language, 2: code = '', index }) => {
    const line = text.slice(0, index).split('\n').length + 1
    const name = document.replaceAll('/', '-').replace(/\.md$/, `-${line}`)
    return { path: `${ROOT}test/types/${name}.${language === 'ts' ? 'mts' : 'mjs'}`, text: code, line, document }
  })
}

/** What a block does not declare itself. */
const declared = (text: string): string =>
  Object.entries(OF_PROGRAM)
    .flatMap(([name, type]) =>
      new RegExp(`\\b(const|let|using|function) ${name}\\b`).test(text) ? [] : [`declare const ${name}: ${type}\n`],
    )
    .join('')

/** All that is wrong with blocks, each with its place. */
function refused(blocks: readonly Block[]): string[] {
  const texts = new Map(blocks.map(({ path, text }) => [path, `${text}\nexport {}\n${path.endsWith('.mts') ? declared(text) : ''}`]))
  const service = compiler(
    [...texts.keys()],
    { ...STRICT, allowJs: true, checkJs: true, experimentalDecorators: true, noUnusedParameters: false, exactOptionalPropertyTypes: false },
    (path) => ({ text: texts.get(path) ?? '', version: 1 }),
  )
  return blocks.flatMap(({ path, line, document }) => {
    const isLoose = path.endsWith('.mjs')
    return [...service.getSyntacticDiagnostics(path), ...service.getSemanticDiagnostics(path)]
      .filter(
        ({ code, messageText }) =>
          !isLoose || (OF_NAMES.includes(code) && !OF_OTHERS.test(ts.flattenDiagnosticMessageText(messageText, ' '))),
      )
      .map(({ messageText, code, start = 0, file }) => {
        const at = line + (file?.getLineAndCharacterOfPosition(start).line ?? 0)
        return `${document}:${at}: ${ts.flattenDiagnosticMessageText(messageText, '\n')} (${code})`
      })
  })
}

test('blocks of code in documents compile', { timeout: COMPILING_MS }, () => {
  const documents = ['', 'docs/', 'packages/apiserver/', 'packages/model/'].flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`).flatMap((name) => (name.endsWith('.md') ? [`${folder}${name}`] : [])),
  )
  const blocks = documents.flatMap(blocksOf)
  expect(blocks.length).toBeGreaterThan(50)
  expect(refused(blocks)).toEqual([])
})

test('a name that there is not is seen, in TypeScript and in JavaScript', { timeout: COMPILING_MS }, () => {
  const block = (path: string): Block => ({
    path: `${ROOT}test/types/${path}`,
    text: `import { createServer } from 'quiesce'\ncreateServer(() => new Response('')).addDestroyed('pool', () => {})`,
    line: 1,
    document: path,
  })
  expect(refused([block('of-test.mts'), block('of-test.mjs')])).toEqual([
    expect.stringMatching(/^of-test\.mts:2: .*addDestroyed/),
    expect.stringMatching(/^of-test\.mjs:2: .*addDestroyed/),
  ])
})
