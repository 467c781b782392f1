// Fails when: what a real process does with a signal, a crash or an exit is not what the fake one
// does.
import { describe, expect, test } from 'vitest'
import { ProcessExit } from '#src/base/thrown-exit.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'

describe('FakeProcess', () => {
  test('a signal reaches its listeners, with its name', () => {
    const process = new FakeProcess()
    const heard: unknown[] = []
    process.on('SIGTERM', (...args) => heard.push(args))
    process.signal('SIGTERM')
    expect(heard).toEqual([['SIGTERM']])
    expect(process.isOver).toBe(false)
  })

  test('a signal that nobody listens to kills', () => {
    const process = new FakeProcess()
    process.signal('SIGTERM')
    expect(process).toMatchObject({ killedBy: 'SIGTERM', isOver: true })
    expect(() => process.signal('SIGINT')).toThrowError(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', message: expect.stringContaining('SIGTERM') }),
    )
  })

  test.each(['SIGKILL', 'SIGSTOP'] as const)('no process can listen to %s', (name) => {
    expect(() => new FakeProcess().signal(name)).toThrowError(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
  })

  test('exit records its code, tells once, and throws', () => {
    const process = new FakeProcess()
    const notified: unknown[] = []
    process.on('exit', (code) => notified.push(code))
    process.exitCode = 3
    expect(() => process.exit()).toThrowError(ProcessExit)
    expect(() => process.exit(5)).toThrowError('process.exit(5)')
    expect(process).toMatchObject({ exits: [3, 5], isOver: true })
    expect(notified).toEqual([3])
  })

  test('an exit in a listener of a signal ends the process, not the test', () => {
    const process = new FakeProcess()
    process.on('SIGTERM', () => process.exit(7))
    process.signal('SIGTERM')
    expect(process.exits).toEqual([7])
  })

  test.each(['uncaughtException', 'unhandledRejection'] as const)('%s: heard, or the end with 1 and a word on stderr', (origin) => {
    const heard: unknown[] = []
    const listening = new FakeProcess().on(origin, (thrown) => heard.push(thrown))
    listening.crash('boom', origin)
    expect(heard).toEqual(['boom'])
    expect(listening.isOver).toBe(false)

    const deaf = new FakeProcess()
    deaf.crash(new Error('boom'), origin)
    expect(deaf).toMatchObject({ exits: [1], exitCode: 1 })
    expect(deaf.stderrText).toContain('Error: boom')
  })

  test('messages of and to a parent', () => {
    const process = new FakeProcess({ ipc: true })
    const heard: unknown[] = []
    process.on('message', (message) => heard.push(message))
    process.message('shutdown')
    process.send?.('ready')
    expect([heard, process.sent]).toEqual([['shutdown'], ['ready']])
    expect(new FakeProcess().send).toBeUndefined()
  })
})
