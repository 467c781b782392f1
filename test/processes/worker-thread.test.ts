// The log of a server in a worker thread. Fails when: a line of it is lost, however the thread ends
// once its life has, or goes past a parent that has asked for the thread's output.
import { expect, test } from 'vitest'
import { startSpeaking } from '../support/process.ts'

const WAYS = ['ends by itself', 'exits', 'throws', 'is terminated', 'beside a busy parent']

test.each([
  ...WAYS.map((how) => [how, ''] as const),
  ...WAYS.map((how) => [how, 'captured'] as const),
  ['a stream of its own', 'captured'] as const,
])('%s %s', async (how, output) => {
  const program = startSpeaking('worker-log.mjs', [how, output])
  expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  expect(program.stderr).toBe(how === 'throws' ? 'a bug of the worker\n' : '')
  const beginning = output === '' ? '' : 'captured '
  const messages = program.lines.map((line) => (JSON.parse(line.slice(beginning.length)) as { msg: string }).msg)
  expect(program.lines.every((line) => line.startsWith(`${beginning}{`))).toBe(true)
  expect(messages).toContainEqual(expect.stringMatching(/^Serving on /))
  expect(messages.at(-1)).toBe('the server is exiting')
})
