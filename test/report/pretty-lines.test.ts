import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { prettyFormat } from '#src/terminal/pretty-lines.ts'

describe('lines for people', () => {
  const format = prettyFormat({ color: false })
  const line = (entry: object) =>
    format(`${JSON.stringify({ level: 30, time: new Date(2026, 0, 1, 9, 8, 7, 6).getTime(), pid: 1, hostname: 'h', ...entry })}\n`)

  test('have a time, a level, the message and the fields', () => {
    expect(line({ msg: 'Serving', port: 80, name: 'x y', list: [1] })).toBe('09:08:07.006 INFO  Serving port=80 name=x y list=[ 1 ]\n')
  })

  test('do not say in a field what the message says', () => {
    const msg = 'Serving on http://127.0.0.1:80'
    expect(line({ msg, address: '127.0.0.1', port: 80 })).toBe(`09:08:07.006 INFO  ${msg}\n`)
    expect(line({ msg, url: 'http://127.0.0.1:80', seconds: 12, word: 'Serv' })).toBe(`09:08:07.006 INFO  ${msg} seconds=12 word=Serv\n`)
  })

  test('have an error’s stack below', () => {
    expect(line({ level: 50, msg: 'boom', err: { message: 'boom', stack: 'Error: boom\n    at f (a.js:1)' } })).toBe(
      '09:08:07.006 ERROR boom\n    Error: boom\n    at f (a.js:1)\n',
    )
  })

  test('show the beginning of long values, and no control characters', () => {
    expect(line({ msg: 'x\u001b[2Jy', long: 'a'.repeat(700) })).toBe(`09:08:07.006 INFO  xy long=${'a'.repeat(599)}…\n`)
  })

  test('have no stack of ours for what surrounds the process', () => {
    const err = { message: 'in use', stack: 'QuiesceError: in use\n    at bind (server.js:1)' }
    expect(line({ level: 50, msg: 'bind failed: in use', err: { ...err, code: 'ERR_LISTEN' } })).not.toContain('server.js')
    for (const code of ['ERR_INTERNAL', 'EPIPE', 'toString'])
      expect(line({ level: 50, msg: 'x', err: { ...err, code } })).toContain('server.js')
  })

  test('leave out the times that were chosen, and say why a stop was requested in words', () => {
    const defaults = { deadline: { ms: 20_000, because: 'given' }, lastCall: { ms: 300, because: 'default' } }
    expect(line({ msg: 'x', defaults, reason: { kind: 'os-signal', signal: 'SIGHUP' } })).toBe('09:08:07.006 INFO  x reason=SIGHUP\n')
    expect(line({ msg: 'x', reason: { kind: 'of your own' } })).toBe("09:08:07.006 INFO  x reason={ kind: 'of your own' }\n")
  })

  test('are wrapped between words at the width that the terminal has now', () => {
    const terminal = { columns: 40 }
    const narrow = prettyFormat({ color: true, columns: () => terminal.columns })
    const entry = '{"level":30,"time":0,"msg":"all of the endpoints are there","name":"MuxAndDiscoveryComplete"}\n'
    const shown = (): string[] => stripVTControlCharacters(narrow(entry)).replace(/^\S+/, 'HH:MM:SS.mmm').split('\n')
    expect(shown()).toEqual([
      'HH:MM:SS.mmm INFO  all of the endpoints',
      '             are there name=MuxAndDiscov',
      '             eryComplete',
      '',
    ])
    terminal.columns = 60
    expect(shown()).toEqual(['HH:MM:SS.mmm INFO  all of the endpoints are there', '             name=MuxAndDiscoveryComplete', ''])
    terminal.columns = 30
    expect(shown()).toEqual(['HH:MM:SS.mmm INFO  all of the', '  endpoints are there', '  name=MuxAndDiscoveryComplete', ''])
  })

  test('begin below the ^C that a terminal has echoed', () => {
    const stop = (signal: string) => line({ msg: 'stop requested', signal: 'StopRequested', reason: { kind: 'os-signal', signal } })
    expect(stop('SIGINT')).toMatch(/^\n09:08:07\.006 INFO {2}stop requested/)
    expect(stop('SIGTERM')).toMatch(/^09:08:07/)
  })

  test('pass what is not pino’s', () => {
    expect(format('hello\n')).toBe('hello\n')
    expect(format('{"a":1}\n')).toBe('{"a":1}\n')
  })

  test('are coloured on request', () => {
    expect(prettyFormat({ color: true })('{"level":40,"msg":"x"}')).toBe('--:--:--.--- \u001b[33mWARN \u001b[0m x\n')
  })
})
