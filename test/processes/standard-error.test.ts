// What a process says on standard error about its own end, whatever its logger. Fails when: an end
// that is not graceful leaves no word, or more than a line of them, or a graceful or silenced one
// says anything.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { startServer } from '../support/process.ts'

const said = (stderr: string): string[] => stderr.split('\n').filter((line) => line.startsWith('quiesce: exit code'))

test('a request that is cut is named', async () => {
  const program = startServer({ options: { deadline: '1s' } })
  await program.requested('GET', '/hang')
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(5)
  expect(said(program.stderr)).toEqual([expect.stringMatching(/^quiesce: exit code 5: .*: GET \/hang$/)])
})

test('a second signal is named', async () => {
  const program = startServer({ options: { deadline: '40s' } })
  await program.requested('GET', '/hang')
  program.signal('SIGTERM')
  await program.said('600 ms after the stop request')
  program.signal('SIGINT')
  expect((await program.ended()).code).toBe(1)
  expect(said(program.stderr)).toEqual([expect.stringMatching(/^quiesce: exit code 1: .*: second-signal: SIGINT$/)])
})

test('an end with exit code 0 says nothing', async () => {
  const program = startServer({ options: {} })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect(said(program.stderr)).toEqual([])
})

test('logger: false is silence', async () => {
  const program = startServer({ options: { deadline: '1s', logger: false } })
  await program.requested('GET', '/hang')
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(5)
  expect(said(program.stderr)).toEqual([])
})

test('an attached server without a logger whose port is taken names address and port', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const { port } = other.address() as { port: number }
  const program = startServer({ attached: true }, { env: { PORT: String(port) } })
  expect((await program.ended()).code).toBe(3)
  expect(said(program.stderr)).toEqual([expect.stringContaining(`127.0.0.1:${port}`)])
})
