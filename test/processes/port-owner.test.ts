// Who has a port. Fails when: the process that listens there is not found, by IPv4 or IPv6; a
// process is named that does not listen there, but only talks to it; the look throws where there is
// none; or advice says what is not so: that another process has a port of our own, or that a folder
// may not be written to which is not there.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { QuiesceError } from '#src/base/errors.ts'
import { startAdvice } from '#src/lifecycle/start-advice.ts'
import { ownerOfPort } from '#src/platforms/port-owner.ts'

async function taken(host: string): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const failed = (code: string, port?: number, address?: string) =>
  new QuiesceError('ERR_LISTEN', 'no', {}, Object.assign(new Error(code), { code, port, address }))
const label = (option: string): string => `--${option}`

test.runIf(process.platform === 'linux').each(['127.0.0.1', '::1'])('is this process, on %s', async (host) => {
  const port = await taken(host)
  expect(ownerOfPort(port)).toEqual({ pid: process.pid, command: expect.stringContaining('node') })
  expect(startAdvice(failed('EADDRINUSE', port), label)).toMatch(/^this process itself \(.+\) has port \d+: give another one \(--port\)$/)
})

test('of a port that is free is not known', () => {
  expect(ownerOfPort(1)).toBeUndefined()
  expect(startAdvice(failed('EADDRINUSE', 1), label)).toBe(
    'port 1 belongs to another listener of this server, or to a process that cannot be seen from here: give another one (--port)',
  )
})

test.each<[string, number | undefined, RegExp]>([
  ['EACCES', 80, /from 1024 on \(--port\)/],
  ['EACCES', -1, /a folder that it may write to \(--path\)/],
  ['EADDRNOTAVAIL', 80, /no such address: .* \(--host\)/],
  ['ENOTFOUND', undefined, /no host has this name: .* \(--host\)/],
])('%s has advice, with the port %s', (code, port, advice) => {
  expect(startAdvice(failed(code, port), label)).toMatch(advice)
})

test('EACCES of a Unix socket whose folder is not there names the folder', () => {
  expect(startAdvice(failed('EACCES', -1, '/not/there/app.sock'), label)).toBe(
    'there is no folder /not/there: make it first, or give a path in another one (--path)',
  )
})

test('EADDRINUSE of a Unix socket has advice when its owner calls listen()', () => {
  const { message, cause } = failed('EADDRINUSE', -1, '/app.sock')
  expect(startAdvice(new QuiesceError('ERR_LISTEN', message, { address: 'the attached server' }, cause), label)).toBe(
    'end the process that listens on /app.sock, or remove the file if none does, as after a kill; or give another path (--path)',
  )
  expect(startAdvice(new QuiesceError('ERR_LISTEN', message, { address: '/app.sock' }, cause), label)).toBeUndefined()
})

test.each(['admin', 'listeners[1]'])('of a listener with an option of its own is about it: %s', (option) => {
  const error = new QuiesceError('ERR_LISTEN', 'no', { option }, Object.assign(new Error(), { code: 'EADDRNOTAVAIL' }))
  expect(startAdvice(error, label)).toContain(`(--${option}.host)`)
})

test.each([[failed('EMFILE')], [failed('EADDRINUSE')], [new Error('EADDRINUSE')], [undefined]])('of %s there is none', (error) => {
  expect(startAdvice(error, label)).toBeUndefined()
})
