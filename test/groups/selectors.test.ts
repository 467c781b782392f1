// Label and field selectors. Fails when: one selects other objects than upstream's, is read though
// it is none, or is refused with another text.
import { describe, expect, test } from 'vitest'
import type { ApiObject } from '#apiserver/groups/api-object.ts'
import { fieldSelector } from '#apiserver/groups/field-selector.ts'
import { labelSelector } from '#apiserver/groups/label-selector.ts'

const LABELS = { app: 'web', tier: 'front', size: '5', 'demo.example/old': '' }

describe('a label selector', () => {
  test.each([
    ['', true],
    ['app=web', true],
    ['app==web , tier=front', true],
    ['app=db', false],
    ['app!=db', true],
    ['absent!=x', true],
    ['app in (db, web)', true],
    ['app in (db)', false],
    ['app notin (db,web)', false],
    ['absent notin (x)', true],
    ['app', true],
    ['absent', false],
    ['!absent', true],
    ['! app', false],
    ['demo.example/old=', true],
    ['demo.example/old', true],
    ['size>4', true],
    ['size > 5', false],
    ['size<6,app', true],
    ['app>4', false],
    ['toString', false],
  ])('%j selects: %s', (text, is) => {
    expect(labelSelector(text)(LABELS)).toBe(is)
  })

  test.each([
    ['a b c', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b,', "found '', expected: identifier after ','"],
    ['=b', "unable to parse requirement: found '=', expected: identifier"],
    ['a in b', "unable to parse requirement: found 'b', expected: '('"],
    ['a in (b', "unable to parse requirement: found '', expected: ',', or ')' or identifier"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
  ])('%j is refused', (text, message) => {
    expect(() => labelSelector(text)).toThrow(message)
  })

  test.each(['a/b/c=d', '-a', 'a=-', 'a>b', `a=${'x'.repeat(64)}`, `a${',b'.repeat(10_000)}`])('%.40s is no selector', (text) => {
    expect(() => labelSelector(text)).toThrow()
  })
})

describe('a field selector', () => {
  const object: ApiObject = { kind: 'W', apiVersion: 'v1', metadata: { name: 'a', namespace: 'blue' } }
  test.each([
    ['', true],
    ['metadata.name=a', true],
    ['metadata.name==a,metadata.namespace!=red', true],
    ['metadata.name!=a', false],
    ['metadata.name=b', false],
    [',metadata.name=a,', true],
    ['metadata.name=a\\,b', false],
  ])('%j selects: %s', (text, is) => {
    expect(fieldSelector(text, true).matches(object)).toBe(is)
  })

  test.each([
    ['spec.color=red', '"spec.color" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    ['a', "invalid selector: 'a'; can't understand 'a'"],
    ['metadata.name=a=b', 'unescaped character'],
    ['metadata.name=a\\b', 'invalid escape sequence'],
  ])('%j is refused', (text, message) => {
    expect(() => fieldSelector(text, true)).toThrow(message)
  })

  test('of the whole cluster knows no namespace, and says which name it is about', () => {
    expect(() => fieldSelector('metadata.namespace=a', false)).toThrow('only "metadata.name"')
    expect(fieldSelector('metadata.name=a', false).name).toBe('a')
  })
})
