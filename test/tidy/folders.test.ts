// The folders of tests. Fails when: two folders have a file of the same name, so that a name does
// not say which test is meant; or a folder has no line in test/README.md, or a line no folder; or a
// file replaces a module in a process that others have imported it in, so that nothing is replaced.
import { expect, test } from 'vitest'
import { files, read } from './sources.ts'

const tests = files.filter((path) => path.startsWith('test/'))

/** Names that several folders have, each with those. */
function shared(paths: readonly string[]): string[] {
  const folders = new Map<string, Set<string>>()
  for (const path of paths) {
    const at = path.lastIndexOf('/')
    const name = path.slice(at + 1)
    folders.set(name, (folders.get(name) ?? new Set()).add(path.slice(0, at)))
  }
  return [...folders].flatMap(([name, all]) => (all.size > 1 ? [`${name}: ${[...all].sort().join(', ')}`] : []))
}

test('a file name stands in one folder of tests only', () => {
  expect(tests.length).toBeGreaterThan(400)
  expect(shared(tests)).toEqual([])
  expect(shared(['test/a/x.test.ts', 'test/b/x.test.ts', 'test/b/y.ts'])).toEqual(['x.test.ts: test/a, test/b'])
})

test('each folder has a line in test/README.md, in the order of the alphabet', () => {
  const folders = [...new Set(tests.flatMap((path) => path.split('/').slice(1, -1).slice(0, 1)))].sort()
  const lines = [...read('test/README.md').matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name)
  expect(lines).toEqual(folders)
})

test('a file that replaces a module has a process of its own', () => {
  const replacing = tests.filter((path) => /\bvi\.(mock|doMock)\(/.test(read(path)))
  expect(replacing).toContain('test/report/foreign-link.test.ts')
  const isolated = /const isolated = \[([^\]]*)\]/.exec(read('vitest.config.ts'))?.[1] ?? ''
  expect(replacing.filter((path) => !isolated.includes(`'${path}'`))).toEqual([])
})
