// What is registered while the server serves. Fails when: the stop does not see it, or runs what
// was taken back.
import { expect, test } from 'vitest'
import { testLife } from '#src/testing/index.ts'
import { newLife } from '../support/life.ts'

test('hooks and destroy functions of a stop are those that are registered when it begins', async () => {
  const called: string[] = []
  const call = ({ name }: { readonly name: string }): void => void called.push(name)
  const t = await testLife(({ createServer }) => {
    const life = createServer(() => new Response())
    life.addPreShutdownHook('early', call)
    life.addDestroy('pool', call)
    return life
  })
  const takenBack = [t.life.addPreShutdownHook('taken back', call), t.life.addDestroy('taken back', call)]
  t.life.addPreShutdownHook('late', call)
  t.life.addDestroy('late pool', call)
  for (const one of takenBack) one[Symbol.dispose]()
  expect(await t.stop()).toMatchObject({ exitCode: 0 })
  expect(called).toEqual(['early', 'late', 'pool', 'late pool'])
})

test('a post-start hook that is taken back while the server starts is not called, and has not failed', async () => {
  const called: string[] = []
  const hooks: Disposable[] = []
  const run = (): void => {
    for (const hook of hooks) hook[Symbol.dispose]()
  }
  const t = newLife({ options: { audit: { run, shutdown: () => {} } } })
  hooks.push(t.life.addPostStartHook('warm', () => void called.push('warm')))
  await t.life.start()
  await t.fired('PostStartHooksLaunched')
  expect(await t.end()).toMatchObject({ exitCode: 0, errors: [] })
  expect(called).toEqual([])
})
