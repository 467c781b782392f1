import { describe, expect, test } from 'vitest'
import { circles } from '../../scripts/house/circles.mjs'
import { files, sources } from './sources.ts'

// What reads every source for it, and so takes long; what may import what is in imports.test.ts.
describe('imports', () => {
  test('make no circle, in types either', () => {
    expect(circles()).toEqual([])
  })

  test('name files that exist', () => {
    const existing = new Set(files)
    const broken = ['src', 'packages', 'test', 'scripts', 'bench', 'diagrams'].flatMap((folder) =>
      sources(folder).flatMap(({ path, imports }) =>
        imports
          .filter(
            ({ target }) =>
              target !== undefined && !/^(packages\/apiserver\/)?dist\/|^build\/|^package\.json$/.test(target) && !existing.has(target),
          )
          .map(({ line, specifier }) => `${path}:${line}: ${specifier}`),
      ),
    )
    expect(broken).toEqual([])
  })
})

describe('the rules see', () => {
  test.each([
    ['of types', "import type { C } from './c.ts'"],
    ['in an expression', "export type C = import('./c.ts').C"],
    ['at run time', "const load = () => import('#src/c.ts')"],
  ])('a circle %s, and not what leads to it', (_, text) => {
    const texts = { 'src/a.ts': "import './b.ts'", 'src/b.ts': text, 'src/c.ts': "export * from './b.ts'", 'src/d.ts': '' }
    expect(circles(new Map(Object.entries(texts)))).toEqual([['src/b.ts', 'src/c.ts']])
  })
})
