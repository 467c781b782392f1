// Fails when: the place of a call is named by a line of our own, or is lost.
import { describe, expect, test } from 'vitest'
import { stackOfCaller } from '#src/base/call-site.ts'

const OWN = new URL('../../src/', import.meta.url)
const stack = (...frames: string[]): string => ['Error: here', ...frames.map((frame) => `    at ${frame}`)].join('\n')

describe('the stack of a caller', () => {
  test.each([
    ['as a file URL', `Registry.add (${OWN.href}base/registry.ts:1:2)`],
    ['as source maps name it', `Registry.add (${decodeURI(OWN.pathname)}base/registry.ts:1:2)`],
  ])('leaves out our own frames, %s', (_, own) => {
    expect(stackOfCaller(stack(own, own, 'theirs (file:///app/main.js:3:4)', 'file:///app/main.js:5:6'))).toBe(
      'theirs (file:///app/main.js:3:4)\nfile:///app/main.js:5:6',
    )
  })

  test('keeps its frames when none of them is told from ours, as in a bundle', () => {
    const own = `add (${OWN.href}main.js:1:2)`
    const node = 'ModuleJob.run (node:internal/modules/esm/module_job:1:2)'
    expect(stackOfCaller(stack(own, node))).toBe(`${own}\n${node}`)
    expect(stackOfCaller(stack(own))).toBe(own)
  })

  test.each([[undefined], [''], ['Error: at night\n'], [[]]])('is empty without a stack: %j', (none) => {
    expect(stackOfCaller(none)).toBe('')
  })
})
