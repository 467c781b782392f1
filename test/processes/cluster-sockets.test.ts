// Sockets that the workers of a cluster share: a Unix socket, and one that their primary was
// passed. Fails when: a worker does not start because another one was faster at a socket that a
// killed process has left, both do not serve, a request is lost while one of them ends, or the file
// of the socket goes before the last of them, or never.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { boundSocket, LISTEN_PID_OF_ITSELF } from '../support/passed-sockets.ts'
import { startProgram, type TestProcess, temporaryFolder } from '../support/process.ts'

const said = (program: TestProcess, beginning: string): number => program.lines.filter((line) => line.startsWith(beginning)).length

async function until(program: TestProcess, beginning: string, count: number): Promise<void> {
  while (said(program, beginning) < count) {
    if (said(program, 'exited 3') > 0) throw new Error(`a worker could not start:\n${program.stderr}`)
    await program.next()
  }
}

type Place = { readonly socketPath: string } | { readonly host: string; readonly port: number }

/** A request on a connection of its own: its body, or the code of the error. */
const ask = (place: Place): Promise<string> =>
  new Promise((resolve) => {
    request({ ...place, path: '/', agent: false }, (response) => void text(response).then(resolve))
      .on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)))
      .end()
  })

/** Asks without a pause while one worker ends, then ends the other one. */
async function replaced(program: TestProcess, place: Place, whileOneIsLeft: () => void = () => {}): Promise<void> {
  await until(program, 'serving', 2)
  const answers = new Set<string>()
  while (answers.size < 2) answers.add(await ask(place))
  expect([...answers].sort()).toEqual(['worker 1', 'worker 2'])
  program.signal('SIGUSR2')
  while (said(program, 'exited') === 0) answers.add(await ask(place))
  whileOneIsLeft()
  expect(await ask(place)).toBe('worker 2')
  expect([...answers].sort()).toEqual(['worker 1', 'worker 2'])
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect(program.lines.filter((line) => line.startsWith('exited'))).toEqual(['exited 0 null', 'exited 0 null'])
}

/** Leaves a socket without a process behind it. */
function leftBehind(path: string): void {
  const program = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  expect(spawnSync(process.execPath, ['-e', program]).signal).toBe('SIGKILL')
  expect(existsSync(path)).toBe(true)
}

test('a Unix socket, where a killed process has left one', async () => {
  const socketPath = join(temporaryFolder(), 'app.sock')
  leftBehind(socketPath)
  const program = startProgram('cluster-sockets.mjs', { listeners: [{ path: socketPath, mode: 0o620 }] })
  await replaced(program, { socketPath }, () => expect(statSync(socketPath).mode & 0o777).toBe(0o620))
  expect(existsSync(socketPath)).toBe(false)
})

test('a socket that the primary was passed, by its name', async () => {
  const { fd, port } = boundSocket()
  const options = { via: LISTEN_PID_OF_ITSELF, passes: [fd], env: { LISTEN_FDS: '1', LISTEN_FDNAMES: 'http' } }
  const program = startProgram('cluster-sockets.mjs', { listeners: [{ fd: 'http' }] }, options)
  await replaced(program, { host: '127.0.0.1', port })
})
