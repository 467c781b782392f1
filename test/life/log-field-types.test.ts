// Fields of the log, over its lines. Fails when: a field is text in one line and an object in
// another, of which a store of logs that has one type for a field takes the first kind alone.
import { expect, test } from 'vitest'
import { testServer } from '#src/testing/index.ts'

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value)

/** The fields of several kinds, each with those. Null is of every kind. */
function mixed(lines: readonly { readonly fields: object }[]): readonly string[] {
  const kinds = new Map<string, Set<string>>()
  for (const { fields } of lines)
    for (const [name, value] of Object.entries(fields))
      if (value !== null && value !== undefined) kinds.set(name, (kinds.get(name) ?? new Set()).add(kindOf(value)))
  return [...kinds].flatMap(([name, all]) => (all.size > 1 ? [`${name}: ${[...all].join(', ')}`] : []))
}

test('a field is of one kind in every line, however the life goes and ends', async () => {
  let isUp = false
  const t = await testServer(() => new Promise<Response>(() => {}), {
    platform: 'kubernetes',
    deadline: '25s',
    setUp: (life) => {
      life.addReadyzCheck('db', () => isUp)
      life.addPreShutdownHook('fails', () => Promise.reject(new Error('no')))
      life.addPreShutdownHook('hangs', () => new Promise(() => {}))
    },
  })
  await t.request('/readyz')
  isUp = true
  await t.request('/readyz')
  t.life.setReady(false, 'maintenance')
  const client = await t.connect()
  void client.request('/hangs').response.catch(() => {})
  await t.clock.advance(0)
  t.process.signal('SIGTERM')
  await t.clock.advance('24s')
  void t.life.stop({ now: true, reason: 'enough' })
  await t.end()
  const messages = t.log.map(({ message }) => message)
  expect(messages).toEqual(expect.arrayContaining(['readiness switched by hand', 'ending by force']))
  expect(messages).toContainEqual(expect.stringMatching(/^health check "db" failed/))
  expect(mixed(t.log)).toEqual([])
})
