// Objects in memory. Fails when: a write is lost or done on another version, a list is not of one
// version or not in order, a watch misses a change or gets one twice, what is forgotten is not said
// to be, or something is written after the end.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ApiObject } from '#apiserver/groups/api-object.ts'
import { decodeContinue, encodeContinue } from '#apiserver/groups/storage/continue-token.ts'
import { type MemoryStorageOptions, memoryStorage } from '#apiserver/groups/storage/memory-storage.ts'
import type { ListQuery, StorageEvent } from '#apiserver/groups/storage/storage.ts'

const object = (name: string, namespace = 'default', size = 0): ApiObject => ({
  kind: 'Widget',
  apiVersion: 'v1',
  metadata: { name, namespace },
  spec: { size },
})
const ALL: ListQuery = { namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' }
const storageOf = (options: MemoryStorageOptions = {}) => memoryStorage({ revision: 0, ...options }).resource()
const namesOf = (items: readonly ApiObject[]) => items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)

test('one version counts over all resources, and a write needs the one that is stored', () => {
  const memory = memoryStorage({ revision: 7 })
  const [one, two] = [memory.resource(), memory.resource()]
  expect(one.create(object('a'))?.metadata.resourceVersion).toBe('8')
  expect(two.create(object('a'))?.metadata.resourceVersion).toBe('9')
  expect(one.create(object('a'))).toBeUndefined()
  expect(one.update(object('a', 'default', 1), '9')).toBeUndefined()
  expect(one.update(object('a', 'default', 1), '8')?.metadata.resourceVersion).toBe('10')
  expect(one.delete({ namespace: 'default', name: 'a' }, '8')).toBeUndefined()
  expect(one.delete({ namespace: 'default', name: 'a' }, '10')?.metadata.resourceVersion).toBe('11')
  expect(one.get({ namespace: 'default', name: 'a' })).toBeUndefined()
})

test('what is stored is nothing that others could change', () => {
  const storage = storageOf()
  const given = object('a')
  const stored = storage.create(given)
  for (const each of [given, stored]) expect(() => Object.assign(each?.['spec'] as object, { size: 9 })).toThrow('read only')
  expect(storage.get({ namespace: 'default', name: 'a' })?.['spec']).toEqual({ size: 0 })
})

test('pages are of one version, whatever is written between them, until that is forgotten', () => {
  const storage = storageOf({ history: 2 })
  for (const name of ['c', 'a', 'b']) storage.create(object(name))
  storage.create(object('z', 'another'))
  const first = storage.list({ ...ALL, limit: 2 })
  expect([namesOf(first.items), first.next, first.remaining, first.resourceVersion]).toEqual([
    ['another/z', 'default/a'],
    'default/b',
    2,
    '4',
  ])
  storage.delete({ namespace: 'default', name: 'b' }, '3')
  storage.create(object('bb'))
  const second = storage.list({ ...ALL, at: first.resourceVersion, start: first.next as string })
  expect(namesOf(second.items)).toEqual(['default/b', 'default/c'])
  expect(namesOf(storage.list({ ...ALL, namespace: 'default' }).items)).toEqual(['default/a', 'default/bb', 'default/c'])
  for (const name of ['1', '2', '3', '4', '5']) storage.create(object(name))
  expect(() => storage.list({ ...ALL, at: '4', start: first.next as string })).toThrow('too old resource version')
  expect(() => storage.list({ ...ALL, at: '99' })).toThrow('Too large resource version: 99')
})

test('a watch gets every change behind its version, and says when it cannot', () => {
  const storage = storageOf({ history: 3 })
  storage.create(object('a'))
  const seen: string[] = []
  const hear = ({ type, object: { metadata } }: StorageEvent) => void seen.push(`${type} ${metadata.name} ${metadata.resourceVersion}`)
  const watch = storage.watch('0', hear)
  storage.update(object('a', 'default', 2), '1')
  storage.delete({ namespace: 'default', name: 'a' }, '2')
  expect(seen).toEqual(['ADDED a 1', 'MODIFIED a 2', 'DELETED a 3'])
  expect(watch.resourceVersion).toBe('3')
  watch.close()
  for (let count = 0; count < 10; count++) storage.create(object(`n${count}`))
  expect(seen).toHaveLength(3)
  expect(() => storage.watch('1', hear)).toThrow('too old resource version')
  expect(() => storage.watch('99', hear)).toThrow('is not one of this storage')
})

test('any list and the changes behind it are what is there', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd')
  const step = fc.record({ what: fc.constantFrom('create', 'update', 'delete', 'list'), name: key })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const storage = storageOf()
      const listed: { at: string; state: Map<string, unknown> }[] = []
      const now = () => new Map(storage.list(ALL).items.map((each) => [each.metadata.name, each.metadata.resourceVersion]))
      for (const { what, name } of steps) {
        const stored = storage.get({ namespace: 'default', name })
        const version = stored?.metadata.resourceVersion ?? ''
        if (what === 'create') storage.create(object(name))
        else if (what === 'update') storage.update(object(name), version)
        else if (what === 'delete') storage.delete({ namespace: 'default', name }, version)
        else listed.push({ at: storage.list(ALL).resourceVersion, state: now() })
      }
      for (const { at, state } of listed) {
        const then = new Map(storage.list({ ...ALL, at }).items.map((each) => [each.metadata.name, each.metadata.resourceVersion]))
        expect(then).toEqual(state)
        storage
          .watch(at, ({ type, object: { metadata } }) => {
            if (type === 'DELETED') state.delete(metadata.name)
            else state.set(metadata.name, metadata.resourceVersion)
          })
          .close()
        expect(state).toEqual(now())
      }
    }),
  )
})

test('nothing is written after its end', () => {
  const storage = storageOf()
  storage.destroy()
  storage.destroy()
  expect(storage.ready()).toBe(false)
  expect(() => storage.create(object('a'))).toThrow('the storage has been closed')
})

test('after a restart no version of before is one of now', () => {
  const before = memoryStorage().resource().create(object('a'))?.metadata.resourceVersion
  expect(Number(before)).toBeGreaterThan(1_700_000_000_000)
  expect(() => memoryStorage({ history: -1 })).toThrow('history')
  expect(() => memoryStorage({ revision: 0.5 })).toThrow('revision')
})

test('a token says where a list goes on, and nothing else is one', () => {
  expect(decodeContinue(encodeContinue({ at: '4', start: 'default/b' }))).toEqual({ at: '4', start: 'default/b' })
  expect(decodeContinue(encodeContinue({ at: undefined, start: 'b' }))).toEqual({ at: undefined, start: 'b' })
  for (const token of ['x', '', Buffer.from('null').toString('base64url'), 'e'.repeat(3_000)])
    expect(() => decodeContinue(token)).toThrow('continue key is not valid')
})
