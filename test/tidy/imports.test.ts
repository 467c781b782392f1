import { describe, expect, test } from 'vitest'
import { files, type Import, parse, type Source, sources } from './sources.ts'

/**
 * Imports go one way: the core decides, the edge acts, and one file connects them. Per folder, what its files may load at run time and
 * what they may name in types only; folders and files of `src/` as prefixes, packages by name, `node:` for all of node.
 */
interface Rule {
  readonly runtime: readonly string[]
  readonly types: readonly string[]
  /** Loaded when first needed, with `await import()`: whoever does not need them does not pay for them. */
  readonly lazy?: readonly string[]
}

/** Pure files that everybody may use: no effects, no state, and of each other only. */
const WORDS = [
  'base/',
  'errors.ts',
  'events.ts',
  'request-target.ts',
  'options/duration.ts',
  'options/budget.ts',
  'options/did-you-mean.ts',
  'options/fields.ts',
  'lifecycle/registry.ts',
].map((file) => `src/${file}`)

const RULES: Readonly<Record<string, Rule>> = {
  'src/machines/': { runtime: ['xstate', 'src/machines/', ...WORDS], types: [] },
  'src/actors/': {
    runtime: ['node:', 'rxjs', 'xstate', 'src/actors/', ...WORDS],
    types: ['src/machines/'],
    lazy: ['@hono/node-server', 'pino'],
  },
  'src/http/': { runtime: ['src/http/', 'src/machines/signals.ts', ...WORDS], types: ['hono', 'node:', 'src/actors/'] },
  // An entry of its own, for those who have the package.
  'src/opentelemetry/': { runtime: ['@opentelemetry/api', 'src/opentelemetry/', 'src/machines/exit-codes.ts', ...WORDS], types: ['src/'] },
  // The page runs in browsers, which get nothing but its own folder; its core needs no browser either.
  'src/inspector/page/core/': { runtime: ['src/inspector/page/core/'], types: ['src/'] },
  'src/inspector/page/': { runtime: ['src/inspector/page/'], types: ['src/inspector/'] },
  'src/diagram/': {
    runtime: ['xstate', 'src/diagram/', 'src/machines/', 'src/testing/virtual-clock.ts', ...WORDS],
    types: ['elkjs'],
    lazy: ['elkjs'],
  },
  ...Object.fromEntries(WORDS.map((file) => [file, { runtime: WORDS, types: ['node:', 'src/machines/', 'src/actors/'] }])),
}

/** The composition root and what stands beside it may connect everything, but makes nobody load what only some need. */
const ROOT_RULE: Rule = {
  runtime: ['node:', 'rxjs', 'xstate', 'src/'],
  types: ['hono', 'pino', 'ws'],
  lazy: ['hono', '@hono/node-server', 'pino', 'ws'],
}
/** The command and its example server are a program of their own: they need all of it. */
const CLI_RULE: Rule = { runtime: ['node:', 'rxjs', 'xstate', 'hono', '@hono/node-server', 'pino', 'src/'], types: [], lazy: ['yaml'] }

