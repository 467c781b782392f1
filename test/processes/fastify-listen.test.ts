// A Fastify app whose listen() fails. Fails when: an error that the program does not handle is not
// the end of a life that could not start, in whichever way it goes unhandled; or the plugin changes
// what becomes of anything else that is thrown or rejected with, once the program has handled it.
import { describe, expect, test } from 'vitest'
import { startSpeaking } from '../support/process.ts'

const start = (...args: readonly string[]) => startSpeaking('fastify-cannot-listen.mjs', args)

describe('an error of listen() that the program does not handle is a start that has failed', () => {
  test.each([
    'rejects',
    'rejects later',
    'rejects beside others',
    'rejects the second time',
    'throws in its callback',
    'listens by its server',
  ])('%s', async (how) => {
    const program = start(how)
    expect(await program.ended()).toMatchObject({ code: 3, signal: null })
    expect(program.report()).toMatchObject({ exitCode: 3, reason: { kind: 'start-failed', phase: 'bind' } })
    expect(program.lines).toContain('destroyed')
    expect(program.stderr).not.toContain('WARN_OTHER_LISTENERS')
  })

  test('and a listener of the program hears it as well', async () => {
    const program = start('rejects beside others')
    await program.ended()
    expect(program.lines).toContain('unhandledRejection: listen')
  })
})

describe('when the program has handled it', () => {
  test.each([
    ['later', 'handled', 'rejects'],
    ['in the same turn', 'handled', 'rejects at once'],
    ['in the same turn, when the last listener has gone', 'once beside others', ''],
  ])('another rejection ends the process as node does: %s', async (_, how, then) => {
    const program = start(how, then)
    expect(await program.ended()).toMatchObject({ code: 1, signal: null })
    expect(program.stderr).toMatch(/^Error: a bug of the program\n {4}at .*\bbug /m)
    expect(program.stderr).not.toContain('quiesce')
    expect(program.lines).not.toContain('goes on')
  })

  test('another rejection goes to the listeners of the program', async () => {
    const program = start('handled', 'is heard')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
    expect(program.lines).toEqual(['handled EADDRINUSE', 'unhandledRejection: a'])
  })

  test('it may listen elsewhere, without a word of other listeners', async () => {
    const program = start('handled', 'listens')
    await program.serving()
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
    expect(program.stderr).toBe('')
  })

  test('nothing of the plugin is left at the process when the app is closed', async () => {
    const program = start('handled', 'closes')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
    expect(program.lines).toEqual(['handled EADDRINUSE', 'listeners 0'])
  })
})
