// Writes of a part of an object. Fails when: one is refused for the part that it does not change,
// stores anything of that part, or lets anything wrong pass in its own.
import { expect, test } from 'vitest'
import { JSON_PATCH_TYPE, JSON_TYPE, MERGE_TYPE, serveKind } from './ask-widgets.ts'
import { WIDGETS, widget } from './widgets.ts'

const WRONG = { ready: 'yes', more: { a: 1 } }
const A = `${WIDGETS}/a`
const STATUS = `${A}/status`

test('a new object has no status, whatever was sent', async () => {
  const { json } = await serveKind()
  for (const status of [WRONG, 5, null, []]) {
    const name = `a${String(JSON.stringify(status).length)}`
    const { code, body } = await json('POST', WIDGETS, { ...widget(name), status })
    expect([status, code, body['status']]).toEqual([status, 201, undefined])
  }
  expect((await json('POST', WIDGETS, { ...widget('b'), spec: { size: 'big' }, status: { ready: true } })).code).toBe(422)
  // What is unknown is told all the same.
  const strict = await json('POST', `${WIDGETS}?fieldValidation=Strict`, { ...widget('b'), status: WRONG })
  expect([strict.code, strict.body['message']]).toEqual([400, expect.stringContaining('unknown field "status.more"')])
})

test('an object that is put has a name', async () => {
  const { json } = await serveKind()
  await json('POST', WIDGETS, widget('a'))
  const named = 'the name of the object (a based on URL) was undeterminable'
  for (const [method, path, body, type] of [
    ['PUT', A, { ...widget('a'), metadata: {} }, JSON_TYPE],
    ['PUT', STATUS, { ...widget('a'), metadata: undefined }, JSON_TYPE],
    ['PATCH', A, { metadata: null }, MERGE_TYPE],
    ['PATCH', A, [{ op: 'remove', path: '/metadata/name' }], JSON_PATCH_TYPE],
  ] as const) {
    const answer = await json(method, path, body, type)
    expect([method, path, answer.code, answer.body['message']]).toEqual([method, path, 400, expect.stringContaining(named)])
  }
})

test('a write of the object is not about its status, and one of its status not about the object', async () => {
  const { json } = await serveKind()
  await json('POST', WIDGETS, widget('a'))
  expect((await json('PATCH', STATUS, { status: { ready: true } }, MERGE_TYPE)).code).toBe(200)
  const base = { apiVersion: 'demo.example/v1', kind: 'Widget', metadata: { name: 'a' } }
  const status = [{ op: 'replace', path: '/status', value: WRONG }]
  const spec = [{ op: 'replace', path: '/spec', value: { size: 'big' } }]
  for (const [method, path, body, type, code] of [
    ['PUT', A, { ...widget('a', { size: 2 }), status: WRONG }, JSON_TYPE, 200],
    ['PATCH', A, { status: WRONG }, MERGE_TYPE, 200],
    ['PATCH', A, status, JSON_PATCH_TYPE, 200],
    ['PUT', A, { ...base, spec: { size: 'big' } }, JSON_TYPE, 422],
    ['PUT', A, base, JSON_TYPE, 200],
    ['PUT', A, widget('a', { size: 2 }), JSON_TYPE, 200],
    ['PUT', STATUS, { ...base, status: { ready: true } }, JSON_TYPE, 200],
    ['PUT', STATUS, { ...base, spec: { size: 'big' }, status: { ready: true } }, JSON_TYPE, 200],
    ['PUT', STATUS, { ...base, spec: 5, status: { ready: true } }, JSON_TYPE, 200],
    ['PATCH', STATUS, spec, JSON_PATCH_TYPE, 200],
    ['PUT', STATUS, { ...base, status: WRONG }, JSON_TYPE, 422],
    ['PATCH', STATUS, { status: { ready: 1 } }, MERGE_TYPE, 422],
  ] as const)
    expect([method, path, body, (await json(method, path, body, type)).code]).toEqual([method, path, body, code])
  const { body } = await json('GET', A)
  expect([body['spec'], body['status']]).toEqual([{ size: 2, color: 'grey' }, { ready: true }])
})
