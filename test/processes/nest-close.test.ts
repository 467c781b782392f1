// The close() of a NestJS app that quiesce runs. Fails when: Nest's hooks run twice, or before the
// drain; Nest's own listeners of signals run them beside it; its promise settles before the end of
// the life, or never; or code that the end waits for waits for the end.
import { expect, test } from 'vitest'
import { startSpeaking } from '../support/process.ts'

const BY_THE_PROGRAM = ['destroyed', 'onModuleDestroy', 'onApplicationShutdown undefined', 'closed by the program', 'ended 0']

const PLACES: readonly (readonly [place: string, lines: readonly string[], code?: number])[] = [
  ['by the program', BY_THE_PROGRAM],
  ['run twice', ['same true', ...BY_THE_PROGRAM]],
  ['before it listens', BY_THE_PROGRAM],
  ['before run', ['onModuleDestroy', 'onApplicationShutdown undefined', 'closed without a life']],
  ['after the end', ['destroyed', 'onModuleDestroy', 'onApplicationShutdown undefined', 'ended 0', 'closed once more']],
  ['with the name of a signal', ['destroyed', 'onModuleDestroy', 'onApplicationShutdown SIGHUP', 'closed by a name', 'ended 0']],
  [
    'by a signal, with its own listeners',
    ['listeners of Nest: 0,1', 'destroyed', 'onModuleDestroy', 'onApplicationShutdown SIGTERM', 'ended 0'],
  ],
  ['in a pre-shutdown hook', ['closed by the hook', 'destroyed', 'onModuleDestroy', 'onApplicationShutdown undefined', 'ended 0']],
  ['in a destroy function', ['onModuleDestroy', 'onApplicationShutdown undefined', 'closed by the pool', 'destroyed', 'ended 0']],
  [
    'in its own hook',
    ['destroyed', 'onModuleDestroy', 'closed from its own hook', 'onApplicationShutdown undefined', 'closed by the program', 'ended 0'],
  ],
  ['with a hook that fails', ['destroyed', 'onModuleDestroy', 'rejected: the pool is gone', 'ended 4'], 4],
]

test.each(PLACES.map(([place, lines, code = 0]) => ({ place, lines, code })))('$place', async ({ place, lines, code }) => {
  const program = startSpeaking('nest-closes.mjs', [place])
  expect(await program.ended()).toMatchObject({ code, signal: null })
  // The end of the life is told to all who wait for it, in no order of ours.
  const settled = (line: string) => /^(closed by the program|closed by a name|rejected|ended)/.test(line)
  expect(program.lines.filter((line) => !settled(line))).toEqual(lines.filter((line) => !settled(line)))
  expect(program.lines.slice(-2).toSorted()).toEqual(lines.slice(-2).toSorted())
})

test('run() without the app says what is wrong, and may be called again', async () => {
  const program = startSpeaking('nest-closes.mjs', ['without the app'])
  expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  const wrong = (given: string) => `ERR_OPTION_INVALID app of run(app): got ${given}, allowed: the Nest app: app.get(Quiesce).run(app)`
  expect(program.lines.slice(0, 3)).toEqual([wrong('undefined'), wrong('{}'), 'destroyed'])
})
