// What an editor offers and what the compiler refuses while a life is being put together. Fails
// when: names that we coined have to be looked up, a name of the user's own is refused, or a
// mistake that types can catch waits for the start.
import { describe, expect, test } from 'vitest'
import { OWN_SIGNALS, UPSTREAM_SIGNALS } from '#src/machines/signals.ts'
import { WIRING } from '#src/machines/wiring.ts'
import { COMPILING_MS } from './compiler.ts'
import { TypedFile } from './typed-file.ts'

const file = new TypedFile(
  'completed.ts',
  `import { createServer } from '../../dist/index.js'\nconst life = createServer(() => new Response('hello'))\n`,
)

const SIGNALS = [...Object.keys(UPSTREAM_SIGNALS), ...Object.keys(OWN_SIGNALS)]
const PHASES = Object.keys(WIRING)

describe('an editor offers', { timeout: COMPILING_MS }, () => {
  test('signals where one is asked for', () => {
    expect(file.offered(`life.signal('|')`)).toEqual(expect.arrayContaining([...SIGNALS, 'Cut.requests', 'Forced']))
  })

  test('signals and phases that a phase comes after, and phases that it comes before', () => {
    const after = file.offered(`life.addPhase('x', () => {}, { after: ['|'] })`)
    expect(after).toEqual(expect.arrayContaining([...SIGNALS.filter((name) => name !== 'StartFailed'), ...PHASES]))
    expect(after).not.toContain('StartFailed')
    expect(after).not.toContain('Cut.requests')
    const before = file.offered(`life.addPhase('x', () => {}, { before: ['|'] })`)
    expect(before).toEqual(expect.arrayContaining(PHASES))
    expect(before).not.toContain('Start')
  })

  test.each([
    [`createServer(life.signal as never, { whileDraining: '|' })`, ['refuse', 'retry-after']],
    [`createServer(life.signal as never, { platform: '|' })`, ['auto', 'kubernetes']],
    [`createServer(life.signal as never, { signals: ['|'] })`, ['SIGTERM', 'SIGUSR2']],
    [`createServer(life.signal as never, { health: { extra: { '/x': '|' } } })`, ['all', 'readyz']],
    [`createServer(life.signal as never, { |})`, ['shutdownDelay', 'deadline']],
  ])('the values of an option: %s', (code, names) => {
    expect(file.offered(code)).toEqual(expect.arrayContaining(names))
  })
})

describe('the compiler', { timeout: COMPILING_MS }, () => {
  test.each([
    `life.addPhase('flush', () => {}, { after: ['RequestsDrained', 'request-drain', 'a-phase-of-mine'], before: ['destroy', 'mine'] })`,
    `life.signal('FlushDone')`,
    `const names: string[] = []; life.addPhase('flush', () => {}, { after: names })`,
  ])('takes %s', (code) => {
    expect(file.refused(code)).toEqual([])
  })

  test.each([
    `life.addPreShutdownHook(async () => {})`,
    `life.addPreShutdownHook('leave', Promise.resolve())`,
    `life.addReadyzCheck('db', true)`,
    `life.addPhase('flush', () => {}, { after: 'RequestsDrained' })`,
    `life.addDestroy('pool', { end() {} })`,
    `life.every('publish', '5s')`,
    `createServer(() => new Response(''), { health: { paths: { live: '/x' } } })`,
    `createServer(() => new Response(''), { signals: ['SIGTREM'] })`,
  ])('refuses %s', (code) => {
    expect(file.refused(code)).toHaveLength(1)
  })
})