const ruleFor = (path: string): Rule =>
  Object.entries(RULES).find(([prefix]) => path.startsWith(prefix))?.[1] ?? (/^src\/(cli|example)\//.test(path) ? CLI_RULE : ROOT_RULE)

const names = (entry: string, what: string): boolean =>
  entry.endsWith(':') || entry.endsWith('/')
    ? what.startsWith(entry)
    : what === entry || (!entry.endsWith('.ts') && what.startsWith(`${entry}/`))

function allows(rule: Rule, { specifier, target, kind }: Import): boolean {
  const what = target ?? specifier
  const granted = [...rule.runtime, ...(kind === 'type' ? rule.types : []), ...(kind === 'static' ? [] : (rule.lazy ?? []))]
  return granted.some((entry) => names(entry, what))
}

const violations = (all: readonly Source[]): string[] =>
  all.flatMap(({ path, imports }) => {
    const rule = ruleFor(path)
    return imports
      .filter((entry) => !allows(rule, entry))
      .map(({ line, kind, specifier }) => `${path}:${line}: ${kind} import of ${specifier}; may load ${rule.runtime.join(', ')}`)
  })

/** The first cycle of static imports found from each file, as `a.ts -> b.ts -> a.ts`. */
function cycles(all: readonly Source[]): string[] {
  const loads = new Map(
    all.map(({ path, imports }) => [path, imports.filter(({ kind }) => kind === 'static').flatMap(({ target }) => target ?? [])]),
  )
  const found: string[] = []
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path)
    if (at >= 0) found.push([...trail.slice(at), path].join(' -> '))
    if (at >= 0 || done.has(path)) return
    for (const next of loads.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of loads.keys()) visit(path, [])
  return found
}

describe('imports', () => {
  test('go in the allowed directions only', () => {
    expect(violations(sources('src'))).toEqual([])
  })

  test('make no cycle at run time', () => {
    expect(cycles(sources('src'))).toEqual([])
  })

  test('name files that exist', () => {
    const existing = new Set(files)
    const broken = ['src', 'test', 'scripts', 'bench', 'diagrams'].flatMap((folder) =>
      sources(folder).flatMap(({ path, imports }) =>
        imports
          .filter(({ target }) => target !== undefined && !target.startsWith('dist/') && !existing.has(target))
          .map(({ line, specifier }) => `${path}:${line}: ${specifier}`),
      ),
    )
    expect(broken).toEqual([])
  })

  test('of src name nothing of the tests', () => {
    const strays = sources('src').flatMap(({ path, imports }) =>
      imports.filter(({ target }) => target?.startsWith('test/')).map(() => path),
    )
    expect(strays).toEqual([])
  })
})

describe('the rules see', () => {
  test.each([
    ['a machine that reads a file', 'src/machines/x.ts', "import { readFileSync } from 'node:fs'"],
    ['a machine that names an actor in a type', 'src/machines/x.ts', "import type { Clock } from '../actors/clock.ts'"],
    ['a filter that loads an actor', 'src/http/x.ts', "import { systemClock } from '../actors/clock.ts'"],
    ['a type import that still loads the file', 'src/http/x.ts', "import { type Clock } from '../actors/clock.ts'"],
    ['an actor that loads a machine', 'src/actors/x.ts', "export { tellMachine } from '../machines/tell.ts'"],
    ['a logger loaded by everybody', 'src/server.ts', "import { pino } from 'pino'"],
    ['an adapter loaded by everybody', 'src/server.ts', "import { getRequestListener } from '@hono/node-server'"],
    ['a page that loads what browsers do not get', 'src/inspector/page/main.ts', "import { show } from '../../errors.ts'"],
    ['a part of a package', 'src/server.ts', "import { logger } from 'hono/logger'"],
  ])('%s', (_, path, text) => {
    expect(violations([parse(path, text)])).toHaveLength(1)
  })

  test.each([
    ['a lazy import', 'src/server.ts', "const load = () => import('@hono/node-server')"],
    ['a filter that names an actor in a type', 'src/http/x.ts', "import type { Clock } from '../actors/clock.ts'"],
    ['an actor that names a machine in a type', 'src/actors/x.ts', "type T = import('../machines/tell.ts').Tell"],
    ['a part of rxjs', 'src/actors/x.ts', "import { map } from 'rxjs/operators'"],
  ])('nothing wrong with %s', (_, path, text) => {
    expect(violations([parse(path, text)])).toEqual([])
  })

  test('a cycle', () => {
    const a = parse('src/a.ts', "import './b.ts'")
    const b = parse('src/b.ts', "export * from './a.ts'")
    expect(cycles([a, b])).toEqual(['src/a.ts -> src/b.ts -> src/a.ts'])
  })
})
