// Who has a port. Fails when: the process that listens there is not found, by IPv4 or IPv6; a
// process is named that does not listen there, but only talks to it; or the look throws where there
// is none.
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

const failed = (code: string, port?: number) => new QuiesceError('ERR_LISTEN', 'no', {}, Object.assign(new Error(code), { code, port }))
const label = (option: string): string => `--${option}`

test.runIf(process.platform === 'linux').each(['127.0.0.1', '::1'])('is this process, on %s', async (host) => {
  const port = await taken(host)
  expect(ownerOfPort(port)).toEqual({ pid: process.pid, command: expect.stringContaining('node') })
  expect(startAdvice(failed('EADDRINUSE', port), label)).toMatch(/^this process itself \(.+\) has port \d+: give another one \(--port\)$/)
})

test('of a port that is free is not known', () => {
  expect(ownerOfPort(1)).toBeUndefined()
  expect(startAdvice(failed('EADDRINUSE', 1), label)).toBe(
    'port 1 belongs to another process, which cannot be seen from here: give another one (--port)',
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

test.each(['admin', 'listeners[1]'])('of a listener with an option of its own is about it: %s', (option) => {
  const error = new QuiesceError('ERR_LISTEN', 'no', { option }, Object.assign(new Error(), { code: 'EADDRNOTAVAIL' }))
  expect(startAdvice(error, label)).toContain(`(--${option}.host)`)
})

test.each([[failed('EMFILE')], [failed('EADDRINUSE')], [new Error('EADDRINUSE')], [undefined]])('of %s there is none', (error) => {
  expect(startAdvice(error, label)).toBeUndefined()
})
