// JSON patch, JSON merge patch and strategic merge patch. Fails when: a patch makes another value
// than RFC 6902, RFC 7386 or upstream's library say, changes the value that it is made from, is
// done in part, or is not bounded.
import { describe, expect, test } from 'vitest'
import { lookAtJson } from '#apiserver/encoding/json-text.ts'
import type { Fields } from '#apiserver/groups/api-object.ts'
import { jsonPatch, readJsonPatch } from '#apiserver/groups/json-patch.ts'
import { mergePatch } from '#apiserver/groups/merge-patch.ts'
import { strategicMergePatch } from '#apiserver/groups/strategic-merge-patch.ts'
import { NAMESPACES } from '#apiserver/index.ts'

describe('a merge patch (RFC 7386, appendix A)', () => {
  test.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    // Not of the RFC: what upstream's library does with objects in a list.
    [{ a: [1] }, { a: [null, { b: null, c: { d: null } }, [{ e: null }]] }, { a: [null, { c: {} }, [{}]] }],
    [{ a: 1 }, JSON.parse('{"__proto__":{"polluted":1}}'), JSON.parse('{"a":1,"__proto__":{"polluted":1}}')],
  ])('%j with %j is %j', (target: unknown, patch: unknown, merged: unknown) => {
    const before = JSON.stringify(target)
    expect(JSON.stringify(mergePatch(target, patch))).toBe(JSON.stringify(merged))
    expect(JSON.stringify(target)).toBe(before)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

// The results are those of StrategicMergePatch of k8s.io/apimachinery v0.37.2, for a Namespace.
describe('a strategic merge patch', () => {
  test.each([
    [{ metadata: { labels: { a: '1' } } }, { metadata: { labels: { b: '2', a: null } } }, { metadata: { labels: { b: '2' } } }],
    [{ metadata: { finalizers: ['a', 'b'] } }, { metadata: { finalizers: ['c'] } }, { metadata: { finalizers: ['c', 'a', 'b'] } }],
    [
      { metadata: { finalizers: ['a', 'b', 'c'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['b'] } },
      { metadata: { finalizers: ['a', 'c'] } },
    ],
    [
      { metadata: { finalizers: ['a', 'b'] } },
      { metadata: { '$setElementOrder/finalizers': ['c', 'a'], finalizers: ['c'] } },
      { metadata: { finalizers: ['c', 'a', 'b'] } },
    ],
    [
      { metadata: { finalizers: ['a', 'b', 'c'] } },
      { metadata: { '$setElementOrder/finalizers': ['c', 'a'] } },
      { metadata: { finalizers: ['b', 'c', 'a'] } },
    ],
    [
      { metadata: { finalizers: ['a', 'b'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'], '$setElementOrder/finalizers': ['b'] } },
      { metadata: { finalizers: ['b'] } },
    ],
    [
      { metadata: { finalizers: ['x', 'a', 'b'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'], '$setElementOrder/finalizers': ['d', 'b'], finalizers: ['d'] } },
      { metadata: { finalizers: ['d', 'x', 'b'] } },
    ],
    [{ metadata: {} }, { metadata: { finalizers: ['a'], '$setElementOrder/finalizers': ['a'] } }, { metadata: { finalizers: ['a'] } }],
    [{ metadata: {} }, { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } }, { metadata: {} }],
    [{ metadata: { finalizers: ['a'] } }, { metadata: { finalizers: null } }, { metadata: {} }],
    [
      {
        metadata: {
          ownerReferences: [
            { uid: '1', name: 'a' },
            { uid: '2', name: 'b' },
          ],
        },
      },
      {
        metadata: {
          ownerReferences: [
            { uid: '2', name: 'c' },
            { uid: '3', name: 'd' },
          ],
        },
      },
      {
        metadata: {
          ownerReferences: [
            { name: 'a', uid: '1' },
            { name: 'c', uid: '2' },
            { name: 'd', uid: '3' },
          ],
        },
      },
    ],
    [
      {
        metadata: {
          ownerReferences: [
            { uid: '1', name: 'a' },
            { uid: '2', name: 'b' },
          ],
        },
      },
      { metadata: { ownerReferences: [{ uid: '1', $patch: 'delete' }] } },
      { metadata: { ownerReferences: [{ name: 'b', uid: '2' }] } },
    ],
    [
      {
        metadata: {
          ownerReferences: [
            { uid: '1', name: 'a' },
            { uid: '2', name: 'b' },
          ],
        },
      },
      { metadata: { ownerReferences: [{ $patch: 'replace' }, { uid: '9', name: 'z' }] } },
      { metadata: { ownerReferences: [{ name: 'z', uid: '9' }] } },
    ],
    [
      {
        metadata: {
          ownerReferences: [
            { uid: '1', name: 'a' },
            { uid: '2', name: 'b' },
          ],
        },
      },
      { metadata: { '$setElementOrder/ownerReferences': [{ uid: '2' }, { uid: '1' }] } },
      {
        metadata: {
          ownerReferences: [
            { name: 'b', uid: '2' },
            { name: 'a', uid: '1' },
          ],
        },
      },
    ],
    [{ spec: { finalizers: ['kubernetes'] } }, { spec: { finalizers: ['a'] } }, { spec: { finalizers: ['a'] } }],
    [{ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }, { spec: null, status: null }, {}],
    [{ spec: { finalizers: ['kubernetes'] } }, { spec: { $patch: 'replace', finalizers: ['b'] } }, { spec: { finalizers: ['b'] } }],
    [{ spec: { finalizers: ['kubernetes'] } }, { spec: { $patch: 'delete' } }, { spec: {} }],
    [
      {
        status: {
          conditions: [
            { type: 'A', status: 'True', reason: 'r' },
            { type: 'B', status: 'True' },
          ],
        },
      },
      {
        status: {
          '$setElementOrder/conditions': [{ type: 'B' }, { type: 'A' }],
          conditions: [{ type: 'A', status: 'False', reason: null }],
        },
      },
      {
        status: {
          conditions: [
            { status: 'True', type: 'B' },
            { status: 'False', type: 'A' },
          ],
        },
      },
    ],
    [
      { metadata: { labels: { a: '1' } } },
      { metadata: { annotations: { x: 'y', z: null } } },
      { metadata: { annotations: { x: 'y' }, labels: { a: '1' } } },
    ],
    [{ metadata: { labels: { a: '1' } } }, { metadata: { labels: 'x' } }, { metadata: { labels: 'x' } }],
    [
      { metadata: { finalizers: ['a', 'b', 'c', 'd'] } },
      { metadata: { finalizers: ['d', 'b'] } },
      { metadata: { finalizers: ['a', 'c', 'd', 'b'] } },
    ],
    [{ metadata: { finalizers: ['a', 'a'] } }, { metadata: { finalizers: ['a'] } }, { metadata: { finalizers: ['a'] } }],
  ])('%j with %j is %j', (target: Fields, patch: Fields, merged: unknown) => {
    const before = JSON.stringify(target)
    const made = strategicMergePatch(target, patch, NAMESPACES.schema)
    expect(made).toEqual(merged)
    expect(JSON.stringify(made)).not.toContain('$')
    expect(JSON.stringify(target)).toBe(before)
  })

  test.each([
    [{ metadata: { ownerReferences: [{ name: 'z' }] } }, 'an element of ownerReferences has no uid, by which such lists are merged'],
    [{ spec: { $patch: 'x' } }, 'unknown patch type: x'],
    [{ spec: { $retainKeys: ['a'] } }, 'the directive $retainKeys is not supported'],
    [{ metadata: { '$deleteFromPrimitiveList/finalizers': 'a' } }, '$deleteFromPrimitiveList/finalizers is not a list'],
  ])('%j is refused', (patch, message) => {
    const target = { metadata: { ownerReferences: [{ uid: '1', name: 'a' }] }, spec: {} }
    expect(() => strategicMergePatch(target, patch, NAMESPACES.schema)).toThrow(message)
  })

  test('a patch has no more of it than its length', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => `f${at}`)
    const patch = {
      metadata: { finalizers: many, '$setElementOrder/finalizers': many.toReversed(), '$deleteFromPrimitiveList/finalizers': many },
    }
    const before = performance.now()
    strategicMergePatch({ metadata: { finalizers: many } }, patch, NAMESPACES.schema)
    expect(performance.now() - before).toBeLessThan(5_000)
  })
})

describe('a JSON patch (RFC 6902, appendix A)', () => {
  test.each([
    [{ foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { foo: 'bar', baz: 'qux' }],
    [{ foo: ['bar', 'baz'] }, [{ op: 'add', path: '/foo/1', value: 'qux' }], { foo: ['bar', 'qux', 'baz'] }],
    [{ foo: ['bar'] }, [{ op: 'add', path: '/foo/-', value: ['abc'] }], { foo: ['bar', ['abc']] }],
    [{ baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
    [{ foo: ['bar', 'qux', 'baz'] }, [{ op: 'remove', path: '/foo/1' }], { foo: ['bar', 'baz'] }],
    [{ baz: 'qux', foo: 'bar' }, [{ op: 'replace', path: '/baz', value: 'boo' }], { baz: 'boo', foo: 'bar' }],
    [{ foo: { bar: 1 }, qux: {} }, [{ op: 'move', from: '/foo/bar', path: '/qux/thud' }], { foo: {}, qux: { thud: 1 } }],
    [{ foo: ['a', 'b', 'c'] }, [{ op: 'move', from: '/foo/0', path: '/foo/2' }], { foo: ['b', 'c', 'a'] }],
    [{ a: { b: [1] } }, [{ op: 'copy', from: '/a', path: '/c' }], { a: { b: [1] }, c: { b: [1] } }],
    [{ '~/': 1 }, [{ op: 'test', path: '/~0~1', value: 1 }], { '~/': 1 }],
    [{ a: null }, [{ op: 'test', path: '/a', value: null }], { a: null }],
    [{ a: 1 }, [{ op: 'replace', path: '', value: [2] }], [2]],
    [{ a: { x: 1, y: 2 } }, [{ op: 'test', path: '/a', value: { y: 2, x: 1 } }], { a: { x: 1, y: 2 } }],
  ])('%j with %j is %j', (target: unknown, patch: unknown, patched: unknown) => {
    const before = JSON.stringify(target)
    expect(jsonPatch(target, readJsonPatch(patch))).toEqual(patched)
    expect(JSON.stringify(target)).toBe(before)
  })

  // Where the RFC says nothing, or otherwise, what upstream's library does.
  test.each([
    [{ a: {} }, [{ op: 'test', path: '/a/b', value: null }], { a: {} }],
    [{ a: {} }, [{ op: 'test', path: '/a/b' }], { a: {} }],
    [{}, [{ op: 'add', path: '/a' }], { a: null }],
    [{ a: 1 }, [{ op: 'replace', path: '/a' }], { a: null }],
    [{ a: 1 }, [{ op: 'replace', path: '/b', value: 2 }], { a: 1, b: 2 }],
    [{ a: 1 }, [{ op: 'copy', from: '/b', path: '/c' }], { a: 1, c: null }],
    [[1, 2, 3], [{ op: 'remove', path: '/-1' }], [1, 2]],
    [[1, 2, 3], [{ op: 'add', path: '/-1', value: 4 }], [1, 2, 3, 4]],
    [[1, 2, 3], [{ op: 'replace', path: '/-3', value: 4 }], [4, 2, 3]],
    [[1, 2, 3], [{ op: 'test', path: '/-1', value: 3 }], [1, 2, 3]],
    [[1, 2, 3], [{ op: 'replace', path: '/00', value: 4 }], [4, 2, 3]],
    [[1], null, [1]],
  ])('%j with %j is %j', (target: unknown, patch: unknown, patched: unknown) => {
    expect(jsonPatch(target, readJsonPatch(patch))).toEqual(patched)
  })

  test.each([
    [{ op: 'test', path: '/a', value: 2 }],
    [{ op: 'remove', path: '/b' }],
    [{ op: 'replace', path: '/b/c', value: 1 }],
    [{ op: 'add', path: '/b/c', value: 1 }],
    [{ op: 'add', path: '/list/3', value: 1 }],
    [{ op: 'add', path: '/list/-4', value: 1 }],
    [{ op: 'remove', path: '/list/-3' }],
    [{ op: 'replace', path: '/list/1.0', value: 1 }],
    [{ op: 'test', path: '/list/2', value: null }],
    [{ op: 'test', path: '/b/c', value: null }],
    [{ op: 'test', path: '/a/c', value: null }],
    [{ op: 'remove', path: '/list/-' }],
    [{ op: 'move', from: '/a', path: '/a/b' }],
    [{ op: 'copy', from: '/nothing/here', path: '/b' }],
    [{ op: 'copy', from: '', path: '/b' }],
    [{ op: 'copy', from: '/list', path: '' }],
    [{ op: 'move', from: '/list', path: '' }],
    [{ op: 'copy', from: '/list/2', path: '/b' }],
    [{ op: 'move', from: '/nothing', path: '/b' }],
    [{ op: 'nothing', path: '/a' }],
    [{ op: 'add', path: 'a', value: 1 }],
    [{ op: 'move', path: '/a' }],
    [{ op: 'test', path: '/toString/name', value: 'toString' }],
  ])('%j cannot be done', (operation) => {
    const code = failureOf(() => jsonPatch({ a: 1, list: [1, 2] }, readJsonPatch([operation])))
    expect(code).toBe(422)
  })

  test('is bounded, in its operations and in what it copies', () => {
    const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a', value: 1 }))
    expect(failureOf(() => readJsonPatch(many))).toBe(413)
    const doubling = Array.from({ length: 40 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }))
    expect(failureOf(() => jsonPatch({ a: ['x'.repeat(1_000)] }, readJsonPatch(doubling)))).toBe(413)
    expect(failureOf(() => readJsonPatch({ op: 'add' }))).toBe(400)
  })
})

function failureOf(run: () => unknown): number | undefined {
  try {
    run()
    return undefined
  } catch (thrown) {
    return (thrown as { readonly failure?: { readonly code: number } }).failure?.code
  }
}

describe('the text of a body', () => {
  test.each([
    ['{"a":1,"a":2}', ['a']],
    ['{"a":{"b":1,"b":2,"c":"\\"b\\":"},"b":1}', ['a.b']],
    ['{"l":[{"x":1},{"x":1,"\\u0078":2}]}', ['l[1].x']],
    ['{"a":"a","b":["a","a"]}', []],
  ])('%s has twice: %j', (text, duplicates) => {
    expect(lookAtJson(text, 10)).toEqual({ isTooDeep: false, duplicates })
  })

  test('is not nested for ever', () => {
    expect(lookAtJson('['.repeat(513) + ']'.repeat(513), 10).isTooDeep).toBe(true)
    expect(lookAtJson('['.repeat(512) + ']'.repeat(512), 10).isTooDeep).toBe(false)
  })
})
