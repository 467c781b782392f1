// Sockets that a parent has bound, given to real processes as systemd does it. Fails when: a server
// does not serve the socket of a name or a descriptor, takes one that was passed to another
// process, closes it for others, or loses a connection between two processes that serve it in turn.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { passedSocket } from '#src/platforms/passed-sockets.ts'
import { boundSocket, LISTEN_PID_OF_ITSELF } from '../support/passed-sockets.ts'
import { startServer, type TestProcess, temporaryFolder } from '../support/process.ts'
import { RawClient } from '../support/raw-client.ts'
import { fresh } from '../support/upstream-client.ts'

const startWith = (fd: number | string, passes: readonly number[], env: Record<string, string>): TestProcess =>
  startServer({ options: { listeners: [{ fd }] } }, { via: LISTEN_PID_OF_ITSELF, passes, env })

describe('a socket that the process was passed', () => {
  test.each([
    ['by its name', 'http'],
    ['by its descriptor', 4],
  ])('is served %s', async (_, fd) => {
    const [admin, http] = [boundSocket(), boundSocket()]
    const program = startWith(fd, [admin.fd, http.fd], { LISTEN_FDS: '2', LISTEN_FDNAMES: 'admin:http' })
    expect(await program.serving()).toBe(http.port)
    expect(await fresh(http.port, '/hello')).toMatchObject({ body: 'hello' })
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0 })
    expect(program.report().listeners).toEqual([expect.objectContaining({ url: `http://127.0.0.1:${http.port}` })])
  })

  test('keeps what arrives between two processes for the next one', async () => {
    const { fd, port } = boundSocket()
    const env = { LISTEN_FDS: '1' }
    const first = startWith('unknown', [fd], env)
    await first.serving()
    first.signal('SIGTERM')
    await first.ended()
    const client = await RawClient.open({ port })
    client.request('GET', '/hello')
    const second = startWith('unknown', [fd], env)
    expect(await client.response()).toMatchObject({ body: 'hello' })
    second.signal('SIGTERM')
    expect(await second.ended()).toMatchObject({ code: 0 })
  })

  test('that is none ends the start with its name', async () => {
    const { fd } = boundSocket()
    const program = startWith('https', [fd], { LISTEN_FDS: '1', LISTEN_FDNAMES: 'http' })
    expect((await program.ended()).code).toBe(3)
    expect(program.report().errors[0]?.error).toMatchObject({
      code: 'ERR_LISTEN',
      message: 'failed to create listener: no socket named "https": the sockets that this process was passed are named http',
    })
  })
})

describe('LISTEN_PID and its like', () => {
  const asking = { pid: 12, env: { LISTEN_PID: '12', LISTEN_FDS: '3', LISTEN_FDNAMES: 'a::c' } }

  test('name sockets from 3 on, and those without a name as systemd does', () => {
    expect(['a', 'unknown', 'c'].map((name) => passedSocket(name, asking))).toEqual([3, 4, 5])
  })

  test.each([
    ['of another process', { ...asking, pid: 13 }, /passed to process "12" \(LISTEN_PID\), and this one is 13/],
    ['of the parent, without a cluster', { ...asking, pid: 13, ppid: 12 }, /passed to process "12"/],
    ['that are not there', { pid: 12, env: {} }, /LISTEN_FDS is not set$/],
    ['of no such name', { pid: 12, env: { LISTEN_PID: '12', LISTEN_FDS: '0' } }, /are named nothing: there are none$/],
  ])('are no sockets of ours: those %s', (_, given, message) => {
    expect(() => passedSocket('a', given)).toThrow(message)
  })
})

const activate = spawnSync('systemd-socket-activate', ['--version']).status === 0

// Where systemd is not installed this test says that it was skipped.
test.skipIf(!activate)('systemd-socket-activate starts a server with its first client', async () => {
  const path = join(temporaryFolder(), 'activated.sock')
  const program = startServer(
    { options: { listeners: [{ fd: 'web' }] } },
    { via: ['systemd-socket-activate', '--listen', path, '--fdname=web'] },
  )
  await program.said('Listening on')
  const { request } = await import('node:http')
  const asked = request({ socketPath: path, path: '/hello', agent: false }).end()
  const [response] = (await once(asked, 'response')) as [{ statusCode: number; resume(): void }]
  expect(response.statusCode).toBe(200)
  response.resume()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect(program.report().listeners).toEqual([expect.objectContaining({ url: 'fd:web' })])
})
